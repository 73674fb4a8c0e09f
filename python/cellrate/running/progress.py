"""How far a sweep is, for those who have no terminal: lines now and then, or one line of a notebook that changes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from ..texts import printable

FIRST_S, EVERY_S = 10.0, 60.0
"""When the first line comes, and how much later each other one."""


class Lines:
    """Lines on stderr, none of them in the first seconds."""

    def __init__(self, name: str, points: int) -> None:
        self._name = name
        self._points = points
        self._begun = time.monotonic()
        self._first: float | None = None
        self._next = self._begun + FIRST_S

    def __call__(self, fraction: float) -> None:
        """Tell of the share that is done [0 to 1]."""
        if self._first is None:
            # What an earlier command has done says nothing of how long the rest takes.
            self._first = fraction
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY_S
            print(said(self._name, self._points, fraction, self._left(fraction, now)), file=sys.stderr, flush=True)

    def _left(self, fraction: float, now: float) -> float | None:
        gone = fraction - (self._first or 0.0)
        return (now - self._begun) * (1 - fraction) / gone if gone > 0 else None


class Changing(Lines):
    """A line in a notebook that is written over."""

    def __call__(self, fraction: float) -> None:
        """Tell of the share that is done [0 to 1]."""
        if self._first is None:
            self._first = fraction
        now = time.monotonic()
        if now >= self._next or fraction >= 1:
            self._next = now + 0.5
            text = said(self._name, self._points, fraction, self._left(fraction, now))
            print("\r" + text.ljust(79), end="", flush=True)

    def end(self) -> None:
        """Take the line away."""
        print("\r" + " " * 79 + "\r", end="", flush=True)


def said(name: str, points: int, fraction: float, left_s: float | None) -> str:
    """Say how far it is."""
    name = printable(name)
    of = f"{int(fraction * points + 1e-9):,} of {points:,} points" if points > 1 else f"{100 * fraction:.0f} %"
    return f"{name}: {of}" + ("" if left_s is None or fraction >= 1 else f", about {duration(left_s)} left")


def duration(seconds: float) -> str:
    """Say a time as people do."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def reporting(
    name: str, points: int, given: Callable[[float], object] | bool | None
) -> Iterator[Callable[[float], object] | None]:
    """Have a reporter of progress: the one that was given, none for False, and otherwise what suits where this runs."""
    if isinstance(given, bool) and not given:
        yield None
    elif given is not None and not isinstance(given, bool):
        yield given
    elif _in_notebook():
        line = Changing(name, points)
        try:
            yield line
        finally:
            line.end()
    else:
        yield Lines(name, points)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return type(found).__name__ == "ZMQInteractiveShell"
