"""Plots of a run: stacked panels over one time axis, stamped with what reproduces them."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np

from ..drawing.figures import Drawn, Measure, save
from ..drawing.style import COLOURS, DASHES, FAINT, STYLE, in_legend, plain
from .curves import Known, Source, lines_of
from .curves import Line as Line
from .panels import Level, grouped, thin
from .published import Published, draw_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from numpy.typing import NDArray

    from ..recorded.run import Recorded
    from ..recorded.series import Series

MOST_NAMED = 24
"""Most lines of a panel with a colour and a name; where there are more, one less: others are grey, and one entry."""

MOST_ABOVE = 5
"""Most entries of a legend above its panel, in one row; one with more lines stands beside."""

LEFT, TOP, BOTTOM, GAP = 0.85, 0.6, 0.7, 0.4
"""Margins, and what is between two panels [in]."""

SECOND_AXIS = 0.75
"""Width of an axis at the right with its label [in]."""

LEAST_PANEL = 4.4
"""A panel is so wide at least [in]: the figure grows with its legends."""

COLUMNS = 800
"""Columns of a panel: as many as a picture of 7.2 in has at 110 pixels an inch."""

LEGEND_LINE = 0.172
"""A line of a legend [in]."""

SMALL_LINE, SMALL_LETTER = 0.135, 0.062
"""Height of a line below the title, and about the width of a letter in it [in]."""


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
    """Label of the axis at the right: the same values in thousands of the unit of the series."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Max-min fair shares in time behind the lines, by the label of the line, in the unit of the series."""
    published: Sequence[Published] = ()
    """Values that a paper has, to see what was measured beside it."""


def draw_result(result: Recorded, base: Path) -> None:
    """Draw what the run recorded into `base`.png."""
    panels = panels_of(result)
    if panels:
        drawn = figure(
            panels, result.summary["run"]["scenario"], result.stamp, subtitle=settings_of(result),
            warm_up_s=warm_up_of([result]),
        )  # fmt: skip
        save(drawn, base, [".png"])


def settings_of(result: Recorded) -> str:
    """Say what the point of a sweep sets."""
    return ", ".join(f"{path} = {value}" for path, value in result.settings.items())


def warm_up_of(results: Iterable[Recorded]) -> float:
    """Give the time from which on figures count [s], of several runs the first; 0 without a warm-up."""
    return min((float(one.summary["run"].get("measured_from_s") or 0.0) for one in results), default=0.0)


def panels_of(result: Recorded, only: Sequence[str] | None = None, *, each: bool = False) -> list[Panel]:
    """Give a panel per kind of quantity that the run recorded: rates, queues, utilization, cells, and the rest.

    Parameters
    ----------
    result
        The run.
    only
        The probes to draw; all of them when None.
    each
        Whether each member of a group that the scenario makes by `count` has a line; otherwise a band and its median.
    """
    names = [(probe, entity) for probe, entity in result.series_names if only is None or probe in only]
    series = [s for probe in dict.fromkeys(probe for probe, _ in names) for s in result.all_series(probe) if len(s)]
    known = Known.of(result, [one.probe for one in series], each=each)
    panels = []
    for kind, places in grouped([(s.probe, s.unit) for s in series]):
        by_probe: dict[str, list[Series]] = {}
        for place in places:
            by_probe.setdefault(series[place].probe, []).append(series[place])
        several = len(by_probe) > 1

        def name(one: Series, several: bool = several) -> str:
            return f"{one.entity} {one.probe}" if several else one.entity

        sources = [Source(some, known, name) for some in by_probe.values()]
        lines, levels = lines_of(sources, has_levels=kind.probes == ("acr",))
        panels.append(Panel(kind.axis, lines, kind.scale, kind.top, kind.second_axis, levels))
    return panels


def figure(
    panels: Sequence[Panel],
    title: str,
    stamp: str,
    *,
    subtitle: str = "",
    width: float = 7.2,
    panel_height: float = 1.5,
    time: tuple[float, float] | None = None,
    warm_up_s: float = 0.0,
) -> Drawn:
    """Draw panels above each other.

    Parameters
    ----------
    panels
        From top to bottom.
    title, stamp
        Above and, small, below.
    subtitle
        Below the title, in as many lines as it needs.
    width
        In inches; legends that need more have it.
    panel_height
        In inches.
    time
        The part of the time axis to show [s]; all of it when None.
    warm_up_s
        Time that no figure counts: it is shaded, and what is in it leaves the scale of an axis as it is.
    """
    # Margins in inches, by hand: an automatic layout would draw everything twice to measure it. Only legends are
    # measured.
    second = SECOND_AXIS if any(panel.second_axis for panel in panels) else 0.0
    below = textwrap.wrap(subtitle, int(width / SMALL_LETTER))
    above = TOP + max(0, len(below) - 1) * SMALL_LINE
    height = above + BOTTOM + len(panels) * panel_height + (len(panels) - 1) * GAP
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(width, height))
        rows: Any = drawn.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, panel in zip(rows[:, 0], panels, strict=True):
            _draw_panel(axes, panel)
            _set_scale(axes, panel, time, warm_up_s)
        if warm_up_s > 0 and (time is None or time[0] < warm_up_s):
            _shade(rows[:, 0], warm_up_s)
        width, right = _set_legends(drawn, panels, width, second, panel_height)
        drawn.set_size_inches(width, height)
        drawn.subplots_adjust(
            left=LEFT / width,
            right=1 - right / width,
            top=1 - above / height,
            bottom=BOTTOM / height,
            hspace=GAP / panel_height,
        )
        rows[-1, 0].set_xlabel("time [s]")
        if time is not None:
            rows[-1, 0].set_xlim(*time)
        drawn.align_ylabels(rows[:, 0])
        drawn.label(title, stamp)
        if below:
            drawn.notes = drawn.text(
                0.1 / width, 1 - 0.28 / height, plain("\n".join(below)), fontsize=7.5, va="top", color="#555555",
                linespacing=1.2,
            )  # fmt: skip
    return drawn


def _set_legends(
    drawn: Drawn, panels: Sequence[Panel], width: float, second: float, panel_height: float
) -> tuple[float, float]:
    """Set legends above panels, or beside where a row is too short; give the figure's width and right margin [in]."""
    measure = Measure(drawn)
    in_column = max(1, int((panel_height + GAP - 0.1) / LEGEND_LINE))
    beside: dict[int, Legend] = {}
    above: dict[int, float] = {}
    for place, (axes, panel) in enumerate(zip(drawn.axes, panels, strict=True)):
        if len(panel.lines) > MOST_ABOVE:
            beside[place] = _legend_beside(axes, in_column)
        else:
            above[place] = measure.width(_legend_above(axes))
    while True:
        widest = max((measure.width(legend) for legend in beside.values()), default=0.0)
        right = second + (widest + 0.2 if beside else 0.0 if second else 0.2)
        width = max(width, LEFT + LEAST_PANEL + right)
        too_wide = [place for place, needed in above.items() if needed > width - LEFT - right]
        if not too_wide:
            break
        for place in too_wide:
            del above[place]
            beside[place] = _legend_beside(drawn.axes[place], in_column)
    panel_width = width - LEFT - right
    for place, legend in beside.items():
        axes = drawn.axes[place]
        from_panel = SECOND_AXIS if panels[place].second_axis else 0.06
        legend.set_bbox_to_anchor((1 + from_panel / panel_width, 0.5), transform=axes.transAxes)
    return width, right


def _legend_above(axes: Axes) -> Legend:
    return axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.98),
        ncols=max(1, len(axes.get_legend_handles_labels()[1])),
        borderpad=0.1,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _legend_beside(axes: Axes, in_column: int) -> Legend:
    return axes.legend(
        loc="center left",
        ncols=-(-len(axes.get_legend_handles_labels()[1]) // in_column),
        borderpad=0.1,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _draw_panel(axes: Axes, panel: Panel) -> None:
    named = _named([line.label for line in panel.lines])
    numbers = {place: number for number, place in enumerate(named)}
    levels: dict[str, Level] = {}
    for place, line in enumerate(panel.lines):
        is_named = place in numbers
        number = numbers.get(place, 0)
        level = panel.levels.get(line.label)
        if level is not None and (is_named or level not in levels.values()):
            times_s, rates = _steps(level, line.series.end_s)
            axes.plot(
                times_s,
                rates * panel.scale,
                drawstyle="steps-post",
                color=COLOURS[number % len(COLOURS)] if is_named else FAINT,
                linestyle=(number % 4 * 2, (4, 4)),
                linewidth=0.8,
                alpha=0.6,
                zorder=1.5,
            )
            levels[line.label] = level
        colour = COLOURS[number % len(COLOURS)] if is_named else FAINT
        if line.band is not None:
            band = line.band
            axes.fill_between(
                band.times_s, band.low * panel.scale, band.high * panel.scale, step=band.step, color=colour,
                alpha=0.22, linewidth=0, zorder=1.6,
            )  # fmt: skip
        times, values = thinned(line.series)
        axes.plot(
            times,
            values * panel.scale,
            drawstyle="steps-post" if line.series.interval_s is None else "steps-pre",
            color=colour,
            linestyle=DASHES[(number // len(COLOURS)) % len(DASHES)] if is_named else "-",
            linewidth=None if is_named else 0.8,
            zorder=2.0 if is_named else 1.8,
            label=in_legend(line.label) if is_named else "_",
        )
    if len(named) < len(panel.lines):
        axes.plot([], [], color=FAINT, linewidth=0.8, label=f"{len(panel.lines) - len(named)} more")
    if levels:
        axes.plot([], [], color="#777777", linestyle=(0, (4, 4)), linewidth=0.8, label="max-min of those that send")
    for said in panel.published:
        draw_published(axes, said)
    if any(line.band is not None for line in panel.lines):
        axes.fill_between([], [], color="#777777", alpha=0.22, linewidth=0, label="least to largest, line: median")
    axes.set_ylabel(panel.axis)
    if panel.second_axis is not None:
        scale = panel.scale

        def to_series(y: NDArray[np.float64]) -> NDArray[np.float64]:
            return y / (1000 * scale)

        def to_axis(y: NDArray[np.float64]) -> NDArray[np.float64]:
            return y * (1000 * scale)

        second = axes.secondary_yaxis("right", functions=cast(Any, (to_series, to_axis)))
        second.set_ylabel(panel.second_axis, color="#777777")
        second.tick_params(colors="#777777", labelsize=7)


def _set_scale(axes: Axes, panel: Panel, time: tuple[float, float] | None, warm_up_s: float) -> None:
    """Scale an axis by what is shown and counts: what lies in the warm-up may leave it above."""
    if panel.top is not None:
        axes.set_ylim(0, panel.top)
        return
    # Of nothing at all, such as cells lost, the axis would end at a twentieth of one.
    nothing = not any(np.any(np.nan_to_num(line.series.values)) for line in panel.lines)
    begin, end = time if time is not None else (0.0, math.inf)
    begin = max(begin, warm_up_s) if warm_up_s < end else begin
    top = None
    if begin > 0 or end < math.inf:
        parts = [line.series.between(begin, end) for line in panel.lines]
        tops = [part.max() for part in parts if len(part)]
        for band in (line.band for line in panel.lines):
            if band is not None:
                inside = (band.times_s >= begin) & (band.times_s <= end)
                tops.append(float(np.fmax.reduce(band.high[inside], initial=0.0)))
        largest = max((one for one in tops if math.isfinite(one)), default=0.0) * panel.scale
        above = [max(said.value, said.high or 0.0, said.end or 0.0) for said in panel.published]
        top = 1.05 * max([largest, *above]) or None
    axes.set_ylim(0, 1 if nothing else top)
    axes.margins(x=0.01)


def _shade(rows: Sequence[Axes], warm_up_s: float) -> None:
    for axes in rows:
        axes.axvspan(0.0, warm_up_s, color="#000000", alpha=0.06, linewidth=0, zorder=0.5)
    rows[0].annotate(
        "warm-up, not counted", (0.0, 0.0), (3, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
        fontsize=6.5, color="#777777", va="bottom", annotation_clip=True,
    )  # fmt: skip


def _steps(level: Level, end_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give a level as a line to the end of the run, with gaps."""
    times = [at_s for at_s, _ in level if at_s <= end_s]
    rates = [math.nan if rate is None else rate for _, rate in level[: len(times)]]
    return np.array([*times, end_s]), np.array([*rates, *rates[-1:]])


def _named(labels: Sequence[str]) -> list[int]:
    """Give the places of the lines that have a colour and a name: all, or of many the first ones of each group.

    Lines whose names differ in numbers only are a group.
    """
    if len(labels) <= MOST_NAMED:
        return list(range(len(labels)))
    seen: Counter[str] = Counter()
    ranks = []
    for label in labels:
        stem = re.sub(r"\d+", "#", label)
        ranks.append(seen[stem])
        seen[stem] += 1
    return sorted(sorted(range(len(labels)), key=lambda place: ranks[place])[: MOST_NAMED - 1])


def thinned(series: Series, bins: int = COLUMNS) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give a series as a picture needs it: of each of `bins` spans the first, least, largest and last value.

    No panel shows more, and a plot of ten million points takes minutes and a hundred megabytes.
    """
    times, values = series.times_s, series.values
    if series.interval_s is None and len(times) and times[-1] < series.end_s:
        times, values = np.append(times, series.end_s), np.append(values, values[-1])
    return thin(times, values, bins)
