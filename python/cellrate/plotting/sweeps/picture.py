"""A sweep as one picture, drawn: panels, their legends and ticks, and room for all that is around them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
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

STACKED_WIDTHS = {1: 4.6, 2: 3.6, 3: 2.6, 4: 2.3}
"""Widths of panels by number of stacks side by side [in]."""

IN_A_STACK = 4
"""Panels in a stack: of more there are more stacks, so that the picture fits a screen."""

MOST_WIDTH, BESIDE = 19.0, 1.8
"""Width that stacks have at most, and what stands beside the panels of one, about [in]."""

CATEGORY = 0.45
"""A value of an axis that is none of numbers takes so much at least [in]."""

BETWEEN = 0.25
"""Space between two columns [in]."""

MARKERS = ("o", "s", "^", "D")
"""By dash."""


def figure(results: Sequence[Recorded], *, stacked: bool = True) -> Drawn | None:
    """Draw the figures of all points over what was varied; None where nothing was.

    Panels of many figures stand in several stacks, so that a screen has them all; in one stack unless `stacked`.

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
        picture.may_stack = stacked
        return picture.draw(drawable, named(results[0].summary, settings), f"cellrate {run['version']}")


class _Picture:
    """A picture that is being drawn."""

    def __init__(self, layout: Layout, settings: Sequence[Mapping[str, str]], seeds: Sequence[str]) -> None:
        self.layout = layout
        self.lines = Lines(layout, settings)
        self.seeds = list(dict.fromkeys(seeds))
        self.has_bars = False
        self.may_stack = True

    def draw(self, rows: Sequence[Found], title: str, stamp: str) -> Drawn:
        columns = self.layout.column_values()
        stacks = self._stacks(len(rows)) if len(columns) == 1 else 1
        high, wide = -(-len(rows) // stacks), len(columns) * stacks
        panel_width = self._panel_width(PANEL_WIDTHS if stacks == 1 else STACKED_WIDTHS, wide)
        drawn = Drawn(figsize=(wide * panel_width + (wide - 1) * BETWEEN, high * PANEL_HEIGHT))
        # Panels have their size already when labels are measured against it; margins come at the end.
        drawn.subplots_adjust(0, 0, 1, 1, wspace=BETWEEN / panel_width, hspace=0)
        grid: Any = drawn.subplots(high, wide, sharex=True, sharey="row" if stacks == 1 else False, squeeze=False)
        if stacks == 1:
            places, bottoms = list(grid), [list(grid[-1])]
        else:
            flat = list(grid.T.flat)
            places = [[axes] for axes in flat[: len(rows)]]
            bottoms = [[flat[min((stack + 1) * high, len(rows)) - 1]] for stack in range(stacks)]
            for axes in flat[len(rows) :]:
                axes.remove()
        for row, found in zip(places, rows, strict=True):
            self._draw_row(row, found, columns)
        measure = Measure(drawn)
        axis = self.layout.axis
        for bottom in bottoms:
            for axes in bottom:
                axes.tick_params(labelbottom=True)
                self._mark(axes, measure)
            bottom[(len(columns) - 1) // 2].set_xlabel(
                "" if axis is None else plain(axis.path) + (f" [{axis.unit}]" if axis.unit else "")
            )
        self._set_headings(grid[0], columns, panel_width)
        for column in grid.T[: 1 if stacks == 1 else None]:
            drawn.align_ylabels([axes for axes in column if axes.figure is not None])
        self._set_margins(drawn, grid, measure, panel_width, title, stamp, is_stacked=stacks > 1)
        return drawn

    def _panel_width(self, widths: Mapping[int, float], columns: int) -> float:
        least = 0.0 if self._joined else CATEGORY * len(self._axis_values)
        return max(widths.get(columns, min(widths.values())), least)

    def _stacks(self, rows: int) -> int:
        """Give the number of stacks that so many panels stand in."""
        if not self.may_stack:
            return 1
        wanted = min(max(STACKED_WIDTHS), -(-rows // IN_A_STACK))
        fitting = [
            count for count in range(1, wanted + 1)
            if count * (self._panel_width(STACKED_WIDTHS, count) + BESIDE) <= MOST_WIDTH
        ]  # fmt: skip
        return max(fitting, default=1)

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

    def _set_margins(
        self,
        drawn: Drawn,
        grid: Any,
        measure: Measure,
        panel_width: float,
        title: str,
        stamp: str,
        *,
        is_stacked: bool,
    ) -> None:
        """Give the figure room for all that is around its panels, which keep their sizes."""
        rows, columns = grid.shape
        sizes = drawn.get_size_inches()

        def around(some: Any) -> list[tuple[float, float, float, float]]:
            """Give what stands left, right and below of panels, and how high they reach [in]."""
            found = []
            for axes in some:
                full = None if axes.figure is None else measure.extent(axes)
                if full is not None:
                    box = axes.get_position()
                    beside = (box.x0 * sizes[0] - full.x0, full.x1 - box.x1 * sizes[0])
                    found.append((*beside, box.y0 * sizes[1] - full.y0, full.y1))
            return found

        sides = [[max(one[side] for one in around(column)) for side in (0, 1)] for column in grid.T]
        between = BETWEEN
        if is_stacked:
            between = 0.3 + max(before[1] + after[0] for before, after in pairwise(sides))
        inner = columns * panel_width + (columns - 1) * between
        left, right = sides[0][0] + 0.15, sides[-1][1] + 0.15
        labels = max(one[2] for one in around(grid[-1]))
        above = max(0.0, max(one[3] for one in around(grid[0])) - sizes[1])
        width = left + inner + right
        notes = self._notes(width)
        bottom = labels + 0.35 + 0.13 * len(notes)
        top = TOP + above
        height = top + rows * PANEL_HEIGHT + (rows - 1) * GAP + bottom
        drawn.set_size_inches(width, height)
        drawn.subplots_adjust(
            left / width,
            bottom / height,
            1 - right / width,
            1 - top / height,
            hspace=GAP / PANEL_HEIGHT,
            wspace=between / panel_width,
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
