"""Replications until figures are sure enough: seeds are added to those points whose intervals are still too wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..running.points import Point
from ..sweeps.figures import Precision
from ..sweeps.replications import SEED, Mean
from ..sweeps.several import SeveralPoints
from ..sweeps.varying import Points
from .sweep import Sweep

FIRST = 4
"""Seeds of each point before its intervals are looked at: of fewer they are mostly wide by chance."""

MOST = 100
"""Seeds of each point, unless something else is said."""


@dataclass(frozen=True)
class Unmet:
    """A figure that is not as sure as it was to be."""

    settings: dict[str, str]
    precision: Precision
    name: str
    mean: Mean

    def __str__(self) -> str:
        at = "".join(f", {path} = {value}" for path, value in self.settings.items())
        half = self.mean.half_width or 0.0
        share = f"{100 * half / abs(self.mean.mean):.2g} %" if self.mean.mean else f"{half:.3g}, of a mean of 0"
        of = f" ({self.name})" if self.name else ""
        return f"{self.precision.figure.label}{of}{at}: ± {share} after {self.mean.n} seeds"


def sweep_until(
    points: Points | SeveralPoints, precisions: Sequence[Precision], run: Callable[[Sequence[Point]], Sweep]
) -> tuple[Sweep, list[Unmet]]:
    """Run points with as many seeds as figures need; give the sweep, and what is not sure enough with the most seeds.

    Parameters
    ----------
    points
        Each with the most seeds that it may have.
    precisions
        How sure which figures are to be.
    run
        Runs points into the campaign, whose folder keeps those that are there.
    """
    most = points.seeds
    counts = [min(FIRST, most)] * points.without_seeds
    while True:
        swept = run(points.first(counts))
        unmet = _unmet(swept, precisions, counts)
        wanted = [number for number, some in enumerate(unmet) if some and counts[number] < most]
        if not wanted:
            return swept, [one for some in unmet for one in some]
        for number in wanted:
            counts[number] = min(most, _next(counts[number], unmet[number]))


def _next(count: int, unmet: Sequence[Unmet]) -> int:
    """Give how many seeds are tried next: as many as the widths ask for, at most twice as many as now."""
    wanted = count + 1
    for one in unmet:
        half, mean = one.mean.half_width, abs(one.mean.mean)
        ratio = 2.0 if half is None or mean == 0 else half / (one.precision.relative * mean)
        wanted = max(wanted, int(count * ratio * ratio) + 1)
    return min(wanted, 2 * count)


def _unmet(swept: Sweep, precisions: Sequence[Precision], counts: Sequence[int]) -> list[list[Unmet]]:
    begin = 0
    found = []
    for count in counts:
        results = swept[begin : begin + count]
        settings = {path: value for path, value in results[0].settings.items() if path != SEED}
        summaries = [result.summary for result in results]
        found.append(
            [
                Unmet(settings, precision, name, mean)
                for precision in precisions
                for name, mean in precision.unmet(summaries).items()
            ]
        )
        begin += count
    return found
