"""Curves that cover each other, which a picture says: one of them is seen, and its name is of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..recorded.series import Series

CLOSE = 0.004
"""Curves nowhere further apart than this share of the panel's largest value cannot be told apart: it is a third of the
width of a line."""

MOST_NAMES = 3
"""Names of one curve; of more the first and the last one are said, and their number."""


def alike(series: Sequence[Series]) -> list[tuple[list[int], bool]]:
    """Give the places of series that are one curve in a picture, and whether their values are the same.

    Only values at the same instants are compared: others differ in what a picture shows of their steps.
    """
    largest = max((_largest(one.values) for one in series), default=0.0)
    curves: list[tuple[list[int], bool]] = []
    for place, one in enumerate(series):
        for at, (places, same) in enumerate(curves):
            first = series[places[0]]
            if one.end_s != first.end_s or not np.array_equal(one.times_s, first.times_s):
                continue
            equal = bool(np.array_equal(one.values, first.values, equal_nan=True))
            if equal or np.allclose(one.values, first.values, rtol=0.0, atol=CLOSE * largest, equal_nan=True):
                curves[at] = ([*places, place], same and equal)
                break
        else:
            curves.append(([place], True))
    return curves


def said(labels: Sequence[str], same: bool) -> str:
    """Name a curve that is several: "vc1 = vc2", or "vc1 ≈ vc2" where only a picture cannot tell them apart."""
    sign = " = " if same else " ≈ "
    if len(labels) > MOST_NAMES:
        return f"{labels[0]}{sign}...{sign}{labels[-1]} ({len(labels)})"
    return sign.join(labels)


def _largest(values: NDArray[np.float64]) -> float:
    found = float(np.fmax.reduce(np.abs(values), initial=0.0))
    return found if np.isfinite(found) else 0.0
