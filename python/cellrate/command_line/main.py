"""The command as a process: what ends it, and its exit status."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys

from ..errors import CellrateError, Interrupted, LiveUnavailable, RunError, ScenarioError, own_lines
from .app import app
from .output import complain
from .typed import UsageError

_told_to_end: signal.Signals | None = None
"""Which signal came that is an interrupt with another exit status."""

_SAID = {"SIGTERM": "terminated", "SIGHUP": "hung up", "SIGBREAK": "hung up"}

TO_END = {getattr(signal, name): said for name, said in _SAID.items() if hasattr(signal, name)}
"""Such signals, and what is said of them; SIGHUP, on Windows SIGBREAK, comes when the terminal is closed."""


def main() -> None:
    """Run the command line and end the process."""
    if "_ARGCOMPLETE" in os.environ:
        from .completion import answer

        answer()
    for number in TO_END:
        # With nohup it is ignored, and stays so.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal has no letters for is no reason to end.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(status(sys.argv[1:]))


def _interrupt(number: int, _frame: object) -> None:
    global _told_to_end
    if _told_to_end is None or number == signal.SIGTERM:
        _told_to_end = signal.Signals(number)
        raise KeyboardInterrupt
    # A terminal that is closed may say so twice, of which the second would end what the first has begun.


def status(arguments: list[str]) -> int:
    """Run the command line and give the exit status; errors are a paragraph on stderr."""
    try:
        return app(arguments)
    except UsageError as error:
        return complain(f"{error} ({error.command} --help says what there is.)", 2)
    except (KeyboardInterrupt, Interrupted) as error:
        return _ended(error)
    except RunError as error:
        return complain(_with_notes(str(error), error), 1)
    except LiveUnavailable as error:
        return complain(str(error), 3)
    except (ScenarioError, CellrateError) as error:
        return complain(_with_notes(str(error), error), 2)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        with contextlib.suppress(OSError):
            sys.stdout.close()
        return 0
    except OSError as error:
        # That the terminal is gone may be noticed in the middle of what is to be done because it is.
        return complain(_with_notes(str(error), error), 1) if _told_to_end is None else _ended(error)
    except Exception as error:
        if (text := _own(error)) is None:
            raise
        return complain(text, 1)


def _own(error: Exception) -> str | None:
    """Give the lines of the user's own code that an error came through; none if it did not come from any."""
    import traceback

    # Where own code was called, a note says when and where; what came from another process may have its lines there.
    if not getattr(error, "__notes__", None):
        return None
    lines = own_lines(error)
    return f"what the run was given in Python failed\n{lines}{''.join(traceback.format_exception_only(error))}".rstrip()


def _ended(error: BaseException) -> int:
    if _told_to_end is None:
        return complain(_with_notes("interrupted", error), 1)
    # As a shell has it: 128, and the signal.
    return complain(_with_notes(TO_END[_told_to_end], error), 128 + _told_to_end)


def _with_notes(text: str, error: BaseException) -> str:
    """Add what an error was given on its way, such as what a sweep keeps."""
    return "; ".join([text, *getattr(error, "__notes__", [])])
