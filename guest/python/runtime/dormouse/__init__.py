# SPDX-License-Identifier: Apache-2.0
"""What a cell may use of the interpreter around it: rich output.

    from dormouse import display, HTML
    display(HTML("<b>bold</b>"))
"""

from dormouse._display import (
    HTML,
    JSON,
    SVG,
    Image,
    Javascript,
    Latex,
    Markdown,
    Math,
    Pretty,
    clear_output,
    display,
    update_display,
)
from dormouse._limits import Unsupported
from dormouse._site import install

__all__ = [
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
    "clear_output",
    "display",
    "install",
    "update_display",
]
