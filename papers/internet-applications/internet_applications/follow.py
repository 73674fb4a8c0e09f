"""Video that follows ACR, as the paper proposes and did not build, while the background comes and goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import QUICK_SEEDS, SEEDS, TO_MBPS, judged, of_case, over, shown
from .drawing import panels, rates
from .playout import GATHERED, Shown, frames_of, play

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMES_AND_GOES: Mapping[str, object] = {
    "vc.ftp{i}.traffic.start": '["10 s", "20 s"]',
    "vc.ftp{i}.traffic.end": '["30 s", "45 s"]',
}
"""One transfer, two, one, none."""
PHASES = {
    "none": (2.0, 10.0),
    "one": (13.0, 20.0),
    "two": (23.0, 30.0),
    "one again": (33.0, 45.0),
    "none again": (48.0, 68.0),
}
"""Rates that are there, with a time after each change for ACR to follow [s]."""
_FOLLOW = "vc.video.traffic.follow_acr"
CASES: Mapping[str, Mapping[str, object]] = {
    "24 fps": {},
    "9 fps": {"vc.video.traffic.frames_per_second": 9},
    "follows ACR": {_FOLLOW: "{ share = 0.9 }"},
    "follows 31/32 of ACR": {_FOLLOW: '{ share = "31/32" }'},
    "follows 80 % of ACR": {_FOLLOW: "{ share = 0.8 }"},
    "follows ACR, RIF 1/256": {_FOLLOW: "{ share = 0.9 }", "defaults.abr.rif": "1/256"},
}
FILM = {"9 fps": 9}
"""Frames per second where they are not 24."""


def film(result: Result, case: str) -> Shown:
    """Show the film."""
    return play(frames_of(result), FILM.get(case, 24))


def sent_rate(result: Result, phase: str) -> float:
    """Give the frames per second that were sent in a phase."""
    begin, end = PHASES[phase]
    sent = [row for row in result.summary["frame_list"] if begin <= row["at_s"] < end]
    return len(sent) / (end - begin)


def granted(result: Result, phase: str) -> float:
    """Give the frames per second that 0.9 of ACR carry in a phase, at most 24."""
    begin, end = PHASES[phase]
    acr = result.series("acr", vc="video")
    inside = acr.values[(acr.times_s > begin) & (acr.times_s <= end)]
    rows = result.summary["frame_list"]
    cells = sum(row["cells"] for row in rows) / len(rows)
    return float(np.minimum(0.9 * inside / cells, 24.0).mean())


def _findings(results: Results) -> Sequence[Finding]:
    found = []
    whole = {case: [film(run, case) for run in of_case(results, case)] for case in CASES}
    following = of_case(results, "follows ACR")
    lost = sum(seen.lost for seen in whole["follows ACR"])
    stood = max(seen.suspended_s for seen in whole["follows ACR"])
    peak = max(seen.peak_frames for seen in whole["follows ACR"])
    limit = 2 * GATHERED
    found.append(
        judged(
            "follow.whole",
            f"{lost} frames lost, {stood:.2f} s of standing still at most, a buffer of {peak} frames",
            lost == 0 and stood < 0.5 and peak <= limit,
        )
    )
    pairs = {
        phase: (over(following, partial(sent_rate, phase=phase)), over(following, partial(granted, phase=phase)))
        for phase in PHASES
    }
    text = ", ".join(f"{sent.mean:.1f} of {due.mean:.1f} ({phase})" for phase, (sent, due) in pairs.items())
    found.append(
        judged(
            "follow.proportional",
            f"{text} fps",
            all(abs(sent.mean / due.mean - 1) < 0.1 for sent, due in pairs.values()),
        )
    )
    shown_frames = over(
        following, lambda run: float(sum(row["arrived_s"] is not None for row in run.summary["frame_list"]))
    )
    fixed = over(
        of_case(results, "9 fps"),
        lambda run: float(sum(row["arrived_s"] is not None for row in run.summary["frame_list"])),
    )
    found.append(
        judged(
            "follow.more",
            f"{shown(shown_frames, 0)} frames against {shown(fixed, 0)} at 9 fps",
            shown_frames.mean > 1.2 * fixed.mean,
        )
    )
    for case, id in _ROWS.items():
        runs = of_case(results, case)
        if runs:
            found.append(Finding(f"follow.{id}", _row(runs, whole[case]), None, "Beyond the paper."))
    return found


_ROWS = {
    "24 fps": "fixed-24",
    "9 fps": "fixed-9",
    "follows ACR": "acr",
    "follows 31/32 of ACR": "acr-31-32",
    "follows 80 % of ACR": "acr-80",
    "follows ACR, RIF 1/256": "acr-rif-256",
}


def _row(runs: Sequence[Result], seen: Sequence[Shown]) -> str:
    arrived = sum(row["arrived_s"] is not None for run in runs for row in run.summary["frame_list"]) / len(runs)
    late = max(run.summary["frames"][0]["max_time_s"] for run in runs)
    return (
        f"{arrived:,.0f} frames shown, {sum(film.lost for film in seen)} lost, "
        f"{max(film.suspended_s for film in seen):.2f} s of standing still, buffer of "
        f"{max(film.peak_frames for film in seen)} frames, frames up to {late:.2f} s on their way"
    )


def _figure(results: Results) -> Figure:
    run, fixed = of_case(results, "follows ACR")[0], of_case(results, "24 fps")[0]

    def draw_rates(axes: Axes) -> None:
        acr = run.series("acr", vc="video")
        axes.plot(acr.times_s, acr.values * TO_MBPS, color="#000000", linewidth=0.8, label="ACR of the video")
        for vc, series in rates(run).items():
            colour = {"ftp1": "#56B4E9", "ftp2": "#009E73"}.get(vc, "#D55E00")
            label = {"ftp1": "FTP, A to A'", "ftp2": "FTP, B to B'"}.get(vc, "video")
            axes.plot(series.times_s, series.values * TO_MBPS, color=colour, drawstyle="steps-pre", label=label)
        axes.set_ylabel("[Mbps]")
        axes.set_ylim(0, 10.5)

    def draw_frames(axes: Axes) -> None:
        at = np.array([row["at_s"] for row in run.summary["frame_list"]])
        counts, edges = np.histogram(at, bins=np.arange(0, 71, 1.0))
        axes.stairs(counts, edges, color="#D55E00", label="video")
        axes.set_ylabel("frames per second")
        axes.set_ylim(0, 26)

    def draw_times(axes: Axes) -> None:
        for result, colour, label in ((fixed, "#0072B2", "fixed rate"), (run, "#D55E00", "video")):
            rows = [row for row in result.summary["frame_list"] if row["arrived_s"] is not None]
            axes.semilogy(
                [row["at_s"] for row in rows],
                [row["arrived_s"] - row["at_s"] for row in rows],
                color=colour,
                label=label if result is fixed else "video",
            )
        axes.set_ylabel("time of a frame [s]")

    return panels(
        {"Rates between the switches": draw_rates, "Frames sent": draw_frames, "From sender to receiver": draw_times},
        "Video that follows its ACR; FTP from 10 to 30 s and from 20 to 45 s",
        run.stamp,
        time=(0, 70),
        xlabel="time [s]",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    return [
        Drawing(
            "follow",
            "A sender that reads its ACR and leaves frames out: rates, frames sent each second, and how long each "
            "is on its way, with a sender at 24 fps for comparison (seed 1)",
            partial(_figure, results),
        )
    ]


EXPERIMENT = Experiment(
    name="follow",
    title="Video: frames at a rate that follows ACR",
    points={
        f"{case}, {seed}": Point(
            "video",
            {**settings, **COMES_AND_GOES, "seed": seed},
            extra=seed > QUICK_SEEDS or case not in list(CASES)[:3],
        )
        for case, settings in CASES.items()
        for seed in SEEDS
    },
    findings=_findings,
    drawings=_drawings,
)
"""Six senders, five seeds each."""
