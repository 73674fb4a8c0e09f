"""Quantities of summaries that are shown of a sweep, and what all points have of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..recorded.summaries import ports_with_queues, vcs_with_data

Row = dict[str, Any]
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
    rows_with_figures: Callable[[Row], list[Row]] | None = None
    """From a summary, the rows that tell something; all when None."""
    keys: tuple[str, ...] = ("vc",)
    """Which name a row, together."""
    worst: bool = False
    """Whether the largest value is what counts where there is room for one line only; otherwise the median."""


def _scaled(key: str, factor: float) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found: float | None = row.get(key)
        return None if found is None else found * factor

    return value


def _whole(row: Row) -> float | None:
    return 100 * row["whole"] / row["frames"] if row["frames"] else None


def _with_segments(summary: Row) -> list[Row]:
    return [row for row in summary["tcp"] if row["segments"]]


CONNECTIONS, PORTS = "connections", "ports"

QUANTITIES = (
    Quantity("throughput [Mbps]", "vcs", CONNECTIONS, _scaled("throughput_bps", 1e-6), vcs_with_data),
    Quantity("p99 delay [ms]", "vcs", CONNECTIONS, _scaled("p99_delay_s", 1e3), vcs_with_data),
    Quantity(
        "TCP goodput [Mbps]",
        "tcp",
        "TCP connections",
        _scaled("goodput_bps", 1e-6),
        _with_segments,
        ("vc", "connection"),
    ),
    Quantity("whole frames [%]", "frames", CONNECTIONS, _whole),
    Quantity(
        "mean response\nof bursts [ms]", "bursts", "directions", _scaled("mean_response_s", 1e3), None, ("vc", "role")
    ),
    Quantity(
        "mean response\nof objects [ms]",
        "exchanges",
        "objects of pages",
        _scaled("mean_response_s", 1e3),
        None,
        ("vc", "client", "object"),
    ),
    Quantity("utilization [%]", "ports", PORTS, _scaled("utilization", 100.0), ports_with_queues, ("port",), True),
    Quantity("max queue [cells]", "ports", PORTS, _scaled("max_queue", 1.0), ports_with_queues, ("port",), True),
)
"""In their order; those of which no point has rows are left out."""

_MARKS = {"connection": "#", "client": "#", "object": "object "}
"""Before numbers in names."""


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
    def of(cls, quantity: Quantity, summaries: Sequence[Row]) -> Found:
        """Take it from the summaries of all points."""
        rows = [row for summary in summaries for row in summary.get(quantity.kind, [])]
        first, *others = quantity.keys
        # A number that is the same for all rows of a VC tells nothing.
        pairs = {key: {(row[first], row[key]) for row in rows} for key in others}
        shown = [key for key in others if len(pairs[key]) > len({of for of, _ in pairs[key]})]

        def name(row: Row) -> str:
            return " ".join([row[first], *(f"{_MARKS.get(key, '')}{row[key]}" for key in shown)])

        rows_with_figures = quantity.rows_with_figures or (lambda summary: list(summary.get(quantity.kind, [])))
        names = list(dict.fromkeys(name(row) for summary in summaries for row in rows_with_figures(summary)))
        at_points = []
        for summary in summaries:
            values = {name(row): quantity.value(row) for row in summary.get(quantity.kind, [])}
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
