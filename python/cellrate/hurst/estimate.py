"""The estimates of a series, by every estimator there is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import CellrateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

LEAST = 256
"""The shortest series that is estimated."""

TWO_SIDED_95 = 1.959964
"""The normal distribution's quantile of 97.5 %."""


@dataclass(frozen=True)
class Estimate:
    """A Hurst parameter, as one estimator sees it."""

    method: str
    hurst: float
    """Not a number where the series gives the estimator nothing to fit."""
    deviation: float | None
    """Standard deviation of the estimate, by the estimator's own theory; None where it has none that holds."""
    source: str
    remark: str | None = None
    """A reason why it says nothing of H, such as "at the border of its search"; None where it does."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Give the 95 % confidence interval; None where the estimator's theory gives none."""
        if self.deviation is None:
            return None
        return self.hurst - TWO_SIDED_95 * self.deviation, self.hurst + TWO_SIDED_95 * self.deviation


def not_stationary(found: Sequence[Estimate]) -> str | None:
    """Say in a sentence that estimates are of a series that is not stationary; None where all are within (0, 1).

    The Hurst parameter of a series that wanders, such as the length of a queue, is not defined. Estimators that look
    for it between 0 and 1 then end at the border of their search, others find 1 or more.
    """
    beyond = [one.method for one in found if one.remark in (AT_BORDER, BEYOND)]
    if not beyond:
        return None
    verb = "does" if len(beyond) == 1 else "do"
    return (
        f"The series is not stationary, or not what these estimators take it to be: {', '.join(beyond)} {verb} not end "
        "between 0 and 1, and H is not defined there. Plot it; take differences of neighbours, or remove its trend."
    )


def estimates(values: ArrayLike) -> list[Estimate]:
    """Estimate the Hurst parameter of a series by every estimator there is.

    Parameters
    ----------
    values
        Equally spaced values of something stationary, such as octets in each interval; 256 or more, all finite, not all
        equal.

    Returns
    -------
    list of Estimate
        Aggregated variance, rescaled range, log-periodogram, local Whittle, Whittle for fractional Gaussian noise, and
        wavelets, in this order. 0.5 means no long-range dependence. They differ where a series is not what they take
        it to be: trends move the first two most, short-range dependence the Whittle estimate for fractional Gaussian
        noise. An estimate at the border of its search, or not between 0 and 1, has no interval and a `remark`.

    Raises
    ------
    CellrateError
        If the series is too short, holds what is not finite, or never changes.
    """
    import numpy as np

    series = np.asarray(values, dtype=float)
    if series.ndim != 1:
        raise CellrateError(f"a series has one dimension, not {series.ndim}")
    if len(series) < LEAST:
        raise CellrateError(f"the series has {len(series)} values; {LEAST} is the least that says anything of H")
    if not np.isfinite(series).all():
        place = int(np.flatnonzero(~np.isfinite(series))[0])
        raise CellrateError(f"value {place + 1} of the series is {series[place]}; all must be finite")
    if np.ptp(series) == 0.0:
        raise CellrateError("all values of the series are equal; such a series has no Hurst parameter")
    # Estimators do not depend on scale; squares of the rest neither overflow nor vanish.
    centred = series / np.abs(series).max()
    centred -= centred.mean()
    centred /= centred.std()
    return [_judged(name, *method(centred), source) for name, method, source in _estimators()]


AT_BORDER, BEYOND, NOTHING = "at the border of its search", "not between 0 and 1", "nothing to fit"

BORDER = 1e-3
"""Distance from the border of a search within which an estimate is at it."""


def _judged(name: str, hurst: float, deviation: float | None, source: str) -> Estimate:
    from .spectral import HIGH, LOW

    remark = None
    if math.isnan(hurst):
        remark = NOTHING
    elif not 0.0 < hurst < 1.0:
        remark = BEYOND
    elif "Whittle" in name and not LOW + BORDER < hurst < HIGH - BORDER:
        remark = AT_BORDER
    return Estimate(name, hurst, deviation if remark is None else None, source, remark)


def _estimators() -> Sequence[tuple[str, Callable[[NDArray[np.float64]], tuple[float, float | None]], str]]:
    from . import spectral, time_domain, wavelet

    return [
        (
            "aggregated variance",
            time_domain.aggregated_variance,
            "Taqqu, Teverovsky, Willinger, Fractals 3(4), 1995, section 2.1",
        ),
        ("rescaled range", time_domain.rescaled_range, "the same, section 2.5"),
        ("log-periodogram", spectral.log_periodogram, "Geweke, Porter-Hudak, J. Time Series Analysis 4(4), 1983"),
        ("local Whittle", spectral.local_whittle, "Robinson, Annals of Statistics 23(5), 1995"),
        ("Whittle, fractional Gaussian noise", spectral.whittle, "Paxson, CCR 27(5), 1997; Beran, 1994"),
        ("wavelet", wavelet.abry_veitch, "Abry, Veitch, IEEE Trans. Information Theory 44(1), 1998"),
    ]
