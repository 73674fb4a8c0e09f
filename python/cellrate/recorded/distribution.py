"""Distributions in steps: how many of what a run counted took at most how long."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from .instants import Instant, seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Distribution(ABC):
    """A distribution of times in steps, at each of which the count is exact.

    What is counted took at most 1/64 (1.6 %) less than the step that counts it first, and the last step is the largest.
    """

    @property
    @abstractmethod
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """The steps [s], rising, and how many took at most each."""

    @property
    def steps_s(self) -> NDArray[np.float64]:
        """The steps [s], rising."""
        return self._steps[0]

    def __post_init__(self) -> None:
        """Keep the columns read only: a run's findings do not change."""
        for column in self._steps:
            column.flags.writeable = False

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of all that took at most as long as each step [0 to 1]."""
        import numpy as np

        counts = self._steps[1]
        return np.divide(counts, float(counts[-1]))

    def share(self, time: Instant) -> float:
        """Give the share that took at most `time`: exact at steps, and at most too small between them.

        Raises
        ------
        ValueError, TypeError
            If `time` is not a span of time.
        """
        import numpy as np

        place = int(np.searchsorted(self._steps[0], seconds(time), side="right"))
        return float(self.shares[place - 1]) if place else 0.0

    def quantile(self, share: float) -> float:
        """Give the least step that at least this share did not exceed [s].

        Parameters
        ----------
        share
            From 0 to 1.

        Raises
        ------
        ValueError
            If `share` is out of range.
        """
        import math

        import numpy as np

        if not 0.0 <= share <= 1.0:
            raise ValueError(f"share is {share}; it must be from 0 to 1")
        times, counts = self._steps
        rank = max(1, math.ceil(share * int(counts[-1])))
        return float(times[int(np.searchsorted(counts, rank, side="left"))])

    def __len__(self) -> int:
        return len(self._steps[0])
