"""Processor time of algorithms: per RM cell and per averaging interval, as of this machine."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import _native
from ..plugins.collection import Plugins
from ..scenario import Scenario
from .entrants import Entrant

BUDGET_S = 0.05
"""For so long an algorithm is timed."""


@dataclass(frozen=True)
class Cost:
    """Processor time of an algorithm: medians of its calls at a port with 32 connections of changing claims."""

    algorithm: str
    rm_cell_ns: float
    """An RM cell, forward and backward ones alike [ns]."""
    interval_ns: float | None
    """The end of an averaging interval [ns]; None where it has none."""
    rm_cell_ratio: float
    """`rm_cell_ns` over that of the cheapest in the arena."""
    interval_ratio: float | None
    """`interval_ns` over that of the cheapest in the arena."""

    def content(self) -> dict[str, object]:
        """Give it for JSON."""
        return asdict(self)


def costs_of(entrants: Sequence[Entrant], plugins: Plugins) -> list[Cost]:
    """Time each algorithm on this machine, one after the other."""
    network: dict[str, object] = {
        "name": "cost",
        "duration": "1 s",
        "defaults": {"link": {"rate": "149.76 Mbps", "length": "1 km"}},
        "host": [{"name": "a"}, {"name": "b"}],
        "switch": [{"name": "sw"}],
        "link": [{"between": ["a", "sw"]}, {"between": ["sw", "b"]}],
        "vc": [{"name": "vc", "path": ["a", "sw", "b"]}],
    }
    plain = Scenario.from_dict(network)
    measured: list[tuple[float, float | None]] = []
    for one in entrants:
        scenario = plain.set({"defaults.switch.algorithm": dict(one.setting)})
        rm_cell, interval = _native.algorithm_cost(scenario._native, BUDGET_S, plugins.makers())
        # What takes less than reading the clock takes is told as a nanosecond.
        measured.append((max(rm_cell, 1.0), None if interval is None else max(interval, 1.0)))
    cheapest = min(rm_cell for rm_cell, _ in measured)
    shortest = min((interval for _, interval in measured if interval is not None), default=1.0)
    return [
        Cost(one.name, rm_cell, interval, rm_cell / cheapest, None if interval is None else interval / shortest)
        for one, (rm_cell, interval) in zip(entrants, measured, strict=True)
    ]


def machine() -> str:
    """Say which processor this is."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return name or platform.machine()
