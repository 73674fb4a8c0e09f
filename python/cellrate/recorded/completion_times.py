"""Distributions of completion times: how many flows of a size of each class took at most how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .distribution import Distribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def sizes(least: int, below: int | None) -> str:
    """Name a class of sizes by its bounds [octets]; "all" where it has none."""
    if below is None:
        return f"{least / 1e3:,.0f} kB and more" if least else "all"
    return f"{least / 1e3:,.0f} to {below / 1e3:,.0f} kB"


@dataclass(frozen=True, eq=False, repr=False)
class CompletionTimes(Distribution):
    """The completion times of the flows of a class of sizes, as a distribution in steps.

    At each step the count is exact. A flow took at most 1/64 (1.6 %) less than the step that counts it first, and the
    last step is the largest time. Times are from the arrival of a flow, its set-up included, to the arrival of its last
    cell; flows count that arrived in the time that the result measured and are complete.
    """

    flows: str
    """Name of the entry of the scenario."""
    from_octets: int
    """The least size of the class [octets]."""
    below_octets: int | None
    """The first size that is too large for it [octets]; None for that without one."""
    times_s: NDArray[np.float64]
    """The steps [s], rising."""
    counts: NDArray[np.uint64]
    """How many flows took at most as long as each step."""

    @property
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        return self.times_s, self.counts

    @property
    def name(self) -> str:
        """Give the name of the entry and of the class: "search, 10 to 100 kB"."""
        return f"{self.flows}, {sizes(self.from_octets, self.below_octets)}"

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each step, for tables."""
        of = {"flows": self.flows, "from_octets": self.from_octets, "below_octets": self.below_octets}
        columns = zip(self.times_s.tolist(), self.counts.tolist(), self.shares.tolist(), strict=True)
        return [{**of, "time_s": time, "count": count, "share": share} for time, count, share in columns]

    def __repr__(self) -> str:
        complete = f"{int(self.counts[-1]):,} flows"
        return f"<CompletionTimes of {self.name}: {complete}, to {self.times_s[-1]:g} s, {len(self)} steps>"


def from_native(columns: list[tuple[str, int, int | None, Any, Any]]) -> dict[str, CompletionTimes]:
    """Give distributions by their names, from times in ps and flows."""
    import numpy as np

    all_of_them = [
        CompletionTimes(flows, least, below, np.divide(times_ps, 1e12), counts)
        for flows, least, below, times_ps, counts in columns
    ]
    return {one.name: one for one in all_of_them}
