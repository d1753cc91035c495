# SPDX-License-Identifier: Apache-2.0
"""The packages of this engine: they are imported before the boot image is taken, and their random numbers never repeat
themselves in another context that started from the same image."""

import gc
import importlib.util
import secrets
import sys

from dormouse import _random

# What NumPy's generators were made with that nobody had seeded. The first is that of its global generator in the image,
# which must not depend on the day it was made.
_IMAGE = 0xD0A705E5EED0FA11D0A705E5EED0FA11
_drawn = {_IMAGE}


def _draw(bits):
    value = secrets.randbits(bits)
    _drawn.add(value)
    return value


def _is_unseeded(generator):
    entropy = getattr(generator.seed_seq, "entropy", None)
    return type(entropy) is int and entropy in _drawn


def _reseed():
    """A generator that user code has given a state of its own without seeding it counts as unseeded."""
    from numpy.random import BitGenerator, get_bit_generator

    generators = [get_bit_generator()]
    if len(_drawn) > 1:
        generators += [found for found in gc.get_objects() if isinstance(found, BitGenerator)]
    for generator in generators:
        if _is_unseeded(generator):
            generator.state = type(generator)().state


def _import_numpy():
    randbits = secrets.randbits
    secrets.randbits = lambda bits: _IMAGE
    try:
        import numpy.random
    finally:
        secrets.randbits = randbits
    numpy.random.bit_generator.randbits = _draw
    _random.more.append(_reseed)


def boot():
    sys.path.append("/usr/lib/python3.13/site-packages")
    _import_numpy()
    for name in ("numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.ma"):
        __import__(name)
    _boot_pictures()


def _boot_pictures():
    if importlib.util.find_spec("PIL"):
        from dormouse import _images

        _images.boot()
    if importlib.util.find_spec("matplotlib"):
        from dormouse import _figures

        _figures.boot()
