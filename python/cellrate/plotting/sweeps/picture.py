"""A sweep as one picture, drawn: panels, their legends and ticks, and room for all that is around them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from ...drawing.figures import Drawn, Measure
from ...drawing.style import COLOURS, DASHES, STYLE, in_legend, plain
from ...drawing.ticks import are_apart, drop_labels
from ...sweeps.quantities import Found, quantities
from ...sweeps.replications import SEED
from ...sweeps.settings import filled, named, names_of
from .layout import MOST_TICKS, Layout, Parameter, layout_of
from .lines import Line, Lines, most_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...recorded.run import Recorded

PANEL_HEIGHT, GAP, TOP = 1.6, 0.4, 0.5
"""Heights of a panel, of the gap between two, and of the room above the first heading [in]."""

PANEL_WIDTHS = {1: 4.6, 2: 3.0, 3: 2.3}
"""By number of columns [in]; with more the least of these."""

CATEGORY = 0.45
"""A value of an axis that is none of numbers takes so much at least [in]."""

BETWEEN = 0.25
"""Space between two columns [in]."""

MARKERS = ("o", "s", "^", "D")
"""By dash."""


def figure(results: Sequence[Recorded]) -> Drawn | None:
    """Draw the figures of all points over what was varied; None where nothing was.

    The parameter with the most values is the axis. A second one has lines of its own, or columns of panels where there
    would be too many; a third one has the columns. Points that differ in their seeds only are drawn as their mean with
    its 95 % confidence interval. What of more parameters is not drawn is said below.
    """
    settings = filled([result.settings for result in results])
    varied = {
        path: texts
        for path in (settings[0] if settings else ())
        if len(set(texts := [one[path] for one in settings])) > 1
    }
    if not varied:
        return None
    seeds = varied.pop(SEED, [])
    summaries = [result.summary for result in results]
    all_found = [part for quantity in quantities() for part in Found.of(quantity, summaries).apart()]
    drawable = [found for found in all_found if found.names]
    if not drawable:
        return None
    names = names_of(list(varied))
    parameters = [Parameter.of(path, names[path], texts) for path, texts in varied.items()]
    layout = layout_of(parameters, max(most_lines(found) for found in drawable))
    picture = _Picture(layout, settings, seeds)
    run = results[0].summary["run"]
    with mpl.rc_context(STYLE):
        return picture.draw(drawable, named(results[0].summary, settings), f"cellrate {run['version']}")


class _Picture:
    """A picture that is being drawn."""

    def __init__(self, layout: Layout, settings: Sequence[Mapping[str, str]], seeds: Sequence[str]) -> None:
        self.layout = layout
        self.lines = Lines(layout, settings)
        self.seeds = list(dict.fromkeys(seeds))
        self.has_bars = False

    def draw(self, rows: Sequence[Found], title: str, stamp: str) -> Drawn:
        columns = self.layout.column_values()
        panel_width = max(
            PANEL_WIDTHS.get(len(columns), min(PANEL_WIDTHS.values())),
            0.0 if self._joined else CATEGORY * len(self._axis_values),
        )
        inner = len(columns) * panel_width + (len(columns) - 1) * BETWEEN
        drawn = Drawn(figsize=(inner, len(rows) * PANEL_HEIGHT))
        # Panels have their size already when labels are measured against it; margins come at the end.
        drawn.subplots_adjust(0, 0, 1, 1, wspace=BETWEEN / panel_width, hspace=0)
        grid: Any = drawn.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
        for axes, found in zip(grid, rows, strict=True):
            self._draw_row(axes, found, columns)
        measure = Measure(drawn)
        for axes in grid[-1]:
            self._mark(axes, measure)
        bottom_axes = grid[-1][(len(columns) - 1) // 2]
        axis = self.layout.axis
        bottom_axes.set_xlabel("" if axis is None else plain(axis.path) + (f" [{axis.unit}]" if axis.unit else ""))
        self._set_headings(grid[0], columns, panel_width)
        drawn.align_ylabels(grid[:, 0])
        self._set_margins(drawn, grid, measure, inner, title, stamp)
        return drawn

    @property
    def _joined(self) -> bool:
        return self.layout.axis is not None and self.layout.axis.is_number

    @property
    def _axis_values(self) -> list[str]:
        return [""] if self.layout.axis is None else self.layout.axis.values

    def _draw_row(self, row: Sequence[Axes], found: Found, columns: Sequence[str]) -> None:
        drawn = [
            [
                line
                for number, value in enumerate(self.layout.line_values())
                for line in self.lines.of(found, number, value, column)
            ]
            for column in columns
        ]
        labels = list(dict.fromkeys(line.label for lines in drawn for line in lines))
        for axes, lines in zip(row, drawn, strict=True):
            for line in lines:
                self._draw_line(axes, line, labels.index(line.label), len(labels))
            if not lines:
                axes.grid(visible=False)
                axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", va="center", color="#777777")
        means = [mean for lines in drawn for line in lines for mean in line.means.values()]
        tops = [mean.mean + (mean.half_width or 0.0) for mean in means]
        tops += [high for lines in drawn for line in lines for _, high in line.span.values()]
        row[0].set_ylabel(found.quantity.axis)
        row[0].set_ylim(0, 1.08 * max(tops, default=0) or 1)
        self._set_legend(row, found, labels)

    def _draw_line(self, axes: Axes, line: Line, number: int, count: int) -> None:
        colour = COLOURS[line.colour % len(COLOURS)]
        # Beside each other, where nothing is between two values of the axis.
        aside = 0.0 if self._joined else (number - (count - 1) / 2) * min(0.12, 0.6 / count)
        places = sorted(line.means)
        positions = [place + aside for place in places]
        means = [line.means[place] for place in places]
        if line.span:
            low, high = zip(*(line.span[place] for place in places), strict=True)
            if self._joined:
                axes.fill_between(positions, low, high, color=colour, alpha=0.15, linewidth=0)
            else:
                axes.vlines(positions, low, high, color=colour, alpha=0.3, linewidth=4)
        axes.plot(
            positions,
            [one.mean for one in means],
            marker=MARKERS[line.dash % len(MARKERS)],
            markersize=3.5,
            color=colour,
            linestyle=DASHES[line.dash % len(DASHES)] if self._joined else "none",
            label=in_legend(line.label),
        )
        barred = [(at, one.mean, one.half_width) for at, one in zip(positions, means, strict=True) if one.half_width]
        if barred:
            self.has_bars = True
            at, middle, half = zip(*barred, strict=True)
            axes.errorbar(at, middle, yerr=half, fmt="none", ecolor=colour, elinewidth=1.0, capsize=2.5)

    def _set_legend(self, row: Sequence[Axes], found: Found, labels: Sequence[str]) -> None:
        handles: dict[str, Any] = {}
        for axes in row:
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(name, handle)
        row[-1].legend(
            [handles[in_legend(name)] for name in labels],
            [in_legend(name) for name in labels],
            title=self.lines.heading(found),
            title_fontsize=7,
            alignment="left",
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            borderpad=0.1,
            handlelength=1.6,
        )

    def _mark(self, axes: Axes, measure: Measure) -> None:
        """Set ticks and their labels, none above another."""
        axis = self.layout.axis
        axes.margins(x=0.05)
        if axis is None:
            seeds = f"{len(self.seeds)} seeds"
            axes.set_xlim(-0.5, 0.5)
            axes.set_xticks([0.0], [seeds])
            return
        if axis.is_logarithmic:
            axes.set_xscale("log")
        if not axis.is_number:
            axes.set_xlim(-0.5, len(axis.values) - 0.5)
        if axis.is_number and len(axis.values) > MOST_TICKS:
            if axis.is_logarithmic:
                axes.xaxis.set_major_formatter("{x:g}")
            return
        values = sorted(axis.values, key=axis.positions.__getitem__)
        positions = [axis.positions[value] for value in values]
        labels = [plain(axis.labels[value]) for value in values]
        axes.set_xticks(positions, labels)
        axes.set_xticks([], minor=True)
        if are_apart(axes, measure):
            return
        if axis.is_number:
            # Values have their points all the same.
            drop_labels(axes, measure)
        else:
            wrapped = [textwrap.fill(label, 40, break_long_words=False) for label in labels]
            axes.set_xticks(positions, wrapped, rotation=35, ha="right", rotation_mode="anchor")

    def _set_headings(self, row: Sequence[Axes], columns: Sequence[str], panel_width: float) -> None:
        parameter = self.layout.columns
        if parameter is None:
            return
        for axes, column in zip(row, columns, strict=True):
            text = textwrap.fill(parameter.said(column), max(12, int(panel_width / 0.075)), break_long_words=True)
            axes.set_title(plain(text), fontsize=8.5)

    def _set_margins(self, drawn: Drawn, grid: Any, measure: Measure, inner: float, title: str, stamp: str) -> None:
        """Give the figure room for all that is around its panels, which keep their sizes."""
        rows, columns = grid.shape
        around = [measure.extent(axes) for axes in grid.flat]
        boxes = [axes.get_position() for axes in grid.flat]
        sizes = drawn.get_size_inches()
        found = [
            (box.x0 * sizes[0] - full.x0, full.x1 - box.x1 * sizes[0], box.y0 * sizes[1] - full.y0, full.y1)
            for box, full in zip(boxes, around, strict=True)
            if full is not None
        ]
        left = max(one[0] for one in found[::columns]) + 0.15
        right = max(one[1] for one in found[columns - 1 :: columns]) + 0.15
        labels = max(one[2] for one in found[-columns:])
        above = max(0.0, max(one[3] for one in found[:columns]) - sizes[1])
        width = left + inner + right
        notes = self._notes(width)
        bottom = labels + 0.35 + 0.13 * len(notes)
        top = TOP + above
        height = top + rows * PANEL_HEIGHT + (rows - 1) * GAP + bottom
        drawn.set_size_inches(width, height)
        drawn.subplots_adjust(
            left / width, bottom / height, 1 - right / width, 1 - top / height, hspace=GAP / PANEL_HEIGHT
        )
        drawn.label(title, stamp)
        said = plain("\n".join(notes))
        drawn.notes = drawn.text(0.1 / width, 0.28 / height, said, fontsize=7, color="#444444", linespacing=1.25)

    def _notes(self, width: float) -> list[str]:
        """Give what has to be said below, in lines."""
        notes = []
        counts = sorted(self.lines.replications)
        if counts[-1] > 1:
            n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            intervals = "; bars: 95 % confidence intervals of the means (Student's t)"
            notes.append(f"Means of n = {n} seeds{intervals if self.has_bars else ', which make no difference'}.")
        notes += self.layout.left_out()
        return [line for note in [" ".join(notes)] if note for line in textwrap.wrap(note, int(width / 0.055))]
