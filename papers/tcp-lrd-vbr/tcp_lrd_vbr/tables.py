"""Tables 1 to 6: three mean/deviation pairs on three paths, with two segment sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import BOTTLENECK, SEEDS, SETTINGS, Sample, metrics

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
WITHIN = 0.1
"""A figure of one run, printed without a spread, is reproduced within a tenth, or where it could be one more of ten
seeds."""


def path_of(table: int) -> str:
    """Name of the table's scenario."""
    return PATHS[table - (table + 1) % 2]


def mss_of(table: int) -> int:
    """Octets of a segment."""
    return 512 if table % 2 else 9140


def key(row: int, seed: int) -> str:
    """Name of a run."""
    return f"row-{row}, seed {seed}"


def points(table: int) -> Iterator[tuple[str, Point]]:
    """Runs of a table: ten seeds a row, one of them in a quick run, and 30 s of the satellite's 170 s there."""
    path = path_of(table)
    quick = {} if path == "terrestrial" else {"duration": "30 s"}
    for row, (mean, deviation) in SETTINGS.items():
        for seed in SEEDS:
            settings: dict[str, object] = {
                "vc.vbr.traffic.mean": mean,
                "vc.vbr.traffic.deviation": deviation,
                "seed": seed,
            }
            if mss_of(table) != 512:
                settings["vc.tcp{i}.traffic.mss"] = f"{mss_of(table)} octets"
            yield key(row, seed), Point(path, settings, extra=seed > 1, quick=quick)


def of_row(results: Results, row: int) -> list[Result]:
    """Give the runs of a row, by seed."""
    return [results[key(row, seed)] for seed in SEEDS if key(row, seed) in results]


def sample(results: Results, table: int, row: int, metric: str) -> Sample:
    """Give a metric of all seeds of a row."""
    return Sample([getattr(metrics(result, mss_of(table)), metric) for result in of_row(results, row)])


def _findings(table: int, results: Results) -> Sequence[Finding]:
    found = []
    for row in SETTINGS:
        names = ["queue", "throughput", "efficiency"] + (["vbr"] if table == 1 else [])
        for metric in names:
            values = sample(results, table, row, metric)
            text = values.text(DIGITS[metric])
            claim = f"table-{table}.row-{row}.{metric}"
            said = PUBLISHED_VBR[row] if metric == "vbr" else PUBLISHED[table][row][names.index(metric)]
            found.append(_compared(claim, (table, row, metric), text, values, said))
    return found


def _compared(claim: str, place: tuple[int, int, str], text: str, values: Sample, said: float) -> Finding:
    if place in IMPOSSIBLE:
        return Finding(
            claim, text, None, "What is printed contradicts the rest of the paper: see its arithmetic below."
        )
    if abs(values.mean / said - 1) <= WITHIN or (len(values.values) > 1 and values.expects(said)):
        return Finding(claim, text, True, "")
    if len(values.values) < 2:
        return Finding(claim, text, None, "One seed of a quick run: no interval to hold the published value against.")
    off = f"{(values.mean / said - 1) * 100:+.0f} %"
    why = (
        f"The published value of one run is not within the 95 % prediction interval of {len(values.values)} seeds, and "
        "the "
        f"mean is {off} off. How the switch averages is not stated: the rows "
        f"{'open-long' if place[0] >= 5 else 'open'}.* say what each way is worth."
    )
    return Finding(claim, text, False, why, cause="open")


def _figure(table: int, row: int, results: Results) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    result = results[key(row, 1)]
    panels = [
        Panel("ABR queue\n[cells]", [Line(result.series("abr_queue", port=BOTTLENECK), BOTTLENECK)]),
        Panel("ABR capacity\n[Mbps]", [Line(result.series("capacity", port=BOTTLENECK), BOTTLENECK)], 424e-6),
        Panel("ACR\n[Mbps]", [Line(series, series.entity) for series in result.all_series("acr")[:3]], 424e-6),
    ]
    path, _ = TITLES[path_of(table)].rsplit(", ", 1)
    title = f"Table {table}, row {row}: MSS {mss_of(table)}, {path}, {result.summary['run']['duration_s']:g} s"
    return figure(panels, title, result.stamp)


def _drawings(table: int, results: Results) -> Sequence[Drawing]:
    caption = (
        f"Table {table}, row 1, seed 1: queue and ABR capacity of the bottleneck, ACR of three sources, every 100 ms"
    )
    return [Drawing(f"table-{table}", caption, partial(_figure, table, 1, results))]


EXPERIMENTS = tuple(
    Experiment(
        name=f"table-{table}",
        title=f"Table {table}: MSS {mss_of(table)}, {TITLES[path_of(table)]}",
        points=dict(points(table)),
        findings=partial(_findings, table),
        drawings=partial(_drawings, table),
    )
    for table in range(1, 7)
)
"""One a table."""
