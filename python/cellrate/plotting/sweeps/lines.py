"""The lines of panels: of each connection or port where there is room, of their total or mean where not."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...drawing.style import COLOURS
from ...sweeps.quantities import Found, Values
from ...sweeps.replications import Mean, mean_of
from .layout import MOST_LINES, Layout

MOST_SPANS = 3
"""Most spans of a panel, from the least to the largest of many connections: more would cover each other."""

LEAST, MEDIAN, LARGEST = "least", "median", "largest"


@dataclass(frozen=True)
class Line:
    """A line of a panel."""

    label: str
    colour: int
    dash: int
    means: dict[float, Mean]
    """By position."""
    span: dict[float, tuple[float, float]]
    """By position, least and largest of what it is the median of; empty where it is none."""


class Lines:
    """The lines of all panels, by what is in them."""

    def __init__(self, layout: Layout, settings: Sequence[Mapping[str, str]]) -> None:
        self.layout = layout
        self.settings = settings
        self.replications: set[int] = set()
        """How many runs there are of a point."""

    def is_whole(self, found: Found) -> bool:
        """Whether every connection or port has its own line."""
        return len(found.names) * len(self.layout.line_values()) <= MOST_LINES

    def has_spans(self, found: Found) -> bool:
        """Whether the span of all connections is drawn about their median."""
        return not found.quantity.worst and len(self.layout.line_values()) <= MOST_SPANS

    def of(self, found: Found, number: int, value: str, column: str) -> list[Line]:
        """Make the lines that the parameter that has lines has with this value, or all without one."""
        whole = self.is_whole(found)
        means: dict[str, dict[float, Mean]] = {}
        for at, places in self._points(value, column).items():
            samples: dict[str, list[float]] = {}
            for place in places:
                values = found.at_points[place]
                for name, one in (values if whole else _in_all(values)).items():
                    samples.setdefault(name, []).append(one)
            for name, sample in samples.items():
                means.setdefault(name, {})[at] = mean_of(sample)
        parameter = self.layout.lines
        if parameter is None:
            of_all = {LEAST: f"{LEAST} of {_count(found)}", MEDIAN: MEDIAN, LARGEST: LARGEST}
            labels = {name: name for name in found.names} if whole else of_all
            return [
                Line(label, place, place // len(COLOURS), means[name], {})
                for place, (name, label) in enumerate(labels.items())
                if name in means
            ]
        said = parameter.said(value)
        if whole:
            return [
                Line(f"{name} {said}", number, dash, means[name], {})
                for dash, name in enumerate(found.names)
                if name in means
            ]
        if not means:
            return []
        if found.quantity.worst:
            return [Line(said, number, 0, means[LARGEST], {})]
        has_span = self.has_spans(found)
        span = {at: (means[LEAST][at].mean, means[LARGEST][at].mean) for at in means[MEDIAN] if has_span}
        return [Line(said, number, 0, means[MEDIAN], span)]

    def heading(self, found: Found) -> str | None:
        """Say above a legend what its lines are; None where each connection or port has one."""
        of = found.quantity.of
        if self.is_whole(found):
            return None
        if self.layout.lines is None:
            return of
        count = _count(found)
        if found.quantity.worst:
            return f"largest of {count} {of}"
        span = ";\nshaded: least to largest" if self.has_spans(found) else ""
        return f"median of {count} {of}{span}"

    def _points(self, line: str, column: str) -> dict[float, list[int]]:
        """Give the places of the points of a line in a column, by position: a single one each, or one for each seed."""
        layout = self.layout
        wanted = {one.path: one.values[0] for one in layout.held}
        for parameter, value in ((layout.lines, line), (layout.columns, column)):
            if parameter is not None:
                wanted[parameter.path] = value
        points: dict[float, list[int]] = {}
        for place, settings in enumerate(self.settings):
            if all(settings[path] == value for path, value in wanted.items()):
                axis = layout.axis
                at = 0.0 if axis is None else axis.positions[settings[axis.path]]
                points.setdefault(at, []).append(place)
        self.replications |= {len(places) for places in points.values()}
        return points


def most_lines(found: Found) -> int:
    """Give the number of lines that connections or ports have if nothing else is in their panel."""
    return len(found.names) if len(found.names) <= MOST_LINES else 3


def _count(found: Found) -> str:
    """Say how many connections or ports points have; those of several scenarios have different ones."""
    counts = {len(values) for values in found.at_points if values}
    return str(counts.pop()) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def _in_all(values: Values) -> Values:
    given = list(values.values())
    return {LEAST: min(given), MEDIAN: statistics.median(given), LARGEST: max(given)} if given else {}
