# SPDX-License-Identifier: Apache-2.0
"""What happens once, before the boot image is taken: imports that most runs use, and the driver's own set-up."""

import builtins
import importlib.util
import linecache
import os
import sys

# All of these are in the image, so that importing them in a cell costs nothing.
_PRELOADED = """
    abc argparse array ast asyncio base64 bisect builtins calendar collections collections.abc contextlib
    contextvars copy csv dataclasses datetime decimal enum errno fractions functools gc glob hashlib heapq html
    importlib inspect io itertools json keyword linecache locale logging math numbers operator os os.path
    pathlib pickle platform pprint queue random re reprlib secrets shutil signal statistics string struct
    sys tempfile textwrap threading time timeit tokenize traceback types typing unicodedata urllib.parse uuid
    warnings weakref zlib zoneinfo
""".split()


# What programs expect to find in any environment; contextEnv may say otherwise.
_ENVIRONMENT = {"HOME": "/workspace", "USER": "user", "LOGNAME": "user", "TMPDIR": "/tmp"}


_MAIN_NAMES = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtins__"}


class _Quitter:
    """exit() and quit(): end the run, and leave standard input alone."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"Use {self._name}() to end the run"

    def __call__(self, code=None):
        raise SystemExit(code)


def _add_builtins():
    from _sitebuiltins import _Helper

    from dormouse import chart, display

    builtins.exit = _Quitter("exit")
    builtins.quit = _Quitter("quit")
    builtins.help = _Helper()
    builtins.display = display
    builtins.chart = chart


def boot():
    for name in _PRELOADED:
        __import__(name)
    from dormouse import _input, _limits, _loop, _site, _random, _source

    os.environ.update(_ENVIRONMENT)
    sys.argv = [""]
    sys.path[:0] = ["", "/workspace"]
    _site.boot()
    _limits.boot()
    _random.boot()
    _loop.boot()
    _input.boot()
    _source.boot()
    _add_builtins()
    sys.modules["__main__"].__dict__["__loader__"] = None
    if importlib.util.find_spec("dormouse._packages"):
        # An engine with more in it than the standard library.
        from dormouse import _packages

        _packages.boot()
    forget_warm_up()


def forget_warm_up():
    """Leaves no trace of code that ran before the first cell."""
    from dormouse import _cell

    main = sys.modules["__main__"].__dict__
    for name in set(main) - _MAIN_NAMES:
        del main[name]
    builtins.__dict__.pop("_", None)
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        sys.__dict__.pop(name, None)
    for name in [name for name in linecache.cache if name.startswith("cell-")]:
        del linecache.cache[name]
    _cell._forget_directories()
