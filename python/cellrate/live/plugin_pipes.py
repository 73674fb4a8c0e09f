"""Pipes by which plugins get to the processes of a live run, and exceptions back.

An attempt at a live run, and each switch of a distributed one, is a process that is started anew. What it is given is
pickled: classes by reference where it can import them too, and by value where it cannot, as those of a notebook, of a
script that is being run, or of the file of `--algorithm` and its like.

What is pickled goes through pipes between the processes of a run and nowhere else: a file could have been written by
somebody else by the time that it is read, and to read a pickle is to run it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from ..errors import CellrateError, RunError, own_lines
from ..plugins.by_value import pickled
from ..plugins.collection import NOTHING, Plugins


def pack_plugins(plugins: Plugins) -> bytes:
    """Give what is not built in as octets for the stdin of a process that is to have it; none where there is nothing.

    Raises
    ------
    CellrateError
        If it depends on something that cannot leave this process, such as an open file.
    """
    if not plugins:
        return b""
    paths = [str(Path(entry).resolve()) for entry in sys.path]
    return pickle.dumps((paths, pickled(plugins, plugins)))


def take_plugins(octets: bytes) -> Plugins:
    """Take what `pack_plugins` gave, which came through a pipe from the process that started this one.

    Raises
    ------
    CellrateError
        If a module that it needs cannot be had here.
    """
    if not octets:
        return NOTHING
    paths, packed = pickle.loads(octets)
    sys.path += [entry for entry in paths if entry not in sys.path]
    try:
        plugins: Plugins = pickle.loads(packed)
    except Exception as error:
        raise CellrateError(
            f"plugins cannot be handed to the process of a live run: {type(error).__name__}: {error}"
        ) from None
    return plugins


def give(process: subprocess.Popen[Any], octets: bytes) -> None:
    """Write octets to the stdin of a process, and close it; a process that has ended says itself why."""
    assert process.stdin is not None
    pipe = getattr(process.stdin, "buffer", process.stdin)
    with contextlib.suppress(BrokenPipeError):
        try:
            pipe.write(octets)
        finally:
            process.stdin.close()


class Reply(threading.Thread):
    """Reply of a process that this one starts, through a pipe of their own: an object, or what it failed with.

    The pipe is read as it fills, so that whoever writes does not wait.
    """

    def __init__(self) -> None:
        super().__init__(name="reply", daemon=True)
        read, self.end = os.pipe()
        """`end` is for the other process (`answer`)."""
        self._pipe = os.fdopen(read, "rb")
        self._octets = b""

    def handed_over(self) -> None:
        """Read on in a thread; the other process has the end that is written to, or there is no such process."""
        os.close(self.end)
        self.start()

    def run(self) -> None:
        """Read until the other end is closed everywhere."""
        with self._pipe:
            self._octets = self._pipe.read()

    def result(self, within_s: float) -> Any:
        """Give what came, None where nothing did; the process has ended, so it comes soon.

        Raises
        ------
        Exception
            What the process failed with.
        """
        self.join(within_s)
        if not self._octets:
            return None
        failed, thing = pickle.loads(self._octets)
        if failed:
            raise thing
        return thing


def answer(end: int, thing: object) -> None:
    """Give `thing`, an exception where this process has failed, to the process that waits for it at `Reply.end`."""
    octets = packed(thing) if isinstance(thing, Exception) else pickle.dumps((False, thing))
    with os.fdopen(end, "wb") as pipe:
        pipe.write(octets)


def packed(error: Exception) -> bytes:
    """Give what raises `error` again in the process that asked for the run, with a note of where it came from."""
    if isinstance(error, CellrateError):
        return pickle.dumps((True, error))
    import cloudpickle

    told = "".join(traceback.format_exception(error))
    error.add_note(f"In the process of the live run:\n{own_lines(error) or told}")
    try:
        given: bytes = cloudpickle.dumps((True, error))
        pickle.loads(given)
    except Exception:
        return pickle.dumps((True, RunError(told)))
    return given
