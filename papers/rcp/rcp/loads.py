"""Loads from 0.5 to 0.9 on a line of a tenth of the source's: RCP, ERICA, ERICA+ and TCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import ALGORITHMS, GAP, QUICK, SHORT, Seen, gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = (0.5, 0.7, 0.9)
IDS: Mapping[str, str] = {
    "RCP": "rcp",
    "RCP, beta 0": "beta-0",
    "RCP, alpha 0.1, beta 1": "gains-of-figure-12",
    "ERICA": "erica",
    "ERICA+": "erica-plus",
    "TCP Reno": "tcp",
}
"""Names, and what ids of their rows end with before the load in per cent."""


def _key(name: str, load: float) -> str:
    return f"{name}, load {load:g}"


def _point(name: str, load: float) -> Point:
    tcp = name == "TCP Reno"
    settings = {**SHORT, GAP: gap(load, tcp=tcp), **({} if tcp else ALGORITHMS[name])}
    return Point("tcp" if tcp else "flows", settings, load not in (0.5, 0.9) or name == "RCP, beta 0", QUICK)


def _findings(results: Results) -> Sequence[Finding]:
    return [
        Finding(f"loads.{ident}-{100 * load:.0f}", Seen.of(results[_key(name, load)]).said(), None, _COMPUTED)
        for name, ident in IDS.items()
        for load in LOADS
        if _key(name, load) in results
    ]


_COMPUTED = "Mean times over processor sharing's; computed."


def _figure(results: Results) -> Figure:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cellrate.drawing.style import COLOURS, STYLE

    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 3.6))
        drawn.subplots_adjust(left=0.07, right=0.98, top=0.72, bottom=0.16, wspace=0.28)
        grid: Any = drawn.subplots(1, 3, squeeze=False)
        of = ((10, "10 packets"), (100, "100 packets"), (1000, "1,000 packets"))
        for axes, (size, label) in zip(grid.flat, of, strict=True):
            axes.axhline(1, color="#000000", lw=0.8)
            for number, name in enumerate(IDS):
                runs = [Seen.of(results[_key(name, load)]) for load in LOADS if _key(name, load) in results]
                axes.plot(
                    [run.load for run in runs],
                    [run.by_size()[size] for run in runs],
                    marker="o",
                    ms=3,
                    color=COLOURS[number % len(COLOURS)],
                    label=name,
                )
            axes.set_title(label, fontsize=9)
            axes.set_xlabel("measured load")
            axes.set_ylim(0, None)
        grid[0, 0].set_ylabel("time over processor sharing's")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="upper right", ncols=3, bbox_to_anchor=(0.995, 0.91))
        drawn.text(0.012, 0.98, "Completion times over those of processor sharing", fontsize=10, va="top")
        stamp = next(iter(results.values())).stamp + " and its neighbours"
        drawn.text(0.99, 0.01, stamp, fontsize=6.5, color="#777777", ha="right")
    return drawn


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = (
        "Loads 0.5 to 0.9, Pareto flows of shape 2.2, a tenth of the source's line: mean time over processor sharing's"
    )
    return [Drawing("loads", caption, partial(_figure, results))]


EXPERIMENT = Experiment(
    name="loads",
    title="Loads from 0.5 to 0.9",
    points={_key(name, load): _point(name, load) for name in IDS for load in LOADS},
    findings=_findings,
    drawings=_drawings,
)
"""Six ways to share a line, at three loads."""
