"""Distributions of the delays of cells: how many data cells of a connection took at most how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .instants import Instant, seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Delays:
    """The delays of the data cells that one direction of a connection delivered, as a distribution in steps.

    At each step the count is exact. A cell took at most 1/64 (1.6 %) less than the step that counts it first, and the
    last step is the largest delay. Cells count that arrived in the time that the result measured: after the warm-up.
    """

    vc: str
    """Name of the VC; "name (back)" for the direction from the last host to the first."""
    delays_s: NDArray[np.float64]
    """The steps [s], rising."""
    cells: NDArray[np.uint64]
    """How many data cells took at most as long as each step."""

    def __post_init__(self) -> None:
        """Nobody changes what a run found: columns are read only."""
        for column in (self.delays_s, self.cells):
            column.flags.writeable = False

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of all data cells that took at most as long as each step [0 to 1]."""
        import numpy as np

        return np.divide(self.cells, float(self.cells[-1]))

    def share(self, delay: Instant) -> float:
        """Give the share of data cells that took at most `delay`: exact at steps, and at most too small between them.

        Raises
        ------
        ValueError, TypeError
            If `delay` is no span of time.
        """
        import numpy as np

        place = int(np.searchsorted(self.delays_s, seconds(delay), side="right"))
        return float(self.shares[place - 1]) if place else 0.0

    def quantile(self, share: float) -> float:
        """Give the least step that at least this share of data cells did not exceed [s].

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
        rank = max(1, math.ceil(share * int(self.cells[-1])))
        return float(self.delays_s[int(np.searchsorted(self.cells, rank, side="left"))])

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each step, for tables."""
        columns = zip(self.delays_s.tolist(), self.cells.tolist(), self.shares.tolist(), strict=True)
        return [{"vc": self.vc, "delay_s": delay, "cells": cells, "share": share} for delay, cells, share in columns]

    def __len__(self) -> int:
        return len(self.delays_s)

    def __repr__(self) -> str:
        return f"<Delays of {self.vc}: {int(self.cells[-1]):,} cells, to {self.delays_s[-1]:g} s, {len(self)} steps>"


def from_native(columns: list[tuple[str, Any, Any]]) -> dict[str, Delays]:
    """Give distributions by the names of their VCs, from delays in ps and cells."""
    import numpy as np

    return {vc: Delays(vc, np.divide(delays_ps, 1e12), cells) for vc, delays_ps, cells in columns}
