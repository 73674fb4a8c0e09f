"""Statistics of replications that experiments share: means with their intervals, fairness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..sweeps.replications import mean_of


@dataclass(frozen=True)
class Estimate:
    """A mean over replications and half the width of its 95 % interval (nan for one replication)."""

    mean: float
    half_width: float
    values: Sequence[float] = ()
    """One of each replication."""


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate a mean from independent replications, by Student's t.

    Raises
    ------
    ValueError
        If `values` is empty.
    """
    if not values:
        raise ValueError("no replications; one or more can be judged")
    found = mean_of(values)
    half_width = math.nan if found.n == 1 else found.half_width or 0.0
    return Estimate(found.mean, half_width, tuple(values))


def jain(shares: Iterable[float]) -> float:
    """Give Jain's index of fairness: 1 for equal shares, 1/n when one of n has all."""
    known = list(shares)
    squares = math.fsum(share * share for share in known)
    return math.fsum(known) ** 2 / (len(known) * squares) if squares else 1.0
