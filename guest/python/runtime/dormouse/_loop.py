# SPDX-License-Identifier: Apache-2.0
"""asyncio without sockets: an event loop that has timers, callbacks and tasks, and sleeps in between.

Cells that await at top level all run on one loop, which lives as long as the context: a task that one cell
leaves behind goes on whenever a later cell awaits. asyncio.run() makes a loop of its own, as always.
"""

from dormouse._builtins import __builtins__  # isort: skip

import asyncio
import types
from asyncio import base_events, events

from _dormouse import wait

_NO_SOCKETS = "this interpreter has no sockets"


class _Timer:
    """What the loop sleeps on, where other systems have a selector."""

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError(
                "the event loop waits for something that cannot happen: no timer, callback or other task is "
                "left that could wake it, and there are no threads, processes or sockets"
            )
        wait(timeout)
        return ()

    def close(self):
        pass


class Loop(base_events.BaseEventLoop):
    """The event loop of this interpreter."""

    def __init__(self):
        super().__init__()
        self._selector = _Timer()

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, func, *args):
        """Runs the function at once, in this thread, when no executor is given: there is no other thread."""
        self._check_closed()
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def getaddrinfo(self, *args, **kwargs):
        raise OSError(_NO_SOCKETS)

    async def create_connection(self, *args, **kwargs):
        raise OSError(_NO_SOCKETS)

    async def create_server(self, *args, **kwargs):
        raise OSError(_NO_SOCKETS)

    async def create_datagram_endpoint(self, *args, **kwargs):
        raise OSError(_NO_SOCKETS)

    async def subprocess_exec(self, *args, **kwargs):
        raise OSError("this interpreter has no processes")

    async def subprocess_shell(self, *args, **kwargs):
        raise OSError("this interpreter has no processes")


class Policy(events.BaseDefaultEventLoopPolicy):
    """Makes asyncio use Loop."""

    _loop_factory = Loop


_loop = None


def boot():
    global _loop
    asyncio.set_event_loop_policy(Policy())
    _loop = Loop()
    begin_run()


def begin_run():
    """asyncio.run() leaves no current loop behind; cells have one."""
    local = events.get_event_loop_policy()._local if isinstance(events.get_event_loop_policy(), Policy) else None
    if local is not None and local._loop is None:
        local._loop = _loop


def _waiting_at(coroutine):
    """A traceback of where a suspended coroutine waits."""
    frames = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is None:
            break
        frames.append(frame)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    trace = None
    for frame in reversed(frames):
        trace = types.TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
    return trace


def _end(task, coroutine, error):
    """Ends the cell's task after an error that hit the loop, not the task; raises that error."""
    trace = _waiting_at(coroutine)
    task.cancel()
    try:
        _loop.run_until_complete(task)
    except BaseException:
        pass
    raise error.with_traceback(trace)


def run(coroutine):
    """Runs the coroutine of a cell to its end; the driver calls this."""
    global _loop
    if _loop.is_closed():
        _loop = Loop()
        events.get_event_loop_policy().set_event_loop(_loop)
    task = _loop.create_task(coroutine)
    try:
        _loop.run_until_complete(task)
    except BaseException as error:
        if not task.done():
            _end(task, coroutine, error)
        if not isinstance(error, Exception):
            raise
    # Not task.result(): that would put the loop's frames into the traceback.
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is not None:
        raise error
    return task.result()
