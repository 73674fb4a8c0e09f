"""Plots of a run: stacked panels over one time axis, stamped with what reproduces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from .figures import Drawn, save
from .panels import CELL_BITS as CELL_BITS
from .panels import fair_levels, grouped, thin
from .results import Result, Series
from .style import COLOURS, DASHES, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    series: Series
    label: str


@dataclass(frozen=True)
class Panel:
    """One panel: what its vertical axis says, and the lines on it."""

    axis: str
    """With the unit."""
    lines: Sequence[Line]
    scale: float = 1.0
    """Factor from the unit of the series to the unit of the axis."""
    top: float | None = None
    """Upper end of the axis; by the data when None."""
    second_axis: str | None = None
    """What the axis at the right says: the same values in thousands of the unit of the series."""
    levels: Mapping[str, float] = field(default_factory=dict)
    """Max-min fair shares behind the lines, by the label of the line, in the unit of the series."""


def draw_result(result: Result, base: Path) -> None:
    """Draw what the run recorded into `base`.png and `base`.svg."""
    panels = panels_of(result)
    if panels:
        save(figure(panels, result.summary["run"]["scenario"], result.stamp), base)


def panels_of(result: Result, only: Sequence[str] | None = None) -> list[Panel]:
    """Give a panel per kind of quantity that the run recorded: rates, queues, utilization, cells, and the rest.

    Parameters
    ----------
    result
        The run.
    only
        The probes to draw; all of them when None.
    """
    names = [(probe, entity) for probe, entity in result.series_names if only is None or probe in only]
    series = [s for probe in dict.fromkeys(probe for probe, _ in names) for s in result.all_series(probe) if len(s)]
    panels = []
    for kind, places in grouped([(s.probe, s.unit) for s in series]):
        drawn = [series[place] for place in places]
        several = len({s.probe for s in drawn}) > 1
        lines = [Line(s, f"{s.entity} {s.probe}" if several else s.entity) for s in drawn]
        levels = fair_levels(result.toml) if kind.probes == ("acr",) else {}
        panels.append(Panel(kind.axis, lines, kind.scale, kind.top, kind.second_axis, levels))
    return panels


def figure(
    panels: Sequence[Panel],
    title: str,
    stamp: str,
    *,
    width: float = 7.2,
    panel_height: float = 1.5,
    time: tuple[float, float] | None = None,
) -> Figure:
    """Draw panels above each other.

    Parameters
    ----------
    panels
        From top to bottom.
    title, stamp
        Above and, small, below.
    width, panel_height
        In inches.
    time
        The part of the time axis to show [s]; all of it when None.
    """
    # Margins in inches, by hand: an automatic layout would draw everything twice to measure it.
    left, gap, top, bottom = 0.85, 0.4, 0.6, 0.7
    right = 0.75 if any(panel.second_axis for panel in panels) else 0.2
    if any(_many(panel) for panel in panels):
        right += 1.2
    height = top + bottom + len(panels) * panel_height + (len(panels) - 1) * gap
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(width, height))
        drawn.subplots_adjust(
            left=left / width,
            right=1 - right / width,
            top=1 - top / height,
            bottom=bottom / height,
            hspace=gap / panel_height,
        )
        rows: Any = drawn.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, panel in zip(rows[:, 0], panels, strict=True):
            _draw_panel(axes, panel)
        rows[-1, 0].set_xlabel("time [s]")
        if time is not None:
            rows[-1, 0].set_xlim(*time)
        drawn.align_ylabels(rows[:, 0])
        drawn.text(0.012, 1 - 0.1 / height, title, fontsize=10, va="top")
        drawn.text(1 - 0.08 / width, 0.08 / height, stamp, fontsize=6.5, color="#777777", ha="right")
    return drawn


def _draw_panel(axes: Axes, panel: Panel) -> None:
    for number, line in enumerate(panel.lines):
        if line.label in panel.levels:
            axes.axhline(
                panel.levels[line.label] * panel.scale,
                color=COLOURS[number % len(COLOURS)],
                linestyle=(number % 4 * 2, (4, 4)),
                linewidth=0.8,
                alpha=0.6,
                zorder=1.5,
            )
        times, values = thinned(line.series)
        axes.plot(
            times,
            values * panel.scale,
            drawstyle="steps-post" if line.series.interval_s is None else "steps-pre",
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[(number // len(COLOURS)) % len(DASHES)],
            label=line.label,
        )
    levels = any(line.label in panel.levels for line in panel.lines)
    if levels:
        axes.plot([], [], color="#777777", linestyle=(0, (4, 4)), linewidth=0.8, label="max-min")
    axes.set_ylabel(panel.axis)
    if panel.top is None:
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)
    else:
        axes.set_ylim(0, panel.top)
    if panel.second_axis is not None:
        scale = panel.scale

        def to_series(y: NDArray[np.float64]) -> NDArray[np.float64]:
            return y / (1000 * scale)

        def to_axis(y: NDArray[np.float64]) -> NDArray[np.float64]:
            return y * (1000 * scale)

        second = axes.secondary_yaxis("right", functions=cast(Any, (to_series, to_axis)))
        second.set_ylabel(panel.second_axis, color="#777777")
        second.tick_params(colors="#777777", labelsize=7)
    many = _many(panel)
    axes.legend(
        loc="center left" if many else "lower right",
        bbox_to_anchor=(1.14 if panel.second_axis else 1.01, 0.5) if many else (1.0, 0.98),
        ncols=1 + (len(panel.lines) - 1 + levels) // 10 if many else len(panel.lines) + levels,
        borderpad=0.1,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _many(panel: Panel) -> bool:
    """Whether the legend has so many entries that it stands beside the panel instead of above it."""
    return len(panel.lines) > 5


def thinned(series: Series, bins: int = 1500) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give a series as a picture needs it: of each of `bins` spans the first, least, largest and last value.

    A picture is no wider than that, and a plot of ten million points takes minutes and a hundred megabytes.
    """
    times, values = series.times_s, series.values
    if series.interval_s is None and len(times) and times[-1] < series.end_s:
        times, values = np.append(times, series.end_s), np.append(values, values[-1])
    return thin(times, values, bins)
