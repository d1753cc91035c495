# SPDX-License-Identifier: Apache-2.0
"""What this interpreter cannot do, said at once and in words, where Python would fail late or vaguely."""

import _socket
import _thread
import errno
import importlib.abc
import locale
import os
import signal
import sys
import threading
import time

_WHY = {
    "process": "this interpreter is a single process and cannot start another; do the work in Python itself",
    "signal": "no signals or timers reach this interpreter; for a time limit use the one of the run",
    "descriptor": "this interpreter has no pipes and makes no devices",
    "user": "this interpreter has a single user and no user database",
}

_OS = {
    "process": (
        "fork", "forkpty", "register_at_fork", "system", "execl", "execle", "execlp", "execlpe", "execv",
        "execve", "execvp", "execvpe", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve",
        "spawnvp", "spawnvpe", "posix_spawn", "posix_spawnp", "wait", "waitpid", "wait3", "wait4", "waitid",
        "kill", "killpg", "getpgid", "getpgrp", "setpgid", "getsid", "setsid", "nice", "getpriority",
        "WNOHANG", "WEXITED", "WUNTRACED", "P_ALL", "P_PID",
    ),
    "descriptor": ("pipe", "pipe2", "openpty", "mkfifo", "mknod", "sendfile", "memfd_create"),
    "user": ("setuid", "setgid", "seteuid", "setegid", "getlogin", "getgroups", "chown", "lchown", "fchown"),
}

_SIGNAL = {"signal": ("alarm", "setitimer", "getitimer", "pause", "sigwait", "pthread_kill", "siginterrupt")}

_MODULES = {
    "process": ("_posixsubprocess", "_multiprocessing", "_posixshmem", "pty"),
    "terminal": ("termios", "tty", "readline", "curses", "_curses", "tkinter", "_tkinter", "idlelib", "turtle"),
    "library": ("_ssl", "ctypes", "_ctypes", "_dbm", "_gdbm", "_uuid"),
    "system": ("mmap", "fcntl", "resource", "pwd", "grp", "syslog", "_scproxy"),
    "installer": ("ensurepip", "venv"),
}

_MODULE_WHY = {
    "process": "this interpreter is a single process",
    "terminal": "this interpreter has no terminal and no screen",
    "library": "its C library is not part of this interpreter",
    "system": "the system interface behind it does not exist here",
    "installer": "packages cannot be installed from here",
}


class Unsupported(AttributeError, NotImplementedError):
    """A part of the standard library that this interpreter does not have."""

    __module__ = "dormouse"

    @property
    def name(self):
        """Always None: Python guesses at a misspelt attribute otherwise."""

    @name.setter
    def name(self, value):
        pass


def _explain(module, groups):
    """Gives a module a reason for each name that it lacks; hasattr() stays False."""
    reasons = {name: _WHY[why] for why, names in groups.items() for name in names}
    prefix = module.__name__

    def __getattr__(name):
        reason = reasons.get(name)
        if reason is None:
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}", name=name, obj=module)
        raise Unsupported(f"{prefix}.{name} is not available: {reason}")

    module.__getattr__ = __getattr__


class _MissingModules(importlib.abc.MetaPathFinder):
    """Says why a module of the standard library is missing."""

    _reasons = {name: _MODULE_WHY[why] for why, names in _MODULES.items() for name in names}

    def find_spec(self, name, path=None, target=None):
        reason = self._reasons.get(name)
        if reason is not None:
            raise ModuleNotFoundError(f"No module named {name!r}: {reason}", name=name)
        return None


def _no_threads(*args, **kwargs):
    raise RuntimeError(
        "can't start new thread: this interpreter has a single thread; call the function directly, or use asyncio"
    )


def _no_network(*args, **kwargs):
    raise OSError(errno.ENOTSUP, "this interpreter has no network")


def _complete_sockets():
    """Gives `socket` what its users call before they would find out that there are no sockets."""
    for name in ("getaddrinfo", "getnameinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "socketpair"):
        if not hasattr(_socket, name):
            setattr(_socket, name, _no_network)
    if not hasattr(_socket, "gethostname"):
        _socket.gethostname = lambda: "localhost"


def _complete_system():
    """Small things that programs ask for without need, and that are missing on this platform."""

    def get_terminal_size(fd=1, /):
        raise OSError(errno.ENOTTY, "this interpreter has no terminal")

    os.get_terminal_size = get_terminal_size
    time.thread_time = time.process_time
    time.thread_time_ns = time.process_time_ns


_setlocale = locale._setlocale


def _only_c_locale(category, name=None):
    """wasi-libc takes any name and then behaves as in the C locale; that would be a silent lie."""
    if name not in (None, "", "C", "POSIX", "C.UTF-8", "C.utf8", "C.UTF8"):
        raise locale.Error(f"unsupported locale setting: {name!r}; only C.UTF-8 is available here")
    return _setlocale(category, name)


def boot():
    _complete_sockets()
    _complete_system()
    locale._setlocale = _only_c_locale
    _explain(os, _OS)
    _explain(signal, _SIGNAL)
    sys.meta_path.append(_MissingModules())
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        if hasattr(_thread, name):
            setattr(_thread, name, _no_threads)
    threading._start_joinable_thread = _no_threads
