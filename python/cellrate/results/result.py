"""What a run gives back: summary figures and series."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native, quantities
from ..errors import CellrateError, NoSuchSeries
from ..extensions.custom import NOTHING, Custom
from ..extensions.making import is_number, shown
from ..wireshark.capture import CapturedFile

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ..scenario import Scenario

Instant = float | str
"""A number of seconds from the beginning of the run on, or a text with a unit: 0.005, "5 ms"."""

PICOSECOND = 1e-12
"""What instants of a run are whole numbers of [s]: 3 * 0.1, which is a bit more than 0.3, is no later than that."""


@dataclass(frozen=True, eq=False)
class Series:
    """A quantity in time.

    A series taken at every change holds each value until the next instant, the last one until the end of the run. One
    taken at intervals has a value per interval, at its end. Instants are numbers of seconds, or texts such as "5 ms".
    Of a span that reaches beyond the end of the run the part within the run counts.
    """

    probe: str
    """What: "acr", "queue", ..."""
    entity: str
    """Of what: a VC, or a port as "sw1->sw2"."""
    unit: str
    """Of the values; empty for a plain number."""
    interval_s: float | None
    """Span between two values [s]; None for a series taken at every change."""
    times_s: NDArray[np.float64]
    """Instants [s], never falling."""
    values: NDArray[np.float64]
    """One value per instant, in `unit`."""
    end_s: float
    """When the run, or the part of it, ended [s]: until then the last value of a series taken at every change holds."""

    def __len__(self) -> int:
        return len(self.times_s)

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

        at = _seconds(t)
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
            If `t1` is before `t0`, or one of them is no instant of a run.
        TypeError
            If one of them is neither a number nor a text.
        """
        import numpy as np

        begin, end = _span(t0, t1)
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

        Of a series taken at intervals, the mean of the values at `t0` < time <= `t1`: those whose interval lies inside.
        Where the run ended before `t1`, it is the mean from `t0` to the end of the run.

        Raises
        ------
        ValueError
            If there is nothing between the two, `t1` is before `t0`, or one of them is no instant of a run.
        TypeError
            If one of them is neither a number nor a text.
        """
        import numpy as np

        begin, end = _span(t0, t1)
        if self.interval_s is not None:
            low, high = np.searchsorted(self.times_s, [begin, end], side="right")
            inside = self.values[low:high]
            if not len(inside):
                raise ValueError(f"{self.probe} of {self.entity} has no value after {begin} s up to {end} s")
            return float(inside.mean())
        part = self.between(begin, max(begin, min(end, self.end_s)))
        if not len(part) or part.end_s <= part.times_s[0]:
            raise ValueError(f"{self.probe} of {self.entity} has no value from {begin} s to {end} s")
        spans = np.diff(part.times_s, append=part.end_s)
        return float(np.dot(part.values, spans) / (part.end_s - part.times_s[0]))

    def max(self) -> float:
        """Give the largest value."""
        return float(self.values.max())

    def min(self) -> float:
        """Give the smallest value."""
        return float(self.values.min())

    def first(self, t0: Instant, *, at_least: float) -> float | None:
        """Give the first instant [s] from `t0` on at which the value is `at_least` or more; None if there is none.

        Raises
        ------
        ValueError
            If `t0` is no instant of a run.
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


class Result:
    """What a run found.

    Attributes
    ----------
    summary : dict
        "run" (scenario, hash, seed, version, algorithms, policies and traffic if any were given, duration_s, cell_hops,
        events, wall_s, cell_hops_per_s), "vcs" (a row per direction of a VC that sent), "ports" (a row per port that
        carried anything), "tcp" (a row per TCP connection), "exchanges", "pages" and "exchange_list" (of pages fetched
        over TCP), "bursts" and "burst_list" (of request-response traffic), "frames" and "frame_list" (of frames in
        datagrams), "virtual_sources" (at switches that segment control loops), "refused" and "negotiated" (at
        set-up); docs/results.md lists the keys.
    set : dict
        What the point of a sweep set; empty without a sweep.
    toml : str
        The scenario, settings applied.
    purpose : str
        What the scenario is for.
    captured : tuple of CapturedFile
        The files of the capture, if the run had one.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        settings: dict[str, str],
        toml: str,
        purpose: str,
        series: dict[tuple[str, str], Callable[[], Series]],
        captured: tuple[CapturedFile, ...] = (),
    ) -> None:
        self.summary = summary
        self.set = settings
        self.toml = toml
        self.purpose = purpose
        self.captured = captured
        self._series = series

    @classmethod
    def _from_native(
        cls,
        native: _native.RunResult,
        scenario: Scenario,
        settings: dict[str, str],
        wall_s: float,
        custom: Custom = NOTHING,
    ) -> Result:
        summary = json.loads(native.summary)
        figures = summary["run"]
        summary["run"] = {
            "scenario": figures["scenario"],
            "hash": scenario.hash,
            "seed": figures["seed"],
            "version": _native.version(),
            **custom.named(),
            **{key: value for key, value in figures.items() if key not in ("scenario", "seed")},
            "wall_s": wall_s,
            "cell_hops_per_s": figures["cell_hops"] / wall_s,
        }
        series: dict[tuple[str, str], Callable[[], Series]] = {
            (probe, entity): cache(
                partial(_taken, native, index, probe, entity, unit, interval_ps, figures["duration_s"])
            )
            for index, (probe, entity, unit, interval_ps) in enumerate(native.series_info())
        }
        captured = tuple(CapturedFile(*file) for file in native.captured())
        return cls(summary, settings, scenario.toml, scenario.purpose, series, captured)

    def __getstate__(self) -> dict[str, Any]:
        """Cross a process border with every series taken."""
        return {**self.__dict__, "_series": {key: series() for key, series in self._series.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._series = {key: partial(_given, series) for key, series in state["_series"].items()}

    @property
    def stamp(self) -> str:
        """What reproduces this result: scenario, hash, seed and version, in one line."""
        run = self.summary["run"]
        return f"{run['scenario']}  {run['hash'][:12]}  seed {run['seed']}  cellrate {run['version']}"

    @property
    def series_names(self) -> list[tuple[str, str]]:
        """Probe and entity of every series, in the order of the scenario."""
        return list(self._series)

    def series(
        self, probe: str, *, vc: str | None = None, port: str | None = None, entity: str | None = None
    ) -> Series:
        """Give one series.

        Parameters
        ----------
        probe
            "acr", "queue", ...
        vc, port, entity
            Whose: the name of a VC, or of its virtual source at a switch ("vc1 at sw2"), of a port ("sw1->sw2"), or of
            either; one of the three. Not needed where only one has such a series.

        Raises
        ------
        NoSuchSeries
            If there is none, or more than one.
        TypeError
            If more than one of `vc`, `port` and `entity` is given.
        """
        given = {key: name for key, name in (("vc", vc), ("port", port), ("entity", entity)) if name is not None}
        if len(given) > 1:
            said = ", ".join(f"{key}={name!r}" for key, name in given.items())
            raise TypeError(f"a series is of one VC or port: give one of vc, port and entity, not {said}")
        whose = next(iter(given.values()), None)
        found = [(name, of) for name, of in self._series if name == probe and whose in (None, of)]
        if len(found) == 1:
            return self._series[found[0]]()
        asked = probe if whose is None else f"{probe} of {whose}"
        there_are = ", ".join(f"{name} of {of}" for name, of in self.series_names) or "none"
        problem = f"there is no series {asked}" if not found else f"several VCs or ports have a series {asked}"
        raise NoSuchSeries(f"{problem}; the series of this run: {there_are}")

    def all_series(self, probe: str | None = None) -> list[Series]:
        """Give every series, or every one of `probe`, in the order of the scenario."""
        return [series() for (name, _), series in self._series.items() if probe in (None, name)]

    def vc(self, name: str) -> dict[str, Any]:
        """Give the summary row of a VC.

        Raises
        ------
        KeyError
            If it sent nothing, or is not there.
        """
        return _row(self.summary["vcs"], "vc", name)

    def port(self, name: str) -> dict[str, Any]:
        """Give the summary row of a port, such as "sw1->sw2".

        Raises
        ------
        KeyError
            If it carried nothing, or is not there.
        """
        return _row(self.summary["ports"], "port", name)

    def plot(self, *probes: str, time: tuple[Instant, Instant] | None = None) -> Figure:
        """Draw what the run recorded: a panel per kind of quantity, above each other.

        A notebook shows the figure; `savefig` writes it.

        Parameters
        ----------
        *probes
            "acr", "queue", ...: only these; all of them if none is given.
        time
            The part of the time axis to show, from and to: numbers [s] or texts such as "5 ms"; it ends with the run at
            the latest. All of it when None.

        Raises
        ------
        NoSuchSeries
            If the run recorded nothing, or not one of the probes.
        ValueError
            If nothing of the run is in `time`, or an instant of it is none.
        TypeError
            If `time` is no pair of numbers or texts.
        """
        recorded = dict.fromkeys(name for name, _ in self._series)
        missing = [probe for probe in probes if probe not in recorded]
        if missing or not recorded:
            asked = missing[0] if missing else "to draw"
            raise NoSuchSeries(f"there is no series {asked}; probes of this run: {', '.join(recorded) or 'none'}")
        run = self.summary["run"]
        shown_s = None if time is None else _axis(time, run["duration_s"])
        from ..plotting.runs import figure, panels_of

        return figure(panels_of(self, probes or None), run["scenario"], self.stamp, time=shown_s)

    def write(self, folder: str | Path, *, csv: bool = False, plots: bool = True) -> Path:
        """Write everything into a folder, which appears whole or not at all.

        summary.json, scenario.toml, series/PROBE.parquet, and PNG and SVG plots. A folder of earlier results of that
        name is replaced; any other that is not empty is left alone.

        Parameters
        ----------
        folder
            Where to.
        csv
            Write each series/PROBE.csv too, and vcs.csv, ports.csv and the like.
        plots
            Draw plots.

        Raises
        ------
        CellrateError
            If the folder holds something else.
        OSError
            If it cannot be written.
        """
        from .writing import write_result

        return write_result(self, Path(folder), csv=csv, plots=plots)

    def __repr__(self) -> str:
        return f"<Result {self.stamp}>"

    def _repr_html_(self) -> str:
        from .notebook import html_of

        return html_of(self.summary, self.set)


def _taken(
    native: _native.RunResult,
    index: int,
    probe: str,
    entity: str,
    unit: str,
    interval_ps: int | None,
    end_s: float,
) -> Series:
    """Take a series out of the native result; only here is NumPy needed, which a mere summary does not wait for."""
    import numpy as np

    times_ps, values = native.take_series(index)
    # A quotient is rounded once, so that 50 ms are 0.05 s; times 1e-12, itself rounded, they would be a bit less.
    interval_s = None if interval_ps is None else interval_ps / 1e12
    return Series(probe, entity, unit, interval_s, np.divide(times_ps, 1e12), values, end_s)


def _given(series: Series) -> Series:
    return series


def _row(rows: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    for row in rows:
        if row[key] == name:
            return row
    raise KeyError(f"no {key} {name!r}; there are {[row[key] for row in rows]}")


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


def _seconds(given: Any) -> float:
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
        raise ValueError(f"{instant} s is no instant of a run, which begins at 0 s")
    return instant


def _span(t0: Instant, t1: Instant) -> tuple[float, float]:
    """Give beginning and end in seconds, the end no earlier than the beginning."""
    begin, end = _seconds(t0), _seconds(t1)
    if end < begin:
        raise ValueError(f"a span from {begin} s to {end} s ends before it begins")
    return begin, end


def _axis(time: Any, end_s: float) -> tuple[float, float]:
    """Give the part of the time axis to draw, of a run that ended at `end_s`."""
    if not isinstance(time, tuple | list) or len(time) != 2:
        raise TypeError(f'time is a pair of instants, such as (0.1, 0.2) or ("100 ms", "200 ms"), not {shown(time)}')
    begin, end = _span(*time)
    if not begin < min(end, end_s):
        raise ValueError(f"time is from {begin} s to {end} s; there is nothing of a run from 0 s to {end_s} s in it")
    return begin, min(end, end_s)
