"""Recorded figures of a run: its summary, its series, and the distributions of its delays and completion times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from .. import _native
from ..errors import NoSuchSeries
from ..plugins.collection import NOTHING, Plugins
from ..toml import values_of
from ..wireshark.capture import CapturedFile
from .series import Series

if TYPE_CHECKING:
    from ..scenario import Scenario
    from .completion_times import CompletionTimes
    from .delays import Delays

Thing = TypeVar("Thing")


@dataclass
class Unread:
    """The summary of a run as the simulator wrote it, not asked for yet."""

    run: dict[str, Any]
    """The row of the run, which has more in it by now."""
    rest: str
    """JSON behind that row."""

    def text(self) -> str:
        """Give all of it as JSON."""
        return f'{{"run": {json.dumps(self.run, allow_nan=False)}{self.rest}'

    def read(self) -> dict[str, Any]:
        """Give what the text says."""
        return {"run": self.run, **json.loads("{" + self.rest.removeprefix(","))}


def split(text: str) -> tuple[dict[str, Any], str]:
    """Split the summary that the simulator wrote: the row of the run, which is first, and the JSON behind it."""
    begin = '{"run":'
    if not text.startswith(begin):
        raise ValueError(f"the summary begins with {text[:20]!r}; please report this")
    run, end = json.JSONDecoder().raw_decode(text, len(begin))
    return run, text[end:]


class Recorded:
    """Recorded figures of a run, which it can be drawn and written from; `Result` has its attributes."""

    def __init__(
        self,
        summary: dict[str, Any] | Unread,
        settings: dict[str, str],
        toml: str,
        purpose: str,
        series: dict[tuple[str, str], Callable[[], Series]],
        captured: tuple[CapturedFile, ...] = (),
        delays: Callable[[], dict[str, Delays]] = dict,
        completion_times: Callable[[], dict[str, CompletionTimes]] = dict,
    ) -> None:
        self._summary = summary
        self.settings = settings
        self.toml = toml
        self.purpose = purpose
        self.captured = captured
        self._series = series
        self._delays = delays
        self._completion_times = completion_times

    @classmethod
    def _from_native(
        cls,
        native: _native.RunResult,
        scenario: Scenario,
        settings: dict[str, str],
        wall_s: float,
        plugins: Plugins = NOTHING,
    ) -> Self:
        figures, rest = split(native.summary)
        run_s = wall_s - (native.set_up_s or 0.0)
        run = {
            "scenario": figures["scenario"],
            "hash": scenario.hash,
            "seed": figures["seed"],
            "version": _native.version(),
            **plugins.named(),
            **{key: value for key, value in figures.items() if key not in ("scenario", "seed")},
            **({} if native.set_up_s is None else {"set_up_s": native.set_up_s}),
            "wall_s": run_s,
            "cell_hops_per_s": figures["cell_hops"] / run_s,
        }
        end_s = figures["duration_s"]
        series: dict[tuple[str, str], Callable[[], Series]] = {
            info[:2]: _Taken((native, index, *info, end_s)) for index, info in enumerate(native.series_info())
        }
        captured = tuple(CapturedFile(*file) for file in native.captured())
        delays = cache(partial(_distributions, native))
        times = cache(partial(_completion_times, native))
        return cls(Unread(run, rest), settings, scenario.toml, scenario.purpose, series, captured, delays, times)

    def __getstate__(self) -> dict[str, Any]:
        """Cross a process border with every series taken."""
        series = {key: series() for key, series in self._series.items()}
        taken = {"_delays": self._delays(), "_completion_times": self._completion_times()}
        return {**self.__dict__, "_series": series, **taken}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._series = {key: partial(_given, series) for key, series in state["_series"].items()}
        self._delays = partial(_given, state["_delays"])
        self._completion_times = partial(_given, state["_completion_times"])

    def add_series(self, series: Iterable[Series]) -> None:
        """Take in what was recorded beside the network."""
        self._series |= {(one.probe, one.entity): partial(_given, one) for one in series}

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the run.

        "run" (scenario, hash, seed, version, algorithms, policies and traffic if any were given, duration_s, cell_hops,
        events, set_up_s, wall_s, cell_hops_per_s), "vcs" (a row per direction of a VC that sent), "ports" (a row per
        port that carried anything), "tcp" (a row per TCP connection), "exchanges", "pages" and "exchange_list" (of
        pages fetched over TCP), "bursts" and "burst_list" (of request-response traffic), "frames" and "frame_list" (of
        frames in datagrams), "transport_streams" and "reference_list" (of MPEG-2 at its receiver), "flows" and
        "completions" (of flows that come and go), "virtual_sources" (at switches that segment control loops),
        "policing" (a row per policer), "branch_points" (a row per branch point of a tree), "loopbacks" (of OAM),
        "channels" (of virtual paths), "host_bottlenecks" (hosts whose own line is the bottleneck), "refused" and
        "negotiated" (at set-up), "beyond_signalling" (PCR of more than 24 bits), "overbooked" (lines that
        are promised more than once), "unkept" (promises that others may take), "starts" (ports whose longest queue is
        that of the start), "clocks" (that are not exact), "phase_effects" (of clocks that are), "unsettled" (ports
        whose rates do not settle); docs/results.md lists the keys.
        """
        if isinstance(self._summary, Unread):
            self._summary = self._summary.read()
        return self._summary

    @summary.setter
    def summary(self, summary: dict[str, Any]) -> None:
        self._summary = summary

    @property
    def run(self) -> dict[str, Any]:
        """Give the row of the run itself, "run" of the summary."""
        return self._summary.run if isinstance(self._summary, Unread) else self._summary["run"]

    def summary_text(self) -> str:
        """Give the summary as JSON in one line; that of a run just made is not read for it."""
        if isinstance(self._summary, Unread):
            return self._summary.text()
        return json.dumps(self._summary, allow_nan=False)

    @property
    def set(self) -> dict[str, Any]:
        """Give the settings of a sweep's point, from dotted path to value: a number, a text such as "5 ms", a dict."""
        return values_of(self.settings)

    @property
    def stamp(self) -> str:
        """Give the line that reproduces this result: scenario, hash, seed and version."""
        run = self.run
        return f"{run['scenario']}  {run['hash'][:12]}  seed {run['seed']}  cellrate {run['version']}"

    @property
    def series_names(self) -> list[tuple[str, str]]:
        """Probe and entity of every series, in the order of the scenario."""
        return list(self._series)

    def series(
        self,
        probe: str,
        *,
        vc: str | None = None,
        port: str | None = None,
        flows: str | None = None,
        entity: str | None = None,
    ) -> Series:
        """Give one series.

        Parameters
        ----------
        probe
            "acr", "queue", ...
        vc, port, flows, entity
            Whose: the name of a VC, or of its virtual source at a switch ("vc1 at sw2"), of a port ("sw1->sw2"), of
            flows that come and go, or of any of them; one of the four. Not needed where only one has such a series.

        Raises
        ------
        NoSuchSeries
            If there is none, or more than one.
        TypeError
            If more than one of `vc`, `port`, `flows` and `entity` is given.
        """
        asked_for = {"vc": vc, "port": port, "flows": flows, "entity": entity}
        given = {key: name for key, name in asked_for.items() if name is not None}
        if len(given) > 1:
            said = ", ".join(f"{key}={name!r}" for key, name in given.items())
            raise TypeError(
                f"a series is of one VC, port or entry of flows: give one of vc, port, flows and entity, not {said}"
            )
        whose = next(iter(given.values()), None)
        found = [(name, of) for name, of in self._series if name == probe and whose in (None, of)]
        if len(found) == 1:
            return self._series[found[0]]()
        asked = probe if whose is None else f"{probe} of {whose}"
        there_are = ", ".join(f"{name} of {of}" for name, of in self.series_names) or "none"
        problem = (
            f"there is no series {asked}"
            if not found
            else f"several VCs, ports or entries of flows have a series {asked}"
        )
        raise NoSuchSeries(f"{problem}; the series of this run: {there_are}")

    def all_series(self, probe: str | None = None) -> list[Series]:
        """Give every series, or every one of `probe`, in the order of the scenario."""
        return [series() for (name, _), series in self._series.items() if probe in (None, name)]

    @property
    def delays(self) -> dict[str, Delays]:
        """The distribution of the delays of data cells, by name of each VC that delivered any, backward ones too."""
        return dict(self._delays())

    @property
    def completion_times(self) -> dict[str, CompletionTimes]:
        """The distribution of completion times of flows of a size, by entry and class: "search, 10 to 100 kB".

        Those of all of an entry are "search, all"; classes in which none is complete have none.
        """
        return dict(self._completion_times())

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


def as_recorded(given: object) -> Recorded:
    """Give back what a caller says is a result.

    Raises
    ------
    TypeError
        If it is none, as the folder of a result is.
    """
    if isinstance(given, Recorded):
        return given
    raise TypeError(f"a result is due, as cellrate.run or cellrate.load gives it, not {given!r}")


class _Taken:
    """A series that is in the native result until it is asked for; a run may have a hundred thousand."""

    __slots__ = ("_series", "_whence")

    def __init__(self, whence: tuple[_native.RunResult, int, str, str, str, int | None, float]) -> None:
        self._whence = whence
        self._series: Series | None = None

    def __call__(self) -> Series:
        if self._series is None:
            # Only here is NumPy needed, which a mere summary does not wait for.
            import numpy as np

            native, index, probe, entity, unit, interval_ps, end_s = self._whence
            times_ps, values = native.take_series(index)
            # A quotient is rounded once, so that 50 ms are 0.05 s; times 1e-12, itself rounded, they would be less.
            interval_s = None if interval_ps is None else interval_ps / 1e12
            times_s = np.divide(times_ps, 1e12)
            self._series = Series(probe, entity, unit, interval_s, times_s, values, end_s)
        return self._series


def _distributions(native: _native.RunResult) -> dict[str, Delays]:
    from .delays import from_native

    return from_native(native.delays())


def _completion_times(native: _native.RunResult) -> dict[str, CompletionTimes]:
    from .completion_times import from_native

    return from_native(native.completions())


def _given(thing: Thing) -> Thing:
    return thing


def _row(rows: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    for row in rows:
        if row[key] == name:
            return row
    raise KeyError(f"no {key} {name!r}; there are {[row[key] for row in rows]}")
