"""Has cellrate see Windows where there is Linux, as far as that can be; Python loads this at its start.

A process that has this folder on its PYTHONPATH gives the modules of cellrate, and no others, a `sys` that says
"win32", an `os` and a `signal` without the names that Windows lacks, and none of POSIX's own modules. For all modules a
file that is open or mapped can neither be removed nor renamed, nor a folder that holds one; nothing is renamed onto a
folder; and text whose encoding is left to the system is an error where cellrate writes or reads it.
"""

import builtins
import contextlib
import errno
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import portalocker.portalocker

SEEN_BY = ("cellrate",)

MODULES = {"crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}

NAMES = {
    "os": {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "WNOHANG", "chown", "fchmod", "fchown", "fork",
        "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority",
        "getsid", "getuid", "initgroups", "killpg", "lchown", "mkfifo", "nice", "posix_spawn", "pread", "pwrite",
        "register_at_fork", "sched_getaffinity", "sched_setaffinity", "setegid", "seteuid", "setpgid", "setpriority",
        "setsid", "setuid", "statvfs", "sync", "tcgetpgrp", "ttyname", "uname", "wait", "wait4",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGUSR2",
        "SIGWINCH", "SIG_BLOCK", "SIG_SETMASK", "SIG_UNBLOCK", "alarm", "pthread_kill", "pthread_sigmask", "setitimer",
        "sigpending", "sigwait",
    },
}  # fmt: skip


class View(types.ModuleType):
    """A module with names that it lacks and others that it has instead."""

    def __init__(self, real: types.ModuleType, lacks: set[str], instead: dict[str, Any]) -> None:
        super().__init__(real.__name__)
        vars(self).update(_real=real, _lacks=lacks, **instead)

    def __getattr__(self, name: str) -> Any:
        """Give what the module has, unless it lacks it here."""
        if name in self._lacks:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Have the module itself changed, such as `sys.stdout`."""
        setattr(self._real, name, value)


def open_(path: Any, flags: int, mode: int = 0o777) -> int:
    """Open a file, but no folder."""
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return os.open(path, flags, mode)


class Parent:
    """The process that started this one, which does not end before it here."""

    def join(self) -> None:
        """Wait for ever."""
        threading.Event().wait()


VIEWS = {
    "multiprocessing": View(multiprocessing, set(), {"parent_process": Parent}),
    "os": View(os, NAMES["os"], {"open": open_, "O_BINARY": 0}),
    "signal": View(signal, NAMES["signal"], {"SIGBREAK": signal.SIGUSR2}),
    "sys": View(sys, set(), {"platform": "win32"}),
}

_import = builtins.__import__


def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """Import as ever, unless the module that asks is to see Windows."""
    asks = str((globals or {}).get("__name__", ""))
    if level == 0 and asks.partition(".")[0] in SEEN_BY:
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        if name in VIEWS:
            return VIEWS[name]
    return _import(name, globals, locals, fromlist, level)


def in_use(path: Any) -> bool:
    """Whether a process of this session has a file open or mapped, or one that is in a folder."""
    place = str(Path(os.fspath(path)).parent.resolve() / Path(os.fspath(path)).name)
    return any(held == place or held.startswith(f"{place}/") for held in _held())


def _held() -> Iterator[str]:
    session = os.getsid(0)
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if not process.name.isdecimal() or os.getsid(int(process.name)) != session:
                continue
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    yield str(descriptor.readlink())
            for line in (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines():
                yield line.partition("/")[1] + line.partition("/")[2]


def guarded(real: Callable[..., Any], *, to: bool = False, replaces: bool = False) -> Callable[..., Any]:
    """Give a function of `os` that refuses what is in use, and what has the other name already."""

    def call(path: Any, *others: Any, **named: Any) -> Any:
        # By descriptor only Linux's own libraries remove files.
        if named.get("dir_fd") is None and not isinstance(path, int):
            if Path(path).exists() and in_use(path):
                raise PermissionError(errno.EACCES, "in use, as Windows has it", str(path))
            if to:
                target = Path(others[0])
                if target.exists() and (not replaces or target.is_dir() or in_use(target)):
                    number = errno.EACCES if replaces else errno.EEXIST
                    raise OSError(number, "is there, as Windows has it", str(target))
        return real(path, *others, **named)

    return call


# Only Windows has that class; POSIX's has the same methods.
vars(portalocker.portalocker)["Win32Locker"] = portalocker.portalocker.PosixLocker
builtins.__import__ = import_
os.unlink = guarded(os.unlink)
os.remove = guarded(os.remove)
os.rmdir = guarded(os.rmdir)
os.rename = guarded(os.rename, to=True)
os.replace = guarded(os.replace, to=True, replaces=True)
shutil._use_fd_functions = False  # type: ignore[attr-defined]
warnings.filterwarnings("error", category=EncodingWarning, module="cellrate")
