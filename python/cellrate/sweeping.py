"""Sweeps as a whole: the figures of all points in one table, and a picture of them over what was varied."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .errors import CellrateError
from .summaries import telling_ports, telling_vcs

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

    from .figures import Drawn
    from .results import Result

MOST_LINES = 8
"""Of a panel; of more connections or ports the least, the median and the largest are drawn."""

MOST_TICKS = 10
"""Of an axis each of whose values has one."""

LOGARITHMIC_FROM = 20.0
"""An axis whose largest value is so many times its least is logarithmic."""


def tidy(results: Sequence[Result], of: str = "vcs") -> pa.Table:
    """Give the rows of all results in one table: what each point set, then the keys of docs/results.md.

    Parameters
    ----------
    results
        Those of a sweep, or any others.
    of
        Which rows: "vcs", "ports", "tcp", ...; "run" for one per result.

    Returns
    -------
    pyarrow.Table
        A column per setting, named by its path, and one per key; `to_pandas()` makes a data frame of it. Settings that
        are numbers in all points are numbers.

    Raises
    ------
    CellrateError
        If results have no such rows.
    """
    import pyarrow as pa

    known = list(results[0].summary) if results else [of]
    if of not in known:
        raise CellrateError(f'there are no rows "{of}" in a result; there are {", ".join(known)}')
    paths = list(dict.fromkeys(path for result in results for path in result.set))
    numbers = {path: _plain_numbers([result.set.get(path) for result in results]) for path in paths}
    rows = [
        {**{path: numbers[path][place] for path in paths}, **row}
        for place, result in enumerate(results)
        for row in ([result.summary[of]] if of == "run" else result.summary[of])
    ]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return pa.table({key: _column([row.get(key) for row in rows]) for key in keys or paths})


def _column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # Rows of several kinds, as applications have them, each with results of its own.
        made = pa.array([None if value is None else json.dumps(value) for value in values])
    # A key that is null in all rows is one of numbers that are not there.
    return made.cast(pa.float64()) if pa.types.is_null(made.type) else made


def _plain_numbers(texts: list[str | None]) -> list[Any]:
    """Give whole numbers or numbers, if all are."""
    kinds: list[Callable[[str], Any]] = [int, float]
    for kind in kinds:
        try:
            return [None if text is None else kind(text) for text in texts]
        except ValueError:
            continue
    return list(texts)


def figure(results: Sequence[Result]) -> Drawn | None:
    """Draw throughput, delay, utilization and queue of all points over what was varied; None where nothing was.

    The parameter with the most values is the axis; each combination of the others has lines of its own.
    """
    axis = _axis(results)
    if axis is None:
        return None
    panels = [(title, lines) for title, lines in _panels(results, axis) if lines]
    if not panels:
        return None
    import matplotlib as mpl

    from .figures import Drawn
    from .style import STYLE

    width, panel_height, gap, top, bottom = 7.2, 1.6, 0.4, 0.6, 1.0
    height = top + bottom + len(panels) * panel_height + (len(panels) - 1) * gap
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(width, height))
        drawn.subplots_adjust(
            left=0.85 / width,
            right=1 - 1.75 / width,
            top=1 - top / height,
            bottom=bottom / height,
            hspace=gap / panel_height,
        )
        rows: Any = drawn.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, (title, lines) in zip(rows[:, 0], panels, strict=True):
            _draw(axes, title, lines, joined=axis.is_number)
        axis.mark(rows[-1, 0])
        drawn.align_ylabels(rows[:, 0])
        run = results[0].summary["run"]
        drawn.text(0.012, 1 - 0.1 / height, f"{run['scenario']}: {len(results)} points", fontsize=10, va="top")
        stamp = f"cellrate {run['version']}"
        drawn.text(1 - 0.08 / width, 0.08 / height, stamp, fontsize=6.5, color="#777777", ha="right")
    return drawn


@dataclass(frozen=True)
class Axis:
    """What is varied, as an axis."""

    path: str
    positions: list[float]
    """By point."""
    labels: dict[float, str]
    """Of positions."""
    is_number: bool
    """Whether positions are numbers of the scenario's."""
    unit: str
    others: list[str]
    """By point: what else is varied, as text; empty where nothing is."""

    def mark(self, axes: Axes) -> None:
        """Set ticks and the label."""
        axes.set_xlabel(self.path + (f" [{self.unit}]" if self.unit else ""))
        low, high = min(self.positions), max(self.positions)
        if self.is_number and low > 0 and high / low >= LOGARITHMIC_FROM:
            axes.set_xscale("log")
        if not self.is_number or len(self.labels) <= MOST_TICKS:
            turned = max(map(len, self.labels.values())) > 10
            axes.set_xticks(list(self.labels), list(self.labels.values()), rotation=20 if turned else 0)
            axes.set_xticks([], minor=True)


def _axis(results: Sequence[Result]) -> Axis | None:
    values: dict[str, list[str]] = {}
    for path in results[0].set if results else ():
        values[path] = [result.set[path] for result in results]
    varied = {path: texts for path, texts in values.items() if len(set(texts)) > 1}
    if not varied:
        return None
    path = max(reversed(list(varied)), key=lambda path: len(set(varied[path])))
    texts = varied[path]
    rest = [other for other in varied if other != path]
    others = [", ".join(f"{_last(other)} {_short(varied[other][i])}" for other in rest) for i in range(len(texts))]
    quantities = [_quantity(text) for text in texts]
    units = {unit for _, unit in filter(None, quantities)}
    if None not in quantities and len(units) == 1:
        positions = [number for number, _ in filter(None, quantities)]
        labels = {at: text.split()[0] for at, text in sorted(zip(positions, texts, strict=True))}
        return Axis(path, positions, labels, True, units.pop(), others)
    distinct = list(dict.fromkeys(texts))
    labels = {float(place): _short(text) for place, text in enumerate(distinct)}
    return Axis(path, [float(distinct.index(text)) for text in texts], labels, False, "", others)


def _quantity(text: str) -> tuple[float, str] | None:
    """Give number and unit; None for anything else."""
    found = re.fullmatch(r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?(?:/\d+)?)\s*([A-Za-z%/]*)\s*", text)
    if found is None:
        return None
    try:
        number = found[1]
        return float(Fraction(number)) if "/" in number else float(number), found[2]
    except (ValueError, ZeroDivisionError):
        return None


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _short(text: str) -> str:
    """A table goes by its type."""
    kind = re.search(r'type\s*=\s*"([^"]*)"', text)
    return kind[1] if kind else text if len(text) <= 24 else text[:21] + "..."


Line = tuple[str, list[float], list[float]]
"""Label, positions and values."""


Rows = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""From a summary to the rows that tell something."""

Value = Callable[[dict[str, Any]], float | None]
"""From a row to what is drawn of it."""


def _panels(results: Sequence[Result], axis: Axis) -> list[tuple[str, list[Line]]]:
    def lines(rows: str, name: str, telling: Rows, value: Value) -> list[Line]:
        names = list(dict.fromkeys(row[name] for result in results for row in telling(result.summary)))
        found: dict[tuple[str, str], dict[float, float]] = {}
        for point, result in enumerate(results):
            figures = {row[name]: value(row) for row in result.summary[rows] if row[name] in names}
            given = {of: one for of, one in figures.items() if one is not None}
            for of, one in (
                given if len(names) * len(set(axis.others)) <= MOST_LINES else _spread(given, len(names))
            ).items():
                found.setdefault((of, axis.others[point]), {})[axis.positions[point]] = one
        return [
            (" ".join(filter(None, key)), sorted(points), [points[at] for at in sorted(points)])
            for key, points in found.items()
        ]

    return [
        ("throughput [Mbps]", lines("vcs", "vc", telling_vcs, lambda row: row["throughput_bps"] / 1e6)),
        ("p99 delay [ms]", lines("vcs", "vc", telling_vcs, lambda row: _times(row.get("p99_delay_s"), 1e3))),
        ("utilization [%]", lines("ports", "port", telling_ports, lambda row: row["utilization"] * 100)),
        ("max queue [cells]", lines("ports", "port", telling_ports, lambda row: row["max_queue"])),
    ]


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _spread(values: dict[str, float], count: int) -> dict[str, float]:
    if not values:
        return {}
    import statistics

    given = list(values.values())
    return {f"least of {count}": min(given), "median": statistics.median(given), "largest": max(given)}


def _draw(axes: Axes, title: str, lines: list[Line], *, joined: bool) -> None:
    from .style import COLOURS, DASHES

    for number, (label, positions, values) in enumerate(lines):
        axes.plot(
            positions,
            values,
            marker="o",
            markersize=3.5,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[(number // len(COLOURS)) % len(DASHES)] if joined else "none",
            label=label,
        )
    axes.set_ylabel(title)
    largest = max((value for _, _, values in lines for value in values), default=0)
    axes.set_ylim(0, 1.08 * largest or 1)
    axes.margins(x=0.05)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), borderpad=0.1, handlelength=1.6)
