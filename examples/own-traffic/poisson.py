"""Traffic of one's own: cells that come by a Poisson process."""

from __future__ import annotations

import random

import cellrate


class Poisson(cellrate.TrafficSource):
    """Single cells with exponential gaps.

    Parameters
    ----------
    rate
        The mean rate [cells/s].
    """

    def __init__(self, end: cellrate.SendingEnd, rate: float) -> None:
        self.random, self.rate, self.last = random.Random(end.seed), rate, 0.0

    def next_burst(self, now: float, acr: float, queue: int) -> cellrate.Burst:
        """Give the next cell: it follows the one before by an exponential gap."""
        self.last += self.random.expovariate(self.rate)
        return cellrate.Burst(at=self.last, cells=1)
