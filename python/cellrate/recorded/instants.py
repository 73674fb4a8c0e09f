"""Instants of a run, as scripts give them."""

from __future__ import annotations

from typing import Any

from .. import quantities
from ..errors import CellrateError, shown
from ..quantities import is_number

Instant = float | str
"""A number of seconds from the beginning of the run on, or a text with a unit: 0.005, "5 ms"."""


def seconds(given: Any) -> float:
    """Give an instant in seconds."""
    if isinstance(given, str):
        try:
            return quantities.read(given, quantities.TIME)
        except CellrateError as error:
            raise ValueError(str(error)) from None
    if not is_number(given):
        raise TypeError(f'an instant is a number of seconds, or a text such as "5 ms"; {shown(given)} is neither')
    instant = float(given)
    if not instant >= 0.0:
        raise ValueError(f"{instant} s is not an instant of a run, which begins at 0 s")
    return instant


def span(t0: Instant, t1: Instant) -> tuple[float, float]:
    """Give beginning and end in seconds, the end no earlier than the beginning."""
    begin, end = seconds(t0), seconds(t1)
    if end < begin:
        raise ValueError(f"a span from {begin} s to {end} s ends before it begins")
    return begin, end


def part_of_run(time: Any, end_s: float) -> tuple[float, float]:
    """Give the part of the time axis to draw, of a run that ended at `end_s`."""
    if not isinstance(time, tuple | list) or len(time) != 2:
        raise TypeError(f'time is a pair of instants, such as (0.1, 0.2) or ("100 ms", "200 ms"), not {shown(time)}')
    begin, end = span(*time)
    if not begin < min(end, end_s):
        raise ValueError(f"time is from {begin} s to {end} s; there is nothing of a run from 0 s to {end_s} s in it")
    return begin, min(end, end_s)
