"""Runs that differ in their seeds only: means, each with its 95 % confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

SEED = "seed"
"""The path of the setting that makes replications of runs."""


@dataclass(frozen=True)
class Mean:
    """A mean of independent values."""

    mean: float
    half_width: float | None
    """Half the width of the 95 % confidence interval, by Student's t; None for a single value, which says nothing of
    its error."""
    n: int
    """Number of values."""


def mean_of(values: Sequence[float]) -> Mean:
    """Give the mean of one or more values, with its confidence interval."""
    n = len(values)
    mean = values[0] if len(set(values)) == 1 else math.fsum(values) / n
    if n == 1:
        return Mean(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Mean(mean, student_975(n - 1) * math.sqrt(variance / n), n)


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
