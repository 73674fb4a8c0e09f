"""Quantities of summaries that are shown of a sweep, and what all points have of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..recorded.columns import Row, Rows, tables

Values = dict[str, float]
"""By name of a connection or port, or what is made of all of them."""


@dataclass(frozen=True)
class Quantity:
    """Quantity in a row of panels, or a column of a table."""

    axis: str
    """Label of the axis, with the unit."""
    kind: str
    """Kind of the rows of a summary."""
    of: str
    """Things that these are quantities of, in the plural."""
    value: Callable[[Row], float | None]
    """In the unit of the axis; None where there is none."""
    worst: bool = False
    """Whether the largest value is what counts where there is room for one line only; otherwise the median."""

    @classmethod
    def of_column(cls, kind: str, key: str) -> Quantity:
        """Make it of a column of results."""
        table = tables()[kind]
        column = table.columns[key]
        factor = column.scale.factor

        def value(row: Row) -> float | None:
            found: float | None = row.get(key)
            return None if found is None else found * factor

        axis = column.axis if kind in ("vcs", "ports") else column.axis.replace(" [", f"\nof {table.many} [")
        # What is a port's own counts with the port where it is largest.
        return cls(axis, kind, table.many, value, kind == "ports" and column.adds == "largest")


def _whole(row: Row) -> float | None:
    return 100 * row["whole"] / row["frames"] if row["frames"] else None


@cache
def quantities() -> Sequence[Quantity]:
    """Give all quantities in their order; those of which no point has rows are left out."""
    return (
        Quantity.of_column("vcs", "throughput_bps"),
        Quantity.of_column("vcs", "p99_delay_s"),
        Quantity.of_column("tcp", "goodput_bps"),
        Quantity("whole frames [%]", "frames", tables()["frames"].many, _whole),
        Quantity.of_column("bursts", "mean_response_s"),
        Quantity.of_column("exchanges", "mean_response_s"),
        Quantity.of_column("ports", "utilization"),
        Quantity.of_column("ports", "max_queue"),
    )


@dataclass(frozen=True)
class Found:
    """Values of a quantity at all points."""

    quantity: Quantity
    names: list[str]
    """Names of connections, ports and so on."""
    at_points: list[Values]
    groups: dict[str, str]
    """Group of each name beside others: its category where there are several, and its role or direction."""

    @classmethod
    def of(cls, quantity: Quantity, summaries: Sequence[Rows]) -> Found:
        """Take it from the summaries of all points."""
        table = tables()[quantity.kind]
        rows = [row for summary in summaries for row in table.rows(summary)]
        name = table.namer(rows)
        names = list(dict.fromkeys(name(row) for summary in summaries for row in table.telling(summary)))
        at_points = []
        for summary in summaries:
            values = {name(row): quantity.value(row) for row in table.rows(summary)}
            at_points.append({of: value for of, value in values.items() if value is not None and of in names})
        names = [name for name in names if any(name in values for values in at_points)]
        categories = {row["vc"]: row["category"] for summary in summaries for row in summary.get("vcs", [])}
        own = {name(row): row for row in rows}
        return cls(quantity, names, at_points, {of: _group(own[of], categories) for of in names})

    def apart(self) -> list[Found]:
        """Give what belongs to each category and direction by itself: a median over both would be of neither."""
        groups = list(dict.fromkeys(self.groups[name] for name in self.names))
        if len(groups) < 2:
            return [self]
        # What all have in common tells nothing.
        words = [group.split() for group in groups]
        common = {word for word in words[0] if all(word in others for others in words)}
        parts = []
        for group, own_words in zip(groups, words, strict=True):
            names = [name for name in self.names if self.groups[name] == group]
            said = " ".join(word for word in own_words if word not in common) or group
            head, unit = self.quantity.axis.rsplit(" [", 1)
            quantity = replace(self.quantity, axis=f"{head}\n{said} [{unit}", of=f"{said} {self.quantity.of}")
            parts.append(replace(self, quantity=quantity, names=names, at_points=self._only(names)))
        return parts

    def _only(self, names: list[str]) -> list[Values]:
        return [{name: values[name] for name in names if name in values} for values in self.at_points]


def _group(row: Row, categories: Mapping[str, str]) -> str:
    """Give category, direction and role of a row, as far as it has them."""
    vc = row.get("vc")
    if vc is None:
        return ""
    # A role, such as that of a response, says the direction.
    way = row.get("role") or ("backward" if vc.endswith(" (back)") else "forward")
    return " ".join(filter(None, [categories.get(vc, "").upper(), way]))
