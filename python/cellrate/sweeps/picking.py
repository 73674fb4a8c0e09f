"""One point of a sweep picked, by its number or by what it sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..errors import CellrateError, shown
from ..toml import as_toml, value_of
from .settings import names_of

if TYPE_CHECKING:
    from ..scenario import Scenario, SweepPoint

MOST_LISTED = 40
"""Points that an error lists."""

Picked: TypeAlias = int | Mapping[str, object] | None
"""A point: its number, counted from 1; what it sets, from path to value; None where there is one only."""


def one_point(scenario: Scenario, point: Picked, otherwise: str) -> SweepPoint:
    """Give the point of a scenario's sweep that is meant.

    Parameters
    ----------
    scenario
        Perhaps without a sweep: then it is a single point, which is number 1.
    point
        Its number, counted from 1, or values that it alone has; None where there is one point only.
    otherwise
        Why there has to be a single one, for the error that says so.

    Raises
    ------
    CellrateError
        If there are several points and none is meant, or no point is meant; the points are listed.
    """
    points = scenario.points()
    if point is None and len(points) != 1:
        raise CellrateError(
            f"{scenario.file} sweeps over {len(points)} points; {otherwise}. "
            f"point=N (--point N) picks one of them:\n{listed([one.settings for one in points])}"
        )
    return points[0 if point is None else place_of([one.settings for one in points], point, scenario.file)]


def place_of(settings: Sequence[Mapping[str, str]], point: int | Mapping[str, object], of: str) -> int:
    """Give the place, counted from 0, of the point that is meant among points that set this.

    Paths may be told by as much of their end as tells them apart: "nrm" for "defaults.abr.nrm".

    Raises
    ------
    CellrateError
        If there is no such point, or more than one; the points are listed.
    TypeError
        If `point` is neither a number nor settings.
    """
    if isinstance(point, int) and not isinstance(point, bool):
        if 1 <= point <= len(settings):
            return point - 1
        points = "1 point" if len(settings) == 1 else f"{len(settings)} points"
        raise CellrateError(f"there is no point {point}: {of} has {points}, counted from 1:\n{listed(settings)}")
    if not isinstance(point, Mapping):
        raise TypeError(f'point is a number, or settings such as {{"defaults.abr.nrm": 8}}, not {shown(point)}')
    paths = list(dict.fromkeys(path for one in settings for path in one))
    ends = {end: path for path, end in names_of(paths).items()}
    wanted = {}
    for key, value in point.items():
        path = key if key in paths else ends.get(key)
        if path is None:
            swept = f"it sweeps over {', '.join(paths)}" if paths else "it does not sweep"
            raise CellrateError(f"point: {of} does not sweep over {key}; {swept}")
        wanted[path] = value_of(as_toml(value, path))
    found = [
        place
        for place, one in enumerate(settings)
        if all(path in one and value_of(one[path]) == value for path, value in wanted.items())
    ]
    if len(found) == 1:
        return found[0]
    said = ", ".join(f"{path} = {as_toml(value, path)}" for path, value in point.items()) or "nothing"
    if not found:
        raise CellrateError(f"no point of {of} sets {said}; there are\n{listed(settings)}")
    raise CellrateError(
        f"{len(found)} points of {of} set {said}; say more, or give a number:\n{listed(settings, found)}"
    )


def listed(settings: Sequence[Mapping[str, str]], places: Sequence[int] | None = None) -> str:
    """Give a line for each point: its number and what it sets."""
    chosen = range(len(settings)) if places is None else places
    lines = []
    for place in list(chosen)[:MOST_LISTED]:
        said = ", ".join(f"{path} = {text}" for path, text in settings[place].items()) or "sets nothing"
        lines.append(f"  {place + 1}: {said}")
    more = len(chosen) - len(lines)
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])
