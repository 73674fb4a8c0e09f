"""The two searches of section 4.2, fewer frames and a larger MCR, and the room in the receiver that explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results, Tried
from cellrate.results import Result

from .common import TO_MBPS, judged, line, line_rate, listed, rate
from .drawing import panels
from .playout import frames_of, play
from .video import drain, mcr, point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRAME_RATES = tuple(range(24, 4, -1))
DELAY_RATES = (24, 18, 12, 9, 6)
"""At which the longest time of a frame is told."""
MCRS = tuple(range(10))
"""[Mbps]"""
SEARCH_SEEDS = (1, 2, 3)
PCR_MBPS = 10.0
DATA_MBPS = PCR_MBPS * 31 / 32
"""Rate that PCR leaves for data: one cell in 32 is an RM cell."""
PUBLISHED_RATE, PUBLISHED_MCR = 9, 7
SMALLER_ICRS: Mapping[str, str] = {"PCR/3": line(10 / 3), "PCR/10": line(1)}
"""ICRs of the transfers, tried with the published MCR."""


@dataclass(frozen=True)
class Needs:
    """Needs of a setting at the receiver, the most of all seeds."""

    frames: int
    """Most frames that waited in a buffer without limit."""
    octets: int
    lost: int
    """Frames lost in the network, all seeds together."""

    def whole(self, room: int) -> bool:
        """Whether no frame is lost: neither in the network nor by a receiver with room for so many frames."""
        return self.frames <= room and not self.lost


def needs(runs: Sequence[Result], frames_per_second: int) -> Needs:
    """Show the films of several runs without a limit."""
    seen = [play(frames_of(run), frames_per_second) for run in runs]
    return Needs(
        max(film.peak_frames for film in seen),
        max(film.peak_octets for film in seen),
        sum(len(film.lost_in_network) for film in seen),
    )


def by_rate(results: Results) -> dict[int, Needs]:
    """Give what each frame rate asks for."""
    return {fps: needs(_runs(results, f"{fps} fps"), fps) for fps in FRAME_RATES}


def by_mcr(results: Results) -> dict[int, Needs]:
    """Give what 24 fps ask for with each MCR."""
    return {m: needs(_runs(results, f"MCR {m}"), 24) for m in MCRS}


def _runs(results: Results, case: str) -> list[Result]:
    return [results[f"{case}, {seed}"] for seed in SEARCH_SEEDS if f"{case}, {seed}" in results]


def highest_rate(known: Mapping[int, Needs], room: int) -> int | None:
    """Give the first frame rate, from 24 down, with which a receiver with so much room sees every frame."""
    return next((fps for fps in sorted(known, reverse=True) if known[fps].whole(room)), None)


def smallest_mcr(known: Mapping[int, Needs], room: int) -> int | None:
    """Give the first MCR, from 0 up, with which such a receiver sees every frame at 24 fps [Mbps]."""
    return next((m for m in sorted(known) if known[m].whole(room)), None)


def room_for(known: Mapping[int, Needs], first: int, before: int) -> tuple[int, int]:
    """Give the least and the most room with which a search ends at `first`, having failed at `before` [frames]."""
    return known[first].frames, known[before].frames - 1


@dataclass(frozen=True)
class Congestion:
    """Quantities of the formula, measured on a run."""

    before: float
    """R: the rate of the video without background [Mbps]."""
    during: float
    """Its rate while the background is there [Mbps]."""
    lasted_s: float
    """T: from the first cell of the background to the last that arrives [s]."""
    drained_s: float
    """From then to the empty adapter [s]."""
    frames: int
    """Most frames that waited at the receiver."""

    @property
    def owed(self) -> float:
        """(R - rate in congestion) * T [Mbit]."""
        return (self.before - self.during) * self.lasted_s

    @property
    def printed(self) -> float:
        """The paper's expression, with what RM cells leave of PCR [s]."""
        return self.owed / (DATA_MBPS - self.before)

    @property
    def corrected(self) -> float:
        """Give the octets that have come too late, as frames of the film."""
        return self.owed / self.before * 24


def background(result: Result) -> tuple[float, float]:
    """Give the first and the last tenth of a second in which FTP arrives [s]; its windows come after its end."""
    busy = [
        series.times_s[series.values > 0]
        for vc in ("ftp1", "ftp2")
        for series in [rate(result.series("received", vc=vc))]
    ]
    return float(min(times[0] for times in busy)) - 0.1, float(max(times[-1] for times in busy))


def congestion(result: Result) -> Congestion:
    """Measure what the formula speaks of."""
    rows = result.summary["frame_list"]
    film = [row for row in rows if row["at_s"] < 70.0]
    before = sum(row["cells"] for row in film) / 70.0 * TO_MBPS
    begin, end = background(result)
    return Congestion(
        before=before,
        during=line_rate(result, "video", begin, end),
        lasted_s=end - begin,
        drained_s=drain(result)[0] - end,
        frames=play(frames_of(result), 24).peak_frames,
    )


def _findings(results: Results) -> Sequence[Finding]:
    rates, mcrs = by_rate(results), by_mcr(results)
    for_rate = room_for(rates, PUBLISHED_RATE, PUBLISHED_RATE + 1)
    for_mcr = room_for(mcrs, PUBLISHED_MCR, PUBLISHED_MCR - 1)
    both = for_rate[0] <= for_mcr[1] and for_mcr[0] <= for_rate[1]
    with_mcr = highest_rate(rates, for_mcr[0])
    with_rate = smallest_mcr(mcrs, for_rate[0])
    return [
        _search_rate(rates, for_rate, for_mcr),
        _search_mcr(mcrs, for_mcr),
        _whole_with_mcr(results),
        judged(
            "search.one-buffer",
            f"{for_rate[0]} to {for_rate[1]} frames for 9 fps, {for_mcr[0]} to {for_mcr[1]} for MCR 7",
            both,
            "" if both else _why_two(with_mcr, with_rate),
        ),
        *_smaller_icr(results),
        *_formula(results),
        _delay(results),
    ]


def _why_two(frames_per_second: int | None, mbps: int | None) -> str:
    needs = "no MCR up to 9 is enough for" if mbps is None else f"MCR {mbps} is the least for"
    return (
        f"A receiver that needs MCR 7 shows {frames_per_second} fps, and {needs} one that loses frames at 10 fps. Both "
        "searches were made with the same player: at low frame rates something else than its buffer lost frames."
    )


_INFERRED = (
    "No test: the receiver's room is not stated, and {room} frames were found by asking which room makes the search "
    "end at the published {end}. What the two rooms have to do with each other is the row search.one-buffer. "
)


def _search_rate(rates: Mapping[int, Needs], exact: tuple[int, int], of_mcr: tuple[int, int]) -> Finding:
    found = {room: highest_rate(rates, room) for room in sorted({exact[0], 24, 48, of_mcr[0], 96})}
    text = ", ".join(f"{fps} fps ({room} frames)" for room, fps in found.items())
    lost = sum(known.lost for known in rates.values())
    why = _INFERRED.format(room=exact[0], end="9 fps") + f"The network loses {lost} frames, whatever the frame rate."
    return Finding("search.rate", text, None, why)


def _search_mcr(mcrs: Mapping[int, Needs], exact: tuple[int, int]) -> Finding:
    found = {room: smallest_mcr(mcrs, room) for room in sorted({24, exact[0], 96, 144})}
    text = ", ".join(f"{'none' if m is None else f'{m} Mbps'} ({room} frames)" for room, m in found.items())
    lost = ", ".join(f"{known.lost} (MCR {m})" for m, known in mcrs.items() if known.lost)
    why = _INFERRED.format(room=exact[0], end="7 Mbps")
    if lost:
        why += f"With large MCRs the network loses frames as well: {lost}, three runs each."
    return Finding("search.mcr", text, None, why)


_WHY_LOST_WITH_MCR = (
    "The network loses them, in the first half second in which both transfers are there: they begin at ICR = PCR, the "
    "video does not give way below its MCR, and in the run where the two begin 8 ms apart the buffer is full. That "
    "ICR is PCR is stated for section 4.1 only."
)


def _whole_with_mcr(results: Results) -> Finding:
    runs = _runs(results, f"MCR {PUBLISHED_MCR}")
    lost = [len(play(frames_of(run), 24).lost_in_network) for run in runs]
    frames = sum(len(frames_of(run)) for run in runs)
    text = f"{sum(lost)} of {frames:,} frames, in {sum(map(bool, lost))} of {len(runs)} runs"
    smaller = [run for icr in SMALLER_ICRS for run in _runs(results, f"MCR {PUBLISHED_MCR}, ICR {icr}")]
    none = not any(play(frames_of(run), 24).lost_in_network for run in smaller)
    rows = {"search.mcr-icr": Tried(holds=none, seeds=len(smaller) // len(SMALLER_ICRS))} if smaller else {}
    why = "" if not any(lost) else _WHY_LOST_WITH_MCR
    return judged("search.mcr-whole", text, not any(lost), why, rows=rows, seeds=len(runs))


def _smaller_icr(results: Results) -> list[Finding]:
    parts = []
    for icr in SMALLER_ICRS:
        runs = _runs(results, f"MCR {PUBLISHED_MCR}, ICR {icr}")
        lost = sum(len(play(frames_of(run), 24).lost_in_network) for run in runs)
        parts.append(f"{lost} frames ({icr})")
        if not runs:
            return []
    return [Finding("search.mcr-icr", ", ".join(parts), None, "See the row search.mcr-whole.")]


def _delay(results: Results) -> Finding:
    longest = [
        max(run.summary["frames"][0]["max_time_s"] for run in _runs(results, f"{fps} fps")) for fps in DELAY_RATES
    ]
    text = f"{listed(longest, 2)} s at {listed(DELAY_RATES)} fps"
    return judged("search.delay", text, longest == sorted(longest, reverse=True))


def _formula(results: Results) -> list[Finding]:
    known = {m: congestion(_runs(results, f"MCR {m}")[0]) for m in MCRS if m <= PUBLISHED_MCR}
    time_text = ", ".join(f"{run.printed:.1f} and {run.drained_s:.1f} s (MCR {m})" for m, run in known.items())
    same_time = all(abs(run.printed / run.drained_s - 1) < 0.15 for run in known.values())
    size_text = ", ".join(f"{run.corrected:.0f} and {run.frames} frames (MCR {m})" for m, run in known.items())
    same_size = all(abs(run.frames - run.corrected) <= max(8.0, 0.1 * run.corrected) for run in known.values())
    apart = [100 * ((known[m].before - m) / (known[m].before - known[m].during) - 1) for m in (0, 4, 7)]
    return [
        judged("search.formula-time", time_text, same_time),
        judged("search.formula-size", size_text, same_size),
        judged(
            "search.formula-mcr",
            f"{listed(apart)} % more for MCR 0, 4 and 7",
            abs(apart[-1]) < 25,
            "With MCR 7 Mbps it does; without MCR the video has a third of the line, and 0 for it overstates what "
            "is owed.",
        ),
    ]


def _figure(results: Results) -> Figure:
    rates, mcrs = by_rate(results), by_mcr(results)
    known = {m: congestion(_runs(results, f"MCR {m}")[0]) for m in MCRS}

    def draw_rates(axes: Axes) -> None:
        axes.plot(list(rates), [value.frames for value in rates.values()], "o-", color="#0072B2", ms=3, label="needed")
        axes.axvline(
            PUBLISHED_RATE, color="#D55E00", linestyle="--", linewidth=1, label="the paper's search ended here"
        )
        axes.set_ylabel("frames")
        axes.set_xlabel("frames per second")
        axes.set_xticks(range(6, 25, 3))

    def draw_mcrs(axes: Axes) -> None:
        axes.plot(list(mcrs), [value.frames for value in mcrs.values()], "o-", color="#0072B2", ms=3, label="needed")
        axes.plot(list(known), [run.corrected for run in known.values()], ":", color="#555555", label="(R - r) T")
        axes.axvline(PUBLISHED_MCR, color="#D55E00", linestyle="--", linewidth=1, label="the paper's search ended here")
        axes.set_ylabel("frames")

    return panels(
        {"Frame rate, MCR 0": draw_rates, "MCR [Mbps], 24 fps": draw_mcrs},
        "Room that the receiver needs to lose nothing",
        _runs(results, "MCR 0")[0].stamp,
        xlabel="",
        height=2.6,
        columns=2,
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    return [
        Drawing(
            "search",
            "Most frames that wait at a receiver without limit, by frame rate and by MCR; the most of three seeds",
            partial(_figure, results),
        )
    ]


def _points() -> dict[str, Point]:
    cases: dict[str, Mapping[str, object]] = {
        **{f"{fps} fps": {"vc.video.traffic.frames_per_second": fps} for fps in FRAME_RATES},
        **{f"MCR {m}": mcr(m) for m in MCRS},
    }
    points = {f"{case}, {seed}": point(settings, seed) for case, settings in cases.items() for seed in SEARCH_SEEDS}
    for name, icr in SMALLER_ICRS.items():
        settings = {**mcr(PUBLISHED_MCR), "vc.ftp{i}.abr": f'{{ icr = "{icr}" }}'}
        for seed in SEARCH_SEEDS:
            known = point(settings, seed)
            points[f"MCR {PUBLISHED_MCR}, ICR {name}, {seed}"] = Point(known.scenario, known.set, extra=True)
    return points


EXPERIMENT = Experiment(
    name="search",
    title="Video: fewer frames, a larger MCR, and the receiver's buffer",
    points=_points(),
    findings=_findings,
    drawings=_drawings,
)
"""Twenty frame rates, ten MCRs, one of them with two smaller ICRs; three seeds each."""
