"""Curves over the background load: their runs, and the plots of figures 2 to 5."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellrate.papers.experiment import Point, Results
from cellrate.papers.statistics import Estimate

from .measures import Sample, fair_share, measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOADS = (10, 25, 40, 55, 70, 85, 100)
"""Background loads of figures 2 to 4 [Mbps]."""
WIDE_LOADS = (10, 25, 40, 50, 60, 70, 85, 100)
"""Background loads of figure 5 [Mbps]."""
BURST_MS, PAUSE_MS = 8.48, 76.32
"""Mean on and off periods of a VBR source of figure 5: 3000 and 27,000 slots [ms]."""
REPLICATIONS = 8
QUICK_REPLICATIONS = 3
"""So many of them in a quick run."""


def begins(seed: int, sources: int = 10) -> list[str]:
    """Draw when each VBR source of figure 5 has its first on period, as if it had run for long.

    It is on with the share of time that it is on; else what is left of its off period is exponential, as the whole is.
    """
    drawn = random.Random(seed)
    on = BURST_MS / (BURST_MS + PAUSE_MS)
    return ["0 ms" if drawn.random() < on else f"{drawn.expovariate(1 / PAUSE_MS):.4f} ms" for _ in range(sources)]


@dataclass(frozen=True)
class Curve:
    """A setting whose figures are taken over the load."""

    name: str
    """Also the title of its plot."""
    scenario: str
    settings: Mapping[str, object]
    loads: Sequence[int] = LOADS
    connections: int = 3
    labels: tuple[str, ...] = ()
    """Labels of the connections, where they differ."""

    def background(self, load: float, seed: int) -> dict[str, object]:
        """Set the background load [Mbps]: the rate of a source while it is on; and when each of several begins."""
        if self.scenario == "wide":
            starts = "[" + ", ".join(f'"{instant}"' for instant in begins(seed)) + "]"
            return {"vc.vbr{i}.traffic.rate": f"{load:g} Mbps", "vc.vbr{i}.traffic.start": starts}
        return {"vc.vbr.traffic.rate": f"{1.5 * load:g} Mbps"}

    def key(self, load: float, replication: int) -> str:
        """Name a run."""
        return f"{self.name}, {load:g} Mbps, {replication}"

    def points(self, replications: int = REPLICATIONS, quick: int = QUICK_REPLICATIONS) -> dict[str, Point]:
        """Give the runs; those beyond the first `quick` replications are left out of a quick run."""
        return {
            self.key(load, seed): Point(
                self.scenario,
                {**self.background(load, seed), "seed": seed, **self.settings},
                extra=seed > quick,
            )
            for load in self.loads
            for seed in range(1, replications + 1)
        }

    def samples(self, results: Results) -> dict[int, Sample]:
        """Measure the runs that were made, by load."""
        samples = {}
        for load in self.loads:
            keys = (self.key(load, seed) for seed in range(1, REPLICATIONS + 1))
            samples[load] = Sample(tuple(measure(results[key]) for key in keys if key in results))
        return samples


def bars(axes: Axes, loads: Sequence[float], values: Sequence[Estimate], **style: Any) -> None:
    """Draw means with their intervals."""
    half_widths = [0.0 if value.half_width != value.half_width else value.half_width for value in values]
    axes.errorbar(loads, [value.mean for value in values], yerr=half_widths, elinewidth=0.8, capsize=1.5, **style)


def figure(curves: Sequence[Curve], results: Results, title: str) -> Figure:
    """Draw a plot per curve: goodput of each connection and fair share (left), efficiency and link waste (right)."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cellrate.drawing.style import COLOURS, STYLE

    rows = (len(curves) + 1) // 2
    height = 1.15 + 2.9 * rows
    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(8.4, height))
        drawn.subplots_adjust(left=0.07, right=0.93, top=1 - 0.85 / height, bottom=0.62 / height)
        drawn.subplots_adjust(hspace=0.35, wspace=0.38)
        grid: Any = drawn.subplots(rows, 2, squeeze=False)
        for axes in grid.flat[len(curves) :]:
            axes.set_visible(False)
        for axes, curve in zip(grid.flat[: len(curves)], curves, strict=True):
            samples = curve.samples(results)
            loads = list(samples)
            right = axes.twinx()
            highest = max(shares := [fair_share(load, curve.connections) for load in loads])
            for connection in range(curve.connections):
                colour = COLOURS[connection % len(COLOURS)]
                label = curve.labels[connection] if curve.labels else f"goodput {connection + 1}"
                if curve.connections > 3:
                    label = "goodput of each" if connection == 0 else "_"
                goodputs = [sample.goodput(connection) for sample in samples.values()]
                highest = max(highest, *(goodput.mean for goodput in goodputs))
                bars(axes, loads, goodputs, color=colour, label=label)
            axes.plot(loads, shares, color="#000000", linestyle="-.", label="fair share")
            efficiency = [sample.efficiency for sample in samples.values()]
            bars(right, loads, efficiency, color="#555555", linestyle="--", label="efficiency")
            waste = [sample.waste for sample in samples.values()]
            bars(right, loads, waste, color="#8C8C00", linestyle=":", label="link waste")
            axes.set_title(curve.name, fontsize=9)
            axes.set_ylim(0, highest * 1.12)
            axes.set_xlim(0, max(loads) * 1.04)
            axes.set_ylabel("goodput [Mbps]")
            right.set_ylim(0, 1.12)
            right.grid(visible=False)
            right.spines["right"].set_visible(True)
            right.set_ylabel("efficiency, link waste")
            axes.set_xlabel("background load [Mbps]")
        handles, labels = zip(*_legend(grid[0, 0], drawn), strict=True)
        drawn.legend(handles, labels, loc="upper right", ncols=len(labels), bbox_to_anchor=(0.995, 1 - 0.25 / height))
        drawn.text(0.012, 1 - 0.1 / height, title, fontsize=10, va="top")
        drawn.text(0.99, 0.005, stamp(results), fontsize=6.5, color="#777777", ha="right")
    return drawn


def _legend(first: Axes, drawn: Figure) -> list[tuple[Any, str]]:
    """Give handles and labels of the first plot and of its right axis."""
    pairs: list[tuple[Any, str]] = []
    twins = [axes for axes in drawn.axes if axes.get_position().bounds == first.get_position().bounds]
    for axes in twins:
        pairs += zip(*axes.get_legend_handles_labels(), strict=True)
    return pairs


def stamp(results: Results) -> str:
    """Name one run, and how many there are."""
    first = next(iter(results.values()))
    return f"{first.stamp} and {len(results) - 1} more runs; bars are 95 % intervals"


def totals(
    names: Mapping[str, Curve],
    results: Results,
    title: str,
    of: Sequence[tuple[str, Callable[[Sample], Estimate], float]],
) -> Figure:
    """Draw figures of several curves over each other: an axis label, what is drawn, and the upper end, per plot."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cellrate.drawing.style import COLOURS, STYLE

    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 3.4))
        drawn.subplots_adjust(left=0.07, right=0.98, top=0.78, bottom=0.17, wspace=0.3)
        grid: Any = drawn.subplots(1, len(of), squeeze=False)
        for axes, (label, value, top) in zip(grid.flat, of, strict=True):
            for number, (name, curve) in enumerate(names.items()):
                samples = curve.samples(results)
                bars(axes, list(samples), [value(s) for s in samples.values()], color=COLOURS[number], label=name)
            axes.set_ylim(0, top)
            axes.set_ylabel(label)
            axes.set_xlabel("background load [Mbps]")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="upper right", ncols=len(labels), bbox_to_anchor=(0.995, 0.93))
        drawn.text(0.012, 0.97, title, fontsize=10, va="top")
        drawn.text(0.99, 0.01, stamp(results), fontsize=6.5, color="#777777", ha="right")
    return drawn
