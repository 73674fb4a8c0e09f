"""Figures 13 and 14: IP telephony beside FTP; packet intervals, and what is silent in spite of redundancy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import ALONE, QUICK_SEEDS, SEEDS, judged, line_rate, listed, of_case, over, shown, starts, ubr
from .drawing import panels, rate_panels
from .sensitivity import CLOCKS, PER_VC_QUEUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPACING_S = 0.02
BUSY_S = (7.0, 55.0)
"""Both transfers are there."""
ACR_PROBE = 3


def _abr(rif: str, rdf: str) -> dict[str, object]:
    return {"defaults.abr.rif": rif, "defaults.abr.rdf": rdf}


CASES: Mapping[str, Mapping[str, object]] = {
    "alone": {**ubr(ACR_PROBE), **ALONE},
    "UBR": ubr(ACR_PROBE),
    "UBR, clocks-exact": {**ubr(ACR_PROBE), **CLOCKS},
    "UBR, per-vc-queues": {**ubr(ACR_PROBE), **PER_VC_QUEUES},
    "ABR": {},
    "ABR, per-vc-queues": PER_VC_QUEUES,
    "ABR, RIF 1/16, RDF 1/256": _abr("1/16", "1/256"),
    "ABR, RIF 1/256, RDF 1/16": _abr("1/256", "1/16"),
}


@dataclass(frozen=True)
class Heard:
    """A call as it was heard."""

    packets: int
    lost: int
    recovered: int
    """Lost ones that the next one carries."""
    silences: tuple[int, ...]
    """Lengths of the silent periods [packets]."""
    intervals: tuple[float, ...]
    """Between packets with numbers that follow each other, as they arrive [s]."""
    times: tuple[float, ...]
    """From the sender to the receiver [s]."""

    @property
    def silent_s(self) -> float:
        """All silent periods together [s]."""
        return sum(self.silences) * SPACING_S


def listen(rows: Sequence[Mapping[str, object]]) -> Heard:
    """Listen to a call: a packet carries the one before it once more, with less quality.

    Parameters
    ----------
    rows
        Its packets in order, each with `number`, `at_s`, `arrived_s` (null if it did not come) and `lost`.
    """
    there = {row["number"]: row for row in rows if row["arrived_s"] is not None}
    known = [row for row in rows if row["arrived_s"] is not None or row["lost"]]
    lost = [row["number"] for row in known if row["arrived_s"] is None]
    silent = [number for number in lost if int(str(number)) + 1 not in there]
    silences: list[int] = []
    last = None
    for number in (int(str(number)) for number in silent):
        if last is not None and number == last + 1:
            silences[-1] += 1
        else:
            silences.append(1)
        last = number
    pairs = [(there[n], there[int(str(n)) + 1]) for n in there if int(str(n)) + 1 in there]
    return Heard(
        packets=len(known),
        lost=len(lost),
        recovered=len(lost) - len(silent),
        silences=tuple(silences),
        intervals=tuple(_s(b["arrived_s"]) - _s(a["arrived_s"]) for a, b in pairs),
        times=tuple(_s(row["arrived_s"]) - _s(row["at_s"]) for row in there.values()),
    )


def _s(value: object) -> float:
    return float(str(value))


def busy(result: Result) -> Heard:
    """Listen to the part of the call that has both transfers beside it."""
    return listen([row for row in result.summary["frame_list"] if BUSY_S[0] <= row["at_s"] < BUSY_S[1]])


def deviation_ms(heard: Heard) -> float:
    """Give the standard deviation of the packet intervals [ms]."""
    return float(np.std(heard.intervals)) * 1e3


_WHY_RECOVERED = (
    "The buffer is full for less than two packets' time in half of the cases: single packets are lost as often as "
    "several in a row. Which packets Freephone lost the paper does not say."
)
_WHY_LOCKED_OUT = (
    "FTP from lines as fast as the one between the switches holds the buffer full to the cell: a call loses every "
    "packet or none. That is the clocks' being exactly alike here, and says nothing about losses in the testbed: see "
    "the row voice.row-ubr-clocks-exact."
)


def _findings(results: Results) -> Sequence[Finding]:
    alone, over_ubr, over_abr = (of_case(results, case) for case in ("alone", "UBR", "ABR"))
    length = BUSY_S[1] - BUSY_S[0]
    silent = [100 * busy(run).silent_s / length for run in over_ubr]
    periods = [len(busy(run).silences) for run in over_ubr]
    lost = sum(busy(run).lost for run in over_ubr)
    locked_out = any(busy(run).lost > 0.9 * busy(run).packets for run in over_ubr)
    recovered = sum(busy(run).recovered for run in over_ubr)
    whole = sum(len(busy(run).silences) for run in over_abr)
    still = over(alone, lambda run: deviation_ms(busy(run)))
    moving = over(over_abr, lambda run: deviation_ms(busy(run)))
    own = over(over_abr, lambda run: line_rate(run, "voice", *BUSY_S))
    asked = over(alone, lambda run: line_rate(run, "voice", *BUSY_S))
    ftp = [over(over_abr, partial(line_rate, vc=vc, begin_s=BUSY_S[0], end_s=BUSY_S[1])) for vc in ("ftp1", "ftp2")]
    found = [
        judged(
            "voice.fair",
            f"voice {1000 * own.mean:.0f} of the {1000 * asked.mean:.0f} kb/s that it asks for, FTP "
            f"{ftp[0].mean:.2f} and {ftp[1].mean:.2f} Mbps",
            abs(own.mean / asked.mean - 1) < 0.01 and abs(ftp[0].mean / ftp[1].mean - 1) < 0.05,
        ),
        judged(
            "voice.ubr-silence",
            f"{listed(periods)} silent periods in {length:.0f} s, together {listed(silent, 1)} % of it, in "
            f"{len(periods)} calls",
            all(number >= 1 for number in periods),
            _WHY_LOCKED_OUT if locked_out else "",
        ),
        judged(
            "voice.ubr-bursts",
            f"{recovered} of {lost} lost packets recovered",
            recovered < 0.5 * lost,
            _WHY_LOCKED_OUT if locked_out else "" if recovered < 0.5 * lost else _WHY_RECOVERED,
        ),
        judged("voice.abr-whole", f"{whole} silent periods in {len(over_abr)} calls", whole == 0),
        judged(
            "voice.intervals",
            f"{shown(still, 2)} ms of standard deviation alone, {shown(moving, 2)} ms over ABR",
            still.mean < 1 <= moving.mean < 10,
        ),
    ]
    for case, id in (
        ("alone", "alone"),
        ("UBR", "ubr"),
        ("UBR, clocks-exact", "ubr-clocks-exact"),
        ("UBR, per-vc-queues", "ubr-per-vc-queues"),
        ("ABR", "abr"),
        ("ABR, per-vc-queues", "abr-per-vc-queues"),
        ("ABR, RIF 1/16, RDF 1/256", "abr-aggressive"),
        ("ABR, RIF 1/256, RDF 1/16", "abr-conservative"),
    ):
        runs = of_case(results, case)
        if runs:
            found.append(Finding(f"voice.row-{id}", _row(runs), None, "Nothing is printed to compare with."))
    return found


def _row(runs: Sequence[Result]) -> str:
    calls = [busy(run) for run in runs]
    times = np.concatenate([call.times for call in calls]) * 1e3
    intervals = np.concatenate([call.intervals for call in calls]) * 1e3
    queue = over(runs, lambda run: run.port("sw1->sw2")["max_queue"])
    return (
        f"times {times.mean():.1f} ms (99 %: {np.quantile(times, 0.99):.1f}), intervals "
        f"{np.quantile(intervals, 0.01):.1f} to {np.quantile(intervals, 0.99):.1f} ms (98 %), "
        f"{sum(call.lost for call in calls)} packets lost, {sum(len(call.silences) for call in calls)} silent "
        f"periods of {sum(call.silent_s for call in calls):.2f} s, largest queue {queue.mean:,.0f} cells"
    )


def _rates(results: Results) -> Figure:
    cases = {
        "Figure 13: ABR, RIF = RDF = 1/64": of_case(results, "ABR")[0],
        "Figure 14: UBR, no background": of_case(results, "alone")[0],
    }
    return rate_panels(cases, "IP telephony; FTP from 5 to 55 s", (0, 60))


def _intervals(results: Results) -> Figure:
    def draw(case: str, axes: Axes) -> None:
        rows = [row for row in of_case(results, case)[0].summary["frame_list"] if row["arrived_s"] is not None]
        at = np.array([row["arrived_s"] for row in rows])
        axes.plot(at[1:], np.diff(at) * 1e3, ".", markersize=1.5, color="#0072B2")
        axes.set_ylabel("[ms]")
        axes.set_ylim(0, 60)

    names = {"alone": "UBR, no background", "UBR": "UBR", "ABR": "ABR, RIF = RDF = 1/64"}
    return panels(
        {name: partial(draw, case) for case, name in names.items()},
        "Intervals between packets at the receiver",
        of_case(results, "ABR")[0].stamp,
        time=(0, 60),
        xlabel="time [s]",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    return [
        Drawing(
            "voice-rates",
            "Figures 13 and 14. Cell rate between the switches, means of 100 ms (seed 1)",
            partial(_rates, results),
        ),
        Drawing(
            "voice-intervals",
            "Intervals between packets as they arrive; more than 20 ms beside a gap (seed 1)",
            partial(_intervals, results),
        ),
    ]


def _point(case: str, seed: int) -> Point:
    settings = CASES[case]
    background = {"seed": seed} if "vc.ftp{i}.traffic" in settings else starts(seed, 5.0)
    return Point("voice", {**settings, **background}, extra=seed > QUICK_SEEDS or "," in case)


EXPERIMENT = Experiment(
    name="voice",
    title="IP telephony: figures 13 and 14",
    points={f"{case}, {seed}": _point(case, seed) for case in CASES for seed in SEEDS},
    findings=_findings,
    drawings=_drawings,
)
