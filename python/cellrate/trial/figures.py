"""Figures of a run that count in a trial, each with the direction that is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..advice.situation import Situation
from .plan import BURSTS, Plan

if TYPE_CHECKING:
    from ..results import Result, Series

TOLERANCE = 0.01
"""Figures this close count as equal, where nothing else is said."""


@dataclass(frozen=True)
class Figure:
    """One row of the comparison."""

    name: str
    """Name of the figure, with its unit."""
    default: float | None
    """With the defaults; None where there is none."""
    advised: float | None
    """With the advised set."""
    larger_is_better: bool
    needed: bool
    """Whether the application needs this one."""
    blame: str | None = None
    """Where the advised set is worse: which guideline made it so."""

    @property
    def worse(self) -> bool:
        """Whether the advised set does worse, by more than a hundredth."""
        return is_worse(self.advised, self.default, larger_is_better=self.larger_is_better)


def is_worse(value: float | None, than: float | None, *, larger_is_better: bool) -> bool:
    """Whether one figure is worse than another by more than a hundredth, and by more than a cell or a microsecond."""
    if value is None or than is None:
        return value is None and than is not None
    less = than - value if larger_is_better else value - than
    return less > TOLERANCE * abs(than) and less > 1e-6


def figures_of(result: Result, s: Situation, plan: Plan) -> dict[str, tuple[float | None, bool, bool]]:
    """Give value, whether larger is better, whether the application needs it, by name."""
    rows = {row["vc"]: row for row in result.summary["vcs"]}
    acr = result.series("acr", vc="vc1")
    bulk = s.application == "bulk"
    delivered = sum(rows[vc]["throughput_bps"] for vc in ("vc1", "vc2") if vc in rows) / 1e6
    figures: dict[str, tuple[float | None, bool, bool]] = {}
    if s.application in BURSTS:
        mean, worst = _completion(result.series("received", vc="vc2"), plan)
        figures["mean time of a request [ms]"] = (mean, False, True)
        figures["longest time of a request [ms]"] = (worst, False, False)
    if s.real_time:
        queue = result.series("source_queue", vc="vc1")
        waiting = queue.max() / plan.rate * 1e3
        figures["longest wait at the source [ms]"] = (waiting, False, True)
        p99 = rows["vc1"]["p99_delay_s"]
        figures["p99 delay in the network [ms]"] = (None if p99 is None else p99 * 1e3, False, True)
        figures["changes of ACR per second"] = (len(acr) / plan.end_s, False, False)
    figures["throughput, all data [Mbps]"] = (delivered, True, bulk)
    ports = result.summary["ports"]
    figures["largest queue [cells]"] = (float(max(port["max_abr_queue"] for port in ports)), False, False)
    figures["cells lost"] = (float(sum(row["dropped"] for row in rows.values())), False, bulk)
    if bulk:
        goal = 0.9 * acr.mean(plan.on_s - 0.25 * plan.on_s, plan.on_s)
        back = acr.first(plan.off_s, at_least=goal)
        figures["source 1 back at its rate after [ms]"] = (
            None if back is None else (back - plan.off_s) * 1e3,
            False,
            False,
        )
    return figures


def _completion(received: Series, plan: Plan) -> tuple[float | None, float | None]:
    """Mean and longest time from a request to its last cell's arrival [ms]; None while one is unfinished."""
    import numpy as np

    times, values = received.times_s, received.values
    total = values[-1]
    count = len(plan.requests_s)
    cells = plan.request_cells
    spans = []
    for number, start in enumerate(plan.requests_s, start=1):
        done = int(np.searchsorted(values, number * cells))
        if done >= len(values):
            return None, None
        spans.append((float(times[done]) - start) * 1e3)
    assert total >= count * cells
    return sum(spans) / count, max(spans)
