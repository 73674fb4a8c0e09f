"""Studies of several scenarios: the points of all, one after the other, each with its scenario among its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import overload

from ..errors import CellrateError
from ..scenario import Scenario
from .settings import SCENARIO
from .varying import IN_PYTHON, Points, Said, varied

Point = tuple[Scenario, dict[str, str]]


def points_of(
    scenarios: Sequence[Scenario] | Mapping[str, Scenario],
    over: Mapping[str, Iterable[object]] | None,
    seeds: int | None,
    said: Said = IN_PYTHON,
) -> Points | SeveralPoints:
    """Give the points of one scenario, or of several with the key "scenario" in front of what each sets.

    Parameters
    ----------
    scenarios
        One or more; their names, or those of a mapping, tell points apart.
    over, seeds
        As for `varied`: each scenario has these values, and so many seeds from its own on.

    Raises
    ------
    CellrateError
        If there is no scenario, or two have the same name and file; otherwise as `varied`.
    """
    if not scenarios:
        raise CellrateError("there is no scenario to run; give one or more")
    named = by_name(scenarios)
    parts = {name: Points(varied(one, over, None, said), seeds, said) for name, one in named.items()}
    return parts[""] if list(parts) == [""] else SeveralPoints(parts)


def by_name(scenarios: Sequence[Scenario] | Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Give scenarios by the names that tell their points apart; one that is not named alone has the name "".

    Raises
    ------
    CellrateError
        If two have the same name and file.
    """
    if isinstance(scenarios, Mapping):
        return {str(name): scenario for name, scenario in scenarios.items()}
    return dict(zip(_names(scenarios) if len(scenarios) > 1 else [""], scenarios, strict=False))


class SeveralPoints(Sequence[Point]):
    """Points of several scenarios, each with so many seeds as the others; those of the first scenario come first."""

    def __init__(self, parts: Mapping[str, Points]) -> None:
        self._parts = list(parts.items())

    def only(self, place: int) -> SeveralPoints:
        """Give the point at a place, a single one, as points of their own."""
        alone = copy(self)
        part, within = self._at(place)
        name, points = self._parts[part]
        alone._parts = [(name, points.only(within))]
        return alone

    def scenario_at(self, place: int) -> int:
        """Give the place of a point's scenario among the scenarios."""
        return self._at(place)[0]

    def __len__(self) -> int:
        return sum(len(points) for _, points in self._parts)

    @property
    def without_seeds(self) -> int:
        """Number of points, seeds aside."""
        return sum(points.without_seeds for _, points in self._parts)

    @property
    def seeds(self) -> int:
        """Seeds of each point."""
        return self._parts[0][1].seeds

    def first(self, counts: Sequence[int]) -> list[Point]:
        """Give the first seeds of each point, so many of each."""
        return [self[number * self.seeds + turn] for number, count in enumerate(counts) for turn in range(count)]

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> list[Point]: ...
    def __getitem__(self, place: int | slice) -> Point | list[Point]:
        """Give a point, or some: scenario and settings."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        part, within = self._at(place % len(self))
        name, points = self._parts[part]
        scenario, settings = points[within]
        return scenario, {SCENARIO: name, **settings}

    def _at(self, place: int) -> tuple[int, int]:
        for number, (_, points) in enumerate(self._parts):
            if place < len(points):
                return number, place
            place -= len(points)
        raise IndexError(place)


def _names(scenarios: Sequence[Scenario]) -> list[str]:
    """Name scenarios: by their own names, where two have the same by as much of their files as tells them apart."""
    plain = [one.name for one in scenarios]
    if len(set(plain)) == len(plain):
        return plain
    files = [Path(one.file).parts for one in scenarios]
    if len(set(files)) < len(files):
        twice = next(one for one in scenarios if files.count(Path(one.file).parts) > 1)
        raise CellrateError(
            f"{twice.file} is given twice; give each scenario once (in Python, variants of one by their names: "
            '{"short": one, "long": other})'
        )
    found = []
    for name, file in zip(plain, files, strict=True):
        if plain.count(name) > 1:
            others = [other for other in files if other != file]
            lengths = range(1, len(file) + 1)
            name = next(
                "/".join(file[-length:])
                for length in lengths
                if all(other[-length:] != file[-length:] for other in others)
            )
        found.append(name)
    return found
