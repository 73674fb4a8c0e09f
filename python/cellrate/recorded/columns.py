"""Columns of results as Rust declares them (`cellrate_engine::declared`), and their values as people read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from .. import _native
from ..quantities import CELL_BITS
from .completion_times import sizes
from .groups import Groups, folded

Row: TypeAlias = Mapping[str, Any]
"""A row of a result; `_native.pyi` has the types of each kind."""

Rows: TypeAlias = Mapping[str, Any]
"""A summary: by the key of each table its rows, or its only one."""


@dataclass(frozen=True)
class Scale:
    """How people read the values of a unit."""

    factor: float
    unit: str
    """Empty where there is none."""
    decimals: int
    """Decimals of numbers that are not whole."""

    def said(self, value: float | None, decimals: int | None = None) -> str:
        """Give a value as text, nothing where there is none."""
        if value is None:
            return ""
        whole = isinstance(value, int) and self.factor == 1
        return f"{value * self.factor:,.{0 if whole else self.decimals if decimals is None else decimals}f}"


SCALES: Mapping[str, Scale] = {
    "bit/s": Scale(1e-6, "Mbps", 2),
    "cells/s": Scale(CELL_BITS * 1e-6, "Mbps", 2),
    "s": Scale(1e3, "ms", 3),
    "0 to 1": Scale(100.0, "%", 1),
    "cells": Scale(1.0, "cells", 1),
    "octets": Scale(1.0, "octets", 0),
    "ppm": Scale(1.0, "ppm", 3),
    "PDUs": Scale(1.0, "PDUs", 0),
    "1/s": Scale(1.0, "1/s", 0),
    "-": Scale(1.0, "", 2),
}
"""By the unit that results have; rates of cells are those of their bits, 53 octets each."""

_MULTIPLE = Scale(100.0, "%", 1)
_SHOWN_IN = {"us": Scale(1e6, "us", 3), "s": Scale(1.0, "s", 3)}


class Column:
    """A column of a table of results."""

    def __init__(self, declared: _native.Column) -> None:
        self.key = declared.key
        self.declared = declared
        self.weight = declared.weight
        self.adds = declared.adds

    @property
    def scale(self) -> Scale:
        """How people read its values."""
        if self.declared.shown_in is not None:
            return _SHOWN_IN[self.declared.shown_in]
        if self.declared.unit == "-" and self.declared.dimension == "ratio":
            return _MULTIPLE
        return SCALES[self.declared.unit]

    @property
    def heading(self) -> str:
        """Its heading, or its key without the unit."""
        return self.declared.heading or re.sub(r"_(bps|s|ppm|octets|cells)$", "", self.key).replace("_", " ")

    @property
    def axis(self) -> str:
        """Heading and unit on one line: "throughput [Mbps]"."""
        return self.heading + (f" [{self.scale.unit}]" if self.scale.unit else "")

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers that say something of the row."""
        return not self.declared.is_name

    def said(self, value: Any) -> str:
        """Give a value as tables have it."""
        return value if isinstance(value, str) else self.scale.said(value, self.declared.decimals)

    def said_of(self, values: Sequence[Any]) -> str:
        """Give the values of several rows in one cell: their least and largest, or the texts that there are."""
        known = list(dict.fromkeys(value for value in values if value is not None))
        if known and not any(isinstance(value, str) for value in known):
            known = [min(known), max(known)]
        said = list(dict.fromkeys(map(self.said, known)))
        return (" to " if self.is_number else ", ").join(said)


class Table:
    """A table of results."""

    def __init__(self, declared: _native.Table, more: Sequence[_native.Column] = ()) -> None:
        self.key, self.one, self.many = declared.key, declared.one, declared.many
        self.sentence, self.is_list = declared.sentence, declared.is_list
        self.columns = {column.key: Column(column) for column in (*declared.columns, *more)}
        self._tells = declared.tells
        # "{vc} #{connection}": what stands before each key, and the key.
        self._named = re.findall(r"([^{]*)\{(\w+)\}", declared.named)

    @property
    def naming(self) -> list[str]:
        """Columns that tell rows apart: those that name them, and other numbers that say of what they are."""
        named = {key for _, key in self._named}
        numbers = {key for key, one in self.columns.items() if not one.is_number and one.declared.kind == "integer"}
        return [key for key in self.columns if key in named | numbers]

    def rows(self, summary: Rows) -> list[Row]:
        """Give its rows in a summary; none in one that was stored before there was such a table."""
        given = summary.get(self.key)
        return list(given) if isinstance(given, list) else [given] if given else []

    def telling(self, summary: Rows) -> list[Row]:
        """Give the rows that tell something, or all if none does; the others are in the JSON."""
        rows = self.rows(summary)
        if not self._tells:
            return rows
        return [row for row in rows if any((row.get(key) or 0) > above for key, above in self._tells)] or rows

    def namer(self, rows: Iterable[Row]) -> Callable[[Row], str]:
        """Give what names rows among these: a number of which no VC has several tells nothing, and is left out."""
        if self.key == "completions":
            return lambda row: f"{row['flows']}, {sizes(row['from_octets'], row['below_octets'])}"
        numbers = [key for _, key in self._named if self.columns[key].declared.kind == "integer"]
        values: dict[tuple[str, object], set[object]] = {}
        for row in rows:
            for key in numbers:
                values.setdefault((key, row.get("vc")), set()).add(row.get(key))
        several = {key for (key, _), found in values.items() if len(found) > 1}
        parts = [(before, key) for before, key in self._named if key not in numbers or key in several]
        return lambda row: "".join(f"{before}{row[key]}" for before, key in parts if key in row)

    def numbers(self, rows: Sequence[Row], title: str | None = None, groups: Groups | None = None) -> Numbers:
        """Give the rows as text: a name, and a number for each column that has a heading.

        Members of a group are one row with the least and the largest of each column; below it stand the totals of those
        that add up.
        """
        shown = [column for column in self.columns.values() if _is_shown(column, rows)]
        name = self.namer(rows)
        head = [title or _wrapped(self.one), *(_heading(column) for column in shown)]
        lines = []
        for group, places in folded([name(row) for row in rows], groups or {}).items():
            members = [rows[place] for place in places]
            lines.append([group, *(column.said_of([row.get(column.key) for row in members]) for column in shown)])
            if len(members) > 1 and any(column.adds == "sum" for column in shown):
                lines.append([f"  total of {len(members)}", *(_total(column, members) for column in shown)])
        return head, lines


Numbers: TypeAlias = tuple[list[str], list[list[str]]]
"""Headings, perhaps of several lines, and rows: a name, and numbers behind it."""


@cache
def tables() -> Mapping[str, Table]:
    """Give the tables of results by their keys, those of live runs behind those of simulations."""
    simulated, live = _native.tables(), {table.key: table for table in _native.tables(live=True)}
    found = {}
    for table in simulated:
        more = live.pop(table.key, table).columns
        known = {column.key for column in table.columns}
        found[table.key] = Table(table, [column for column in more if column.key not in known])
    return found | {key: Table(table) for key, table in live.items()}


def _is_shown(column: Column, rows: Sequence[Row]) -> bool:
    if column.declared.shown == "any":
        # Results that were stored before there was such a figure have none.
        return any(row.get(column.key) for row in rows)
    return column.declared.shown == "always"


def _total(column: Column, rows: Sequence[Row]) -> str:
    """Give what the rows have together, where a sum says that."""
    values = [value for row in rows if (value := row.get(column.key)) is not None]
    return column.said(sum(values)) if column.adds == "sum" and values else ""


def _heading(column: Column) -> str:
    return "\n".join(filter(None, [_wrapped(column.heading), column.scale.unit]))


def _wrapped(text: str, width: int = 8) -> str:
    """Break a heading between words; `textwrap` takes longer to import than a short run takes."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if len(longer) <= width or not lines[-1] else [*lines, word]
    return "\n".join(lines)
