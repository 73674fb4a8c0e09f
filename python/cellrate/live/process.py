"""Programs in the namespaces of hosts: started, awaited until they are ready, stopped.

Every run has a process namespace of its own (`supervision`), so that whatever a program leaves behind ends with the
run; here programs are only ended in good order.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from ..errors import RunError
from .privileges import Identity

GRACE_S = 3.0
"""How long a program that is told to end may take, before it is killed [s]."""

POLL_S = 0.02
"""How often readiness is looked for [s]."""


class HostLike(Protocol):
    """As much of a host as programs need."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def address(self) -> str:
        """Its IPv4 address."""

    def fileno(self) -> int:
        """Give the descriptor of its network namespace."""


@dataclass(frozen=True)
class Ready:
    """Sign that a program is ready: one of these; nothing means at once."""

    port: int | None = None
    """It listens at this TCP port."""
    pattern: str | None = None
    """A line of its output has this in it."""
    file: Path | None = None
    """This file is there."""

    def phrase(self) -> str:
        """Give the condition that is waited for, for messages."""
        if self.port is not None:
            return f"it listens at port {self.port}"
        if self.pattern is not None:
            return f'its output has "{self.pattern}" in it'
        return f"{self.file} is there"


@dataclass(frozen=True)
class Program:
    """A program that is to run on a host."""

    title: str
    """Names its files: title.out, title.err."""
    host: HostLike
    words: list[str]
    ready: Ready | None = None
    ready_within_s: float = 10.0
    stop_signal: signal.Signals = signal.SIGTERM
    may_be_stopped: bool = True
    """Whether an end by `stop_signal` is a good end."""


@dataclass
class Running:
    """A program that has been started."""

    program: Program
    folder: Path
    process: subprocess.Popen[bytes]
    stopped: bool = False
    """Whether it was told to end."""
    killed: bool = False
    _files: list[IO[bytes]] = field(default_factory=list)

    @property
    def exit_status(self) -> int | None:
        """As the shell has it: negative for a signal; None while it runs."""
        return self.process.poll()

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than it should."""
        status = self.exit_status
        if status == 0 or (status is None):
            return False
        return not (self.stopped and self.program.may_be_stopped and not self.killed)

    def stop(self) -> None:
        """Tell it, and whatever it started, to end."""
        if self.process.poll() is None:
            self.stopped = True
            _signal_group(self.process.pid, self.program.stop_signal)

    def wait(self, until: float) -> None:
        """Wait until it has ended; kill it at the instant `until` of the monotonic clock [s]."""
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.killed = True
            _signal_group(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for file in self._files:
            file.close()

    def output(self) -> str:
        """Give everything that it wrote to stdout."""
        return written(self.folder / f"{self.program.title}.out")

    def last_words(self) -> str:
        """The end of what it wrote to stderr, or else to stdout: for messages."""
        for ending in (".err", ".out"):
            text = written(self.folder / f"{self.program.title}{ending}").strip()
            if text:
                return " / ".join(text.splitlines()[-3:])[-400:]
        return "it wrote nothing"


def _created(file: Path) -> IO[bytes]:
    """Make a file anew in a folder that belongs to the programs in it, which could have put a link there."""
    file.unlink(missing_ok=True)
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb")


def written(file: Path) -> str:
    """Give what a program has written, unless there is now a link, or anything else that is not a file."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as content:
            if stat.S_ISREG(os.fstat(content.fileno()).st_mode):
                return content.read().decode(errors="replace")
    except OSError:
        pass
    return ""


def inside(host: HostLike, words: list[str]) -> list[str]:
    """Give the command that runs `words` in a host's namespace; the descriptor must be handed on (`pass_fds`)."""
    return ["nsenter", f"--net=/proc/self/fd/{host.fileno()}", "--", *words]


def ask(host: HostLike, words: list[str]) -> str:
    """Run a short program in a host's namespace and give what it says, errors and all."""
    done = subprocess.run(
        inside(host, words),
        pass_fds=[host.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=10,
        check=False,
    )
    return done.stdout.decode(errors="replace")


def start(program: Program, folder: Path, identity: Identity, more: Mapping[str, str]) -> Running:
    """Start a program in its host's namespace, in `folder`, in a process group of its own, with more environment.

    Raises
    ------
    RunError
        If there is no such program.
    """
    out, err = (_created(folder / f"{program.title}{ending}") for ending in (".out", ".err"))
    try:
        process = subprocess.Popen(
            inside(program.host, [*identity.words(), *program.words]),
            pass_fds=[program.host.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            process_group=0,
            env=environment(folder, {"LC_ALL": "C", **more}),
        )
    except OSError as error:
        raise RunError(f"{program.title}: nsenter (Debian: util-linux) cannot be started: {error}") from None
    return Running(program, folder, process, _files=[out, err])


KEPT_VARIABLES = ("LANG", "PATH", "TERM", "TZ")
"""Variables of the caller that programs on hosts see; others, such as tokens and proxies, are not for them."""


def environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Give the environment of a program on a host: a few of the caller's variables, HOME, and `more`."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "PATH": search_path(), "HOME": str(home), **more}


def await_ready(running: Running) -> None:
    """Wait until a program is ready.

    Raises
    ------
    RunError
        If it ends, or is not ready in time.
    """
    program = running.program
    if program.ready is None:
        return
    last = time.monotonic() + program.ready_within_s
    while not _is_ready(running, program.ready):
        if running.process.poll() is not None:
            raise RunError(
                f"{program.title} ended with status {running.exit_status} before it was ready: {running.last_words()}"
            )
        if time.monotonic() > last:
            raise RunError(
                f"{program.title} is not ready after {program.ready_within_s:g} s: {program.ready.phrase()} "
                f"was waited for. Its last words: {running.last_words()}"
            )
        time.sleep(POLL_S)


def search_path() -> str:
    """PATH with the folders of system programs, which not every user has in it."""
    path = os.environ.get("PATH", "/usr/bin:/bin")
    extra = [folder for folder in ("/usr/sbin", "/sbin", "/usr/local/sbin") if folder not in path.split(":")]
    return ":".join([path, *extra])


def _is_ready(running: Running, ready: Ready) -> bool:
    if ready.port is not None:
        listening = ask(running.program.host, ["ss", "-Hltn"])
        return re.search(rf":{ready.port}\s", listening) is not None
    if ready.pattern is not None:
        return any(
            ready.pattern in written(running.folder / f"{running.program.title}{ending}") for ending in (".out", ".err")
        )
    return ready.file is not None and (running.folder / ready.file).exists()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
