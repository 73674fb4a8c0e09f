"""A sweep in one compact table: a row for each point, or for each value of a key, with means over all that it holds."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..recorded.columns import Numbers
from ..recorded.table import letter, print_numbers
from ..texts import printable
from .figures import Figure
from .replications import SEED, Mean, mean_over_seeds
from .settings import filled, labels_of, names_of, paths_of, plain_label, with_those_apart

if TYPE_CHECKING:
    from ..recorded.run import Recorded

MOST_ROWS = 60
"""Rows that a terminal shows; the rest is a matter for --by, --csv and tables."""


FIGURES = {
    "throughput_mbps": "vcs.throughput",
    "tcp_goodput_mbps": "tcp.goodput",
    "worst_p99_delay_ms": "vcs.p99_delay",
    "busiest_port_percent": "ports.utilization",
    "longest_queue_cells": "ports.max_queue",
    "dropped_cells": "ports.dropped",
}
"""Figures of a sweep, by the columns that CSV has of them; one of which no point has a value is left out."""

REMARKS = {
    "phase_effects": ("Phase effects", "ties or fixed phases decided who lost cells; docs/guides/phase-effects.md"),
    "unsettled": ("Unsettled", "rates cannot settle, or have not; docs/algorithms"),
    "host_bottlenecks": ("A host's own line is the bottleneck", "its connections send more than it carries"),
    "refused": ("Connections refused", "admission found too little room"),
}
"""Remarks of runs about themselves, by the key of their summaries: what each is called, and what it means."""

MOST_NAMED = 4
"""Settings that a remark names; of more it says how many."""


@dataclass(frozen=True)
class Row:
    """Points that have the same settings."""

    settings: tuple[str, ...]
    means: tuple[Mean | None, ...]
    runs: int
    remarks: tuple[int, ...]
    """How many of its runs have each of `REMARKS`."""


@dataclass(frozen=True)
class Overview:
    """The rows of a table, before they are text."""

    paths: list[str]
    figures: dict[str, Figure]
    """By the columns that CSV has of them."""
    rows: list[Row]

    @classmethod
    def of(cls, results: Sequence[Recorded], by: Sequence[str] = ()) -> Overview:
        """Make the rows: one for each point, seeds aside, or for each combination of values of the keys `by`.

        Raises
        ------
        CellrateError
            If nothing of a key was varied.
        """
        figures = {name: Figure.read(text) for name, text in FIGURES.items()}
        groups: dict[tuple[str, ...], list[tuple[Mapping[str, str], dict[str, float | None]]]] = {}
        remarks: dict[tuple[str, ...], list[list[bool]]] = {}
        given = filled(settings_in(results))
        varied = given[0] if given else {}
        paths = paths_of(varied, with_those_apart(varied, by)) if by else [path for path in varied if path != SEED]
        for result, settings in zip(results, given, strict=True):
            key = tuple(settings[path] for path in paths)
            summary = result.summary
            # Results that were stored before there were such rows have none.
            found = {name: one.value(summary) if one.rows in summary else None for name, one in figures.items()}
            groups.setdefault(key, []).append((settings, found))
            remarks.setdefault(key, []).append([bool(summary.get(kind)) for kind in REMARKS])
        runs = [found for some in groups.values() for _, found in some]
        shown = {name: one for name, one in figures.items() if any(found[name] is not None for found in runs)}
        rows = [
            Row(
                key,
                tuple(_mean([(settings, found[name]) for settings, found in some]) for name in shown),
                len(some),
                tuple(map(sum, zip(*remarks[key], strict=True))),
            )
            for key, some in groups.items()
        ]
        return cls(paths, shown, rows)

    def numbers(self) -> Numbers:
        """Give the table as text: a name, and numbers behind it."""
        names = names_of(self.paths)
        labels = [labels_of([row.settings[place] for row in self.rows]) for place in range(len(self.paths))]
        replicated = any(row.runs > 1 for row in self.rows)
        head = [*(names[path] for path in self.paths), *(["runs"] if replicated else [])]
        head = [*(head or ["run"]), *(figure.heading for figure in self.figures.values())]
        rows = []
        for row in self.rows:
            cells = [labels[place][text] for place, text in enumerate(row.settings)]
            cells += [str(row.runs)] if replicated else []
            cells = cells or [""]
            cells += [said_mean(mean, one) for mean, one in zip(row.means, self.figures.values(), strict=True)]
            rows.append(cells)
        return head, rows

    def remarks(self) -> list[str]:
        """Give a line for each thing that runs say of themselves: how many of them, with which settings."""
        names = names_of(self.paths)
        labels = [labels_of([row.settings[place] for row in self.rows]) for place in range(len(self.paths))]
        total = sum(row.runs for row in self.rows)
        lines = []
        for place, (title, meaning) in enumerate(REMARKS.values()):
            rows = [row for row in self.rows if row.remarks[place]]
            if not rows:
                continue
            line = f"{title} in {sum(row.remarks[place] for row in rows):,} of {total:,} runs"
            if self.paths and len(rows) < len(self.rows):
                named = [
                    ", ".join(
                        f"{names[path]} {labels[column][row.settings[column]]}"
                        for column, path in enumerate(self.paths)
                    )
                    for row in rows[:MOST_NAMED]
                ]
                more = f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
                line += f" ({'; '.join(named)}{more})"
            lines.append(f"{line}: {meaning}.")
        return lines


def overview(results: Sequence[Recorded], by: Sequence[str] = ()) -> Numbers:
    """Give the table of a sweep as text."""
    return Overview.of(results, by).numbers()


def print_overview(results: Sequence[Recorded], by: Sequence[str] = (), *, title: str = "") -> None:
    """Print the table of a sweep, and what its means are of."""
    found = Overview.of(results, by)
    head, rows = found.numbers()
    if title:
        print(printable(title))
    print_numbers(head, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        print(f"{len(rows) - MOST_ROWS:,} more rows; cellrate show --by KEY draws them together, --csv prints all.")
    for line in found.remarks():
        print(printable(line))
    if any(mean is not None and mean.half_width for row in found.rows for mean in row.means):
        sign = letter("±", "+-")
        print(
            f"Means over {_over(found, results)}, {sign} half their 95 % confidence intervals over seeds (Student's t)."
        )
    elif any(row.runs > 1 for row in found.rows):
        print(f"Means over {_over(found, results)}." if by else "Means over seeds, which make no difference.")


def _over(found: Overview, results: Sequence[Recorded]) -> str:
    """Say what the means of a table are over: seeds, and what else was varied."""
    others = [path for path in filled(settings_in(results))[0] if path not in found.paths]
    return printable(" and ".join("seeds" if path == SEED else name for path, name in names_of(others).items()))


def print_csv(results: Sequence[Recorded], by: Sequence[str] = ()) -> None:
    """Print the table of a sweep as CSV: settings, runs, and of each figure mean and half width."""
    found = Overview.of(results, by)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*found.paths, "runs", *(f"{name}{end}" for name in found.figures for end in ("", "_ci95"))])
    for row in found.rows:
        cells: list[object] = [*map(plain_label, row.settings), row.runs]
        for mean, one in zip(row.means, found.figures.values(), strict=True):
            factor = one.scale.factor
            half = None if mean is None else mean.half_width
            cells += ["" if mean is None else mean.mean * factor, "" if half is None else half * factor]
        out.writerow(cells)


def settings_in(results: Sequence[Recorded]) -> list[dict[str, str]]:
    """Give the settings of results, which a sweep in a folder knows without reading them."""
    known: list[dict[str, str]] | None = getattr(results, "settings", None)
    return [result.settings for result in results] if known is None else known


def _mean(values: Sequence[tuple[Mapping[str, str], float | None]]) -> Mean | None:
    given = [(settings, value) for settings, value in values if value is not None]
    return mean_over_seeds(given) if given else None


def said_mean(mean: Mean | None, figure: Figure) -> str:
    """Give a mean as text, in the unit that people read the figure in, with half the width of its interval."""
    if mean is None:
        return ""
    about = f" {letter('±', '+-')} {figure.said(mean.half_width)}" if mean.half_width else ""
    return f"{figure.said(mean.mean)}{about}"
