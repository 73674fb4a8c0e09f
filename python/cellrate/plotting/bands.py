"""Groups that fold in pictures: of many like series a band from least to largest, with their median."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..recorded.groups import Groups, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..recorded.series import Series

BINS = 800
"""Spans of a band at most: as many as a picture has columns."""


@dataclass(frozen=True)
class Band:
    """Least and largest of the members of a group, from each instant to the next."""

    times_s: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    step: Literal["pre", "post"]
    """How matplotlib's `fill_between` holds a value: "pre" or "post"."""


def fold(series: Sequence[Series], groups: Groups) -> list[tuple[Series, Band | None]]:
    """Fold series of one probe by the groups of their entities: the median of a group by its name, and its band.

    What is in no group, or alone in its own, is as it was, without a band. A group whose series were taken in different
    ways is not folded.
    """
    if not groups:
        return [(one, None) for one in series]
    found: list[tuple[Series, Band | None]] = []
    for name, places in folded([one.entity for one in series], groups).items():
        members = [series[place] for place in places]
        alike = len({(one.probe, one.unit, one.interval_s) for one in members}) == 1
        if len(members) == 1 or not alike or not all(map(len, members)):
            found += [(one, None) for one in members]
        else:
            found.append(_at_intervals(name, members) if members[0].interval_s else _at_changes(name, members))
    return found


def _at_intervals(name: str, members: Sequence[Series]) -> tuple[Series, Band]:
    """Fold series with a value for each interval; one that ended has none from then on."""
    times = max((one.times_s for one in members), key=len)
    values = np.full((len(members), len(times)), np.nan)
    for row, one in zip(values, members, strict=True):
        row[np.searchsorted(times, one.times_s).clip(max=len(times) - 1)] = one.values
    low, high, median = np.fmin.reduce(values), np.fmax.reduce(values), _median(values)
    if len(times) > BINS:
        starts = np.unique(np.linspace(0, len(times), BINS, endpoint=False).astype(int))
        ends = np.append(starts[1:], len(times)) - 1
        low, high = np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)
        band = Band(times[ends], low, high, "pre")
    else:
        band = Band(times, low, high, "pre")
    return _named(name, members, times, median), band


def _at_changes(name: str, members: Sequence[Series]) -> tuple[Series, Band]:
    """Fold series that hold each value until the next: in spans, each with all values in force within it."""
    begin = min(float(one.times_s[0]) for one in members)
    end = max(one.end_s for one in members)
    edges = np.linspace(begin, end, BINS + 1)[:-1]
    shape = (len(members), len(edges))
    low, high, at = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    for row, one in enumerate(members):
        before = np.searchsorted(one.times_s, edges, side="right") - 1
        there = (before >= 0) & (edges <= one.end_s)
        at[row, there] = one.values[before[there]]
        low[row] = high[row] = at[row]
        # A value that comes within a span counts beside that in force at its begin.
        spans = (np.searchsorted(edges, one.times_s, side="right") - 1).clip(0)
        np.fmin.at(low[row], spans, one.values)
        np.fmax.at(high[row], spans, one.values)
    band = Band(np.append(edges, end), _last_again(np.fmin.reduce(low)), _last_again(np.fmax.reduce(high)), "post")
    return _named(name, members, edges, _median(at)), band


def _named(name: str, members: Sequence[Series], times: NDArray[np.float64], values: NDArray[np.float64]) -> Series:
    end_s = max(one.end_s for one in members)
    return replace(members[0], entity=name, times_s=times.copy(), values=values, end_s=end_s)


def _last_again(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(values, values[-1])


def _median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        # Where none has a value there is no median.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmedian(values, axis=0))
