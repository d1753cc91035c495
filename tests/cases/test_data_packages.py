# SPDX-License-Identifier: Apache-2.0
"""The engine with NumPy: arithmetic, linear algebra, warnings, randomness, and state that lasts."""

import time

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.engines import needs_data

pytestmark = needs_data


@pytest.fixture
def data(sandbox: Sandbox) -> Context:
    return sandbox.context("python")


def test_the_engine_takes_the_place_of_the_plain_one(sandbox: Sandbox) -> None:
    bindings = {row["name"]: row for row in sandbox.client.get("/v1/bindings")["data"]}
    assert bindings["PYTHON"]["engine"] == "python-data-3.13" and bindings["PYTHON"]["isDefault"]
    core = bindings["PYTHON_CORE"]
    assert (core["engine"], core["language"], core["isDefault"]) == ("python-3.13", "python", False)
    plain = sandbox.context("python", binding="PYTHON_CORE")
    assert plain.run("import numpy").error_name == "ModuleNotFoundError"


def test_importing_costs_nothing(data: Context) -> None:
    data.run("1").ok()
    run = data.run(
        "import time; began = time.perf_counter(); import numpy; round(time.perf_counter() - began, 1)"
    )
    assert run.ok().result == "0.0"


def test_arithmetic_and_types(data: Context) -> None:
    data.run("import numpy as np").ok()
    assert data.value("np.arange(12).reshape(3, 4).sum(axis=0)") == "array([12, 15, 18, 21])"
    assert data.value("np.array([1, 2, 3], dtype=np.int64) ** 2 / 2") == "array([0.5, 2. , 4.5])"
    assert data.value("round(np.linspace(0, 1, 1_000_000).sum().item(), 6)") == "500000.0"
    assert data.value("(np.array([3, 1, 2]).argsort().tolist(), np.unique([3, 1, 3]))") == "([1, 2, 0], array([1, 3]))"
    assert data.value("((np.arange(100_000) ** 2).max().item(), np.array([2**31 - 1] * 2, np.int32).sum().item())") == (
        "(9999800001, 4294967294)"
    )
    assert data.value("np.array(['a', 'bc'])[1].item() + str(np.datetime64('2024-02-29') + 1)") == "'bc2024-03-01'"
    assert data.value("(np.longdouble(1) / 3 == 1 / 3, np.float16(2.5), np.int8(127))") == (
        "(np.False_, np.float16(2.5), np.int8(127))"
    )


def test_linear_algebra(data: Context) -> None:
    data.run("import numpy as np; a = np.array([[2., 1.], [1., 3.]])").ok()
    assert data.value("np.linalg.solve(a, [3., 5.]).round(12)") == "array([0.8, 1.4])"
    assert data.value("np.allclose(np.linalg.inv(a) @ a, np.eye(2))") == "True"
    assert data.value("np.linalg.eigvalsh(a).round(6)") == "array([1.381966, 3.618034])"
    assert data.value("u, s, v = np.linalg.svd(a); np.allclose(u * s @ v, a)") == "True"
    assert data.value("np.abs(np.fft.fft([1, 0, 0, 0]))") == "array([1., 1., 1., 1.])"


def test_floating_point_errors_are_noticed(data: Context) -> None:
    run = data.run("import numpy as np\nnp.array([1., 0.]) / 0.")
    assert run.ok().result == "array([inf, nan])"
    assert "divide by zero encountered in divide" in run.stderr
    assert "invalid value encountered in divide" in run.stderr
    run = data.run("np.linalg.inv(np.zeros((2, 2)))")
    assert run.error_name == "LinAlgError" and run.error and run.error["message"] == "Singular matrix"
    run = data.run("with np.errstate(over='raise'):\n    np.array([1e308]) * 10")
    assert run.error_name == "FloatingPointError"
    assert data.run("np.array([1., 2.]) / 3.").ok().stderr == ""
    assert "overflow encountered in scalar multiply" in data.run("np.float64(1e308) * 10").stderr
    assert "overflow encountered in exp" in data.run("np.exp(1e4)").stderr
    assert "divide by zero encountered in log1p" in data.run("np.log1p([-1.])").stderr
    assert data.run("np.exp(-700.), np.log1p(-.5), np.exp(np.nan)").ok().stderr == ""


def test_contexts_and_forks_draw_different_numbers(sandbox: Sandbox) -> None:
    first, second = (sandbox.context("python") for _ in range(2))
    draw = "np.random.random(), np.random.default_rng().random()"
    drawn: list[str | None] = []
    for context in (first, second):
        context.run("import numpy as np; mine = np.random.default_rng(); seeded = np.random.default_rng(5)").ok()
        drawn += [context.value("np.random.random()"), context.value("np.random.default_rng().random()")]
    fork = first.fork()
    for context in (first, fork):
        drawn += [context.value("np.random.random()"), context.value("mine.random()")]
    assert len(set(drawn)) == len(drawn), draw
    assert first.value("seeded.random()") == fork.value("seeded.random()")


def test_a_seed_of_the_user_stays(sandbox: Sandbox) -> None:
    context = sandbox.context("python")
    context.run("import numpy as np; np.random.seed(42)").ok()
    fork = context.fork()
    assert context.value("round(np.random.rand(), 8)") == "0.37454012"
    assert fork.value("round(np.random.rand(), 8)") == "0.37454012"


def test_arrays_last(data: Context, between: Between) -> None:
    data.run("import numpy as np; big = np.arange(500_000.); view = big[::1000]; np.seterr(divide='ignore')").ok()
    between(data)
    assert data.value("view[-1] = 7; (big.sum().item(), big[499_000].item(), view.base is big)") == (
        "(124999251007.0, 7.0, True)"
    )
    assert data.run("np.array([1.]) / 0").ok().stderr == ""


def test_files(data: Context, between: Between) -> None:
    data.run("import numpy as np; np.save('a.npy', np.eye(3)); np.savetxt('t.csv', np.eye(2), delimiter=',')").ok()
    between(data)
    assert data.value("(np.load('a.npy').trace().item(), np.loadtxt('t.csv', delimiter=',').sum().item())") == "(3.0, 2.0)"


def test_memory_that_is_not_there(data: Context) -> None:
    data.run("import numpy as np; kept = np.ones(10)").ok()
    run = data.run("np.zeros(120_000_000)")
    assert run.error_name in ("MemoryError", "_ArrayMemoryError")
    assert data.value("kept.sum().item()") == "10.0"


def test_a_computation_can_be_stopped(data: Context) -> None:
    data.run("import numpy as np; kept = 1").ok()
    began = time.monotonic()
    run = data.run("while True: np.sort(np.random.random(100_000))", timeoutMs=500)
    assert run.status == "timeout" and time.monotonic() - began < 20
    assert data.value("kept") == "1"


def test_a_dormant_context_is_small(data: Context) -> None:
    data.run("import numpy as np; a = np.arange(1000.); b = np.linalg.inv(np.eye(5))").ok()
    data.evict()
    assert data.get()["snapshot"]["storedBytes"] < 4 << 20
