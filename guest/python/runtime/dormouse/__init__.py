# SPDX-License-Identifier: Apache-2.0
"""What a cell may use of the interpreter around it: rich output.

    from dormouse import display, HTML
    display(HTML("<b>bold</b>"))
"""

from dormouse._charts import Chart, chart
from dormouse._display import DisplayHandle, clear_output, display, update_display
from dormouse._limits import Unsupported
from dormouse._objects import HTML, JSON, SVG, Image, Javascript, Latex, Markdown, Math, Pretty
from dormouse._site import install

__all__ = [
    "Chart",
    "DisplayHandle",
    "HTML",
    "Image",
    "JSON",
    "Javascript",
    "Latex",
    "Markdown",
    "Math",
    "Pretty",
    "SVG",
    "Unsupported",
    "chart",
    "clear_output",
    "display",
    "install",
    "update_display",
]
