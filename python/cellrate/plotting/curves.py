"""Curves of panels: series that end where their sources end, groups as bands, curves that cover each other as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..recorded.groups import DRAWN, Groups, folded_name, groups_of
from .alike import alike, said
from .bands import Band, fold
from .panels import Level, fair_levels

if TYPE_CHECKING:
    from ..recorded.run import Recorded
    from ..recorded.series import Series

OF_SOURCES = ("acr", "source_rate")
"""Probes of which nothing is to be seen once a source has sent its last."""


Curve = tuple["Series", Band | None]
"""A series, or the median of a group with its band."""


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    series: Series
    label: str
    band: Band | None = None
    """Least and largest of the group whose median the line is."""


@dataclass(frozen=True)
class Known:
    """Words of the scenario of a result about its series."""

    groups: Groups
    ends_s: Mapping[str, float]
    levels: Mapping[str, Level]
    """Max-min fair rates in time, by entity; empty where no ACR is drawn."""

    @classmethod
    def of(cls, result: Recorded, probes: Sequence[str], *, each: bool) -> Known:
        """Read the scenario, as far as it says something of these probes.

        Parameters
        ----------
        each
            Whether each member of a group is drawn by itself.
        """
        from ..errors import ScenarioError
        from ..scenario import Scenario

        ends_s: dict[str, float] = {}
        if any(probe in OF_SOURCES for probe in probes):
            try:
                ends_s = Scenario.parse(result.toml).ends_s()
            except ScenarioError:
                # Files that it names may be gone, or elsewhere.
                ends_s = {}
        levels = fair_levels(result.toml) if "acr" in probes else {}
        return cls({} if each else groups_of(result.toml, DRAWN), ends_s, levels)

    def folded(self, series: Sequence[Series]) -> list[Curve]:
        """Give series of one probe as they are drawn: to the ends of their sources, and groups as their medians."""
        return fold([_ended(one, self.ends_s.get(one.entity)) for one in series], self.groups)


@dataclass(frozen=True)
class Source:
    """Series of one probe of one result, in the order of the picture."""

    series: Sequence[Series]
    known: Known
    name: Callable[[Series], str]
    """Gives the label of a line."""


def lines_of(sources: Sequence[Source], *, has_levels: bool) -> tuple[list[Line], dict[str, Level]]:
    """Give the lines of a panel, and behind them the fair shares by their labels, where the panel is of ACR.

    What has another fair share is a line of its own, even where the lines cover each other.
    """
    lines: list[Line] = []
    levels: list[Level | None] = []
    for source in sources:
        known = source.known
        of_groups = _levels_of(known) if has_levels else {}
        for series, band in known.folded(source.series):
            lines.append(Line(series, source.name(series), band))
            levels.append(of_groups.get(series.entity))
    alone = [place for place, line in enumerate(lines) if line.band is not None]
    single = [place for place in range(len(lines)) if place not in alone]
    curves = [([place], True) for place in alone]
    for level in _distinct([levels[place] for place in single]):
        of_level = [place for place in single if levels[place] == level]
        curves += [
            ([of_level[at] for at in places], same)
            for places, same in alike([lines[place].series for place in of_level])
        ]
    found: list[Line] = []
    shares: dict[str, Level] = {}
    for places, same in sorted(curves, key=lambda curve: curve[0][0]):
        line = replace(lines[places[0]], label=said([lines[place].label for place in places], same))
        found.append(line)
        share = levels[places[0]]
        if share is not None:
            shares[line.label] = share
    return found, shares


def _ended(series: Series, end_s: float | None) -> Series:
    """Cut a series of a source behind the source's end, and behind its last change, which what waited may bring."""
    if end_s is None or series.probe not in OF_SOURCES or not len(series):
        return series
    differ = np.flatnonzero(series.values != series.values[-1])
    last = 0 if not len(differ) else differ[-1] + 1
    return series.between(0.0, max(end_s, float(series.times_s[last])))


def _levels_of(known: Known) -> dict[str, Level]:
    """Give fair shares by entity, and by group where all members have the same."""
    found: dict[str, Level] = {}
    by_group: dict[str, list[Level]] = {}
    for entity, level in known.levels.items():
        found[entity] = level
        group = folded_name(entity, known.groups) if known.groups else entity
        if group != entity:
            by_group.setdefault(group, []).append(level)
    return found | {group: some[0] for group, some in by_group.items() if all(one == some[0] for one in some)}


def _distinct(levels: Sequence[Level | None]) -> list[Level | None]:
    found: list[Level | None] = []
    for level in levels:
        if level not in found:
            found.append(level)
    return found
