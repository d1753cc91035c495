# SPDX-License-Identifier: Apache-2.0
"""Random numbers and memory images: a generator that user code has not seeded must never repeat itself in
another context that started from the same image, and one that it has seeded must go on unchanged."""

from dormouse._builtins import __builtins__  # isort: skip

import logging
import random
import sys
import time
from weakref import WeakSet

_unseeded = WeakSet()
more = []  # functions that reseed the generators of packages
_seed = random.Random.seed
_setstate = random.Random.setstate


def _tracking_seed(self, a=None, version=2):
    _seed(self, a, version)
    if a is None:
        _unseeded.add(self)
    else:
        _unseeded.discard(self)


def _tracking_setstate(self, state):
    _setstate(self, state)
    _unseeded.discard(self)


def boot():
    for replacement, original in ((_tracking_seed, _seed), (_tracking_setstate, _setstate)):
        replacement.__name__ = original.__name__
        replacement.__qualname__ = original.__qualname__
        replacement.__doc__ = original.__doc__
        replacement.__module__ = original.__module__
    random.Random.seed = _tracking_seed
    random.Random.setstate = _tracking_setstate
    random.seed = random._inst.seed
    random.setstate = random._inst.setstate
    # The image must not depend on the entropy and the hour of its day; each context starts with reseed().
    _seed(random._inst, 0)
    _unseeded.add(random._inst)
    logging._startTime = 0


def reseed():
    """Called when a context is born, forked or rolled back."""
    for generator in list(_unseeded):
        generator.seed()
    for reseed_package in more:
        reseed_package()
    uuid = sys.modules.get("uuid")
    if uuid is not None:
        uuid._node = None
    logging._startTime = time.time_ns()
