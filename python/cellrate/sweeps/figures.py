"""Figures of results by name, as options and criteria have them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import quantities
from ..errors import CellrateError
from ..quantities import read_ratio
from .replications import Mean, mean_of


@dataclass(frozen=True)
class Figure:
    """A figure of results by name: rows, a key, and perhaps of which connection or port alone."""

    rows: str
    key: str
    entity: str | None = None

    @classmethod
    def read(cls, text: str) -> Figure:
        """Read "vcs.throughput_bps", "vcs.throughput" (the unit may be left out), or "ports.max_queue[sw1->sw2]".

        Raises
        ------
        CellrateError
            If it is written in another way.
        """
        found = re.fullmatch(r"\s*([a-z_]+)\.([A-Za-z_0-9]+)(?:\[(.+)\])?\s*", text)
        if found is None:
            raise CellrateError(
                f"{text!r} is not a figure; write rows and a key of theirs, such as vcs.throughput, ports.max_queue or "
                "vcs.p99_delay[vc1]"
            )
        return cls(found[1], found[2], found[3])

    def values(self, summary: Mapping[str, Any]) -> dict[str, float]:
        """Give the figure of each connection or port that has it.

        Raises
        ------
        CellrateError
            If results have no such rows, or rows no such key, or nothing has that name.
        """
        rows = self._rows(summary)
        if self.rows == "vcs" and self.entity is None:
            # Directions that carry RM cells only would be of no interest.
            rows = [row for row in rows if row["data_sent"]] or rows
        if not rows:
            return {}
        key = self._key(rows)
        values = {}
        for number, row in enumerate(rows):
            name = str(
                row.get("port") or " ".join(str(row[one]) for one in ("vc", "connection", "switch") if one in row)
            )
            if row.get(key) is not None and self.entity in (None, name):
                values[name if name not in values else f"{name} #{number}"] = float(row[key])
        if self.entity is not None and not values:
            raise CellrateError(f"nothing called {self.entity!r} has a {self.rows}.{key}")
        return values

    def full_key(self, summary: Mapping[str, Any]) -> str:
        """Give the key with its unit, as rows have it."""
        rows = self._rows(summary)
        return self._key(rows) if rows else self.key

    def _rows(self, summary: Mapping[str, Any]) -> list[dict[str, Any]]:
        if self.rows not in summary:
            raise CellrateError(f'there are no rows "{self.rows}" in a result; there are {", ".join(summary)}')
        given = summary[self.rows]
        return [given] if isinstance(given, dict) else list(given)

    def _key(self, rows: Sequence[Mapping[str, Any]]) -> str:
        keys = list(dict.fromkeys(key for row in rows for key in row if not isinstance(row[key], str | list | dict)))
        if self.key in keys:
            return self.key
        near = [key for key in keys if re.fullmatch(rf"{re.escape(self.key)}_(bps|s|cells|octets|cps)", key)]
        if len(near) != 1:
            raise CellrateError(f"rows of {self.rows} have no {self.key}; they have {', '.join(keys)}")
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

    def unmet(self, summaries: Sequence[Mapping[str, Any]]) -> dict[str, Mean]:
        """Give what is not sure enough yet after these runs, by name."""
        values: dict[str, list[float]] = {}
        for summary in summaries:
            for name, value in self.figure.values(summary).items():
                values.setdefault(name, []).append(value)
        means = {name: mean_of(some) for name, some in values.items()}
        return {name: mean for name, mean in means.items() if not self._is_met(mean)}

    def _is_met(self, mean: Mean) -> bool:
        if mean.half_width is None:
            return False
        return mean.half_width <= self.relative * abs(mean.mean)


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}

SPREADS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "total": sum,
    "mean": lambda values: sum(values) / len(values),
    "least": min,
    "most": max,
}
"""Aggregates of a figure of several connections or ports."""

_DIMENSIONS = (quantities.TIME, quantities.RATE, quantities.SIZE)
"""Dimensions of values with units: in s, bit/s and octets, as figures are."""


@dataclass(frozen=True)
class Criterion:
    """Bound on a figure: of every connection or port that has it, or of an aggregate of all."""

    text: str
    figure: Figure
    comparison: str
    value: float
    spread: str | None = None

    @classmethod
    def read(cls, text: str) -> Criterion:
        """Read "ports.dropped == 0", "vcs.p99_delay <= 10 ms" or "total vcs.throughput > 100 Mbps".

        Raises
        ------
        CellrateError
            If it is written in another way.
        """
        found = re.fullmatch(r"\s*(?:(total|mean|least|most)\s+)?(\S+)\s*(<=|>=|==|<|>)\s*(\S.*?)\s*", text)
        if found is None:
            raise CellrateError(
                f"{text!r} is not a criterion; write a figure, <, <=, ==, >= or >, and a value, such as "
                "'vcs.p99_delay <= 10 ms' or 'total vcs.throughput > 100 Mbps'"
            )
        return cls(text.strip(), Figure.read(found[2]), found[3], _read_value(found[4]), found[1])

    def margin(self, summary: Mapping[str, Any]) -> float:
        """Give by how much it fails, in its own unit; 0 where it holds.

        Raises
        ------
        CellrateError
            If nothing has the figure.
        """
        values = list(self.figure.values(summary).values())
        if not values:
            raise CellrateError(f"{self.text}: nothing in the result has a {self.figure.rows}.{self.figure.key}")
        if self.spread is not None:
            values = [SPREADS[self.spread](values)]
        holds = COMPARISONS[self.comparison]
        return max(0.0 if holds(value, self.value) else max(abs(value - self.value), 1e-9) for value in values)

    def holds(self, summary: Mapping[str, Any]) -> bool:
        """Whether it holds."""
        return self.margin(summary) == 0.0


@dataclass(frozen=True)
class Objective:
    """Figure that is to be as large or as small as can be."""

    text: str
    figure: Figure
    largest: bool
    spread: str

    @classmethod
    def read(cls, text: str) -> Objective:
        """Read "max vcs.throughput", "max total vcs.throughput" or "min ports.max_queue".

        Of several connections or ports the worst one counts, unless total, mean, least or most says otherwise.

        Raises
        ------
        CellrateError
            If it is written in another way.
        """
        found = re.fullmatch(r"\s*(max|min)\s+(?:(total|mean|least|most)\s+)?(\S+)\s*", text)
        if found is None:
            raise CellrateError(
                f"{text!r} is not an objective; write max or min and a figure, such as 'max vcs.throughput' or "
                "'min most ports.max_queue'"
            )
        largest = found[1] == "max"
        return cls(text.strip(), Figure.read(found[3]), largest, found[2] or ("least" if largest else "most"))

    def value(self, summary: Mapping[str, Any]) -> float:
        """Give its value in a result.

        Raises
        ------
        CellrateError
            If nothing has the figure.
        """
        values = list(self.figure.values(summary).values())
        if not values:
            raise CellrateError(f"{self.text}: nothing in the result has a {self.figure.rows}.{self.figure.key}")
        return SPREADS[self.spread](values)


_SCALES = {
    "bps": (1e-6, "Mbps"),
    "cps": (1.0, "cells/s"),
    "s": (1e3, "ms"),
    "cells": (1.0, "cells"),
    "octets": (1.0, "octets"),
}
"""By the unit that ends a key, what a picture has instead: factor and unit."""


@dataclass(frozen=True)
class Shown:
    """A figure as a picture has it: of every connection or port, or what is made of them."""

    figure: Figure
    spread: str | None

    @classmethod
    def read(cls, text: str, summary: Mapping[str, Any]) -> Shown:
        """Read "vcs.throughput" or "total vcs.throughput", as a result like this one has it.

        Raises
        ------
        CellrateError
            If it is written in another way, or results have no such figure.
        """
        found = re.fullmatch(r"\s*(?:(total|mean|least|most)\s+)?(\S+)\s*", text)
        if found is None:
            raise CellrateError(
                f"{text!r} is not a figure; write rows and a key of theirs, such as vcs.throughput, with total, mean, "
                "least or most in front if these are made of all"
            )
        figure = Figure.read(found[2])
        return cls(replace(figure, key=figure.full_key(summary)), found[1])

    def values(self, summary: Mapping[str, Any]) -> list[float]:
        """Give its values in a result, in the unit of the picture: one, or one of each connection or port."""
        values = list(self.figure.values(summary).values())
        if values and self.spread is not None:
            values = [SPREADS[self.spread](values)]
        return [value * self._unit[0] for value in values]

    @property
    def label(self) -> str:
        """Give the label of an axis."""
        name = self.figure.key.removesuffix(f"_{self._unit[2]}").replace("_", " ")
        of = f" of {self.figure.entity}" if self.figure.entity else ""
        before = f"{self.spread} " if self.spread else ""
        return f"{before}{name}{of}" + (f" [{self._unit[1]}]" if self._unit[1] else "")

    @property
    def _unit(self) -> tuple[float, str, str]:
        """Factor, unit in the picture, and the unit that ends the key."""
        end = self.figure.key.rpartition("_")[2]
        if end in _SCALES and end != self.figure.key:
            return (*_SCALES[end], end)
        return (1.0, "cells" if self.figure.key.endswith("queue") else "", "")


def _read_value(text: str) -> float:
    try:
        return read_ratio(text)
    except CellrateError:
        pass
    for dimension in _DIMENSIONS:
        try:
            return quantities.read(text, dimension)
        except CellrateError:
            continue
    raise CellrateError(
        f"{text!r} is not a value; write a number, a share such as 99 %, or a quantity such as 10 ms or 5 Mbps"
    )
