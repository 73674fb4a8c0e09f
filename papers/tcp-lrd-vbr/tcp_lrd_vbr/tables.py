"""Tables 1 to 6: three mean/deviation pairs on three paths, with two segment sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers.experiment import Cell, Drawing, Experiment, Finding, Point, Results, Table, Tried
from cellrate.plotting.published import Published
from cellrate.results import Result

from .common import BOTTLENECK, FINE, LONG_FEEDBACK_SEEDS, SEEDS, SETTINGS, SHORT_FEEDBACK_SEEDS, Sample, metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATHS = {1: "terrestrial", 3: "short-feedback", 5: "long-feedback"}
"""The scenario of each table with MSS 512; the table after it has MSS 9140."""
TITLES = {
    "terrestrial": "1000 km links, 10 s",
    "short-feedback": "satellite behind the bottleneck, short feedback delay, 170 s",
    "long-feedback": "satellite before the bottleneck, long feedback delay, 170 s",
}
DIGITS = {"queue": 0, "throughput": 2, "vbr": 2, "efficiency": 1}
PUBLISHED = {
    1: {1: (6775, 68.72, 94.4), 2: (7078, 59.62, 94.1), 3: (5526, 82.88, 88.4)},
    2: {1: (5572, 77.62, 95.6), 2: (5512, 67.14, 95.0), 3: (5545, 56.15, 95.6)},
    3: {1: (5545, 68.09, 92.9), 2: (4416, 59.16, 82.5), 3: (4064, 47.39, 86.7)},
    4: {1: (5759, 72.18, 88.3), 2: (11_366, 67.23, 84.1), 3: (13_105, 57.69, 94.6)},
    5: {1: (299_680, 58.25, 79.60), 2: (186_931, 49.50, 80.53), 3: (156_232, 44.16, 80.93)},
    6: {1: (215_786, 65.96, 80.81), 2: (233_423, 58.76, 85.71), 3: (144_362, 49.67, 81.61)},
}
"""Largest queue [cells], throughput [Mbps] and efficiency [%] by table and row."""
PUBLISHED_VBR = {1: 56.44, 2: 68.51, 3: 82.28}
"""VBR throughput of the paper's runs of table 1 [Mbps]."""
IMPOSSIBLE = {(1, 3, "throughput"), (3, 2, "efficiency"), (4, 2, "efficiency")}
"""Contradicted by the rest of the paper: see arithmetic.py."""
DRAWN = (1, 1)
"""Row and seed of a table's figure."""
_AT = "defaults.switch.algorithm"
WAYS: Mapping[str, Mapping[str, object]] = {
    "slopes-swapped": {f"{_AT}.a": 1.05, f"{_AT}.b": 1.15},
    "drained-by-line": {f"{_AT}.drained_by": "line"},
}
"""Choices that the paper leaves open, with which tables 1 and 2 are run once more, by the ends of the ids of their
rows."""
WAYS_OF = (1, 2)
"""Tables that are."""


def path_of(table: int) -> str:
    """Name of the table's scenario."""
    return PATHS[table - (table + 1) % 2]


def mss_of(table: int) -> int:
    """Octets of a segment."""
    return 512 if table % 2 else 9140


def key(row: int, seed: int) -> str:
    """Name of a run."""
    return f"row-{row}, seed {seed}"


def seeds_of(table: int) -> range:
    """Seeds of a table's rows."""
    return {"terrestrial": SEEDS, "short-feedback": SHORT_FEEDBACK_SEEDS, "long-feedback": LONG_FEEDBACK_SEEDS}[
        path_of(table)
    ]


def points(table: int) -> Iterator[tuple[str, Point]]:
    """Runs of a table: one seed a row in a quick run, and 30 s of the satellite's 170 s there."""
    path = path_of(table)
    quick = {} if path == "terrestrial" else {"duration": "30 s"}
    for row, (mean, deviation) in SETTINGS.items():
        for seed in seeds_of(table):
            settings: dict[str, object] = {
                "vc.vbr.traffic.mean": mean,
                "vc.vbr.traffic.deviation": deviation,
                "seed": seed,
            }
            if (row, seed) == DRAWN:
                settings |= FINE
            if mss_of(table) != 512:
                settings["vc.tcp{i}.traffic.mss"] = f"{mss_of(table)} octets"
            yield key(row, seed), Point(path, settings, extra=seed > 1, quick=quick)


def ways(table: int) -> Iterator[tuple[str, Point]]:
    """Runs of a table with each of `WAYS`."""
    if table in WAYS_OF:
        for name, more in WAYS.items():
            for run, point in points(table):
                yield f"{name}, {run}", Point(point.scenario, {**point.set, **more}, extra=True)


def of_row(results: Results, row: int, way: str = "") -> list[Result]:
    """Give the runs of a row, by seed, as run or in one of `WAYS`."""
    before = f"{way}, " if way else ""
    return [results[before + key(row, seed)] for seed in SEEDS if before + key(row, seed) in results]


def sample(results: Results, table: int, row: int, metric: str, way: str = "") -> Sample:
    """Give a metric of all seeds of a row."""
    return Sample([getattr(metrics(result, mss_of(table)), metric) for result in of_row(results, row, way)])


METRICS = ("queue", "throughput", "efficiency")


def _findings(table: int, results: Results) -> Sequence[Finding]:
    found = []
    there = [way for way in WAYS if table in WAYS_OF and f"{way}, {key(1, 1)}" in results]
    short = is_short(results[key(1, 1)], table)
    for row in SETTINGS:
        for metric in (*METRICS, *(["vbr"] if table == 1 else [])):
            values = sample(results, table, row, metric)
            text = values.text(DIGITS[metric])
            claim = f"table-{table}.row-{row}.{metric}"
            if (table, row, metric) in IMPOSSIBLE:
                why = "What is printed contradicts the rest of the paper: see its arithmetic below."
                found.append(Finding(claim, text, None, why))
            elif short:
                found.append(Finding(claim, text, None, SILENT))
            else:
                rows = {
                    f"table-{table}.{way}": Tried(values=sample(results, table, row, metric, way).values)
                    for way in there
                }
                found.append(Finding(claim, text, None, _WHY[metric], values.values, rows))
    return [*found, *(_way(table, way, results) for way in there)]


SILENT = "A quick run takes 30 s of 170, in which the slow start over 550 ms weighs more than it should."
_WHY = {
    "queue": "The paper has one run a row.",
    "throughput": "",
    "efficiency": "What is not used is lost while the queue swings through empty (docs/algorithms/erica-plus.md, "
    "stability).",
    "vbr": "",
}


def is_short(result: Result, table: int) -> bool:
    """Whether a run is the short one of a quick report."""
    return path_of(table) != "terrestrial" and result.summary["run"]["duration_s"] < 170


def _way(table: int, way: str, results: Results) -> Finding:
    parts = [
        f"row {row}: " + " / ".join(sample(results, table, row, metric, way).text(DIGITS[metric]) for metric in METRICS)
        for row in SETTINGS
    ]
    return Finding(f"table-{table}.{way}", f"{'; '.join(parts)} (cells / Mbps / %)", None, "Against the table above.")


def _paper_table(table: int) -> Table:
    path = TITLES[path_of(table)]
    rows: list[list[str | Cell | None]] = []
    for row, (mean, deviation) in SETTINGS.items():
        head = [f"{row}.", mean.removesuffix(" Mbps"), deviation.removesuffix(" Mbps")]
        rows.append([*head, *(Cell(f"table-{table}.row-{row}.{metric}") for metric in METRICS)])
    return Table(
        f"table-{table}",
        f"Table {table}: MSS {mss_of(table)}, {path}; mean ± half of its 95 % interval",
        (
            "#",
            "Mean per source [Mbps]",
            "Standard deviation [Mbps]",
            "Max switch queue [cells]",
            "Total TCP throughput [Mbps]",
            "Efficiency [% of max throughput]",
        ),
        rows,
    )


def _figure(table: int, row: int, results: Results) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    result = results[key(row, 1)]
    queue = PUBLISHED[table][row][0]
    panels = [
        Panel(
            "ABR queue\n[cells]",
            [Line(result.series("abr_queue", port=BOTTLENECK), BOTTLENECK)],
            published=(Published(queue, f"largest, published: {queue:,}"),),
        ),
        Panel("ABR capacity\n[Mbps]", [Line(result.series("capacity", port=BOTTLENECK), BOTTLENECK)], 424e-6),
        Panel("ACR\n[Mbps]", [Line(series, series.entity) for series in result.all_series("acr")[:3]], 424e-6),
    ]
    path, _ = TITLES[path_of(table)].rsplit(", ", 1)
    title = f"Table {table}, row {row}: MSS {mss_of(table)}, {path}, {result.summary['run']['duration_s']:g} s"
    return figure(panels, title, result.stamp)


def _drawings(table: int, results: Results) -> Sequence[Drawing]:
    caption = (
        f"Table {table}, row 1, seed 1: queue and ABR capacity of the bottleneck, ACR of three sources; the queue "
        "every millisecond, "
        "all else every 100 ms"
    )
    return [Drawing(f"table-{table}", caption, partial(_figure, table, 1, results))]


EXPERIMENTS = tuple(
    Experiment(
        name=f"table-{table}",
        title=f"Table {table}: MSS {mss_of(table)}, {TITLES[path_of(table)]}",
        points={**dict(points(table)), **dict(ways(table))},
        findings=partial(_findings, table),
        drawings=partial(_drawings, table),
        tables=(_paper_table(table),),
    )
    for table in range(1, 7)
)
"""One a table."""
