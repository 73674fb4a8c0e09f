"""Helpers that the experiments share: units, and sentences from numbers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

CELL_BITS = 424
"""A cell of 53 octets [bit]."""
LINK_MBPS = 155.52
"""Every link of the paper's simulations [Mbps]."""
NRM = 32
"""Cells for each forward RM cell, it included, in all runs but those on Nrm."""
PCR = LINK_MBPS * 1e6 / CELL_BITS
"""Rate of the links as a peak cell rate: 366,792.45 cells/s."""
TARGET_MBPS = 0.9 * LINK_MBPS
"""Ninety percent of a link, the target utilization: 139.97 Mbps."""
BOTTLENECK = "sw1->sw2"


def mbps(cells_per_s: float) -> float:
    """Turn cells/s into Mbps, 53 octets a cell."""
    return cells_per_s * CELL_BITS / 1e6


def near(value: float, expected: float, tolerance: float) -> bool:
    """Whether `value` is within the fraction `tolerance` of `expected`."""
    return bool(abs(value - expected) <= tolerance * abs(expected))


def listed(pairs: Iterable[tuple[object, float]], unit: str, digits: int = 1) -> str:
    """Write values with what they belong to: "139.9 (8), 139.8 (32) Mbps"."""
    return ", ".join(f"{value:,.{digits}f} ({key})" for key, value in pairs) + f" {unit}"


def furthest(values: Iterable[float], expected: float) -> float:
    """Give the value that is furthest from `expected`: of several settings it decides."""
    return max(values, key=lambda value: abs(value - expected))


def rising(values: Iterable[float]) -> bool:
    """Whether each value is above the one before."""
    known = list(values)
    return all(low < high for low, high in pairwise(known))
