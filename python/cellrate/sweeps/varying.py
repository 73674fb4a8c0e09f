"""Sweeps that a scenario does not have itself: values asked for in Python or on the command line, and seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import overload

from ..errors import CellrateError, shown
from ..scenario import Scenario
from ..toml import as_toml, value_of
from .replications import SEED


@dataclass(frozen=True)
class Said:
    """Names of the caller for the two, for errors."""

    over: str = "over"
    seeds: str = "seeds"


IN_PYTHON = Said()
ON_COMMAND_LINE = Said("--sweep", "--seeds")


def varied(
    scenario: Scenario, over: Mapping[str, Iterable[object]] | None, seeds: int | None, said: Said = IN_PYTHON
) -> Scenario:
    """Give the scenario with further sweeps, just as if they stood in it as `[[sweep]]` entries behind its own.

    Parameters
    ----------
    scenario
        Perhaps with sweeps of its own, which vary more slowly.
    over
        From dotted path to the values there, each as for `Scenario.set`; the last path varies fastest.
    seeds
        So many seeds, each one more than the one before, from the scenario's own seed on. They vary fastest.

    Raises
    ------
    ScenarioError
        If there is nothing at a path, a value does not go there, or there are too many points.
    CellrateError
        If there are no values or seeds, or the scenario varies the same key itself.
    TypeError
        If a value is nothing that a setting can be, or `over` is not a dict.
    """
    if not isinstance(over or {}, Mapping):
        raise TypeError(
            f"{said.over} is a dict from dotted path to values, such as "
            f'{{"defaults.abr.nrm": [8, 32]}}, not {shown(over)}'
        )
    entries = [(path, _values(path, values, said)) for path, values in (over or {}).items()]
    swept = set(scenario.points()[0].settings)
    for path, _ in entries:
        if path in swept:
            raise CellrateError(
                f"{said.over} {path}: {scenario.file} sweeps over that itself; vary another key, or give its [[sweep]] "
                "entry other values (sweep.1.values for the first one)"
            )
    if entries:
        scenario = _with_sweeps(scenario, entries, said.over)
    begin = _first_seed(scenario, seeds, said)
    return (
        scenario if seeds is None else _with_sweeps(scenario, [(SEED, list(range(begin, begin + seeds)))], said.seeds)
    )


class Points(Sequence[tuple[Scenario, dict[str, str]]]):
    """The points of a scenario's sweep, each with so many seeds, made as they are asked for: many need little memory.

    Raises
    ------
    ScenarioError
        If a point cannot be run.
    CellrateError
        As `varied`.
    """

    def __init__(self, scenario: Scenario, seeds: int | None = None, said: Said = IN_PYTHON) -> None:
        begin = _first_seed(scenario, seeds, said)
        self._points = scenario.checked_points()
        self._seeds = None if seeds is None else range(begin, begin + seeds)
        if seeds is not None:
            # One that is too large is said now, with its value.
            scenario.set({SEED: begin + seeds - 1})

    def only(self, place: int) -> Points:
        """Give the point at a place, a single one, as points of their own."""
        alone = copy(self)
        if self._seeds is None:
            alone._points = [self._points[place]]
        else:
            number, turn = divmod(place, len(self._seeds))
            alone._points, alone._seeds = [self._points[number]], self._seeds[turn : turn + 1]
        return alone

    def scenario_at(self, _place: int) -> int:
        """Give the place of a point's scenario, of which there is one."""
        return 0

    def __len__(self) -> int:
        return len(self._points) * (1 if self._seeds is None else len(self._seeds))

    @property
    def without_seeds(self) -> int:
        """Number of points, seeds aside."""
        return len(self._points)

    @property
    def seeds(self) -> int:
        """Seeds of each point."""
        return 1 if self._seeds is None else len(self._seeds)

    def first(self, counts: Sequence[int]) -> list[tuple[Scenario, dict[str, str]]]:
        """Give the first seeds of each point, so many of each."""
        return [self[number * self.seeds + turn] for number, count in enumerate(counts) for turn in range(count)]

    @overload
    def __getitem__(self, place: int) -> tuple[Scenario, dict[str, str]]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Scenario, dict[str, str]]]: ...
    def __getitem__(
        self, place: int | slice
    ) -> tuple[Scenario, dict[str, str]] | list[tuple[Scenario, dict[str, str]]]:
        """Give a point, or some: scenario and settings."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        if self._seeds is None:
            point = self._points[place]
            return point.scenario, point.settings
        number, turn = divmod(place % len(self), len(self._seeds))
        seed = self._seeds[turn]
        point = self._points[number]
        return point.scenario.with_seed(seed), {**point.settings, SEED: str(seed)}


def _first_seed(scenario: Scenario, seeds: int | None, said: Said) -> int:
    if seeds is None:
        return 0
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise CellrateError(f"{said.seeds} is {shown(seeds)}; it is the number of seeds, 1 or more")
    first = scenario.points()[0]
    if SEED in first.settings:
        raise CellrateError(f"{said.seeds} is {seeds}, but there is a sweep over {SEED} already; leave one out")
    return first.scenario.seed


def _with_sweeps(scenario: Scenario, entries: list[tuple[str, list[object]]], name: str) -> Scenario:
    more = [
        f"\n[[sweep]]\nset = {json.dumps(path, ensure_ascii=False)}\nvalues = {as_toml(values, path)}\n"
        for path, values in entries
    ]
    # Errors show lines of this text, which has the scenario's settings and no comments: it has another name.
    return Scenario.parse(scenario.toml + "".join(more), file=f"{scenario.file} with {name}")


def _values(path: str, values: object, said: Said) -> list[object]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise CellrateError(
            f"{said.over} {path}: {shown(values)} is not a list of values; write one such as [8, 32, 256] or "
            '["10 km", "1000 km"]'
        )
    found = [value_of(value) if isinstance(value, str) else value for value in values]
    if not found:
        raise CellrateError(f"{said.over} {path}: the list is empty; give one value or more")
    return found
