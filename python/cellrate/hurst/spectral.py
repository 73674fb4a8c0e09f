"""Estimators of the Hurst parameter that look at the periodogram."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .fitting import minimum, slope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOW, HIGH = 0.01, 0.999
"""Where H is looked for."""


def _periodogram(series: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the frequencies above 0 and below pi [rad per value], and the periodogram at each."""
    import numpy as np

    n = len(series)
    last = (n - 1) // 2
    power = np.abs(np.fft.rfft(series)[1 : last + 1]) ** 2 / (2.0 * np.pi * n)
    # A frequency that is wholly absent has no logarithm.
    return 2.0 * np.pi * np.arange(1, last + 1) / n, np.maximum(power, 1e-300)


def log_periodogram(series: NDArray[np.float64]) -> tuple[float, float]:
    """Estimate H by regression of the log-periodogram at its lowest frequencies, as many as the root of n."""
    import numpy as np

    frequencies, power = _periodogram(series)
    m = math.isqrt(len(series))
    x = -2.0 * np.log(2.0 * np.sin(frequencies[:m] / 2.0))
    d = slope(x, np.log(power[:m]))
    return d + 0.5, math.pi / math.sqrt(6.0 * float(((x - x.mean()) ** 2).sum()))


def local_whittle(series: NDArray[np.float64]) -> tuple[float, float]:
    """Estimate H by Whittle's likelihood of a power law at the lowest n^0.65 frequencies, whatever the others are."""
    import numpy as np

    frequencies, power = _periodogram(series)
    m = min(int(len(series) ** 0.65), len(frequencies))
    logs = np.log(frequencies[:m])

    def objective(hurst: float) -> float:
        exponent = 2.0 * hurst - 1.0
        return float(np.log(np.mean(np.exp(exponent * logs) * power[:m])) - exponent * logs.mean())

    return minimum(objective, LOW, HIGH), 0.5 / math.sqrt(m)


def whittle(series: NDArray[np.float64]) -> tuple[float, float]:
    """Estimate H by Whittle's likelihood of the whole periodogram, taking the series for fractional Gaussian noise."""
    import numpy as np

    frequencies, power = _periodogram(series)

    def objective(hurst: float) -> float:
        density = fractional_gaussian_density(frequencies, hurst)
        return float(np.log((power / density).mean()) + np.log(density).mean())

    hurst = minimum(objective, LOW, HIGH)
    # Beran, Statistics for Long-Memory Processes, section 5.5: the derivative of the logarithm of the shape, squared.
    step = 1e-4
    upper, lower = min(hurst + step, HIGH), max(hurst - step, LOW)
    logs = [np.log(fractional_gaussian_density(frequencies, h)) for h in (upper, lower)]
    derivative = (logs[0] - logs[1]) / (upper - lower)
    information = float(derivative.var())
    return hurst, math.sqrt(2.0 / (len(series) * information))


def fractional_gaussian_density(frequencies: NDArray[np.float64], hurst: float) -> NDArray[np.float64]:
    """Give the spectral density of fractional Gaussian noise, up to a factor that does not depend on the frequency.

    The sum over all multiples of 2 pi is cut after three terms and the rest integrated (Paxson 1997, equation 6).
    """
    import numpy as np

    exponent = -2.0 * hurst - 1.0
    turns = 2.0 * np.pi * np.arange(1, 5)[:, None]
    above, below = turns + frequencies, turns - frequencies
    terms = above**exponent + below**exponent
    ends = above[2:] ** (exponent + 1.0) + below[2:] ** (exponent + 1.0)
    rest = ends.sum(axis=0) / (8.0 * np.pi * hurst)
    density: NDArray[np.float64] = (1.0 - np.cos(frequencies)) * (frequencies**exponent + terms[:3].sum(axis=0) + rest)
    return density
