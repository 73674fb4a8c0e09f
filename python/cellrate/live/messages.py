"""Messages of an attempt to the process that started it: how far it is, and whatever is printed in it.

How far it is are lines of JSON at the stdout that the attempt begins with. What is printed there, such as an
algorithm that says what it does, must not get between them: it goes through a pipe of its own, and on to stderr.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections import deque
from typing import TextIO

LAST_LINES = 20
"""Lines kept of what was printed, for the message about an attempt that ended without a result."""


def news_apart(printed: int) -> TextIO:
    """Give what the news go to, which stdout was; from now on stdout and stderr are the descriptor `printed`."""
    news = os.fdopen(os.dup(1), "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A pipe as well, but its other end may be read.
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.stderr.flush()
    for standard in (1, 2):
        os.dup2(printed, standard)
    os.close(printed)
    return news


class Printed(threading.Thread):
    """Shows what is printed in an attempt on stderr, as it comes, until the pipe is closed everywhere."""

    def __init__(self) -> None:
        super().__init__(name="printed", daemon=True)
        read, self.end = os.pipe()
        """`end` is for the attempt to print to."""
        self._lines = os.fdopen(read, encoding="utf-8", errors="backslashreplace")
        self._last: deque[str] = deque(maxlen=LAST_LINES)

    @property
    def last(self) -> str:
        """The last lines."""
        return "".join(self._last)

    def handed_over(self) -> None:
        """The attempt has its end, or there is no attempt: it is not for this process."""
        os.close(self.end)

    def run(self) -> None:
        """Read on whatever happens: unread output would hold up the network."""
        with self._lines:
            for line in self._lines:
                self._last.append(line)
                with contextlib.suppress(OSError, ValueError):
                    sys.stderr.write(line)
                    sys.stderr.flush()
