"""Exceptions of the package, as one tree.

`CellrateError` is the root. `ScenarioError` means that the input is wrong, `RunError` that a run gave no result,
`LiveUnavailable` that this machine or user cannot run the testbed, `NoSuchSeries` that a result holds no such series.
`Interrupted`, that the user stopped it, stands apart: it is a `KeyboardInterrupt` alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any


class CellrateError(Exception):
    """The root of all errors of this package."""


class ScenarioError(CellrateError):
    """A scenario that cannot be run.

    The text of the exception is a whole paragraph: place, what was found, what is allowed.

    Attributes
    ----------
    file : str
        The file, or what the text was said to come from.
    line, column : int or None
        Counted from 1; None where the error belongs to no place in the text.
    key : str or None
        The key, as a dotted path.
    message : str
        What is wrong.
    remedy : str or None
        What would be right.
    point : dict or None
        Where the error is at one point of a sweep: what that sets, from dotted path to value.
    """

    def __init__(
        self,
        text: str,
        *,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        message: str | None = None,
        remedy: str | None = None,
        point: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = text if message is None else message
        self.remedy = remedy
        self.point = None if point is None else dict(point)

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross a process border whole."""
        return (_scenario_error, (str(self), dict(self.__dict__)))


class RunError(CellrateError):
    """A run that gave no result, through no fault of the scenario's text."""


class LiveUnavailable(CellrateError):  # noqa: N818
    """A live run on a machine, or by a user, that lacks something for it; `cellrate doctor` says what."""


class Interrupted(KeyboardInterrupt):
    """A run that was stopped: a `KeyboardInterrupt`, which `except Exception` leaves alone."""


class NoSuchSeries(CellrateError, LookupError):  # noqa: N818
    """A result without the series asked for; the text says which there are."""


@contextlib.contextmanager
def at_point(place: int, settings: Mapping[str, str]) -> Iterator[None]:
    """Have errors say at which point of a sweep they are, counted from 0, and what it sets; none that sets nothing."""
    try:
        yield
    except CellrateError as error:
        # Others are not of the point: it was stopped.
        if not settings or type(error) not in (ScenarioError, RunError, CellrateError):
            raise
        values = ", ".join(f"{path} = {value}" for path, value in settings.items())
        text = f"{error}\nAt point {place + 1} of the sweep: {values}"
        attributes = {**error.__dict__, "point": settings} if isinstance(error, ScenarioError) else {}
        raise type(error)(text, **attributes) from None
    except Exception as error:
        if settings:
            values = ", ".join(f"{path} = {value}" for path, value in settings.items())
            error.add_note(f"at point {place + 1} of the sweep: {values}")
        raise


@contextlib.contextmanager
def with_own_lines() -> Iterator[None]:
    """Have errors of the user's code keep the places that they came through, for who gets them from another process."""
    try:
        yield
    except CellrateError:
        raise
    except Exception as error:
        with contextlib.suppress(AttributeError):
            # They cross with whatever else the error has; its traceback does not.
            error._cellrate_places = _own_places(error)  # type: ignore[attr-defined]
        raise


def own_lines(error: BaseException) -> str:
    """Give the lines of the user's code that an error came through, as a traceback shows them."""
    import sys
    import traceback

    frames = []
    for file, module, line, function in getattr(error, "_cellrate_places", None) or _own_places(error):
        # A class that came by value has left its file behind; here the module is known by its name.
        found = getattr(sys.modules.get(module), "__file__", None) if file.startswith("<") else None
        frames.append(traceback.FrameSummary(found or file, line, function))
    return "".join(traceback.format_list(frames))


def _own_places(error: BaseException) -> list[tuple[str, str, int, str]]:
    """Give file, module, line and function of each frame of an error that is outside this package and Python's own."""
    import sysconfig
    import traceback
    from pathlib import Path

    package, python = Path(__file__).resolve().parent, Path(sysconfig.get_path("stdlib")).resolve()
    places = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = Path(frame.f_code.co_filename)
        # The script that starts the command is not code of the user's, nor is what importlib is frozen in.
        own = file.is_file() and file.name != "cellrate" and not {package, python} & set(file.resolve().parents)
        if own or str(file) == "<dynamic-code>":
            places.append((str(file), str(frame.f_globals.get("__name__", "")), line, frame.f_code.co_name))
    return places


def shown(value: object) -> str:
    """Give it as text of a length that suits an error."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _scenario_error(text: str, attributes: dict[str, Any]) -> ScenarioError:
    return ScenarioError(text, **attributes)
