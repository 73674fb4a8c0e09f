"""Figures of results by name, as options and criteria have them.

A figure is written `[SPREAD] [CATEGORY] ROWS.KEY[NAME]`: "vcs.throughput", "total abr vcs.throughput",
"each vcs.p99_delay", "ports.max_queue[sw1->sw2]". Without a spread the rows make one figure as the column declares:
throughputs are added, of queues the largest counts. Commands, functions and pictures all read it here.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .. import quantities
from ..errors import CellrateError
from ..quantities import CELL_BITS, Dimension, read_ratio
from ..recorded.columns import Column, Row, Rows, Scale, Table, tables
from .replications import Mean, mean_of

CATEGORIES = ("cbr", "vbr", "abr", "gfr", "ubr")

EACH = "each"

SPREADS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "total": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "least": min,
    "most": max,
}
"""Aggregates of a figure of several connections or ports, where they are asked for."""

_DECLARED = {"sum": "total", "largest": "most", "least": "least", "mean": "mean"}
_SAID = {"total": "total", "mean": "mean", "least": "least", "most": "largest"}

_FIGURE = rf"(?:(total|mean|least|most|{EACH})\s+)?(?:({'|'.join(CATEGORIES)})\s+)?([a-z_]+)\.(\w+)(?:\[([^\]]+)\])?"
_UNITS = r"_(?:bps|s|cells|octets|ppm)"

HOW = (
    "write rows and a key of theirs, such as vcs.throughput, ports.max_queue or vcs.p99_delay[vc1], perhaps with each, "
    "total, mean, least or most in front, and with a category, such as total abr vcs.throughput"
)


@dataclass(frozen=True)
class Figure:
    """A figure of results by name: rows, a key, and perhaps of which connections or ports, and what is made of them."""

    rows: str
    key: str
    """As results have it, with its unit."""
    entity: str | None = None
    category: str | None = None
    spread: str | None = None
    """As it was asked for; None for what the column declares."""

    @classmethod
    def read(cls, text: str) -> Figure:
        """Read "vcs.throughput_bps", "vcs.throughput" (the unit may be left out), or "total abr vcs.throughput".

        Raises
        ------
        CellrateError
            If it is written in another way, results have no such rows or rows no such key, or nothing is made of it.
        """
        found = re.fullmatch(rf"\s*{_FIGURE}\s*", text)
        if found is None:
            raise CellrateError(f"{text.strip()!r} is not a figure; {HOW}")
        spread, category, rows, key, entity = found.groups()
        table = tables().get(rows)
        if table is None:
            raise CellrateError(f'there are no rows "{rows}" in a result; there are {", ".join(tables())}')
        figure = cls(rows, _full_key(table, key), entity, category, spread)
        if category is not None and not {"category", "vc"} & set(table.columns):
            alone = f"; {rows}.max_abr_queue is of ABR alone" if "max_abr_queue" in table.columns else ""
            raise CellrateError(f"{text.strip()!r}: {table.many} are of no category{alone}")
        if figure.how is None:
            raise CellrateError(
                f"{text.strip()!r}: {table.many} make no such figure together; put each, mean, least or most in front, "
                f"or a name behind it, such as {rows}.{key}[NAME]"
            )
        return figure

    @property
    def table(self) -> Table:
        """The table that it is of."""
        return tables()[self.rows]

    @property
    def column(self) -> Column:
        """The column that it is of."""
        return self.table.columns[self.key]

    @property
    def scale(self) -> Scale:
        """How people read it."""
        return self.column.scale

    @property
    def how(self) -> str | None:
        """The way in which all rows make one value: a spread, or "each"; None where the column makes none."""
        if self.entity is not None or not self.table.is_list:
            return EACH
        return self.spread or _DECLARED.get(self.column.adds or "")

    def each(self) -> Figure:
        """Give it of each connection or port, if nothing else was asked for."""
        if self.spread is not None:
            return self
        return Figure(self.rows, self.key, self.entity, self.category, EACH)

    def values(self, summary: Rows) -> dict[str, float]:
        """Give it in the unit of results: by the name of each connection or port, or under "" what is made of all.

        Nothing where nothing has it.

        Raises
        ------
        CellrateError
            If the result has no such rows, or nothing of the name that was asked for.
        """
        named = self._named(summary)
        values = {name: float(row[self.key]) for name, row in named.items() if row.get(self.key) is not None}
        if self.how == EACH or not values:
            return values
        weight = self.column.weight if self.spread is None else None
        if weight is None:
            return {"": SPREADS[self.how or "mean"](list(values.values()))}
        weights = {name: float(named[name].get(weight) or 0.0) for name in values}
        total = math.fsum(weights.values())
        return {"": math.fsum(values[name] * weights[name] for name in values) / total} if total else {}

    def value(self, summary: Rows) -> float | None:
        """Give its only value; None where nothing has it."""
        return next(iter(self.values(summary).values()), None)

    @property
    def label(self) -> str:
        """Name of it, with the way in which rows make it: "max queue, largest of ports"."""
        before = f"{self.category.upper()} " if self.category else ""
        if self.entity is not None:
            return f"{self.column.heading} of {self.entity}"
        if self.how == EACH:
            return (
                f"{self.column.heading}, each {before}{self.table.one}" if self.table.is_list else self.column.heading
            )
        said = f"{self.column.heading}, {_SAID[self.how or 'mean']} of {before}{self.table.many}"
        weight = self.column.weight if self.spread is None else None
        return said if weight is None else f"{said} by {self.table.columns[weight].heading}"

    @property
    def axis(self) -> str:
        """Its label with its unit."""
        return self.label + (f" [{self.scale.unit}]" if self.scale.unit else "")

    @property
    def heading(self) -> str:
        """Its label in lines, as the heading of a column."""
        what, comma, of = self.label.partition(", ")
        return "\n".join(filter(None, [what, of if comma else "", self.scale.unit]))

    def said(self, value: float) -> str:
        """Give a value as people read it."""
        return self.column.said(int(value) if value == int(value) and self.scale.factor == 1 else value)

    def _named(self, summary: Rows) -> dict[str, Row]:
        if self.rows not in summary:
            raise CellrateError(f'there are no rows "{self.rows}" in this result; there are {", ".join(summary)}')
        rows = self.table.rows(summary) if self.entity is not None else self.table.telling(summary)
        if self.category is not None:
            categories = {row["vc"]: row["category"] for row in summary.get("vcs", [])}
            rows = [row for row in rows if row.get("category", categories.get(row.get("vc"))) == self.category]
        name = self.table.namer(self.table.rows(summary))
        named: dict[str, Row] = {}
        for number, row in enumerate(rows):
            said = name(row)
            named[said if said not in named else f"{said} #{number}"] = row
        if self.entity is None:
            return named
        if self.entity not in named:
            there_are = ", ".join(list(named)[:MOST_LISTED]) or "none"
            more = f" and {len(named) - MOST_LISTED} more" if len(named) > MOST_LISTED else ""
            raise CellrateError(
                f"nothing called {self.entity!r} has a {self.rows}.{self.key}; there are {there_are}{more}"
            )
        return {self.entity: named[self.entity]}


MOST_LISTED = 20
"""Names that an error lists."""


def _full_key(table: Table, key: str) -> str:
    numbers = [column.key for column in table.columns.values() if column.is_number]
    near = [one for one in numbers if one == key or re.fullmatch(rf"{re.escape(key)}{_UNITS}", one)]
    if not near:
        raise CellrateError(f"rows of {table.key} have no {key}; they have {', '.join(numbers)}")
    return near[0]


@dataclass(frozen=True)
class Precision:
    """How narrow the intervals of a figure are to be."""

    figure: Figure
    relative: float
    """Half the width of the 95 % interval, as a share of the mean."""

    @classmethod
    def read(cls, text: str) -> Precision:
        """Read "vcs.throughput: 1 %".

        Raises
        ------
        CellrateError
            If it is written in another way.
        """
        figure, colon, share = text.rpartition(":")
        try:
            relative = read_ratio(share.strip())
        except CellrateError:
            relative = 0.0
        if not colon or not 0 < relative < 1:
            raise CellrateError(
                f"{text!r}: write a figure, a colon and a share of its mean, such as 'vcs.throughput: 1 %'"
            )
        return cls(Figure.read(figure), relative)

    def unmet(self, summaries: Sequence[Rows]) -> dict[str, Mean]:
        """Give what is not sure enough yet after these runs, by name."""
        values: dict[str, list[float]] = {}
        for summary in summaries:
            for name, value in self.figure.values(summary).items():
                values.setdefault(name, []).append(value)
        means = {name: mean_of(some) for name, some in values.items()}
        return {name: mean for name, mean in means.items() if not self._is_met(mean)}

    def _is_met(self, mean: Mean) -> bool:
        if mean.half_width is None:
            return mean.is_constant
        return mean.half_width <= self.relative * abs(mean.mean)


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Criterion:
    """Bound on a figure: on what is made of all connections or ports, or on each of them."""

    text: str
    figure: Figure
    comparison: str
    value: float
    """In the unit of results."""

    @classmethod
    def read(cls, text: str) -> Criterion:
        """Read "ports.dropped == 0", "each vcs.p99_delay <= 10 ms" or "vcs.throughput > 100 Mbps".

        Raises
        ------
        CellrateError
            If it is written in another way, or the value is of another dimension than the figure.
        """
        found = re.fullmatch(r"\s*(\S.*?(?:\[[^\]]*\])?)\s*(<=|>=|==|<|>)\s*([^\s<>=].*?)\s*", text)
        if found is None or "." not in found[1]:
            raise CellrateError(
                f"{text!r} is not a criterion; write a figure, <, <=, ==, >= or >, and a value, such as "
                "'vcs.p99_delay <= 10 ms' or 'each abr vcs.throughput > 5 Mbps'"
            )
        figure = Figure.read(found[1])
        return cls(text.strip(), figure, found[2], _value_for(figure, found[1], found[3]))

    def margin(self, summary: Rows) -> float:
        """Give by how much it fails, in its own unit; 0 where it holds.

        Raises
        ------
        CellrateError
            If nothing has the figure.
        """
        holds = COMPARISONS[self.comparison]
        values = _given(self.text, self.figure, summary).values()
        return max(0.0 if holds(value, self.value) else max(abs(value - self.value), 1e-9) for value in values)

    def holds(self, summary: Rows) -> bool:
        """Whether it holds."""
        return self.margin(summary) == 0.0

    def worst_of(self, summaries: Sequence[Rows]) -> float:
        """Give the value of all results that is nearest to failing, or fails most, in the unit of results."""
        values = [value for summary in summaries for value in _given(self.text, self.figure, summary).values()]
        if self.comparison == "==":
            return max(values, key=lambda value: abs(value - self.value))
        return max(values) if self.comparison.startswith("<") else min(values)


@dataclass(frozen=True)
class Objective:
    """Figure that is to be as large or as small as can be."""

    text: str
    figure: Figure
    largest: bool

    @classmethod
    def read(cls, text: str) -> Objective:
        """Read "max vcs.throughput", "max least vcs.throughput" or "min ports.max_queue".

        Raises
        ------
        CellrateError
            If it is written in another way, or is not of one value.
        """
        found = re.fullmatch(r"\s*(max|min)\s+(\S.*?)\s*", text)
        if found is None:
            raise CellrateError(
                f"{text!r} is not an objective; write max or min and a figure, such as 'max vcs.throughput' or "
                "'max least abr vcs.throughput'"
            )
        figure = Figure.read(found[2])
        if figure.spread == EACH:
            raise CellrateError(
                f"{text!r}: an objective is one value; leave each out, or write least, most, mean or total"
            )
        return cls(text.strip(), figure, found[1] == "max")

    def value(self, summary: Rows) -> float:
        """Give its value in a result, in the unit of results.

        Raises
        ------
        CellrateError
            If nothing has the figure.
        """
        return next(iter(_given(self.text, self.figure, summary).values()))

    @property
    def heading(self) -> str:
        """As the heading of a column: which way is better, what it is, its unit."""
        return f"{'max' if self.largest else 'min'} of\n{self.figure.heading}"


def _given(text: str, figure: Figure, summary: Rows) -> dict[str, float]:
    values = figure.values(summary)
    if not values:
        raise CellrateError(f"{text}: nothing in the result has a {figure.label}")
    return values


_READ: Mapping[str, Dimension] = {
    "time": quantities.TIME,
    "rate": quantities.RATE,
    "size": quantities.SIZE,
    "cells": quantities.CELLS,
    "ratio": quantities.RATIO,
    "share": quantities.RATIO,
}


MEANT_AS_PERCENT = 10.0
"""From where on a plain number is hardly a ratio: 90 for 0.9, of a figure that may be above 1."""


def _value_for(figure: Figure, asked: str, text: str) -> float:
    """Read a value in the dimension of a figure, and give it in the unit of results."""
    column = figure.column
    dimension = column.declared.dimension
    what = f"{figure.rows}.{figure.key}"
    plain = re.fullmatch(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][-+]?[0-9]+)?", text)
    # Numbers of things need no unit, nor does what is asked for with its unit: "vcs.p99_delay_s <= 0.01".
    has_unit = dimension in (None, "cells", "size") or (
        dimension in ("time", "rate") and re.search(_UNITS + r"(?:\[.*)?$", asked.strip()) is not None
    )
    number = 0.0 if plain is None else float(text)
    if not math.isfinite(number):
        raise CellrateError(f"{what}: {text!r} is beyond what numbers here can be")
    if plain is not None and has_unit:
        return number
    if dimension is None:
        unit = "" if column.declared.unit == "-" else f" of {column.declared.unit}"
        raise CellrateError(f"{text!r}: {what} is a number{unit}; write one such as 10")
    try:
        value = quantities.read(text, _READ[dimension])
    except CellrateError as error:
        raise CellrateError(f"{what}: {error}") from None
    if dimension == "share" and not 0 <= value <= 1:
        right = f"{text} % or {value / 100:g}" if plain is not None and 0 <= value <= 100 else "one from 0 % to 100 %"
        raise CellrateError(f"{what}: {text!r} is not a share of a whole, from 0 to 1; write {right}")
    if dimension == "ratio" and plain is not None and value >= MEANT_AS_PERCENT:
        raise CellrateError(f"{what}: {text!r} would be {100 * value:g} %; write {text} % or {100 * value:g} %")
    return value / CELL_BITS if column.declared.unit == "cells/s" else value
