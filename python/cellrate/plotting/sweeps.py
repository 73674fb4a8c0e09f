"""A sweep as one picture: its figures over what was varied, in panels that stay legible."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from ..results.summaries import telling_ports, telling_vcs
from ..sweeps.replications import SEED, Mean, mean_of
from ..sweeps.settings import as_written, labels_of, names_of, numbers_of
from .figures import Drawn, Measure
from .style import COLOURS, DASHES, STYLE, in_legend, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results import Result

MOST_LINES = 8
"""Of a panel; of more connections or ports the least, the median and the largest are drawn."""

MOST_SPANS = 3
"""Of a panel, from the least to the largest of many connections: more would cover each other."""

MOST_COLUMNS = 6
"""Of panels beside each other, one for each value of a parameter."""

MOST_TICKS = 10
"""Of an axis each of whose values has one."""

LOGARITHMIC_FROM = 20.0
"""An axis whose largest value is so many times its least is logarithmic."""

PANEL_HEIGHT, GAP, TOP = 1.6, 0.4, 0.5
"""Heights of a panel, of what is between two, and of what is above the first one's heading [in]."""

PANEL_WIDTHS = {1: 4.6, 2: 3.0, 3: 2.3}
"""By number of columns [in]; with more the least of these."""

CATEGORY = 0.45
"""A value of an axis that is none of numbers takes so much at least [in]."""

BETWEEN = 0.25
"""What is between two columns [in]."""

Row = dict[str, Any]
Values = dict[str, float]
"""By name of a connection or port, or what is made of all of them."""

LEAST, MEDIAN, LARGEST = "least", "median", "largest"

MARKERS = ("o", "s", "^", "D")
"""By dash."""


@dataclass(frozen=True)
class Quantity:
    """What a row of panels shows."""

    axis: str
    """What the axis says, with the unit."""
    kind: str
    """Of which rows of a summary."""
    of: str
    """What these are of, in the plural."""
    value: Callable[[Row], float | None]
    """In the unit of the axis; None where there is none."""
    telling: Callable[[Row], list[Row]] | None = None
    """From a summary, the rows that tell something; all when None."""
    keys: tuple[str, ...] = ("vc",)
    """Which name a row, together."""
    worst: bool = False
    """Whether the largest value is what counts where there is room for one line only; otherwise the median."""


def _scaled(key: str, factor: float) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found: float | None = row.get(key)
        return None if found is None else found * factor

    return value


def _whole(row: Row) -> float | None:
    return 100 * row["whole"] / row["frames"] if row["frames"] else None


def _with_segments(summary: Row) -> list[Row]:
    return [row for row in summary["tcp"] if row["segments"]]


CONNECTIONS, PORTS = "connections", "ports"

QUANTITIES = (
    Quantity("throughput [Mbps]", "vcs", CONNECTIONS, _scaled("throughput_bps", 1e-6), telling_vcs),
    Quantity("p99 delay [ms]", "vcs", CONNECTIONS, _scaled("p99_delay_s", 1e3), telling_vcs),
    Quantity(
        "TCP goodput [Mbps]",
        "tcp",
        "TCP connections",
        _scaled("goodput_bps", 1e-6),
        _with_segments,
        ("vc", "connection"),
    ),
    Quantity("whole frames [%]", "frames", CONNECTIONS, _whole),
    Quantity(
        "mean response\nof bursts [ms]", "bursts", "directions", _scaled("mean_response_s", 1e3), None, ("vc", "role")
    ),
    Quantity(
        "mean response\nof objects [ms]",
        "exchanges",
        "objects of pages",
        _scaled("mean_response_s", 1e3),
        None,
        ("vc", "client", "object"),
    ),
    Quantity("utilization [%]", "ports", PORTS, _scaled("utilization", 100.0), telling_ports, ("port",), True),
    Quantity("max queue [cells]", "ports", PORTS, _scaled("max_queue", 1.0), telling_ports, ("port",), True),
)
"""From top to bottom; those of which no point has rows are left out."""

_MARKS = {"connection": "#", "client": "#", "object": "object "}
"""Before numbers in names."""


@dataclass(frozen=True)
class Found:
    """What all points have of a quantity."""

    quantity: Quantity
    names: list[str]
    """Of connections, ports and so on."""
    at_points: list[Values]

    @classmethod
    def of(cls, quantity: Quantity, summaries: Sequence[Row]) -> Found:
        """Take it from the summaries of all points."""
        rows = [row for summary in summaries for row in summary.get(quantity.kind, [])]
        first, *others = quantity.keys
        # A number that is the same for all rows of a VC tells nothing.
        pairs = {key: {(row[first], row[key]) for row in rows} for key in others}
        shown = [key for key in others if len(pairs[key]) > len({of for of, _ in pairs[key]})]

        def name(row: Row) -> str:
            return " ".join([row[first], *(f"{_MARKS.get(key, '')}{row[key]}" for key in shown)])

        telling = quantity.telling or (lambda summary: list(summary.get(quantity.kind, [])))
        names = list(dict.fromkeys(name(row) for summary in summaries for row in telling(summary)))
        at_points = []
        for summary in summaries:
            values = {name(row): quantity.value(row) for row in summary.get(quantity.kind, [])}
            at_points.append({of: value for of, value in values.items() if value is not None and of in names})
        return cls(quantity, [name for name in names if any(name in values for values in at_points)], at_points)


@dataclass(frozen=True)
class Parameter:
    """What is varied."""

    path: str
    name: str
    """The end of its path."""
    values: list[str]
    """Each once, in the order of the sweep."""
    positions: dict[str, float]
    """Of values, on an axis."""
    labels: dict[str, str]
    """Of values."""
    unit: str
    """Of positions; empty where labels have it."""
    is_number: bool

    @classmethod
    def of(cls, path: str, name: str, texts: Sequence[str]) -> Parameter:
        """Make it of the values at all points."""
        distinct = list(dict.fromkeys(texts))
        numbers = numbers_of(distinct)
        if numbers is None:
            places = {text: float(place) for place, text in enumerate(distinct)}
            return cls(path, name, distinct, places, labels_of(distinct), "", False)
        written = as_written(distinct)
        if written is not None:
            positions = [float(number) for number in written[0]]
            labels, unit = dict(zip(distinct, written[0], strict=True)), written[1]
        else:
            positions, labels = numbers.values, dict(zip(distinct, distinct, strict=True))
            # More values than have ticks of their own have ticks in this unit.
            unit = numbers.unit if len(distinct) > MOST_TICKS and numbers.unit != "1" else ""
        at = dict(zip(distinct, positions, strict=True))
        return cls(path, name, distinct, at, labels, unit, True)

    def said(self, value: str) -> str:
        """Give a value with the parameter's name: "nrm 8", "length 10 km"."""
        return " ".join(filter(None, (self.name, self.labels[value], self.unit)))

    @property
    def is_logarithmic(self) -> bool:
        """Whether its axis is."""
        low, high = min(self.positions.values()), max(self.positions.values())
        return self.is_number and low > 0 and high / low >= LOGARITHMIC_FROM


@dataclass(frozen=True)
class Layout:
    """Which parameter is what of the picture."""

    axis: Parameter | None
    """None where seeds alone are varied."""
    lines: Parameter | None
    columns: Parameter | None
    held: list[Parameter]
    """Of which the first value is drawn only."""

    def line_values(self) -> list[str]:
        """Give the values that have lines of their own; an empty text where no parameter has."""
        return [""] if self.lines is None else _spread_over(self.lines.values, MOST_LINES)

    def column_values(self) -> list[str]:
        """Give the values that have a column of panels; an empty text where no parameter has."""
        return [""] if self.columns is None else _spread_over(self.columns.values, MOST_COLUMNS)

    def left_out(self) -> list[str]:
        """Say what is not drawn."""
        said = []
        for what, drawn in ((self.lines, self.line_values()), (self.columns, self.column_values())):
            if what is not None and len(drawn) < len(what.values):
                said.append(f"{len(drawn)} of the {len(what.values)} values of {what.path} are drawn.")
        if self.held:
            held = ", ".join(one.said(one.values[0]) for one in self.held)
            said.append(f"Drawn are the points with {held} only.")
        return [*said, "summary.json has all points."] if said else []


@dataclass(frozen=True)
class Line:
    """A line of a panel."""

    label: str
    colour: int
    dash: int
    means: dict[float, Mean]
    """By position."""
    span: dict[float, tuple[float, float]]
    """By position, least and largest of what it is the median of; empty where it is none."""


def figure(results: Sequence[Result]) -> Drawn | None:
    """Draw the figures of all points over what was varied; None where nothing was.

    The parameter with the most values is the axis. A second one has lines of its own, or columns of panels where there
    would be too many; a third one has the columns. Points that differ in their seeds only are drawn as their mean with
    its 95 % confidence interval. What of more parameters is not drawn is said below.
    """
    varied = {
        path: texts
        for path in (results[0].set if results else ())
        if len(set(texts := [result.set[path] for result in results])) > 1
    }
    if not varied:
        return None
    seeds = varied.pop(SEED, [])
    all_found = [Found.of(quantity, [result.summary for result in results]) for quantity in QUANTITIES]
    drawable = [found for found in all_found if found.names]
    if not drawable:
        return None
    names = names_of(list(varied))
    parameters = [Parameter.of(path, names[path], texts) for path, texts in varied.items()]
    layout = _layout(parameters, max(_count(found) for found in drawable))
    picture = _Picture(layout, [result.set for result in results], seeds)
    run = results[0].summary["run"]
    with mpl.rc_context(STYLE):
        return picture.draw(drawable, f"{run['scenario']}: {len(results)} points", f"cellrate {run['version']}")


def _layout(parameters: Sequence[Parameter], most: int) -> Layout:
    """Give each parameter its part, where a panel would have lines of so many connections or ports for each value."""
    if not parameters:
        return Layout(None, None, None, [])
    # Of two with as many values the last one is taken: it varies fastest.
    order = sorted(range(len(parameters)), key=lambda place: (-len(parameters[place].values), -place))
    axis, *rest = (parameters[place] for place in order)
    if not rest:
        return Layout(axis, None, None, [])
    if len(rest) == 1:
        (other,) = rest
        beside = most * len(other.values) > MOST_LINES and len(other.values) <= MOST_COLUMNS
        return Layout(axis, None, other, []) if beside else Layout(axis, other, None, [])
    return Layout(axis, rest[0], rest[1], rest[2:])


def _spread_over(values: list[str], most: int) -> list[str]:
    """Give so many of the values at most, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def _count(found: Found) -> int:
    """Give the number of lines that connections or ports have if nothing else is in their panel."""
    return len(found.names) if len(found.names) <= MOST_LINES else 3


def _in_all(values: Values) -> Values:
    given = list(values.values())
    return {LEAST: min(given), MEDIAN: statistics.median(given), LARGEST: max(given)} if given else {}


class _Picture:
    """A picture that is being drawn."""

    def __init__(self, layout: Layout, settings: Sequence[Mapping[str, str]], seeds: Sequence[str]) -> None:
        self.layout = layout
        self.settings = settings
        self.seeds = list(dict.fromkeys(seeds))
        self.replications: set[int] = set()
        """How many runs there are of a point."""
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

    def _points(self, line: str, column: str) -> dict[float, list[int]]:
        """Give the places of the points of a line in a column, by position: a single one each, or one for each seed."""
        layout = self.layout
        wanted = {one.path: one.values[0] for one in layout.held}
        for parameter, value in ((layout.lines, line), (layout.columns, column)):
            if parameter is not None:
                wanted[parameter.path] = value
        points: dict[float, list[int]] = {}
        for place, settings in enumerate(self.settings):
            if all(settings[path] == value for path, value in wanted.items()):
                axis = layout.axis
                at = 0.0 if axis is None else axis.positions[settings[axis.path]]
                points.setdefault(at, []).append(place)
        self.replications |= {len(places) for places in points.values()}
        return points

    def _draw_row(self, row: Sequence[Axes], found: Found, columns: Sequence[str]) -> None:
        drawn = [
            [
                line
                for number, value in enumerate(self.layout.line_values())
                for line in self._lines(found, number, value, column)
            ]
            for column in columns
        ]
        labels = list(dict.fromkeys(line.label for lines in drawn for line in lines))
        for axes, lines in zip(row, drawn, strict=True):
            for line in lines:
                self._draw_line(axes, line, labels.index(line.label), len(labels))
        means = [mean for lines in drawn for line in lines for mean in line.means.values()]
        tops = [mean.mean + (mean.half_width or 0.0) for mean in means]
        tops += [high for lines in drawn for line in lines for _, high in line.span.values()]
        row[0].set_ylabel(found.quantity.axis)
        row[0].set_ylim(0, 1.08 * max(tops, default=0) or 1)
        self._set_legend(row, found, labels)

    def _is_whole(self, found: Found) -> bool:
        """Whether every connection or port has its own line."""
        return len(found.names) * len(self.layout.line_values()) <= MOST_LINES

    def _has_spans(self, found: Found) -> bool:
        """Whether the span of all connections is drawn about their median."""
        return not found.quantity.worst and len(self.layout.line_values()) <= MOST_SPANS

    def _lines(self, found: Found, number: int, value: str, column: str) -> list[Line]:
        """Make the lines that the parameter that has lines has with this value, or all without one."""
        whole = self._is_whole(found)
        means: dict[str, dict[float, Mean]] = {}
        for at, places in self._points(value, column).items():
            samples: dict[str, list[float]] = {}
            for place in places:
                values = found.at_points[place]
                for name, one in (values if whole else _in_all(values)).items():
                    samples.setdefault(name, []).append(one)
            for name, sample in samples.items():
                means.setdefault(name, {})[at] = mean_of(sample)
        parameter = self.layout.lines
        if parameter is None:
            of_all = {LEAST: f"{LEAST} of {len(found.names)}", MEDIAN: MEDIAN, LARGEST: LARGEST}
            labels = {name: name for name in found.names} if whole else of_all
            return [
                Line(label, place, place // len(COLOURS), means[name], {})
                for place, (name, label) in enumerate(labels.items())
                if name in means
            ]
        said = parameter.said(value)
        if whole:
            return [
                Line(f"{name} {said}", number, dash, means[name], {})
                for dash, name in enumerate(found.names)
                if name in means
            ]
        if not means:
            return []
        if found.quantity.worst:
            return [Line(said, number, 0, means[LARGEST], {})]
        has_span = self._has_spans(found)
        span = {at: (means[LEAST][at].mean, means[LARGEST][at].mean) for at in means[MEDIAN] if has_span}
        return [Line(said, number, 0, means[MEDIAN], span)]

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
            title=self._heading(found),
            title_fontsize=7,
            alignment="left",
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            borderpad=0.1,
            handlelength=1.6,
        )

    def _heading(self, found: Found) -> str | None:
        """Say above a legend what its lines are; None where each connection or port has one."""
        of = found.quantity.of
        if self._is_whole(found):
            return None
        if self.layout.lines is None:
            return of
        if found.quantity.worst:
            return f"largest of {len(found.names)} {of}"
        span = ";\nshaded: least to largest" if self._has_spans(found) else ""
        return f"median of {len(found.names)} {of}{span}"

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
        if _apart(axes, measure):
            return
        if axis.is_number:
            # Values have their points all the same.
            _drop_labels(axes, measure)
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
        drawn.text(0.1 / width, 1 - 0.1 / height, plain(title), fontsize=10, va="top")
        drawn.text(0.1 / width, 0.28 / height, plain("\n".join(notes)), fontsize=7, color="#444444", linespacing=1.25)
        drawn.text(1 - 0.08 / width, 0.08 / height, stamp, fontsize=6.5, color="#777777", ha="right")

    def _notes(self, width: float) -> list[str]:
        """Give what has to be said below, in lines."""
        notes = []
        counts = sorted(self.replications)
        if counts[-1] > 1:
            n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            intervals = "; bars: 95 % confidence intervals of the means (Student's t)"
            notes.append(f"Means of n = {n} seeds{intervals if self.has_bars else ', which make no difference'}.")
        notes += self.layout.left_out()
        return [line for note in [" ".join(notes)] if note for line in textwrap.wrap(note, int(width / 0.055))]


def _apart(axes: Axes, measure: Measure) -> bool:
    boxes = [box for label in axes.get_xticklabels() if (box := measure.extent(label)) is not None]
    boxes.sort(key=lambda box: box.x0)
    return all(left.x1 + 0.03 <= right.x0 for left, right in pairwise(boxes))


def _drop_labels(axes: Axes, measure: Measure) -> None:
    """Take away the labels that would stand above the one before."""
    end = -float("inf")
    texts = []
    for label in axes.get_xticklabels():
        box = measure.extent(label)
        kept = box is not None and box.x0 >= end + 0.03
        texts.append(label.get_text() if kept else "")
        if box is not None and kept:
            end = box.x1
    axes.set_xticks(axes.get_xticks(), texts)
