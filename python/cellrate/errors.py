"""What can go wrong, as one tree of exceptions.

`CellrateError` is the root. `ScenarioError` means that the input is wrong, `RunError` that a run gave no result,
`LiveUnavailable` that this machine or user cannot run the testbed, `Interrupted` that somebody stopped it,
`NoSuchSeries` that a result holds no such series.
"""

from __future__ import annotations

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
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = text if message is None else message
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross a process border whole."""
        return (_scenario_error, (str(self), dict(self.__dict__)))


class RunError(CellrateError):
    """A run that gave no result, through no fault of the scenario's text."""


class LiveUnavailable(CellrateError):  # noqa: N818
    """A live run on a machine, or by a user, that lacks something for it; `cellrate doctor` says what."""


class Interrupted(CellrateError, KeyboardInterrupt):  # noqa: N818
    """A run that somebody stopped; also a `KeyboardInterrupt`, so that scripts end as they do elsewhere."""


class NoSuchSeries(CellrateError, LookupError):  # noqa: N818
    """A result without the series asked for; the text says which there are."""


def _scenario_error(text: str, attributes: dict[str, Any]) -> ScenarioError:
    return ScenarioError(text, **attributes)
