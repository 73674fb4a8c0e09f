"""Layout of varied keys: which part of the picture shows it, the axis, lines of their own, or columns of panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...sweeps.settings import APART, as_written, labels_of, numbers_of

MOST_LINES = 8
"""Most lines of a panel; of more connections or ports the least, the median and the largest are drawn."""

MOST_COLUMNS = 6
"""Most panels beside each other, one for each value of a parameter."""

MOST_TICKS = 10
"""Most ticks of an axis each of whose values has one."""

LOGARITHMIC_FROM = 20.0
"""An axis whose largest value is so many times its least is logarithmic."""


@dataclass(frozen=True)
class Parameter:
    """Varied parameter."""

    path: str
    name: str
    """The end of its path."""
    values: list[str]
    """Each once, in the order of the sweep."""
    positions: dict[str, float]
    """Positions of values on an axis."""
    labels: dict[str, str]
    """Labels of values."""
    unit: str
    """Unit of the positions; empty where labels have it."""
    is_number: bool

    @classmethod
    def of(cls, path: str, name: str, texts: Sequence[str]) -> Parameter:
        """Make it of the values at all points."""
        distinct = list(dict.fromkeys(texts))
        numbers = numbers_of(distinct)
        if numbers is None:
            places = {text: float(place) for place, text in enumerate(distinct)}
            return cls(path, name, distinct, places, labels_of(distinct), "", False)
        written = as_written(distinct)
        if written is not None:
            positions = [float(number) for number in written[0]]
            labels, unit = dict(zip(distinct, written[0], strict=True)), written[1]
        else:
            positions, labels = numbers.values, dict(zip(distinct, distinct, strict=True))
            # More values than have ticks of their own have ticks in this unit.
            unit = numbers.unit if len(distinct) > MOST_TICKS and numbers.unit != "1" else ""
        at = dict(zip(distinct, positions, strict=True))
        return cls(path, name, distinct, at, labels, unit, True)

    def said(self, value: str) -> str:
        """Give a value with the parameter's name: "nrm 8", "length 10 km"."""
        return " ".join(filter(None, (self.name, self.labels[value], self.unit)))

    @property
    def is_logarithmic(self) -> bool:
        """Whether its axis is."""
        low, high = min(self.positions.values()), max(self.positions.values())
        return self.is_number and low > 0 and high / low >= LOGARITHMIC_FROM


@dataclass(frozen=True)
class Layout:
    """Which parameter is what of the picture."""

    axis: Parameter | None
    """None where seeds alone are varied."""
    lines: Parameter | None
    columns: Parameter | None
    held: list[Parameter]
    """Parameters of which the first value is drawn only."""

    def line_values(self) -> list[str]:
        """Give the values that have lines of their own; an empty text where no parameter has."""
        return [""] if self.lines is None else _spread_over(self.lines.values, MOST_LINES)

    def column_values(self) -> list[str]:
        """Give the values that have a column of panels; an empty text where no parameter has."""
        return [""] if self.columns is None else _spread_over(self.columns.values, MOST_COLUMNS)

    def left_out(self) -> list[str]:
        """Say what is not drawn."""
        said = []
        for what, drawn in ((self.lines, self.line_values()), (self.columns, self.column_values())):
            if what is not None and len(drawn) < len(what.values):
                said.append(f"{len(drawn)} of the {len(what.values)} values of {what.path} are drawn.")
        if self.held:
            held = ", ".join(one.said(one.values[0]) for one in self.held)
            said.append(f"Drawn are the points with {held} only.")
        return [*said, "summary.json has all points."] if said else []


def layout_of(parameters: Sequence[Parameter], most: int) -> Layout:
    """Give each parameter its part, where a panel would have lines of so many connections or ports for each value."""
    if not parameters:
        return Layout(None, None, None, [])
    # Of two with as many values the last one is taken: it varies fastest.
    order = sorted(range(len(parameters)), key=lambda place: (-len(parameters[place].values), -place))
    # Networks that have nothing in common have panels of their own, as soon as there is another axis.
    order.sort(key=lambda place: parameters[place].path in APART)
    axis, *rest = (parameters[place] for place in order)
    if not rest:
        return Layout(axis, None, None, [])
    if rest[-1].path in APART:
        return Layout(axis, rest[0] if rest[1:] else None, rest[-1], rest[1:-1])
    if len(rest) == 1:
        (other,) = rest
        beside = most * len(other.values) > MOST_LINES and len(other.values) <= MOST_COLUMNS
        return Layout(axis, None, other, []) if beside else Layout(axis, other, None, [])
    return Layout(axis, rest[0], rest[1], rest[2:])


def _spread_over(values: list[str], most: int) -> list[str]:
    """Give so many of the values at most, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]
