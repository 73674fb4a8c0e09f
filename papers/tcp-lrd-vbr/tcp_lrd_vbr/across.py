"""Statements of the paper across its tables. The runs are those of the tables: they are done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .common import FEEDBACK_CELLS, LONG_FEEDBACK_CELLS, SETTINGS, Sample, metrics
from .tables import SILENT, is_short, mss_of, of_row, points

TABLES = range(1, 7)


def _of(results: Results, table: int) -> Results:
    return {name.split(": ", 1)[1]: result for name, result in results.items() if name.startswith(f"{table}: ")}


def _sample(results: Results, table: int, row: int, metric: str) -> Sample:
    runs = of_row(_of(results, table), row)
    return Sample([getattr(metrics(result, mss_of(table)), metric) for result in runs])


def _means(results: Results, table: int, metric: str) -> list[float]:
    return [_sample(results, table, row, metric).mean for row in SETTINGS]


def _findings(results: Results) -> Sequence[Finding]:
    means = {(table, metric): _means(results, table, metric) for table in TABLES for metric in _METRICS}
    found = [
        _bounded("claims.terrestrial-queue", means, (1, 2), 3 * FEEDBACK_CELLS),
        _bounded("claims.short-queue", means, (3, 4), 3 * FEEDBACK_CELLS),
        _long_queue(means),
        *_by_segment(means),
        _ordered(means),
        _efficient(means),
        _long_cost(means),
        _short_cost(means),
        _dominant(means),
        _bounding(means, next(iter(_of(results, 3).values())).summary["run"]["duration_s"]),
        _no_loss(results),
    ]
    if is_short(next(iter(_of(results, 3).values())), 3):
        found = [replace(one, holds=None, why=SILENT) if one.id in OVER_THE_SATELLITE else one for one in found]
    return found


OVER_THE_SATELLITE = {
    f"claims.{name}" for name in ("short-queue", "long-queue", "long-cost", "short-cost", "feedback-delay", "bounding")
}
"""Claims on runs of 170 s, of which a quick run has 30."""


_METRICS = ("queue", "throughput", "efficiency", "vbr")
Means = dict[tuple[int, str], list[float]]


def _listed(values: Sequence[float], digits: int) -> str:
    return ", ".join(f"{value:,.{digits}f}" for value in values)


def _bounded(claim: str, means: Means, tables: Sequence[int], limit: float) -> Finding:
    queues = [queue for table in tables for queue in means[table, "queue"]]
    # The paper says "about": a tenth more.
    holds = max(queues) <= 1.1 * limit
    return Finding(claim, _listed(queues, 0), holds, "" if holds else f"The largest is above {limit:,.0f} cells.")


def _long_queue(means: Means) -> Finding:
    queues = [*means[5, "queue"], *means[6, "queue"]]
    holds = all(0.25 <= queue / LONG_FEEDBACK_CELLS <= 4 for queue in queues)
    why = "" if holds else "Not within a factor of four of the feedback delay's cells."
    return Finding("claims.long-queue", _listed(queues, 0), holds, why)


def _by_segment(means: Means) -> Sequence[Finding]:
    found = []
    for metric, digits in (("throughput", 2), ("efficiency", 1)):
        pairs = [
            pair for table in (1, 3, 5) for pair in zip(means[table, metric], means[table + 1, metric], strict=True)
        ]
        # The paper says it of tables 1 and 2.
        holds = all(small < large for small, large in pairs[: len(SETTINGS)])
        texts = [f"{small:.{digits}f} {'<' if small < large else 'and'} {large:.{digits}f}" for small, large in pairs]
        text = f"{', '.join(texts[: len(SETTINGS)])}; over the satellite {', '.join(texts[len(SETTINGS) :])}"
        why = "" if holds else "Not in all three pairs of rows of tables 1 and 2 (means over the same seeds)."
        found.append(Finding(f"claims.mss-{metric}", text, holds, why))
    apart = max(abs(a - b) for a, b in zip(means[1, "vbr"], means[2, "vbr"], strict=True))
    holds = apart < 0.001
    found.append(
        Finding("claims.vbr-throughput", f"{apart:.4f} Mbps apart at most", holds, "" if holds else "It differs.")
    )
    return found


def _ordered(means: Means) -> Finding:
    # The paper says it of tables 1 and 2, whose own row 2 is against it: the rows with the most and the least capacity.
    wrong = [str(table) for table in (1, 2) if means[table, "queue"][0] <= means[table, "queue"][-1]]
    texts = [_listed(means[table, "queue"], 0) for table in TABLES]
    text = f"{'; '.join(texts[:2])} (tables 3 to 6: {'; '.join(texts[2:])})"
    return Finding("claims.capacity-queue", text, not wrong, f"Not so in table {', '.join(wrong)}." if wrong else "")


def _efficient(means: Means) -> Finding:
    values = [*means[1, "efficiency"], *means[2, "efficiency"]]
    holds = min(values) > 90
    why = "" if holds else "Row 3 is below, as it is in the paper's own table 1 (88.4 %)."
    return Finding("claims.efficiency", _listed(values, 1) + " %", holds, why)


def _near_and_far(means: Means, metric: str, path: int) -> list[tuple[float, float]]:
    """Pair the rows of tables 1 and 2 with those of the tables `path` and `path + 1`."""
    return [
        pair for table in (0, 1) for pair in zip(means[1 + table, metric], means[path + table, metric], strict=True)
    ]


def _long_cost(means: Means) -> Finding:
    octets = [100 * (1 - far / near) for near, far in _near_and_far(means, "throughput", 5)]
    points = [near - far for near, far in _near_and_far(means, "efficiency", 5)]
    holds = all(6 <= value <= 13 for value in (*octets, *points))
    why = "" if holds else "The rows of tables 5 and 6 say where they differ."
    text = f"throughput lower by {_listed(octets, 1)} %, efficiency by {_listed(points, 1)} points"
    return Finding("claims.long-cost", text, holds, why)


def _short_cost(means: Means) -> Finding:
    octets = [100 * (1 - far / near) for near, far in _near_and_far(means, "throughput", 3)]
    holds = max(octets) < 5
    why = "" if holds else "Slow start over 550 ms takes several seconds."
    return Finding("claims.short-cost", f"throughput lower by {_listed(octets, 1)} %", holds, why)


def _dominant(means: Means) -> Finding:
    near, short, far = (means[table, "queue"] + means[table + 1, "queue"] for table in (1, 3, 5))
    both = [(b / a, c / b) for a, b, c in zip(near, short, far, strict=True)]
    holds = all(max(of_trip, 1 / of_trip) < of_feedback for of_trip, of_feedback in both)
    text = (
        f"{_listed([of_trip for of_trip, _ in both], 2)} times with the longer round trip; "
        f"{_listed([of_feedback for _, of_feedback in both], 1)} times with the longer feedback delay"
    )
    return Finding("claims.feedback-delay", text, holds, "" if holds else "The round trip changes it more.")


def _bounding(means: Means, duration_s: float) -> Finding:
    vbr = means[3, "vbr"]
    holds = vbr[0] > 45 and vbr[2] < 90 and abs(vbr[1] - 67.5) < 5
    text = f"{_listed(vbr, 2)} Mbps over {duration_s:g} s; 55.3, 67.5 and 79.7 in closed form"
    return Finding("claims.bounding", text, holds, "" if holds else "Not on the side of the mean that it should be.")


def _no_loss(results: Results) -> Finding:
    lost = again = 0
    for name, result in results.items():
        figures = metrics(result, mss_of(int(name[0])))
        lost += figures.dropped
        again += figures.retransmitted
    text = f"{lost} cells lost, {again} segments sent again"
    return Finding("claims.no-loss", text, lost == again == 0, "" if lost == again == 0 else "See the count.")


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="claims",
    title="Across the tables",
    points={f"{table}: {name}": point for table in TABLES for name, point in points(table)},
    findings=_findings,
    drawings=_drawings,
)
"""The runs of all tables once more: kept results serve both."""
