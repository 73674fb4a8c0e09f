"""Estimators of the Hurst parameter that look at sums of neighbours. Neither has a confidence interval that holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .fitting import geometric, slope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def aggregated_variance(series: NDArray[np.float64]) -> tuple[float, None]:
    """Estimate H from how the variance of means of m neighbours falls: as m to the power of 2H - 2.

    Blocks have 4 values at least, and there are 25 blocks at least.
    """
    import numpy as np

    sizes = geometric(4, len(series) // 25, 30)
    variances = [series[: len(series) // m * m].reshape(-1, m).mean(axis=1).var() for m in sizes]
    kept = [(m, v) for m, v in zip(sizes, variances, strict=True) if v > 0.0]
    if len(kept) < 2:
        return math.nan, None
    m, v = (np.log(column) for column in zip(*kept, strict=True))
    return 1.0 + slope(m, v) / 2.0, None


def rescaled_range(series: NDArray[np.float64]) -> tuple[float, None]:
    """Estimate H from how the range of summed deviations over the standard deviation grows: as n to the power of H.

    Blocks have 16 values at least, and at most a quarter of all; the mean over the blocks of a size is taken.
    """
    import numpy as np

    sizes, ratios = [], []
    for n in geometric(16, len(series) // 4, 25):
        blocks = series[: len(series) // n * n].reshape(-1, n)
        sums = np.cumsum(blocks - blocks.mean(axis=1, keepdims=True), axis=1)
        reach = np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0)
        deviation = blocks.std(axis=1)
        changing = deviation > 0.0
        if changing.any():
            sizes.append(n)
            ratios.append((reach[changing] / deviation[changing]).mean())
    if len(sizes) < 2:
        return math.nan, None
    return slope(np.log(sizes), np.log(ratios)), None
