"""A sweep in one compact table: a row for each point, or for each value of a key, with means over all that it holds."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..recorded.summaries import Numbers, ports_with_queues, vcs_with_data
from ..recorded.table import letter, print_numbers
from ..texts import printable
from .replications import SEED, Mean, mean_of
from .settings import filled, labels_of, names_of, paths_of, plain_label, with_those_apart

if TYPE_CHECKING:
    from ..recorded.run import Recorded

MOST_ROWS = 60
"""Rows that a terminal shows; the rest is a matter for --by, --csv and tables."""


@dataclass(frozen=True)
class Figure:
    """A column: one number of a whole run."""

    key: str
    heading: str
    decimals: int
    of: Callable[[Mapping[str, Any]], float | None]


def _total(kind: str, key: str, factor: float = 1.0) -> Callable[[Mapping[str, Any]], float | None]:
    def total(summary: Mapping[str, Any]) -> float | None:
        rows = vcs_with_data(dict(summary)) if kind == "vcs" else summary.get(kind, [])
        values = [row[key] for row in rows if row.get(key) is not None]
        return factor * sum(values) if values else None

    return total


def _most(kind: str, key: str, factor: float = 1.0) -> Callable[[Mapping[str, Any]], float | None]:
    def most(summary: Mapping[str, Any]) -> float | None:
        rows = vcs_with_data(dict(summary)) if kind == "vcs" else ports_with_queues(dict(summary))
        return max((factor * row[key] for row in rows if row.get(key) is not None), default=None)

    return most


FIGURES = (
    Figure("throughput_mbps", "throughput\nof all\nMbps", 2, _total("vcs", "throughput_bps", 1e-6)),
    Figure("tcp_goodput_mbps", "TCP goodput\nof all\nMbps", 2, _total("tcp", "goodput_bps", 1e-6)),
    Figure("worst_p99_delay_ms", "worst\np99 delay\nms", 3, _most("vcs", "p99_delay_s", 1e3)),
    Figure("busiest_port_percent", "busiest\nport\n%", 1, _most("ports", "utilization", 100.0)),
    Figure("longest_queue_cells", "longest\nqueue\ncells", 0, _most("ports", "max_queue")),
    Figure("dropped_cells", "dropped\n\ncells", 0, _total("ports", "dropped")),
)
"""Figures of a sweep; one of which no point has a value is left out."""

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
    figures: list[Figure]
    rows: list[Row]

    @classmethod
    def of(cls, results: Sequence[Recorded], by: Sequence[str] = ()) -> Overview:
        """Make the rows: one for each point, seeds aside, or for each combination of values of the keys `by`.

        Raises
        ------
        CellrateError
            If nothing of a key was varied.
        """
        groups: dict[tuple[str, ...], list[list[float | None]]] = {}
        remarks: dict[tuple[str, ...], list[list[bool]]] = {}
        given = filled(settings_in(results))
        varied = given[0] if given else {}
        paths = paths_of(varied, with_those_apart(varied, by)) if by else [path for path in varied if path != SEED]
        for result, settings in zip(results, given, strict=True):
            key = tuple(settings[path] for path in paths)
            groups.setdefault(key, []).append([figure.of(result.summary) for figure in FIGURES])
            remarks.setdefault(key, []).append([bool(result.summary.get(kind)) for kind in REMARKS])
        shown = [
            place
            for place in range(len(FIGURES))
            if any(run[place] is not None for runs in groups.values() for run in runs)
        ]
        rows = [
            Row(
                key,
                tuple(_mean([run[place] for run in runs]) for place in shown),
                len(runs),
                tuple(map(sum, zip(*remarks[key], strict=True))),
            )
            for key, runs in groups.items()
        ]
        return cls(paths, [FIGURES[place] for place in shown], rows)

    def numbers(self) -> Numbers:
        """Give the table as text: a name, and numbers behind it."""
        names = names_of(self.paths)
        labels = [labels_of([row.settings[place] for row in self.rows]) for place in range(len(self.paths))]
        replicated = any(row.runs > 1 for row in self.rows)
        head = [*(names[path] for path in self.paths), *(["runs"] if replicated else [])]
        head = [*(head or ["run"]), *(figure.heading for figure in self.figures)]
        rows = []
        for row in self.rows:
            cells = [labels[place][text] for place, text in enumerate(row.settings)]
            cells += [str(row.runs)] if replicated else []
            cells = cells or [""]
            cells += [_said(mean, figure.decimals) for mean, figure in zip(row.means, self.figures, strict=True)]
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
        what = f"all runs with the same {', '.join(names_of(found.paths).values())}" if by else "seeds"
        print(f"Means over {printable(what)}, {sign} half their 95 % confidence intervals (Student's t).")
    elif any(row.runs > 1 for row in found.rows):
        print("Means over runs that are all alike." if by else "Means over seeds, which make no difference.")


def print_csv(results: Sequence[Recorded], by: Sequence[str] = ()) -> None:
    """Print the table of a sweep as CSV: settings, runs, and of each figure mean and half width."""
    found = Overview.of(results, by)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*found.paths, "runs", *(f"{one.key}{end}" for one in found.figures for end in ("", "_ci95"))])
    for row in found.rows:
        cells: list[object] = [*map(plain_label, row.settings), row.runs]
        for mean in row.means:
            half = None if mean is None else mean.half_width
            cells += ["" if mean is None else mean.mean, "" if half is None else half]
        out.writerow(cells)


def settings_in(results: Sequence[Recorded]) -> list[dict[str, str]]:
    """Give the settings of results, which a sweep in a folder knows without reading them."""
    known: list[dict[str, str]] | None = getattr(results, "settings", None)
    return [result.settings for result in results] if known is None else known


def _mean(values: Sequence[float | None]) -> Mean | None:
    given = [value for value in values if value is not None]
    return mean_of(given) if given else None


def _said(mean: Mean | None, decimals: int) -> str:
    if mean is None:
        return ""
    about = f" {letter('±', '+-')} {mean.half_width:,.{decimals}f}" if mean.half_width else ""
    return f"{mean.mean:,.{decimals}f}{about}"
