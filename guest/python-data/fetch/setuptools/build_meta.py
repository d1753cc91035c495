# SPDX-License-Identifier: Apache-2.0
"""As mesonpy.py, for packages that are not built with Meson."""

from mesonpy import get_requires_for_build_wheel, prepare_metadata_for_build_wheel


class Backend:
    """Pillow derives a backend of its own from the class that `build_wheel` is a method of."""

    def build_wheel(self, directory, settings=None, metadata=None):
        raise NotImplementedError("nothing is built here")


build_wheel = Backend().build_wheel
