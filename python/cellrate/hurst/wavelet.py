"""The wavelet estimator of the Hurst parameter, which polynomial trends do not move."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCALING = (
    0.3326705529500826,
    0.8068915093110925,
    0.4598775021184915,
    -0.1350110200102546,
    -0.0854412738820267,
    0.0352262918857095,
)
"""Daubechies' scaling filter with three vanishing moments (Ten Lectures on Wavelets, table 6.1)."""

FEWEST = 8
"""Details that an octave has at least to be used."""

FIRST = 3
"""The first octave that is used: those before see short-range dependence."""


def abry_veitch(series: NDArray[np.float64]) -> tuple[float, float | None]:
    """Estimate H from how the mean energy of details grows with the octave: as 2 to the power of j (2H - 1)."""
    import numpy as np

    octaves = _energies(series)
    kept = [(j, energy, count) for j, (energy, count) in enumerate(octaves, 1) if j >= FIRST and energy > 0.0]
    if len(kept) < 2:
        return math.nan, None
    j, energy, count = (np.array(column, dtype=float) for column in zip(*kept, strict=True))
    # The mean of the logarithm of a chi-squared variable over its degrees of freedom is about -1/n, its variance 2/n.
    y = np.log2(energy) + 1.0 / (count * math.log(2.0))
    variance = 2.0 / (count * math.log(2.0) ** 2)
    s, sx, sxx = (float((j**power / variance).sum()) for power in (0, 1, 2))
    weights = (s * j - sx) / variance / (s * sxx - sx**2)
    alpha = float((weights * y).sum())
    return (alpha + 1.0) / 2.0, math.sqrt(float((weights**2 * variance).sum())) / 2.0


def _energies(series: NDArray[np.float64]) -> list[tuple[float, int]]:
    """Give by octave the mean square of its details and their number; details that reach over an end are left out."""
    import numpy as np

    low = np.array(SCALING)
    high = low[::-1] * np.array([1, -1] * 3)
    octaves, approximation = [], series
    while len(approximation) - len(low) + 1 >= 2 * FEWEST:
        detail = np.convolve(approximation, high, "valid")[::2]
        approximation = np.convolve(approximation, low[::-1], "valid")[::2]
        octaves.append((float((detail**2).mean()), len(detail)))
    return octaves
