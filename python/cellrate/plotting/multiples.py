"""One figure of a campaign in small multiples: over a key, as a map over two, or as distributions.

Each panel has the points of one value of up to two further keys: the first one has columns, the second one rows. What
is varied beside all these, the seed among it, is averaged, or makes up the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from ..drawing.figures import Drawn
from ..drawing.style import COLOURS, DASHES, STYLE, in_legend, plain
from ..errors import CellrateError
from ..sweeps.figures import EACH, Figure
from ..sweeps.replications import mean_over_seeds
from ..sweeps.settings import (
    FOLDER,
    SCENARIO,
    filled,
    labels_of,
    named,
    names_of,
    numbers_of,
    paths_of,
    with_those_apart,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..recorded.run import Recorded

MOST_PANELS = 8
"""In a row or a column; more would not be legible."""

MOST_NUMBERS = 60
"""Cells of a map up to which each has its value written in it."""

PANEL = (2.9, 2.2)
"""Width and height of a panel [in]; one that is alone is wider."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""By line: printed in black, lines are told apart by them."""

TICKS = 8
"""Values of a key beside an axis at most; of more every second, third, ... one has its text."""


@dataclass(frozen=True)
class Key:
    """A key that is varied, with its values in order."""

    name: str
    texts: list[str]
    numbers: list[float] | None
    unit: str
    labels: dict[str, str]

    @property
    def heading(self) -> str:
        """Give its heading on an axis."""
        return plain(self.name + (f" [{self.unit}]" if self.unit not in ("", "1") else ""))

    def said(self, text: str) -> str:
        """Give the key with a value, "nrm = 32"; a scenario or a folder of results by its name alone."""
        return self.labels[text] if self.name in (SCENARIO, FOLDER) else f"{self.name} = {self.labels[text]}"

    @classmethod
    def of(cls, path: str, settings: Sequence[dict[str, str]], name: str) -> Key:
        """Give a key by its path, its values by size where all are quantities, otherwise in the order of the sweep."""
        texts = list(dict.fromkeys(one[path] for one in settings))
        found = numbers_of(texts)
        if found is None:
            return cls(name, texts, None, "", labels_of(texts))
        order = np.argsort(np.array(found.values), kind="stable")
        ordered = [texts[place] for place in order]
        return cls(name, ordered, [found.values[place] for place in order], found.unit, labels_of(texts))


class Points:
    """The values of a figure at each point, and what the points set."""

    def __init__(self, results: Sequence[Recorded], figure: Figure, by: Sequence[str], keys: Sequence[str]) -> None:
        self.figure = figure
        self.settings: list[dict[str, str]] = []
        self.values: list[list[float]] = []
        for result in results:
            self.settings.append(result.settings)
            self.values.append([value * figure.scale.factor for value in figure.values(result.summary).values()])
        self.settings = filled(self.settings)
        self.heading = named(results[0].summary, self.settings)
        self.version = results[0].summary["run"]["version"]
        wanted = paths_of(self.settings[0], [*keys, *by])
        by = [path for path in with_those_apart(self.settings[0], wanted) if path not in wanted] + list(by)
        wanted = paths_of(self.settings[0], [*keys, *by])
        if len(set(wanted)) < len(wanted):
            raise CellrateError(f"a key is given twice: {', '.join([*keys, *by])}")
        if len(by) > 2:
            raise CellrateError(f"{len(by)} keys have panels of their own; there are columns and rows, for two")
        names = names_of(list(self.settings[0]))
        self.paths = wanted
        self.keys = {path: Key.of(path, self.settings, names[path]) for path in wanted}
        self.panels = wanted[len(keys) :]
        for path in self.panels:
            if len(self.keys[path].texts) > MOST_PANELS:
                raise CellrateError(
                    f"{names[path]} has {len(self.keys[path].texts)} values; panels of their own are for "
                    f"{MOST_PANELS} at most"
                )

    @property
    def mean_label(self) -> str:
        """Give the label of an axis of means: of all connections or ports too, where each was asked for."""
        return f"mean of {self.figure.axis}" if self.figure.spread == EACH else self.figure.axis

    def samples(self, **at: str) -> list[float]:
        """Give all values where keys, by path, have these values."""
        return [
            value
            for one, values in zip(self.settings, self.values, strict=True)
            if all(one[path] == text for path, text in at.items())
            for value in values
        ]

    def means(self, **at: str) -> list[tuple[dict[str, str], float]]:
        """Give the mean of each point where keys have these values: points are independent, rows of one are not."""
        return [
            (one, math.fsum(values) / len(values))
            for one, values in zip(self.settings, self.values, strict=True)
            if values and all(one[path] == text for path, text in at.items())
        ]


Draw = Callable[["Axes", dict[str, str]], None]


def over(
    results: Sequence[Recorded], figure: str, key: str, by: Sequence[str] = (), *, lines: str | None = None
) -> Drawn:
    """Draw a figure over a key: means with 95 % confidence intervals.

    Parameters
    ----------
    lines
        A key whose values have lines of their own; beside each other where nothing is between the values of `key`.
    """
    points = Points(results, Figure.read(figure), by, [key] if lines is None else [key, lines])
    axis = points.keys[points.paths[0]]
    places = _places(axis)
    of_lines = None if lines is None else points.keys[points.paths[1]]
    texts = [None] if of_lines is None else of_lines.texts
    if of_lines is not None and len(texts) > len(COLOURS):
        raise CellrateError(f"{of_lines.name} has {len(texts)} values; lines are for {len(COLOURS)} at most")

    def draw(axes: Axes, at: dict[str, str]) -> None:
        for number, text in enumerate(texts):
            of_line = {} if text is None else {points.paths[1]: text}
            found = [points.means(**{points.paths[0]: value}, **of_line, **at) for value in axis.texts]
            # Nothing is between two categories, and points of several lines stand beside each other.
            aside = 0.0 if axis.numbers is not None else (number - (len(texts) - 1) / 2) * 0.6 / len(texts)
            there = [
                (place + aside, mean_over_seeds(values)) for place, values in zip(places, found, strict=True) if values
            ]
            if there:
                axes.errorbar(
                    [place for place, _ in there],
                    [mean.mean for _, mean in there],
                    yerr=[mean.half_width or 0.0 for _, mean in there],
                    color=COLOURS[number],
                    linestyle="none" if axis.numbers is None else DASHES[number % len(DASHES)],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=3.5,
                    capsize=2.5,
                    label=None if of_lines is None or text is None else in_legend(of_lines.labels[text]),
                )
        _mark(axes, axis, places)

    drawn = _grid(
        points, draw, points.mean_label, axis.heading, "means, with their 95 % confidence intervals over seeds"
    )
    if of_lines is not None:
        _set_legend(drawn)
    return drawn


def _set_legend(drawn: Drawn) -> None:
    """Set one legend for all panels, beside them."""
    entries = {
        # Of points with intervals, the points.
        label: handle[0] if isinstance(handle, tuple) else handle
        for axes in drawn.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    with mpl.rc_context(STYLE):
        drawn.legend(entries.values(), entries.keys(), loc="outside right center")


def heat(results: Sequence[Recorded], figure: str, keys: Sequence[str], by: Sequence[str] = ()) -> Drawn:
    """Draw a figure as a map over two keys: means in colours, written in the cells where there is room."""
    if len(keys) != 2:
        raise CellrateError(f"a map has two keys, not {len(keys)}; give them as rif,rdf")
    points = Points(results, Figure.read(figure), by, keys)
    across, up = (points.keys[path] for path in points.paths[:2])
    grids: dict[tuple[str, ...], NDArray[np.float64]] = {}

    def grid_at(at: dict[str, str]) -> NDArray[np.float64]:
        known = tuple(at.values())
        if known not in grids:
            grids[known] = np.array(
                [
                    [_mean(points.means(**{points.paths[0]: x, points.paths[1]: y}, **at)) for x in across.texts]
                    for y in up.texts
                ]
            )
        return grids[known]

    everything = np.array([grid_at(at) for at in _all(points)])
    if np.isnan(everything).all():
        raise CellrateError(f"no point has a {figure}")
    scale = mpl.colors.Normalize(float(np.nanmin(everything)), float(np.nanmax(everything)))
    colours = mpl.colormaps["viridis"].with_extremes(bad="#eeeeee")

    def draw(axes: Axes, at: dict[str, str]) -> None:
        grid = grid_at(at)
        axes.grid(visible=False)
        axes.imshow(grid, origin="lower", aspect="auto", cmap=colours, norm=scale, interpolation="nearest")
        _texts(axes.xaxis, across)
        if across.numbers is None:
            axes.tick_params(axis="x", labelrotation=30)
        _texts(axes.yaxis, up)
        if grid.size <= MOST_NUMBERS:
            for (row, column), value in np.ndenumerate(grid):
                if not math.isnan(value):
                    bright = scale(value) > 0.6
                    axes.text(
                        column, row, _short(value), ha="center", va="center", fontsize=7,
                        color="black" if bright else "white",
                    )  # fmt: skip

    drawn = _grid(points, draw, up.heading, across.heading, "means over all else")
    with mpl.rc_context(STYLE):
        bar = drawn.colorbar(mpl.cm.ScalarMappable(scale, colours), ax=drawn.axes, pad=0.02)
        bar.set_label(points.mean_label)
    return drawn


def distribution(results: Sequence[Recorded], figure: str, key: str, by: Sequence[str] = ()) -> Drawn:
    """Draw the distribution of a figure for each value of a key: the share of all values that are at most so large."""
    points = Points(results, Figure.read(figure).each(), by, [key])
    lines = points.keys[points.paths[0]]
    if len(lines.texts) > len(COLOURS) * len(DASHES):
        raise CellrateError(f"{lines.name} has {len(lines.texts)} values, too many for lines of their own")

    def draw(axes: Axes, at: dict[str, str]) -> None:
        for number, text in enumerate(lines.texts):
            values = sorted(points.samples(**{points.paths[0]: text}, **at))
            if values:
                axes.step(
                    [values[0], *values],
                    [100 * place / len(values) for place in range(len(values) + 1)],
                    where="post",
                    color=COLOURS[number % len(COLOURS)],
                    linestyle=DASHES[number // len(COLOURS)],
                    label=in_legend(f"{lines.name} = {lines.labels[text]} ({len(values)})"),
                )
        axes.set_ylim(0, 102)

    drawn = _grid(points, draw, "share of values ≤ x [%]", points.figure.axis, "number of values in brackets")
    _set_legend(drawn)
    return drawn


def _short(value: float) -> str:
    """Write a value for the cell of a map: three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _all(points: Points) -> list[dict[str, str]]:
    """Give the keys and values of all panels, row by row."""
    columns = [{points.panels[0]: text} for text in points.keys[points.panels[0]].texts] if points.panels else [{}]
    rows = [{points.panels[1]: text} for text in points.keys[points.panels[1]].texts] if points.panels[1:] else [{}]
    return [{**column, **row} for row in rows for column in columns]


def _grid(points: Points, draw: Draw, vertical: str, horizontal: str, said: str) -> Drawn:
    places = _all(points)
    columns = len(points.keys[points.panels[0]].texts) if points.panels else 1
    rows = len(places) // columns
    width, height = PANEL if len(places) > 1 else (4.6, 3.0)
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(max(5.4, columns * width + 1.6), rows * height + 1.0), layout="constrained")
        grid: Any = drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, at in zip(grid.flat, places, strict=True):
            draw(axes, at)
            said_here = ", ".join(points.keys[path].said(text) for path, text in at.items())
            if said_here:
                axes.set_title(plain(said_here), fontsize=8.5)
        drawn.supylabel(vertical, fontsize=9)
        drawn.supxlabel(f"{horizontal}\n", fontsize=9)
        drawn.heading = drawn.suptitle(plain(f"{points.heading}, {said}"), fontsize=10, x=0.01, ha="left")
        drawn.stamp = drawn.text(
            0.995, 0.008, plain(f"cellrate {points.version}"), fontsize=6.5, color="#777777", ha="right"
        )
    return drawn


def _mean(values: Sequence[tuple[dict[str, str], float]]) -> float:
    return math.fsum(value for _, value in values) / len(values) if values else math.nan


def _places(key: Key) -> list[float]:
    """Give where the values of a key are on its axis: by number, or one beside the other."""
    return key.numbers if key.numbers is not None else [float(place) for place in range(len(key.texts))]


def _is_wide(numbers: Sequence[float]) -> bool:
    return len(numbers) > 2 and min(numbers) > 0 and max(numbers) >= 16 * min(numbers)


def _mark(axes: Axes, key: Key, places: Sequence[float]) -> None:
    if key.numbers is not None and _is_wide(places):
        axes.set_xscale("log", base=2)
    every = -(-len(places) // TICKS)
    axes.set_xticks(places[::every], [plain(key.labels[text]) for text in key.texts[::every]], rotation=30)
    axes.minorticks_off()
    if key.numbers is None:
        axes.set_xlim(-0.5, len(places) - 0.5)


def _texts(axis: Any, key: Key) -> None:
    every = -(-len(key.texts) // TICKS)
    shown = range(0, len(key.texts), every)
    axis.set_ticks(list(shown), [plain(key.labels[key.texts[place]]) for place in shown])
