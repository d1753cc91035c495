# SPDX-License-Identifier: Apache-2.0
"""The report of an uncaught error: name, message, and a traceback in which only user code appears."""

from dormouse._builtins import __builtins__  # isort: skip

import linecache
import sys
import traceback
from _json import encode_basestring
from types import TracebackType

from _dormouse import call_user, emit

from dormouse._display import flush
from dormouse._site import missing_module_hint
from dormouse._text import cut

EMIT_ERROR = 2
EMIT_EXIT = 3

MESSAGE_LIMIT = 20_000
LINE_LIMIT = 2_000
# Lines of a traceback; what is longer loses its middle.
HEAD_LINES = 200
TAIL_LINES = 100
# Frames at either end of a traceback that are looked at: each costs time, and a recursion has them by the million.
END_FRAMES = 1_000

_OWN_FILES = ("/usr/lib/python3.13/dormouse/",)
# Beneath a cell that awaits at top level lie the event loop's frames, which the user did not call.
_LOOP_FILES = (*_OWN_FILES, "/usr/lib/python3.13/asyncio/")


def _frames_of(trace):
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _without_own_frames(trace):
    """The same traceback without the driver's frames, and without the loop's at its outer end."""
    kept = [item for item in _frames_of(trace) if not item.tb_frame.f_code.co_filename.startswith(_OWN_FILES)]
    for start, item in enumerate(kept):
        if not item.tb_frame.f_code.co_filename.startswith(_LOOP_FILES):
            del kept[:start]
            break
    result = None
    for item in reversed(kept):
        if item.tb_next is not result:
            item.tb_next = result
        result = item
    return result


def _clean(error, seen):
    """Cleans the tracebacks of an error and of all that it is chained to."""
    waiting = [error]
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        error.__traceback__ = _without_own_frames(error.__traceback__)
        waiting += (error.__cause__, error.__context__)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions


def _complete_syntax_error(error, filename):
    """Shows the line also for errors that the compiler finds after parsing, and tells users of notebook syntax
    what is wrong instead of leaving them with `invalid syntax`."""
    line = error.lineno
    lines = linecache.getlines(filename)
    if not isinstance(line, int) or not 0 < line <= len(lines):
        return
    if error.text is None:
        error.text = lines[line - 1]
    text = lines[line - 1].strip()
    if text.startswith(("!pip ", "%pip ")):
        hint = "there is no pip here: dormouse.install('NAME-….whl') installs a wheel of the workspace"
    elif text.startswith("!"):
        hint = "shell commands (!command) do not exist here: there are no processes to start"
    elif text.startswith("%"):
        hint = "notebook magics (%name) do not exist here: this is plain Python"
    elif text.startswith("?") or text.endswith("?"):
        hint = "notebook help (name?) does not exist here: use help(name)"
    else:
        return
    error.msg = f"{error.msg}; {hint}"


def _message(error):
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        return cut(call_user(str, error), MESSAGE_LIMIT)
    except Exception:
        return f"<str() of this {type(error).__name__} failed>"


def _bounded_lines(lines):
    lines = [cut(line, LINE_LIMIT) for line in lines]
    if len(lines) <= HEAD_LINES + TAIL_LINES:
        return lines
    left_out = len(lines) - HEAD_LINES - TAIL_LINES
    return [*lines[:HEAD_LINES], f"  … {left_out:,} lines left out …", *lines[-TAIL_LINES:]]


class _ShortenedStack:
    """A stack without its middle; shown in place of a traceback.StackSummary."""

    def __init__(self, stack, left_out):
        self._ends = stack[:END_FRAMES], stack[END_FRAMES:]
        self._left_out = left_out

    def format(self, **options):
        head, tail = (traceback.StackSummary(end).format(**options) for end in self._ends)
        return [*head, f"  … {self._left_out:,} frames left out …\n", *tail]


def _without_middle(trace):
    """A copy of a long traceback's two ends, and how many frames lay between; a short one is returned as it is."""
    items = list(_frames_of(trace))
    left_out = len(items) - 2 * END_FRAMES
    if left_out <= 0:
        return trace, 0
    result = items[-END_FRAMES]
    for item in reversed(items[:END_FRAMES]):
        result = TracebackType(result, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return result, left_out


def _format(error):
    trace, left_out = _without_middle(error.__traceback__)
    try:
        formatted = call_user(traceback.TracebackException, type(error), error, trace)
        if left_out:
            formatted.stack = _ShortenedStack(formatted.stack, left_out)
        text = call_user("".join, formatted.format())
    except Exception as failure:
        text = f"{type(error).__name__}: {_message(error)}\n(its traceback could not be shown: {type(failure).__name__})"
    lines = text.rstrip("\n").split("\n")
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        lines += missing_module_hint(error.name)
    return _bounded_lines(lines)


def _line_number(error, filename):
    if isinstance(error, SyntaxError) and error.filename == filename and isinstance(error.lineno, int):
        return error.lineno
    line = None
    for item in _frames_of(error.__traceback__):
        if item.tb_frame.f_code.co_filename == filename:
            line = item.tb_lineno
    return line


def report_error(error, filename):
    """Reports an uncaught error of the cell."""
    _clean(error, set())
    if isinstance(error, SyntaxError) and error.filename == filename:
        _complete_syntax_error(error, filename)
    sys.last_exc = sys.last_value = error
    sys.last_type = type(error)
    sys.last_traceback = error.__traceback__
    if sys.excepthook is not sys.__excepthook__:
        try:
            call_user(sys.excepthook, type(error), error, error.__traceback__)
        except Exception:
            pass
    fields = [
        f'"name":{encode_basestring(type(error).__name__)}',
        f'"message":{encode_basestring(_message(error))}',
        '"traceback":[' + ",".join([encode_basestring(line) for line in _format(error)]) + "]",
    ]
    line = _line_number(error, filename)
    if line is not None:
        fields.append(f'"lineNumber":{line}')
    flush()
    emit(EMIT_ERROR, "{" + ",".join(fields) + "}")


def report_exit(error):
    """Reports that user code asked to end the run: sys.exit() and the like."""
    code, message = error.code, None
    if code is None:
        code = 0
    elif not isinstance(code, int):
        try:
            message = cut(call_user(str, code), MESSAGE_LIMIT)
        except Exception:
            message = f"<str() of a {type(code).__name__} failed>"
        code = 1
    code = (int(code) + 2**31) % 2**32 - 2**31
    flush()
    text = "" if message is None else f',"message":{encode_basestring(message)}'
    emit(EMIT_EXIT, f'{{"code":{code}{text}}}')
