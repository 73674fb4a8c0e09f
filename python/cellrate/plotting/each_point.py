"""Series of the points of a sweep as small multiples: a panel for each point, all with the same axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import MaxNLocator

from ..drawing.figures import Drawn, Measure
from ..drawing.style import COLOURS, DASHES, FAINT, STYLE, in_legend, plain
from ..errors import NoSuchSeries
from ..recorded.instants import Instant, part_of_run
from ..sweeps.settings import named, names_by_settings
from .curves import Curve, Known
from .panels import grouped
from .runs import thinned, warm_up_of

if TYPE_CHECKING:
    from ..recorded.run import Recorded
    from ..recorded.series import Series
    from .bands import Band

MOST_POINTS = 48
"""Points that a picture shows, the first ones."""

MOST_NAMED = 16
"""Lines with a colour and a name; those beyond are grey, and one in the legend."""

COLUMNS = 4
"""Panels beside each other, at most."""

PANEL_WIDTH, PANEL_HEIGHT, BETWEEN, GAP = 2.1, 1.25, 0.2, 0.42
"""Sizes of a panel, and of the gaps between columns and between rows [in]."""

LETTERS, TITLE_LINE = 36, 0.13
"""Letters in a line of a panel's title, and a line's height [in]."""

LEAST_IN_PRINT = 1.5
"""Width of a column of panels in print at least [in]."""

LEFT, TOP, BOTTOM = 0.8, 0.75, 0.75
"""Margins [in]."""


def figure(
    results: Sequence[Recorded],
    probes: Sequence[str],
    *,
    entity: str | None = None,
    time: tuple[Instant, Instant] | None = None,
    width: float | None = None,
    each: bool = False,
) -> Drawn:
    """Draw series of several points, a panel for each point and kind of quantity.

    Parameters
    ----------
    results
        Of the points; of more than 48 the first 48 are drawn, and the picture says so.
    probes, entity, time, each
        As for `cellrate.plot`.
    width
        Width in print [in]: of less than four panels, fewer stand beside each other.

    Raises
    ------
    NoSuchSeries
        If no point recorded such a series.
    ValueError
        If nothing of a run is in `time`, or an instant of it is none.
    """
    shown = list(results[:MOST_POINTS])
    names = names_by_settings([result.settings for result in shown])
    series = [
        [
            result.series(probe, entity=of)
            for probe, of in result.series_names
            if probe in probes and entity in (None, of)
        ]
        for result in shown
    ]
    recorded = dict.fromkeys(one.probe for some in series for one in some)
    missing = [probe for probe in probes if probe not in recorded]
    if missing:
        there_are = dict.fromkeys(f"{probe} of {of}" for result in shown for probe, of in result.series_names)
        asked = f"{missing[0]}{'' if entity is None else f' of {entity}'}"
        raise NoSuchSeries(f"no point has a series {asked}; the series are {', '.join(there_are) or 'none'}")
    end_s = max(result.summary["run"]["duration_s"] for result in shown)
    span = (0.0, end_s) if time is None else part_of_run(time, end_s)
    run = shown[0].summary["run"]
    title = named(results[0].summary, [result.settings for result in results])
    if len(results) > len(shown):
        title += f", of which the first {len(shown)} are drawn"
    curves: list[list[Curve]] = []
    for result, some in zip(shown, series, strict=True):
        known = Known.of(result, [*recorded], each=each)
        curves.append([curve for probe in recorded for curve in known.folded([s for s in some if s.probe == probe])])
    columns = COLUMNS if width is None else max(1, min(COLUMNS, int(width / LEAST_IN_PRINT)))
    warm_up_s = warm_up_of(shown)
    most_lines = 2 if width is None else 4
    names = ["\n".join(textwrap.wrap(name, LETTERS, max_lines=most_lines, placeholder="...")) for name in names]
    with mpl.rc_context(STYLE):
        return _drawn(names, curves, span, (title, f"cellrate {run['version']}"), columns, warm_up_s)


def _drawn(
    names: Sequence[str], series: Sequence[Sequence[Curve]], span: tuple[float, float], said: tuple[str, str],
    most_columns: int, warm_up_s: float,
) -> Drawn:  # fmt: skip
    flat = [one for some in series for one, _ in some]
    kinds = [kind for kind, _ in grouped([(one.probe, one.unit) for one in flat])]
    labels = _labels(flat)
    columns = min(most_columns, len(names))
    blocks = math.ceil(len(names) / columns)
    rows = blocks * len(kinds)
    more = TITLE_LINE * max(name.count("\n") for name in names)
    gap, top_margin = GAP + more, TOP + more
    inner = columns * PANEL_WIDTH + (columns - 1) * BETWEEN
    height = top_margin + rows * PANEL_HEIGHT + (rows - 1) * gap + BOTTOM
    drawn = Drawn(figsize=(LEFT + inner, height))
    grid: Any = drawn.subplots(rows, columns, sharex=True, squeeze=False)
    for number, kind in enumerate(kinds):
        own = [grid[block * len(kinds) + number, column] for block in range(blocks) for column in range(columns)]
        for axes in own[1:]:
            axes.sharey(own[0])
        top = 0.0
        for place, axes in enumerate(own):
            if place >= len(names):
                axes.set_visible(False)
                continue
            if warm_up_s > span[0]:
                axes.axvspan(span[0], min(warm_up_s, span[1]), color="#000000", alpha=0.06, linewidth=0, zorder=0.5)
            counted = (max(warm_up_s, span[0]) if warm_up_s < span[1] else span[0], span[1])
            for one, band in series[place]:
                if one.probe in kind.probes:
                    largest = _draw_line(axes, one, band, labels[one.probe, one.entity], kind.scale, counted)
                    top = max(top, largest)
            if number == 0:
                axes.set_title(plain(names[place]), fontsize=8, pad=3)
            if place % columns == 0:
                axes.set_ylabel(kind.axis)
            else:
                axes.tick_params(labelleft=False)
        own[0].set_ylim(0, kind.top or 1.05 * top or 1.0)
    grid[0, 0].set_xlim(*span)
    # The last label of a panel would stand on the first of the next.
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(4, prune="upper"))
    for place in range(len(names)):
        # The lowest panel of each column says what the axis is of.
        if place + columns >= len(names):
            lowest = grid[place // columns * len(kinds) + len(kinds) - 1, place % columns]
            lowest.set_xlabel("time [s]")
            lowest.tick_params(labelbottom=True)
    width = _set_legend(drawn, grid, labels, (inner, height, top_margin, gap))
    drawn.align_ylabels(grid[:, 0])
    drawn.label(*said)
    if warm_up_s > span[0]:
        drawn.notes = drawn.text(
            0.1 / width, 0.08 / height, "shaded: warm-up, not counted", fontsize=6.5, color="#777777"
        )
    return drawn


def _set_legend(
    drawn: Drawn, grid: Any, labels: dict[tuple[str, str], tuple[str, int]], size: tuple[float, float, float, float]
) -> float:
    """Set the legend of all panels beside them, and margins about it; give the width of the picture [in].

    Its `size` is the width of all panels, the height of the picture, the margin above and the gap between rows [in].
    """
    inner, height, top, gap = size
    pairs = [pair for axes in grid.flat for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in pairs}
    order = [in_legend(label) for label, number in labels.values() if number < MOST_NAMED]
    legend = drawn.legend(
        [handles[label] for label in order if label in handles],
        [label for label in order if label in handles],
        title=f"{len(labels) - MOST_NAMED} more are grey" if len(labels) > MOST_NAMED else None,
        title_fontsize=7,
        loc="center right",
        handlelength=1.6,
    )
    beside = Measure(drawn).width(legend) + 0.25
    width = LEFT + inner + beside
    drawn.set_size_inches(width, height)
    drawn.subplots_adjust(
        left=LEFT / width,
        right=1 - beside / width,
        top=1 - top / height,
        bottom=BOTTOM / height,
        wspace=BETWEEN / PANEL_WIDTH,
        hspace=gap / PANEL_HEIGHT,
    )
    return width


def _labels(series: Sequence[Series]) -> dict[tuple[str, str], tuple[str, int]]:
    """Give each probe and entity a name and a number, the same in all panels."""
    several = len({one.probe for one in series}) > 1
    keys = list(dict.fromkeys((one.probe, one.entity) for one in series))
    return {
        (probe, entity): (f"{entity} {probe}" if several else entity, number)
        for number, (probe, entity) in enumerate(keys)
    }


def _draw_line(
    axes: Any, series: Series, band: Band | None, label: tuple[str, int], scale: float, counted: tuple[float, float]
) -> float:
    """Draw a series, with its band where it is the median of a group, and give its largest value in a span [s]."""
    name, number = label
    named = number < MOST_NAMED
    colour = COLOURS[number % len(COLOURS)] if named else FAINT
    times, values = thinned(series, 400)
    part = series.between(*counted)
    largest = part.max() * scale if len(part) else 0.0
    if band is not None:
        axes.fill_between(
            band.times_s, band.low * scale, band.high * scale, step=band.step, color=colour, alpha=0.22, linewidth=0
        )
        inside = (band.times_s >= counted[0]) & (band.times_s <= counted[1])
        largest = max(largest, float(np.fmax.reduce(band.high[inside], initial=0.0)) * scale)
    axes.plot(
        times,
        values * scale,
        drawstyle="steps-post" if series.interval_s is None else "steps-pre",
        color=colour,
        linestyle=DASHES[number // len(COLOURS) % len(DASHES)] if named else "-",
        linewidth=0.9,
        zorder=2.0 if named else 1.8,
        label=in_legend(name) if named else "_",
    )
    return largest if math.isfinite(largest) else 0.0
