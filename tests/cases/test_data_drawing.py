# SPDX-License-Identifier: Apache-2.0
"""The engine with Matplotlib and Pillow: figures and pictures in files, errors of their C and C++ as exceptions, and state
that lasts."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.engines import needs_data

pytestmark = needs_data

ALL_KINDS = """
import matplotlib.pyplot as plt, numpy as np
rng = np.random.default_rng(1)
x, y = rng.random(60), rng.random(60)
figure, grid = plt.subplots(3, 3, figsize=(9, 8), layout="constrained")
a = grid.ravel()
a[0].plot([1, 2, 3], [1, 4, 9], label="$x^2$")
a[0].legend()
a[1].bar(["a", "b"], [3, 1])
a[2].hist(x, bins=10)
figure.colorbar(a[3].imshow(rng.random((8, 8))), ax=a[3])
a[4].contourf(np.add.outer(np.arange(9.), np.arange(9.) ** 2))
a[5].tricontourf(x, y, x * y)
a[6].pie([1, 2, 3], labels=["x", "y", "z"])
a[7].boxplot([x, y])
a[8].text(0.1, 0.5, r"$\\int_0^\\infty e^{-x^2} dx = \\frac{\\sqrt{\\pi}}{2}$")
"""
FONT = "ImageFont.truetype(matplotlib.get_data_path() + '/fonts/ttf/DejaVuSans.ttf', 20)"


@pytest.fixture
def data(sandbox: Sandbox) -> Context:
    return sandbox.context("python")


def test_importing_costs_nothing(data: Context) -> None:
    data.run("1").ok()
    run = data.run(
        "import time; began = time.perf_counter(); import matplotlib.pyplot, PIL.Image; round(time.perf_counter() - began, 1)"
    )
    assert run.ok().result == "0.0"


def test_figures_of_all_kinds_are_saved_in_all_formats(data: Context) -> None:
    data.run(ALL_KINDS).ok()
    for kind, begin in {"png": "89504e47", "jpg": "ffd8ffe0", "svg": "3c3f786d", "pdf": "25504446"}.items():
        data.run(f"figure.savefig('figure.{kind}')").ok()
        assert data.value(f"open('figure.{kind}', 'rb').read(4).hex()") == repr(begin)
    assert data.value("import os; sorted(os.listdir())") == "['figure.jpg', 'figure.pdf', 'figure.png', 'figure.svg']"
    assert data.value("plt.imread('figure.png').shape") == "(800, 900, 4)"


def test_a_figure_lasts(data: Context, between: Between) -> None:
    data.run("import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\nline, = axes.plot([1, 2], [3, 4])").ok()
    between(data)
    data.run("line.set_ydata([3, 5]); axes.set_title('$a_1$'); axes.relim(); axes.autoscale(); figure.savefig('f.png')").ok()
    assert data.value("round(float(axes.get_ylim()[1]), 3)") == "5.1"


def test_errors_of_cpp_are_exceptions(data: Context) -> None:
    run = data.run("open('x.ttf', 'wb').write(b'no font' * 99)\nfrom matplotlib import ft2font\nft2font.FT2Font('x.ttf')")
    assert run.error_name == "RuntimeError" and run.state == "kept"
    run = data.run("import contourpy\ncontourpy.contour_generator(z=[[1, 2], [3, 4]]).filled(2, 1)")
    assert run.error_name == "ValueError"
    run = data.run("from matplotlib.tri import Triangulation\nTriangulation([0, 1, 2], [0, 1, 2])")
    assert run.error_name == "RuntimeError"
    run = data.run(
        "from kiwisolver import Solver, Variable\nsolver, v = Solver(), Variable('v')\n"
        "solver.addConstraint(v >= 10)\nsolver.addConstraint(v <= 5)"
    )
    assert run.error_name == "UnsatisfiableConstraint"
    assert data.value("solver = Solver(); solver.addConstraint(v >= 10); solver.updateVariables(); v.value()") == "10.0"


def test_pictures(data: Context) -> None:
    data.run(
        "import io, matplotlib\nfrom PIL import Image, ImageDraw, ImageFont\npicture = Image.new('RGB', (120, 80), 'white')\n"
        f"ImageDraw.Draw(picture).text((5, 5), 'Grüße', font={FONT}, fill='black')\n"
        "small = picture.resize((60, 40), Image.LANCZOS)"
    ).ok()
    for kind in ("png", "jpeg", "gif", "bmp", "tiff"):
        data.run(f"small.save('small.{kind}')").ok()
        assert data.value(f"Image.open('small.{kind}').convert('RGB').getpixel((59, 39))") == "(255, 255, 255)"
    data.run("small.save('small.pdf')").ok()
    assert data.value("open('small.pdf', 'rb').read(4)") == "b'%PDF'"
    assert data.value("picture.getextrema()[0][0] < 50, picture.split()[0].size") == "(True, (120, 80))"


def test_broken_pictures_are_errors(data: Context) -> None:
    data.run(
        "import io, os\nfrom PIL import Image\nfile = io.BytesIO()\n"
        "Image.effect_noise((300, 300), 50).save(file, 'jpeg')\nwhole = file.getvalue()"
    ).ok()
    assert data.run("Image.open(io.BytesIO(whole[:2000])).load()").error_name == "OSError"
    run = data.run("Image.open(io.BytesIO(whole[:20] + bytes(500) + whole[520:])).load()")
    assert run.error_name in ("OSError", "UnidentifiedImageError", "SyntaxError") and run.state == "kept"
    run = data.run("Image.new('RGB', (9, 9)).save(io.BytesIO(), 'webp')")
    assert run.error_name == "KeyError" and run.error and "WEBP" in run.error["message"]
