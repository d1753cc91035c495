# SPDX-License-Identifier: Apache-2.0
"""Case 32: cells are `__main__`, and pickles of their classes load again."""

from conftest import Between
from quick.client import Context

CLASSES = """
import pickle, enum, dataclasses, copy, typing, sys
@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: "int" = 2
    def total(self) -> int:
        return self.x + self.y
class Color(enum.Enum):
    RED = 1
    GREEN = "g"
p = Point(1)
with open("/workspace/p.pkl", "wb") as f: pickle.dump((p, Color.RED, {Color.GREEN: [p]}), f)
"""


def test_main_is_main(python: Context, between: Between) -> None:
    between(python)
    assert python.run("if __name__ == '__main__': print('hit')").ok().stdout == "hit\n"
    between(python)
    assert (
        python.value(
            "import sys; x = 7; sys.modules['__main__'].x, sys.modules['__main__'].__dict__ is globals()"
        )
        == "(7, True)"
    )
    assert (
        python.value("class C: pass\nC.__module__, (lambda: 0).__module__")
        == "('__main__', '__main__')"
    )


def test_pickles_load_in_their_context(python: Context, between: Between) -> None:
    python.run(CLASSES).ok()
    between(python)
    assert (
        python.value(
            "q, red, table = pickle.load(open('/workspace/p.pkl', 'rb')); q == p, type(q) is Point, red is Color.RED, table[Color.GREEN][0].total()"
        )
        == "(True, True, True, 3)"
    )
    assert python.value(
        "copy.deepcopy(p) == p, copy.copy(Color.RED) is Color.RED, typing.get_type_hints(Point)"
    ) == ("(True, True, {'x': <class 'int'>, 'y': <class 'int'>})")


def test_another_context_says_what_is_missing(python: Context) -> None:
    python.run(CLASSES).ok()
    run = python.sandbox.context("python").run(
        "import pickle; pickle.load(open('/workspace/p.pkl', 'rb'))"
    )
    assert run.error_name == "AttributeError"
    assert run.error is not None and "Point" in run.error["message"]


def test_a_redefined_class_is_another(python: Context, between: Between) -> None:
    python.run(CLASSES).ok()
    python.run(
        "old = p\n@dataclasses.dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int = 2"
    ).ok()
    between(python)
    assert (
        python.value("isinstance(old, Point), old == Point(1), old.total(), type(old).__name__")
        == "(False, False, 3, 'Point')"
    )
    run = python.run("pickle.dumps(old)")
    assert run.error_name == "PicklingError"


def test_sources_of_interactive_functions(python: Context, between: Between) -> None:
    python.run(
        "import inspect\ndef area(w: float, h: float = 1) -> float:\n    # comment\n    return w * h"
    ).ok()
    between(python)
    assert python.value("inspect.getsource(area)") == repr(
        "def area(w: float, h: float = 1) -> float:\n    # comment\n    return w * h\n"
    )
    assert (
        python.value("str(inspect.signature(area)), area.__annotations__['w'] is float")
        == "('(w: float, h: float = 1) -> float', True)"
    )
