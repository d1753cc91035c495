# SPDX-License-Identifier: Apache-2.0
"""The packages of this engine: they are imported before the boot image is taken, their random numbers never repeat
themselves in another context that started from the same image, and nothing of the day of the image stays."""

import gc
import io
import secrets
import sys
import time

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


def _set_year(year):
    """By which dateutil tells what century a year of two digits is in."""
    from dateutil.parser import DEFAULTPARSER

    DEFAULTPARSER.info._year = year
    DEFAULTPARSER.info._century = year // 100 * 100


def _use_pandas():
    """What most runs do with a frame, so that what it imports then is there."""
    import pandas

    frame = pandas.read_csv(io.StringIO("a,b,c\n1,x,2024-01-01\n2,,2024-01-02\n"), parse_dates=["c"])
    frame.groupby("a").agg({"b": "first", "c": "max"})
    frame.merge(frame, on="a").sort_values("a").describe()
    repr(frame)
    frame._repr_html_()
    frame.to_csv(io.StringIO())
    frame.to_json()
    frame.set_index("c")["a"].resample("D").sum().rolling(2).mean()
    # pytz looks for its 600 zones when it is asked for the first.
    frame["c"].dt.tz_localize("Europe/Berlin").dt.tz_convert("UTC")


def boot():
    sys.path.append("/usr/lib/python3.13/site-packages")
    _import_numpy()
    for name in ("numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.ma", "sqlite3", "gzip", "zipfile"):
        __import__(name)
    _use_pandas()
    _set_year(2000)
    _random.more.append(lambda: _set_year(time.localtime().tm_year))
