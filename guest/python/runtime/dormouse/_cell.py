# SPDX-License-Identifier: Apache-2.0
"""Before and after a cell. The driver calls begin(), runs the cell itself, and calls end()."""

from dormouse._builtins import __builtins__  # isort: skip

import builtins
import linecache
import os
import sys
import time
from json import JSONDecoder

from _dormouse import call_user, hold

from dormouse import _display, _errors, _input, _loop, _magics

# Bound once, so that nothing that user code does to the json module matters here.
_scan = JSONDecoder().scan_once
_main = sys.modules["__main__"].__dict__

# What packages do at the end of each run, after its value was shown: functions of whether it was stopped.
finishing = []


class _Run:
    """What has to be put back after the run, and what its reports need."""

    __slots__ = ("filename", "environment", "directory")

    def __init__(self):
        self.filename = ""
        self.environment = None
        self.directory = None


_run = _Run()


def _set_environment(values):
    """Sets variables; returns what they were."""
    old = {}
    for name, value in values.items():
        old[name] = os.environ.get(name)
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "TZ" in values:
        time.tzset()
    return old


def _remember_source(filename, source):
    """Makes tracebacks and inspect.getsource() show the cell's lines, also when a file has the same name."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line + "\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        lines.pop()
    linecache.cache[filename] = (len(text), None, lines, filename)


def _forget_directories():
    """Lets imports see files that were written since they last looked; the engine's own never change."""
    for path, finder in list(sys.path_importer_cache.items()):
        if not path.startswith("/usr/lib/python"):
            del sys.path_importer_cache[path]


def begin(request):
    """Prepares the run. Returns (source, filename), or None if there is nothing to run."""
    fields, _ = _scan(request, 0)
    _run.filename = fields.get("filename") or "cell"
    source = fields["code"]
    _run.environment = _run.directory = None
    _input.begin_run()
    _loop.begin_run()
    _main.pop("__warningregistry__", None)
    _forget_directories()
    if fields.get("contextEnv"):
        _set_environment(fields["contextEnv"])
    if fields.get("contextCwd"):
        os.chdir(fields["contextCwd"])
    if fields.get("env"):
        _run.environment = _set_environment(fields["env"])
    if fields.get("cwd"):
        directory = os.getcwd()
        os.chdir(fields["cwd"])
        _run.directory = directory
    _remember_source(_run.filename, source)
    return _magics.without_magics(source), _run.filename


def _show(value):
    if sys.displayhook is not sys.__displayhook__:
        call_user(sys.displayhook, value)
        return
    builtins._ = value
    _display.send_result(value)


def _put_back():
    if _run.environment is not None:
        _set_environment(_run.environment)
        _run.environment = None
    if _run.directory is not None:
        try:
            os.chdir(_run.directory)
        except OSError:
            os.chdir("/")
        _run.directory = None


def _was_stopped(error):
    """Whether a KeyboardInterrupt is, or led to, this error."""
    for _ in range(100):
        if error is None or isinstance(error, KeyboardInterrupt):
            break
        error = error.__context__
    return error is not None


def _finish(error):
    """Lets packages finish. Returns the run's error: what it was, or else what one of them raised."""
    for function in finishing:
        try:
            function(_was_stopped(error))
        except BaseException as failure:
            if error is None or _was_stopped(failure):
                error = failure
    return error


def end(value, error):
    """Reports the outcome of a run: its value or its error, and puts back what was the run's alone."""
    try:
        if error is None and value is not None:
            try:
                _show(value)
            except BaseException as failure:
                error = failure
        error = _finish(error)
        hold(_was_stopped(error))
        if isinstance(error, SystemExit):
            _errors.report_exit(error)
        elif error is not None:
            _errors.report_error(error, _run.filename)
        _display.flush()
    finally:
        hold(False)
        _put_back()
