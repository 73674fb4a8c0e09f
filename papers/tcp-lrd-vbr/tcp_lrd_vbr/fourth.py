"""Table 4 by each choice that the paper leaves open: its queues are in an order that no run here has."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import SETTINGS, Sample, metrics
from .sensitivity import OPEN

TABLE = 4
SEEDS = (1, 2)
SHORT = "30 s"
"""A part of the 170 s: most of the largest queues are there by then."""
AS_RUN = "as run"


def _queues(results: Results, way: str) -> list[Sample]:
    return [
        Sample([metrics(results[f"{way}, row-{row}, seed {seed}"], 9140).queue for seed in SEEDS]) for row in SETTINGS
    ]


def _findings(results: Results) -> Sequence[Finding]:
    if f"{AS_RUN}, row-1, seed {SEEDS[0]}" not in results:
        return []
    found = []
    for way in (AS_RUN, *OPEN):
        means = [sample.mean for sample in _queues(results, way)]
        rising = "rising, as published" if means == sorted(means) else "not rising as published"
        text = f"{', '.join(f'{mean:,.0f}' for mean in means)} cells, {rising}"
        found.append(Finding(f"open-4.{way.replace(' ', '-')}", text, None, f"{len(SEEDS)} seeds, {SHORT} of 170."))
    return found


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


def _points() -> dict[str, Point]:
    points = {}
    for way, settings in {AS_RUN: {}, **{name: choice.set for name, choice in OPEN.items()}}.items():
        for row, (mean, deviation) in SETTINGS.items():
            for seed in SEEDS:
                video = {"vc.vbr.traffic.mean": mean, "vc.vbr.traffic.deviation": deviation}
                if "vc.vbr.traffic" in settings:
                    # The noise of this row's mean and deviation.
                    exact = str(settings["vc.vbr.traffic"]).replace('mean = "5 Mbps"', f'mean = "{mean}"')
                    video = {"vc.vbr.traffic": exact.replace('deviation = "5 Mbps"', f'deviation = "{deviation}"')}
                segment = {"vc.tcp{i}.traffic.mss": "9140 octets"}
                own = {**settings, **video, **segment, "duration": SHORT, "seed": seed}
                points[f"{way}, row-{row}, seed {seed}"] = Point("short-feedback", own, extra=True)
    return points


EXPERIMENT = Experiment(
    name="open-4",
    title="Table 4 by each choice that the paper leaves open",
    points=_points(),
    findings=_findings,
    drawings=_drawings,
)
"""Largest queues of the three rows; not in a quick run."""
