# SPDX-License-Identifier: Apache-2.0
"""IPython.display, as far as dormouse has it."""

from dormouse import (
    HTML,
    JSON,
    SVG,
    DisplayHandle,
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

__all__ = [
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
    "clear_output",
    "display",
    "update_display",
]


def _displayer(kind):
    def show(*objects, raw=False, **options):
        for value in objects:
            display(kind(value) if raw else value, **options)

    return show


display_html = _displayer(HTML)
display_markdown = _displayer(Markdown)
display_svg = _displayer(SVG)
display_latex = _displayer(Latex)
display_png = _displayer(Image)
display_json = _displayer(JSON)
display_pretty = _displayer(Pretty)
