# SPDX-License-Identifier: Apache-2.0
"""Lines of notebooks that say what is so anyway: `%matplotlib inline`."""

from dormouse._builtins import __builtins__  # isort: skip

import ast
import re

_LINE = re.compile(r"([ \t]*)%matplotlib\b[^\r\n]*")
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def without_magics(source):
    """The source with `pass` where a statement would begin with %matplotlib; its lines stay where they are."""
    lines = None
    for _ in range(source.count("%matplotlib")):
        try:
            compile(source, "cell", "exec", _FLAGS)
            break
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
        lines = lines or re.split("(\r\n|\n|\r)", source)
        at = 2 * (line or 0) - 2
        match = _LINE.fullmatch(lines[at]) if 0 <= at < len(lines) else None
        if match is None:
            break
        lines[at] = f"{match[1]}pass"
        source = "".join(lines)
    return source
