# SPDX-License-Identifier: Apache-2.0
"""The driver's own copy of the built-in names, so that it works on when user code replaces some of them.

A module that starts with `from dormouse._builtins import __builtins__` uses the copy in all its functions.
"""

import builtins

__builtins__ = vars(builtins).copy()
