# SPDX-License-Identifier: Apache-2.0
"""What notebook code imports from IPython for rich output. There is no IPython shell here: get_ipython() is None,
as in plain Python, and magics do not exist."""

from IPython import display

version_info = (8, 24, 0)
__version__ = "8.24.0"


def get_ipython():
    """The running IPython shell: none."""
    return None


__all__ = ["display", "get_ipython"]
