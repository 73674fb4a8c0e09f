"""A quantity in time."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .instants import Instant, seconds, span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PICOSECOND = 1e-12
"""Unit of a run's instants [s]: 3 * 0.1, a bit more than 0.3, is no later than that."""


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """A quantity in time.

    A series taken at every change holds each value until the next instant, the last one until the end of the run. One
    taken at intervals has a value per interval, at its end. Instants are numbers of seconds, or texts such as "5 ms".
    Of a span that reaches beyond the end of the run the part within the run counts.
    """

    probe: str
    """Name of the quantity: "acr", "queue", ..."""
    entity: str
    """Name of the thing: a VC, or a port as "sw1->sw2"."""
    unit: str
    """Unit of the values; empty for a plain number."""
    interval_s: float | None
    """Span between two values [s]; None for a series taken at every change."""
    times_s: NDArray[np.float64]
    """Instants [s], never falling."""
    values: NDArray[np.float64]
    """One value per instant, in `unit`; NaN where there was nothing to measure, as of delays when no cell arrived."""
    end_s: float
    """When the run, or the part of it, ended [s]: until then the last value of a series taken at every change holds."""

    def __post_init__(self) -> None:
        """Keep the columns read only: a run's findings do not change."""
        for column in (self.times_s, self.values):
            column.flags.writeable = False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Give the values, for `numpy.asarray`."""
        import numpy as np

        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.times_s)

    def __repr__(self) -> str:
        """Say what it is; the values are in `values`."""
        unit = f" [{self.unit}]" if self.unit else ""
        how = "at every change" if self.interval_s is None else f"every {self.interval_s:g} s"
        return f"<Series {self.probe} of {self.entity}{unit}: {len(self)} values, {how}, to {self.end_s:g} s>"

    def at(self, t: Instant) -> float:
        """Give the value in force at `t` [s]: the last one taken at or before it.

        Raises
        ------
        ValueError
            If `t` is before the first value, or after the end of the run.
        TypeError
            If `t` is neither a number nor a text.
        """
        import numpy as np

        at = seconds(t)
        index = int(np.searchsorted(self.times_s, at, side="right")) - 1
        if index < 0:
            first = f"the first value is at {self.times_s[0]} s" if len(self) else "it has no values"
            raise ValueError(f"{self.probe} of {self.entity} has no value at {at} s: {first}")
        if at > self.end_s + PICOSECOND:
            raise ValueError(f"{self.probe} of {self.entity} has no value at {at} s: it ends at {self.end_s} s")
        return float(self.values[index])

    def between(self, t0: Instant, t1: Instant) -> Series:
        """Give the part with `t0` <= time <= `t1` [s].

        Of a series taken at every change, the value in force at `t0` opens it, so that the part has no gap. It is empty
        where the run ended before `t0`.

        Raises
        ------
        ValueError
            If `t1` is before `t0`, or one of them is not an instant of a run.
        TypeError
            If one of them is neither a number nor a text.
        """
        import numpy as np

        begin, end = span(t0, t1)
        low = int(np.searchsorted(self.times_s, begin, side="left"))
        high = int(np.searchsorted(self.times_s, end, side="right"))
        times, values = self.times_s[low:high], self.values[low:high]
        goes_on = self.interval_s is None and low > 0 and begin <= self.end_s
        if goes_on and (not len(times) or times[0] > begin):
            times = np.concatenate(([begin], times))
            values = np.concatenate(([self.values[low - 1]], values))
        return replace(self, times_s=times, values=values, end_s=min(end, self.end_s))

    def mean(self, t0: Instant, t1: Instant) -> float:
        """Give the mean from `t0` to `t1` [s]: time-weighted for a series taken at every change.

        Of a series taken at intervals, the mean of the values at `t0` < time <= `t1`: those whose interval lies inside,
        without those that are NaN.
        Where the run ended before `t1`, it is the mean from `t0` to the end of the run.

        Raises
        ------
        ValueError
            If there is nothing between the two, `t1` is before `t0`, or one of them is not an instant of a run.
        TypeError
            If one of them is neither a number nor a text.
        """
        import numpy as np

        begin, end = span(t0, t1)
        if self.interval_s is not None:
            low, high = np.searchsorted(self.times_s, [begin, end], side="right")
            inside = self.values[low:high]
            inside = inside[~np.isnan(inside)]
            if not len(inside):
                raise ValueError(f"{self.probe} of {self.entity} has no value after {begin} s up to {end} s")
            return float(inside.mean())
        part = self.between(begin, max(begin, min(end, self.end_s)))
        if not len(part) or part.end_s <= part.times_s[0]:
            raise ValueError(f"{self.probe} of {self.entity} has no value from {begin} s to {end} s")
        spans = np.diff(part.times_s, append=part.end_s)
        return float(np.dot(part.values, spans) / (part.end_s - part.times_s[0]))

    def max(self) -> float:
        """Give the largest value; those that are NaN do not count, and NaN is given if all are."""
        import numpy as np

        return float(np.fmax.reduce(self.values))

    def min(self) -> float:
        """Give the smallest value, as `max` the largest."""
        import numpy as np

        return float(np.fmin.reduce(self.values))

    def first(self, t0: Instant, *, at_least: float) -> float | None:
        """Give the first instant [s] from `t0` on at which the value is `at_least` or more; None if there is none.

        Raises
        ------
        ValueError
            If `t0` is not an instant of a run.
        TypeError
            If `t0` is neither a number nor a text.
        """
        part = self.between(t0, float("inf"))
        reached = part.values >= at_least
        return float(part.times_s[reached.argmax()]) if reached.any() else None

    def to_arrow(self) -> Any:
        """Give a `pyarrow.Table` with the columns `time_s` and `value`."""
        import pyarrow as pa

        return pa.table({"time_s": self.times_s, "value": self.values})

    def to_polars(self) -> Any:
        """Give a `polars.DataFrame` with the columns `time_s` and `value`.

        Raises
        ------
        ModuleNotFoundError
            If polars is not installed: `pip install 'cellrate[polars]'`.
        """
        return _library("polars").DataFrame({"time_s": self.times_s, "value": self.values})

    def to_pandas(self) -> Any:
        """Give a `pandas.DataFrame` with the columns `time_s` and `value`.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed: `pip install 'cellrate[pandas]'`.
        """
        return _library("pandas").DataFrame({"time_s": self.times_s, "value": self.values})


def _library(name: str) -> Any:
    """Import a library that an extra of the package is named after."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            # It is there, and lacks something itself.
            raise
        remedy = f"pip install 'cellrate[{name}]'"
        raise ModuleNotFoundError(f"{name} is not installed; this gets it: {remedy}", name=name) from None
