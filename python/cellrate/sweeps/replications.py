"""Runs that differ in their seeds only: means, each with its 95 % confidence interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

SEED = "seed"
"""The path of the setting that makes replications of runs."""


@dataclass(frozen=True)
class Mean:
    """A mean of independent values."""

    mean: float
    half_width: float | None
    """Half the width of the 95 % confidence interval, by Student's t; None for a single value, and where all values are
    the same: neither says anything of the error."""
    n: int
    """Number of values."""

    @property
    def is_constant(self) -> bool:
        """Whether there are several values, all the same: seeds make no difference."""
        return self.n > 1 and self.half_width is None


def mean_of(values: Sequence[float]) -> Mean:
    """Give the mean of one or more values, with its confidence interval."""
    n = len(values)
    if len(set(values)) == 1:
        return Mean(values[0], None, n)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Mean(mean, student_975(n - 1) * math.sqrt(variance / n), n)


def mean_over_seeds(points: Sequence[tuple[Mapping[str, str], float]]) -> Mean:
    """Give the mean of points, each with what it sets; its interval is of the seeds alone.

    What is varied beside the seed is no chance: with every seed the mean over all else is taken, and the interval is
    that of these means. There is none where not all settings have the same seeds.
    """
    by_seed: dict[str | None, dict[tuple[tuple[str, str], ...], float]] = {}
    for settings, value in points:
        others = tuple((path, text) for path, text in settings.items() if path != SEED)
        by_seed.setdefault(settings.get(SEED), {})[others] = value
    whole = {frozenset(values) for values in by_seed.values()}
    if len(whole) > 1:
        return Mean(math.fsum(value for _, value in points) / len(points), None, 1)
    return mean_of([math.fsum(values.values()) / len(values) for values in by_seed.values()])


@cache
def student_975(degrees: int) -> float:
    """Give the 97.5 % quantile of Student's t distribution, which bounds a two-sided 95 % interval.

    Parameters
    ----------
    degrees
        Degrees of freedom, 1 or more.
    """
    # Between -t and t lies what a sum over powers of cosines gives, exactly: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _between(angle, degrees) < 0.95:
            low = angle
        else:
            high = angle
    return math.sqrt(degrees) * math.tan(low)


def _between(angle: float, degrees: int) -> float:
    """Give the probability of a value between -t and t, where the tangent of `angle` is t / sqrt(degrees)."""
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    terms = [term] if degrees > 1 else []
    for power in range(3 if odd else 2, degrees - 1, 2):
        term *= cosine * cosine * (power - 1) / power
        terms.append(term)
    total = sine * math.fsum(terms)
    return 2 / math.pi * (angle + total) if odd else total
