# SPDX-License-Identifier: Apache-2.0
"""What display() in each format gives, in every language, and the table of it that docs/outputs.md shows.

`python -m outputs.table`, in tests/, writes the table into the page. That each cell is true, test_outputs.py checks.
"""

from dataclasses import dataclass
from pathlib import Path

from quick.pages import write_section
from quick.pictures import SVG, png

PAGE = Path(__file__).resolve().parents[2] / "docs" / "outputs.md"
LANGUAGES = ("python", "javascript", "typescript", "perl", "ruby", "lua")
TITLES = ("Python", "JavaScript", "TypeScript", "Perl", "Ruby", "Lua")

JPEG = b"\xff\xd8\xff\xe0" + bytes(16)
# A value in each language; JavaScript's stands for TypeScript's.
DISPLAY = {
    "python": "display({value}, format='{format}')",
    "javascript": "display({value}, {{ format: '{format}' }});",
    "perl": "display({value}, {{format => '{format}'}});",
    "ruby": "display {value}, format: '{format}'",
    "lua": "display({value}, {{format = '{format}'}})",
}
TEXTS = {
    "text": "plain words",
    "markdown": "# Title",
    "html": "<p>page</p>",
    "latex": "\\\\frac12",
    "svg": SVG,
}
BYTES = {"png": png(), "jpeg": JPEG}
OF_BYTES = {
    "python": "bytes.fromhex('{}')",
    "javascript": "Buffer.from('{}', 'hex')",
    "perl": "pack('H*', '{}')",
    "ruby": "['{}'].pack('H*')",
    "lua": "(('{}'):gsub('..', function(digits) return string.char(tonumber(digits, 16)) end))",
}
VALUES = {
    "json": {
        "python": "{'a': [1, None]}",
        "javascript": "{ a: [1, null] }",
        "perl": "{a => [1, undef]}",
        "ruby": "({a: [1, nil]})",
        "lua": "{a = {1, require('json').null}}",
    },
    "data": {
        "python": "[{'n': 1, 's': 'x'}, {'n': 2, 's': 'y'}]",
        "javascript": "[{ n: 1, s: 'x' }, { n: 2, s: 'y' }]",
        "perl": "[{n => 1, s => 'x'}, {n => 2, s => 'y'}]",
        "ruby": "[{n: 1, s: 'x'}, {n: 2, s: 'y'}]",
        "lua": "{{n = 1, s = 'x'}, {n = 2, s = 'y'}}",
    },
    "chart": {
        **dict.fromkeys(("python", "javascript", "perl", "ruby"), "chart('line', [1, 3, 2])"),
        "lua": "chart('line', {1, 3, 2})",
    },
}


@dataclass(frozen=True)
class Format:
    name: str
    mime: str
    # What comes with it, in order; the format itself is one of these.
    outputs: tuple[str, ...]

    def kind(self, policy: str, output: str) -> str:
        """inline, artifact or rejected."""
        if output not in ("html", "svg", "png", "jpeg"):
            return "inline"
        return "artifact" if policy == "promote" else "rejected"


FORMATS = (
    Format("text", "text/plain", ("text",)),
    Format("markdown", "text/markdown", ("markdown",)),
    Format("html", "text/html", ("text", "html")),
    Format("latex", "text/latex", ("latex",)),
    Format("json", "application/json", ("text", "json")),
    Format("data", "application/vnd.dataresource+json", ("text", "html", "data")),
    Format("chart", "application/vnd.dormouse.chart.v1+json", ("text", "chart", "svg")),
    Format("svg", "image/svg+xml", ("text", "svg")),
    Format("png", "image/png", ("text", "png")),
    Format("jpeg", "image/jpeg", ("text", "jpeg")),
)


def code_language(language: str) -> str:
    return "javascript" if language == "typescript" else language


def display(format: str, language: str) -> str:
    """The code that displays something in the format."""
    own = code_language(language)
    if format in TEXTS:
        value = f"'{TEXTS[format]}'"
    elif format in BYTES:
        value = OF_BYTES[own].format(BYTES[format].hex())
    else:
        value = VALUES[format][own]
    return DISPLAY[own].format(value=value, format=format)


def table() -> str:
    lines = [
        f"| format | MIME type | comes with | {' | '.join(TITLES)} |",
        "| --- | --- | --- |" + " --- |" * len(TITLES),
    ]
    for row in FORMATS:
        others = ", ".join(output for output in row.outputs if output != row.name)
        kinds = [row.kind(policy, row.name) for policy in ("inline_only", "promote")]
        cells = [f"{kinds[0]}, {kinds[1]}"] * len(LANGUAGES)
        lines.append(f"| {row.name} | `{row.mime}` | {others} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    write_section(PAGE, "formats", table())


if __name__ == "__main__":
    main()
