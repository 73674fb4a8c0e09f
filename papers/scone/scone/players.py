"""One, four and sixteen players on a line of 4 Mb/s for each, without other load."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .runs import ACR, NONE, SEEDS, WAYS, Run, play

COUNTS = (1, 4, 16)
IDS = dict(zip(WAYS, ("acr", "policy", "both", "none"), strict=True))
"""Ends of the ids of the rows."""


def pairs(count: int = 4, period_s: float | None = None) -> list[tuple[Run, Run]]:
    """Give runs with ACR's advice and without advice, one pair for each seed."""
    return [(play(ACR, count, period_s, seed), play(NONE, count, period_s, seed)) for seed in SEEDS]


def _listed(values: dict[int, tuple[float, float]], unit: str, digits: int) -> str:
    parts = (f"{a:.{digits}f} and {b:.{digits}f} ({count})" for count, (a, b) in values.items())
    return f"{', '.join(parts)} {unit}, advised and not, by players"


def _findings(_: Results) -> Sequence[Finding]:
    both = {count: (play(ACR, count), play(NONE, count)) for count in COUNTS}
    four = pairs()
    found = [
        Finding(
            "players.first",
            _listed({n: (a.first(), b.first()) for n, (a, b) in both.items()}, "Mb/s", 2),
            values=[a.first() - b.first() for a, b in four],
        ),
        Finding(
            "players.switches",
            _listed({n: (a.switches(), b.switches()) for n, (a, b) in both.items()}, "switches", 1),
            values=[b.switches() - a.switches() for a, b in four],
        ),
        Finding(
            "players.quality",
            _listed({n: (a.quality(), b.quality()) for n, (a, b) in both.items()}, "Mb/s", 2),
            why=_WHY_QUALITY,
            values=[a.quality() - b.quality() for a, b in four],
        ),
        Finding(
            "players.fairness",
            _listed({n: (a.fairness(), b.fairness()) for n, (a, b) in both.items()}, "of 1", 3),
            why=_WHY_FAIRNESS,
            values=[a.fairness() - b.fairness() for a, b in four],
        ),
        Finding(
            "players.queue",
            _listed({n: (a.mean_queue, b.mean_queue) for n, (a, b) in both.items()}, "cells in the mean", 1),
            why="Not explained.",
            values=[b.mean_queue - a.mean_queue for a, b in four],
        ),
    ]
    for way, ident in IDS.items():
        text = ". ".join(f"{count} players: {play(way, count).said()}" for count in COUNTS)
        found.append(Finding(f"players.{ident}", text, None, "For comparison."))
    return found


_WHY_QUALITY = (
    "A player is silent when its buffer is full, and ERICA gives its part to those who fetch: one that measures finds "
    "that more, one that goes by the lowest advice of 67 s does not."
)
_WHY_FAIRNESS = (
    "Which advice a player holds depends on who fetched at the moment when its SCONE packet passed, and it holds for "
    "67 s: players that begin alike stay apart by a step of quality. Those that measure come to the same."
)


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="players", title="One, four and sixteen players", points={}, findings=_findings, drawings=_drawings
)
"""Four ways to choose a quality. Runs are made as claims are measured, in this process."""
