"""Distributions of the delays of cells: how many data cells of a connection took at most how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .distribution import Distribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Delays(Distribution):
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

    @property
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        return self.delays_s, self.cells

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each step, for tables."""
        columns = zip(self.delays_s.tolist(), self.cells.tolist(), self.shares.tolist(), strict=True)
        return [{"vc": self.vc, "delay_s": delay, "cells": cells, "share": share} for delay, cells, share in columns]

    def __repr__(self) -> str:
        return f"<Delays of {self.vc}: {int(self.cells[-1]):,} cells, to {self.delays_s[-1]:g} s, {len(self)} steps>"


def pooled(name: str, parts: Sequence[Delays]) -> Delays:
    """Give the distribution of all cells of several connections: at each step of one of them, how many took at most it.

    The others count at such a step what took at most their own step before, 1/64 less at most.
    """
    import numpy as np

    steps = np.unique(np.concatenate([one.delays_s for one in parts]))
    cells = np.zeros(len(steps), dtype=np.uint64)
    for one in parts:
        places = np.searchsorted(one.delays_s, steps, side="right")
        cells += np.concatenate((np.zeros(1, dtype=np.uint64), one.cells))[places]
    return Delays(name, steps, cells)


def from_native(columns: list[tuple[str, Any, Any]]) -> dict[str, Delays]:
    """Give distributions by the names of their VCs, from delays in ps and cells."""
    import numpy as np

    return {vc: Delays(vc, np.divide(delays_ps, 1e12), cells) for vc, delays_ps, cells in columns}
