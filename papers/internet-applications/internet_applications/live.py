"""The live half: the same network with real hosts and applications, each case run several times.

Runs are in real time, one after the other: two at once would put each other out of time. A run that fails the verdict
on its own timing in all its attempts counts only if it was late at a single instant that moved next to nothing
(`counts`).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellrate.errors import CellrateError
from cellrate.papers.experiment import Drawing, LiveHalf
from cellrate.papers.kept import KeptRuns
from cellrate.papers.paper import is_chosen
from cellrate.papers.statistics import estimate
from cellrate.results import Result
from cellrate.scenario import Scenario, prepare

from .common import FTP_GOODPUT_SHARE, HOST_LINE, TO_MBPS, line, line_rate, shown
from .drawing import panels, rate_panels
from .www import ICRS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

RUNS = 5
"""Runs of each case."""
LATE_SHARE = 0.02
"""Share of the span in which figures are taken, for the longest stall of a run that counts."""
FIGURES = {
    "www, alone": "Figure 2: UBR, no background",
    "www, UBR": "Figure 3: UBR",
    "www, ABR": "Figure 4: ABR, RIF = RDF = 1/64",
    "24 fps, alone": "Figure 6: 24 fps, UBR, no background",
    "24 fps, UBR": "Figure 7: 24 fps, UBR",
    "24 fps, ABR": "Figure 8: 24 fps, ABR, RIF = RDF = 1/64",
    "9 fps, alone": "Figure 9: 9 fps, UBR, no background",
    "9 fps, UBR": "Figure 10: 9 fps, UBR",
    "9 fps, ABR": "Figure 11: 9 fps, ABR, RIF = RDF = 1/64",
    "24 fps, MCR 7": "Figure 12: 24 fps, ABR, MCR 7 Mbps for the video",
    "voice, ABR": "Figure 13: ABR, RIF = RDF = 1/64",
    "voice, alone": "Figure 14: UBR, no background",
}
"""Figures of the paper that show rates, by case, in its order."""
SNAPSHOTS = {
    "www, ABR, ICR PCR/10": "Figure 5: RIF = RDF = 1/64, ICR = PCR/10",
    "www, ABR": "For comparison: ICR = PCR",
}
"""Figure 5, of the server's ACR, and the case to hold it against."""
SNAPSHOT_S = (20.0, 40.0)
"""Part of a run that figure 5 shows."""
BUSY_S = {"video": (7.0, 15.0), "www": (6.0, 40.0), "voice": (7.0, 28.0)}
"""When both transfers are there, by application."""
HTML_OCTETS = 600
"""Octets of a page's html."""
LONGEST_HEADER = 2000
"""Octets of a response's header at most."""
CONGESTED_S = 10.0
"""How long they are there beside the film."""

Read = Callable[[Result], float | None]
"""None where a run has nothing to measure: no page came."""


@dataclass(frozen=True)
class Figure:
    """A figure of a case, and the claims that it is for."""

    claims: tuple[str, ...]
    read: Read
    digits: int
    unit: str


@dataclass(frozen=True)
class LiveCase:
    """A case of the live half."""

    name: str
    application: str
    """Also the scenario: live-APPLICATION.toml."""
    figures: Sequence[Figure]
    set: Mapping[str, object] = field(default_factory=dict)
    runs: int = RUNS
    """One where nothing comes beside the application: its runs are all alike."""


def application_result(result: Result, name: str) -> dict[str, Any]:
    """Give what an application said."""
    row = next(row for row in result.summary["applications"] if row["application"] == name)
    found: dict[str, Any] = row["result"]
    return found


def _ftp(application: str) -> Read:
    begin, end = BUSY_S[application]
    return lambda run: sum(line_rate(run, vc, begin, end) for vc in ("ftp1", "ftp2")) * FTP_GOODPUT_SHARE


def _frames_lost(result: Result) -> float:
    """Frames lost in the network, as a part of those sent in the ten seconds of FTP [%]."""
    film = application_result(result, "video")
    return 100 * float(film["frames_lost_in_network"]) / (CONGESTED_S * float(film["sent_frame_rate"]))


def _stood(result: Result) -> float:
    return float(application_result(result, "video")["stalled_s"])


def response_times(run: Result, least: int, most: int) -> list[float]:
    """Give response times by cells at the server, as the paper has them, of answers of `least` to `most` octets [s].

    An answer that did not come whole is none.
    """
    return [
        row["response_departed_s"] - row["request_delivered_s"]
        for row in run.summary["tcp_exchanges"]
        if row["vc"] == "www" and least <= row["response_octets"] <= most
    ]


def _time(octets: int, factor: float) -> Read:
    def read(run: Result) -> float | None:
        times = response_times(run, octets, octets + LONGEST_HEADER)
        return factor * statistics.fmean(times) if times else None

    return read


def _voice(key: str) -> Read:
    return lambda run: float(application_result(run, "voice")[key])


def _interval_deviation(run: Result) -> float:
    """Standard deviation of the intervals between voice packets at the receiver [ms]."""
    return 1e3 * float(application_result(run, "voice")["interval_s"]["deviation"])


def _video_rate(run: Result) -> float:
    """Rate of the film's cells while the transfers are there, or would be [Mbps]."""
    return line_rate(run, "video", *BUSY_S["video"])


_UBR: Mapping[str, object] = {"defaults.vc.category": "ubr", "defaults.vc.pcr": HOST_LINE}
_WWW_UBR = {**_UBR, "probe.2.record": '["drops"]'}
"""UBR for pages, whose second probe records ACR."""
_NO_FTP: Mapping[str, object] = {"application.ftp{i}.kind": '{ type = "ftp", size = "1 octet" }'}
_VIDEO = '{{ type = "video", rate = "7.6 Mbps", frame_rate = 24, buffer = "1 GB"{more} }}'
_KIND = "application.video.kind"
_NINE = {_KIND: '{ type = "video", rate = "2.85 Mbps", frame_rate = 9, buffer = "1 GB" }'}
_FOLLOWS = {_KIND: _VIDEO.format(more=", follow_acr = true")}


def _pages(*ids: str) -> list[Figure]:
    return [
        Figure(tuple(f"{id}.html" for id in ids), _time(HTML_OCTETS, 1e3), 1, "ms, from a server that answers at once"),
        Figure(tuple(f"{id}.gif" for id in ids), _time(300_000, 1.0), 2, "s"),
    ]


CASES: Sequence[LiveCase] = (
    LiveCase("www, alone", "www", _pages("www.table-2.alone"), {**_WWW_UBR, **_NO_FTP}),
    LiveCase(
        "www, UBR",
        "www",
        [*_pages("www.table-2.ubr"), Figure(("www.table-2.ubr.ftp",), _ftp("www"), 2, "Mbps")],
        _WWW_UBR,
    ),
    LiveCase(
        "www, ABR",
        "www",
        [
            *_pages("www.table-3.rdf-rif-64-64", "www.table-4.pcr.rif-64"),
            Figure(("www.table-3.rdf-rif-64-64.ftp", "www.table-4.pcr.rif-64.ftp"), _ftp("www"), 2, "Mbps"),
        ],
    ),
    LiveCase(
        "www, ABR, ICR PCR/10",
        "www",
        [
            *_pages("www.table-4.pcr-10.rif-64"),
            Figure(("www.table-4.pcr-10.rif-64.ftp",), _ftp("www"), 2, "Mbps"),
        ],
        {"defaults.abr.icr": ICRS["PCR/10"]},
    ),
    LiveCase("24 fps, alone", "video", [Figure(("video.rate",), _video_rate, 2, "Mbps")], {**_UBR, **_NO_FTP}, runs=1),
    LiveCase(
        "24 fps, UBR",
        "video",
        [
            Figure(("video.ubr-tcp",), _ftp("video"), 2, "Mbps"),
            Figure(("video.ubr-loss",), _frames_lost, 0, "% of the frames of 10 s"),
        ],
        _UBR,
    ),
    LiveCase(
        "24 fps, ABR",
        "video",
        [
            Figure(("video.abr-tcp",), _ftp("video"), 2, "Mbps"),
            Figure(("video.abr-delay",), _stood, 1, "s of standing still"),
        ],
    ),
    LiveCase(
        "9 fps, alone",
        "video",
        [Figure(("video.nine-rate",), _video_rate, 2, "Mbps alone")],
        {**_UBR, **_NO_FTP, **_NINE},
        runs=1,
    ),
    LiveCase(
        "9 fps, UBR",
        "video",
        [
            Figure(("video.nine-ubr-tcp",), _ftp("video"), 2, "Mbps"),
            Figure(("video.nine-ubr-loss",), _frames_lost, 1, "%"),
        ],
        {**_UBR, **_NINE},
    ),
    LiveCase("9 fps, ABR", "video", [Figure(("video.nine-abr-loss",), _frames_lost, 1, "%")], _NINE),
    LiveCase(
        "24 fps, MCR 7",
        "video",
        [
            Figure(("video.minimum-rate",), _video_rate, 2, "Mbps"),
        ],
        {"vc.video.abr": f'{{ mcr = "{line(7)}" }}'},
    ),
    LiveCase(
        "follows ACR",
        "video",
        [
            Figure(("follow.whole",), _stood, 2, "s of standing still"),
            Figure(
                ("follow.acr",),
                lambda run: float(application_result(run, "video")["frames_whole"]),
                0,
                "frames of 29 s",
            ),
        ],
        _FOLLOWS,
    ),
    LiveCase(
        "voice, alone",
        "voice",
        [Figure(("voice.row-alone",), _interval_deviation, 2, "ms of deviation of the intervals")],
        {**_UBR, **_NO_FTP},
        runs=1,
    ),
    LiveCase(
        "voice, UBR",
        "voice",
        [
            Figure(("voice.ubr-silence",), _voice("silent_periods"), 1, "silent periods in 25 s"),
            Figure(("voice.ubr-bursts",), _voice("recovered"), 1, "packets recovered in 25 s"),
        ],
        _UBR,
    ),
    LiveCase(
        "voice, ABR",
        "voice",
        [
            Figure(("voice.abr-whole",), _voice("silent_periods"), 1, "silent periods"),
            Figure(("voice.intervals",), _interval_deviation, 2, "ms"),
        ],
    ),
)
"""All of the live half, in the order of the paper's figures; about 50 min."""


def chosen(cases: Sequence[LiveCase], only: Sequence[str]) -> Sequence[LiveCase]:
    """Give the cases that have a figure for one of these experiments and claims, with those figures.

    Without any they are all.

    Raises
    ------
    CellrateError
        If there are some, and no case is for them.
    """
    found = []
    for case in cases:
        figures = [figure for figure in case.figures if any(is_chosen(claim, only) for claim in figure.claims)]
        if figures:
            found.append(replace(case, figures=figures))
    if not found:
        raise CellrateError(f"the live half has nothing for {', '.join(only)}")
    return found


def measure_live(
    scenarios: Path,
    *,
    keep: Path | None = None,
    runs: int = RUNS,
    cases: Sequence[LiveCase] = CASES,
    progress: Callable[[float], object] | None = None,
) -> LiveHalf:
    """Run the live half: figures of the claims, and the rates between the switches.

    Parameters
    ----------
    scenarios
        The paper's folder of scenarios.
    keep
        A folder for runs that are done: what was interrupted goes on there.
    runs
        Of each case at most.
    cases
        Which.
    progress
        Called with the share of runs done [0 to 1].

    Returns
    -------
    LiveHalf
        What was measured, by the id of the claim: the mean with its 95 % interval, and of how many runs.

    Raises
    ------
    LiveUnavailable, RunError
        As `cellrate.live.live_run`.
    """
    done: dict[str, str] = {}
    first: dict[str, Result] = {}
    store = None if keep is None else KeptRuns(keep)
    if store is not None and not store.open():
        store = None
    planned = [(case, min(runs, case.runs)) for case in cases]
    run_so_far, all_runs = 0, sum(of_case for _, of_case in planned)
    for case, of_case in planned:
        scenario = Scenario.load(scenarios / f"live-{case.application}.toml").set(case.set)
        results = []
        for run in range(of_case):
            result = _run_kept(scenario, case.application, run + 1, store)
            if result is not None:
                results.append(result)
            run_so_far += 1
            if progress is not None:
                progress(run_so_far / all_runs)
        for figure in case.figures:
            for claim in figure.claims:
                done[claim] = text(figure, results, of_case)
        if results:
            first[case.name] = results[0]
    return LiveHalf(done, _drawings(cases, first))


def _drawings(cases: Sequence[LiveCase], first: Mapping[str, Result]) -> dict[str, list[Drawing]]:
    """Give the figures of the paper as they were live, by experiment: of the first run of each case that has one."""
    drawn: dict[str, dict[str, Result]] = {}
    for case in cases:
        if case.name in FIGURES and case.name in first:
            drawn.setdefault(case.application, {})[FIGURES[case.name]] = first[case.name]
    found = {application: [_rates(application, runs)] for application, runs in drawn.items()}
    snapshots = {title: first[name] for name, title in SNAPSHOTS.items() if name in first}
    if next(iter(SNAPSHOTS)) in first:
        caption = (
            "Live, figure 5: ACR of the server every 100 ms, and with ICR = PCR for comparison (first run of each)"
        )
        found.setdefault("www", []).append(Drawing("live-www-acr", caption, partial(_snapshot, snapshots)))
    return found


def _rates(application: str, runs: Mapping[str, Result]) -> Drawing:
    caption = "Live: cell rate between the switches, means of 100 ms, data cells (first run of each case)"
    title = f"Live: {application}"
    end = min(run.series("received", vc="ftp1").end_s for run in runs.values())
    return Drawing(f"live-{application}", caption, partial(rate_panels, runs, title, (0.0, end)))


def _snapshot(runs: Mapping[str, Result]) -> Drawn:
    """Draw the ACR of the server's connection; pages begin at the dotted lines, when their requests came."""

    def draw(run: Result, axes: Axes) -> None:
        acr = run.series("acr", vc="www")
        axes.plot(acr.times_s, acr.values * TO_MBPS, color="#D55E00", drawstyle="steps-pre", label="ACR of WWW")
        for row in run.summary["tcp_exchanges"]:
            if row["vc"] == "www" and row["response_octets"] <= HTML_OCTETS + LONGEST_HEADER:
                axes.axvline(row["request_delivered_s"], color="#999999", linewidth=0.7, linestyle=":")
        axes.set_ylim(0, 10.5)
        axes.set_ylabel("[Mbps]")

    return panels(
        {title: partial(draw, run) for title, run in runs.items()},
        "Live: ACR of the server's connection",
        next(iter(runs.values())).stamp,
        time=SNAPSHOT_S,
        xlabel="time [s]",
    )


def _run_kept(scenario: Scenario, application: str, seed: int, keep: KeptRuns | None) -> Result | None:
    """Run once, or give what is kept of that run; None if it does not count."""
    from cellrate.live import live_run

    seeded = prepare(scenario, seed=seed)
    if keep is not None:
        kept = keep.find(seeded)
        if kept is not None or keep.is_discounted(seeded):
            return kept
    run = live_run(seeded)
    span_s = BUSY_S[application][1] - BUSY_S[application][0]
    usable = counts(run.result.summary["timing"], span_s) and not run.failed_applications
    result = run.result if usable else None
    if keep is not None:
        keep.put(seeded, result)
    return result


def late_share(timing: Mapping[str, Any], span_s: float) -> float:
    """Largest share of a span that one stall of the machine can have moved: its length over that of the span [0 to 1].

    Cells keep their ideal instants through a stall, and only their delivery to the programs is late, once.
    """
    return float(timing["longest_stall_s"]) / span_s


def counts(timing: Mapping[str, Any], span_s: float) -> bool:
    """Whether a run counts: it is in time by its own verdict, or late at a single instant that moved next to nothing.

    Nothing may have been passed over, wake-ups and stalls all together are within the verdict's limits, and the longest
    stall is at most `LATE_SHARE` of the span in which figures are taken.
    """
    if timing["passed"]:
        return True
    late = timing["lateness_p99_s"] or 0.0
    return (
        timing["slipped_s"] == 0
        and late <= max(4 * timing["quantum_s"], 2e-3)
        and timing["stalled_share"] <= 0.1
        and timing["cpu_share"] <= 0.9
        and timing["late_cells_share"] == timing["lost_datagrams_share"] == 0
        and late_share(timing, span_s) <= LATE_SHARE
    )


def lateness(results: Sequence[Result]) -> str:
    """Say by how much runs that count were late against their own verdict; nothing if all were in time."""
    late = [run.summary["timing"] for run in results if not run.summary["timing"]["passed"]]
    if not late:
        return ""
    longest = max(timing["longest_stall_s"] for timing in late)
    return f"; {len(late)} of them stood still once for up to {1e3 * longest:.0f} ms"


def text(figure: Figure, results: Sequence[Result], runs: int) -> str:
    """Write a figure of several runs."""
    if not results:
        return f"no run of {runs} in time"
    of = f"{len(results)} of {runs} runs in time" if len(results) < runs else "1 run" if runs == 1 else f"{runs} runs"
    values = [value for value in map(figure.read, results) if value is not None]
    if not values:
        return f"none came ({of})"
    of += lateness(results)
    if len(values) < len(results):
        of = f"in {len(values)} of {of}; none came in the others"
    return f"{shown(estimate(values), figure.digits, figure.unit)} ({of})"
