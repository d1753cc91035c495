# SPDX-License-Identifier: Apache-2.0
"""Packages: where imports find them, what to say when one is missing, and wheels of the user's own."""

import os
import sys
import zipfile

# Filled by the host with what `dormouse packages add` has installed.
INSTALLED = "/usr/lib/dormouse/packages"
# What install() unpacks; belongs to the sandbox.
OWN = "/workspace/site-packages"

_NATIVE = (".so", ".pyd", ".dll", ".dylib")
_LISTED = 40


def boot():
    sys.path += [OWN, INSTALLED]


def _installed():
    """NAME VERSION of all packages that can be imported beside the standard library."""
    found = []
    for directory in sys.path:
        try:
            names = os.listdir(directory) if directory.endswith("packages") else []
        except OSError:
            continue
        found += [name.removesuffix(".dist-info").replace("-", " ", 1) for name in names if name.endswith(".dist-info")]
    return sorted(found, key=str.lower)


def missing_module_hint(name):
    """Lines for the traceback of an import that found no package; none where the name is a module's own affair."""
    package = name.partition(".")[0]
    if not package or package != name or package in sys.stdlib_module_names or package in sys.modules:
        return []
    found = _installed()
    listed = ", ".join(found[:_LISTED]) + (f" and {len(found) - _LISTED} more" if len(found) > _LISTED else "")
    return [
        f"{package} is not installed. Beside the standard library there is: {listed or 'nothing'}.",
        f"A wheel without compiled parts can be put into the workspace and installed: dormouse.install('{package}-….whl'). "
        f"Who runs the server can add it for all: dormouse packages add {package}",
    ]


def install(*wheels):
    """Unpacks wheels of pure Python, files of the workspace, into /workspace/site-packages, where imports find them.

    Raises ValueError for a file that is no such wheel; then nothing of it is unpacked.
    """
    for wheel in wheels:
        path = os.fspath(wheel)
        if not path.endswith(".whl") or not zipfile.is_zipfile(path):
            raise ValueError(f"{path} is not a wheel (NAME-VERSION-….whl)")
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            native = next((name for name in names if name.endswith(_NATIVE)), None)
            if native is not None:
                raise ValueError(f"{path} is not pure Python: it holds {native}")
            prefix = os.path.basename(path).split("-")[0]
            if not any(name.startswith(prefix) and name.endswith(".dist-info/METADATA") for name in names):
                raise ValueError(f"{path} is not a wheel: it has no {prefix}-….dist-info/METADATA")
            os.makedirs(OWN, exist_ok=True)
            archive.extractall(OWN)
    for name in list(sys.path_importer_cache):
        if name.startswith(OWN):
            del sys.path_importer_cache[name]
