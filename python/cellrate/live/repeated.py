"""Repeated live runs: the mean of each figure over the repetitions, with its 95 % confidence interval.

Time on a real machine is never the same twice, so repetitions are what seeds are to a simulation. Runs out of time
measure the machine, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..recorded.columns import Numbers, Scale
from ..recorded.table import letter
from ..sweeps.figures import Figure
from ..sweeps.replications import Mean, mean_of
from .under_load import under_load

Summary = dict[str, Any]

MS = Scale(1e3, "ms", 2)
MBPS = Scale(1e-6, "Mbps", 3)
SECONDS = Scale(1.0, "s", 3)
COUNT = Scale(1.0, "", 1)

APPLICATION_FIGURES: Mapping[str, tuple[str, Scale]] = {
    "goodput_bps": ("goodput", MBPS),
    "retransmissions": ("retransmissions", COUNT),
    "datagrams": ("datagrams", COUNT),
    "lost": ("lost", COUNT),
    "jitter_s": ("jitter", MS),
    "median_rtt_s": ("median round trip", MS),
    "p99_rtt_s": ("99 % of round trips", MS),
    "pages_complete": ("pages", COUNT),
    "html_response_s.mean": ("response time of texts", MS),
    "image_response_s.mean": ("response time of images", SECONDS),
    "frames_played": ("frames played", COUNT),
    "frames_lost_in_network": ("frames lost on the way", COUNT),
    "frames_lost_to_overflow": ("frames lost to overflow", COUNT),
    "frames_late": ("frames late", COUNT),
    "stalled_s": ("stood", SECONDS),
    "heard": ("packets heard", COUNT),
    "silent_periods": ("silent periods", COUNT),
}
"""Figures of applications, by their place in the result of one: how they are called, and how people read them."""

NETWORK_FIGURES = ("vcs.throughput", "vcs.p99_delay", "ports.utilization", "ports.max_queue")


@dataclass(frozen=True)
class Repeated:
    """A figure over repetitions."""

    of: str
    """Name of the application, VC or port."""
    figure: str
    mean: Mean
    """In the unit of results; `n` runs have it."""
    scale: Scale

    def numbers(self) -> list[str]:
        """Give it as a row of a table."""
        about = f" {letter('±', '+-')} {self.scale.said(self.mean.half_width)}" if self.mean.half_width else ""
        heading = f"{self.figure} [{self.scale.unit}]" if self.scale.unit else self.figure
        return [self.of, heading, f"{self.scale.said(self.mean.mean)}{about}", str(self.mean.n)]


def counted(summaries: Sequence[Summary]) -> list[Summary]:
    """Give the runs that were in time."""
    return [summary for summary in summaries if summary["timing"]["passed"]]


def means(summaries: Sequence[Summary]) -> list[Repeated]:
    """Give the mean of each figure over those repetitions that were in time.

    An application that failed in a run has no figures of it. How many runs have a figure is said with its mean.
    """
    values: dict[tuple[str, str], tuple[list[float], Scale]] = {}
    for summary in counted(summaries):
        for of, figure, value, scale in (*_of_applications(summary), *_of_network(summary)):
            values.setdefault((of, figure), ([], scale))[0].append(value)
    return [Repeated(of, figure, mean_of(found), scale) for (of, figure), (found, scale) in values.items()]


def numbers(found: Sequence[Repeated]) -> Numbers:
    """Give figures over repetitions as a table."""
    return ["of", "figure", "mean", "runs"], [one.numbers() for one in found]


def content(found: Sequence[Repeated]) -> list[dict[str, Any]]:
    """Give figures over repetitions as JSON has them: in the units of results, `ci95` half the width or null."""
    return [
        {"of": one.of, "figure": one.figure, "mean": one.mean.mean, "ci95": one.mean.half_width, "runs": one.mean.n}
        for one in found
    ]


def remark(summaries: Sequence[Summary]) -> str:
    """Say what the means are over."""
    total, left = len(summaries), len(counted(summaries))
    if not left:
        return f"None of the {total} runs was in time: there are no means."
    over = f"Means over {left} runs" if left == total else f"Means over the {left} of {total} runs that were in time"
    if left < 2:
        return f"{over}: too few for an interval."
    return f"{over}, {letter('±', '+-')} half their 95 % confidence intervals (Student's t)."


def _of_applications(summary: Summary) -> Iterator[tuple[str, str, float, Scale]]:
    for row in summary["applications"]:
        if row["failed"]:
            continue
        for place, (figure, scale) in APPLICATION_FIGURES.items():
            value: Any = row["result"]
            for key in place.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            if value is not None:
                yield row["application"], figure, float(value), scale
    for one in under_load(summary):
        if one.loaded is not None:
            yield one.ping, "median round trip under load", one.loaded["median_rtt_s"], MS
        if one.increase_s is not None:
            yield one.ping, "longer under load by", one.increase_s, MS


def _of_network(summary: Summary) -> Iterator[tuple[str, str, float, Scale]]:
    for text in NETWORK_FIGURES:
        figure = Figure.read(f"each {text}")
        for of, value in figure.values(summary).items():
            yield of, figure.column.heading, value, figure.scale
