"""Statistics of runs in a steady state: where it begins, how sure a mean is, whether two settings differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CellrateError
from ..sweeps.figures import Figure
from ..sweeps.replications import Mean, mean_of, student_975

if TYPE_CHECKING:
    from ..results import Result, Series

BATCHES = 20
"""Batches of a run: enough for Student's t to be near the normal, few enough to be long (Schmeiser 1982: 10 to 30)."""

GROUP = 5
"""MSER-5 looks at means of five values each."""

LEAST = 10
"""Means that have to be left behind the transient, for anything to be said."""


@dataclass(frozen=True)
class WarmUp:
    """Where the transient of a series ends."""

    end_s: float
    """From here on the series is steady [s]."""
    found: bool
    """False where half of the series or more is transient: it is too short to tell."""


def warm_up(series: Series, points: int = 1000) -> WarmUp:
    """Find where the transient at the beginning of a series ends, by MSER-5.

    The mean of the rest is the surest where the standard error of means of five values is the least (White 1997).
    Of a series that is recorded on change, values at equal distances are taken.

    Parameters
    ----------
    series
        Of a run, such as `result.series("queue", port="sw1->sw2")`.
    points
        Values that the series is taken as, if it was recorded on change.

    Raises
    ------
    CellrateError
        If there are too few values.
    """
    times, values = _even(series, points)
    number = len(values) // GROUP
    if number < 2 * LEAST:
        raise CellrateError(
            f"{series.probe} of {series.entity} has {len(values)} values; to find a warm-up takes {2 * LEAST * GROUP}"
        )
    means = values[: number * GROUP].reshape(number, GROUP).mean(axis=1)
    # Sums of the rest behind each group, from the end, in one pass. Shifted, for exactness.
    shifted = means - means[-1]
    count = np.arange(number, 0, -1)
    sums = np.cumsum(shifted[::-1])[::-1]
    squares = np.cumsum((shifted**2)[::-1])[::-1]
    errors = np.maximum(squares - sums**2 / count, 0.0) / count**2
    first = int(np.argmin(errors[: number - LEAST + 1]))
    found = first < number // 2
    begin = float(times[0]) if first == 0 else float(times[first * GROUP])
    return WarmUp(0.0 if first == 0 else begin, found)


def _even(series: Series, points: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    times, values = np.asarray(series.times_s), np.asarray(series.values, dtype=float)
    if series.interval_s is not None or len(times) == 0:
        return times, values
    even = np.linspace(times[0], series.end_s, points)
    places = np.searchsorted(times, even, side="right") - 1
    return even, values[places]


def batch_means(series: Series, *, after_s: float = 0.0, batches: int = BATCHES) -> Mean:
    """Give the mean of a series from one long run, with the 95 % interval that means of batches give.

    Parameters
    ----------
    series
        Of a run.
    after_s
        Where its steady state begins [s], such as `warm_up(series).end_s`.
    batches
        Number of batches, 2 or more. Each has to be long beside how long values hang together.

    Raises
    ------
    CellrateError
        If there are too few values for so many batches.
    """
    times, values = _even(series, 50 * batches)
    kept = values[times >= after_s]
    size = len(kept) // batches
    if batches < 2 or size < 2:
        raise CellrateError(
            f"{len(kept)} values from {after_s:g} s on are too few for {batches} batches of two or more"
        )
    # What is left over belongs to the beginning, which is the less steady part.
    return mean_of([float(mean) for mean in kept[len(kept) - size * batches :].reshape(batches, size).mean(axis=1)])


def prediction_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Give the interval that one further run falls into with 95 %, by Student's t; None of a single value."""
    mean = mean_of(values)
    if mean.n < 2:
        return None
    deviation = math.sqrt(math.fsum((value - mean.mean) ** 2 for value in values) / (mean.n - 1))
    half = student_975(mean.n - 1) * deviation * math.sqrt(1 + 1 / mean.n)
    return mean.mean - half, mean.mean + half


@dataclass(frozen=True)
class Difference:
    """How a figure differs between two settings that were run with the same seeds."""

    name: str
    """Name of the connection or port, "" of a figure of all of them together."""
    mean: Mean
    """Mean of the differences, the other minus the base, seed by seed."""

    @property
    def differs(self) -> bool:
        """Whether the 95 % interval leaves out zero, or the difference is the same with each of several seeds."""
        half_width = 0.0 if self.mean.is_constant else self.mean.half_width
        return half_width is not None and abs(self.mean.mean) > half_width


def paired(base: Sequence[Result], other: Sequence[Result], figure: str) -> list[Difference]:
    """Compare two settings by the differences of a figure seed by seed.

    With the same seeds both see the same random traffic (common random numbers), so that the differences vary much less
    than the figures: fewer runs tell the settings apart.

    Parameters
    ----------
    base, other
        Results of the two, each with several seeds.
    figure
        As criteria have it: "vcs.throughput" adds up all connections, "each vcs.throughput" compares each, "total abr
        vcs.throughput" those of a category.

    Raises
    ------
    CellrateError
        If the seeds are not the same, or no result has the figure.
    """
    wanted = Figure.read(figure)
    by_seed = [
        {result.summary["run"]["seed"]: wanted.values(result.summary) for result in some} for some in (base, other)
    ]
    if by_seed[0].keys() != by_seed[1].keys():
        odd = sorted(by_seed[0].keys() ^ by_seed[1].keys())
        raise CellrateError(f"seeds differ: {', '.join(map(str, odd[:5]))} are of one of the two only")
    names = [
        name
        for name in next(iter(by_seed[0].values()), {})
        if all(name in one for some in by_seed for one in some.values())
    ]
    if not names:
        raise CellrateError(f"no result has a {figure}")
    return [
        Difference(name, mean_of([by_seed[1][seed][name] - by_seed[0][seed][name] for seed in by_seed[0]]))
        for name in names
    ]
