"""Numerical helpers of the estimators: straight lines, scales, minima."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def slope(x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Give the slope of the straight line with the least (weighted) squares."""
    import numpy as np

    share = np.full(len(x), 1.0 / len(x)) if weights is None else weights / weights.sum()
    deviation = x - (share * x).sum()
    return float((share * deviation * y).sum() / (share * deviation**2).sum())


def geometric(low: int, high: int, count: int) -> list[int]:
    """Give whole numbers from `low` to `high` that are about equally far apart in their logarithms, each once."""
    ratio = (high / low) ** (1 / max(count - 1, 1))
    return sorted({round(low * ratio**step) for step in range(count)})


def minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Give the place of the least value of a function with one valley, to 1e-7, by golden sections."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-7:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
    return (low + high) / 2
