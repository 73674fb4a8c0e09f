"""Figures laid out for print: as wide as a column, with letters of the size that they are printed in."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.text import Text

from ..errors import CellrateError
from .figures import Drawn, Measure
from .style import STYLE, plain
from .ticks import are_apart, drop_labels, turn_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
"""Units of sizes."""

LETTERS, LEAST_LETTERS = 8.0, 6.0
"""Size of letters [pt] without another, and of the smallest beside."""

DOTS = 300
"""Pixels per inch of a picture made of pixels."""

PANEL, ALONE, LEAST = 1.05, 0.62, 0.45
"""Height of one panel of several [in]; that of one alone, as a part of its width; least size of a panel [in]."""

EDGE, GAP = 0.04, 0.06
"""Space at the edges of the picture, and between two parts [in]."""


@dataclass(frozen=True)
class Print:
    """The print that a figure is for."""

    width: float | None = None
    """[in]; as it is drawn when None, with all that is around."""
    height: float | None = None
    """[in]; as it needs when None."""
    title: str | None = None
    """None: of a figure with a size, none; otherwise its own."""
    family: str | None = None
    letters: float = LETTERS
    """[pt]"""

    @classmethod
    def read(cls, size: str | None = None, title: str | None = None, font: str | None = None) -> Print:
        """Read what a user wrote.

        Parameters
        ----------
        size
            A width such as "3.4in", "86 mm" or "8.6cm", or width and height, "3.4in x 2in".
        title
            Title instead of the figure's own.
        font
            A family of fonts, the size of letters, or both: "Times New Roman", "8 pt", "serif 8 pt".

        Raises
        ------
        CellrateError
            If a text gives no size, a size is too small or too large, or the font is not installed.
        """
        width, height = (None, None) if size is None else _read_size(size)
        family, letters = (None, LETTERS) if font is None else _read_font(font)
        return cls(width, height, title, family, letters)


def for_print(drawn: Drawn, wanted: Print) -> Drawn:
    """Lay a figure out anew for print, and give it.

    Without a width its parts stay where they are. With one, legends stand above their panels in as many columns as fit,
    and `drawn.caption` has what title, notes and stamp said: that belongs into the text below a figure.

    Raises
    ------
    CellrateError
        If its panels do not fit.
    """
    with mpl.rc_context(STYLE):
        if wanted.width is None:
            _set_fonts(drawn, wanted.family, 1.0)
            if drawn.heading is not None and wanted.title is not None:
                drawn.heading.set_text(plain(wanted.title))
            return drawn
        drawn.set_dpi(DOTS)
        said = [part.get_text() for part in (drawn.heading, drawn.notes, drawn.stamp) if part is not None]
        drawn.caption = "; ".join(" ".join(text.split()).replace(r"\$", "$").rstrip(".") for text in said if text)
        for part in (drawn.notes, drawn.stamp):
            if part is not None:
                part.remove()
        drawn.notes = drawn.stamp = None
        _set_fonts(drawn, wanted.family, wanted.letters / float(STYLE["font.size"]))
        for line in [line for axes in drawn.axes for line in axes.lines]:
            line.set_linewidth(min(line.get_linewidth(), 1.0))
        if drawn.get_layout_engine() is None:
            _by_hand(drawn, wanted, wanted.width)
        else:
            _by_engine(drawn, wanted, wanted.width)
    return drawn


def _read_size(text: str) -> tuple[float, float | None]:
    parts = [part.strip() for part in re.split(r"\s*[x×]\s*", text.strip())]
    found = [re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(in|cm|mm)", part) for part in parts]
    if len(parts) > 2 or not all(found):
        raise CellrateError(f'"{text}" is no size of a picture: give 3.4in, 86mm or 8.6cm, or 3.4in x 2.5in')
    sizes = [float(one[1]) * INCHES[one[2]] for one in found if one is not None]
    for which, inches, least in zip(("width", "height"), sizes, (1.5, 1.0), strict=False):
        if not least <= inches <= 40.0:
            raise CellrateError(f"a picture of {inches:.3g} in {which} cannot be read: from {least:g} to 40 in")
    return sizes[0], sizes[1] if sizes[1:] else None


def _read_font(text: str) -> tuple[str | None, float]:
    found = re.fullmatch(r"(.*?)\s*(?:(?<![^\s])(\d+(?:\.\d+)?)\s*(?:pt)?)?", text.strip())
    family, points = (found[1], found[2]) if found is not None else (text, None)
    letters = LETTERS if points is None else float(points)
    if not 5.0 <= letters <= 24.0:
        raise CellrateError(f"letters of {letters:g} pt cannot be printed: from 5 to 24 pt")
    if not family:
        return None, letters
    try:
        findfont(FontProperties(family=family), fallback_to_default=False)
    except ValueError:
        names = sorted(set(fontManager.get_font_names()))
        near = difflib.get_close_matches(family, names, 3, 0.5) or names[:3]
        raise CellrateError(
            f'no font "{family}" is installed; there are {", ".join(near)}, and the kinds serif, sans-serif, monospace'
        ) from None
    return family, letters


def _set_fonts(drawn: Drawn, family: str | None, factor: float) -> None:
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        if factor != 1.0:
            text.set_fontsize(max(LEAST_LETTERS, float(text.get_fontsize()) * factor))
        if family is not None:
            text.set_fontfamily(family)
    named: dict[str, Any] = {} if family is None else {"labelfontfamily": family}
    size = max(LEAST_LETTERS, float(STYLE["xtick.labelsize"]) * factor)
    for axes in [axes for panel in drawn.axes for axes in (panel, *panel.child_axes)]:
        # Ticks that come later are not among the texts yet.
        axes.tick_params(labelsize=size, pad=2.5, **named)


def _set_title(drawn: Drawn, title: str | None, width: float) -> None:
    if drawn.heading is None:
        return
    letters = float(drawn.heading.get_fontsize()) * 0.55 / 72
    drawn.heading.set_text(plain(textwrap.fill(title, max(8, int((width - 2 * EDGE) / letters)))) if title else "")
    drawn.heading.set_in_layout(bool(title))


def _legend(drawn: Drawn, old: Legend, width: float, letters: float, **options: Any) -> Legend:
    """Set a legend anew, in as many columns as `width` [in] has room for."""
    measure = Measure(drawn)
    handles = [handle for handle in old.legend_handles if handle is not None]
    labels = [text.get_text() for text in old.get_texts()]
    family = old.get_texts()[0].get_fontfamily() if labels else None
    said = old.get_title().get_text()
    heading: dict[str, Any] = {"title": said.replace("\n", " ")} if said and said != "None" else {}
    properties: Any = {"size": letters, **({"family": family} if family else {})}
    for columns in range(len(labels), 0, -1):
        if columns == 1:
            labels = [textwrap.fill(label, max(8, int((width - 0.4) / (letters * 0.5 / 72)))) for label in labels]
        legend: Legend = drawn.legend(
            handles, labels, ncols=columns, frameon=False, borderpad=0, borderaxespad=0, handlelength=1.5,
            columnspacing=1.0, labelspacing=0.25, alignment="left",
            prop=properties, title_fontproperties=properties, **heading, **options,
        )  # fmt: skip
        if columns == 1 or measure.width(legend) <= width:
            break
        legend.remove()
    old.remove()
    return legend


def _by_engine(drawn: Drawn, wanted: Print, width: float) -> None:
    """Lay out a figure whose panels are set by matplotlib's constrained layout."""
    _set_title(drawn, wanted.title, width)
    drawn.supxlabel(drawn.get_supxlabel().rstrip(), fontsize=wanted.letters)
    grid = drawn.axes[0].get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    panel = (width - 0.5) / grid.ncols
    _wrap_titles(drawn.axes, panel)
    each = ALONE * panel if len(drawn.axes) == 1 else max(0.75 * panel, 0.9)
    long = wanted.height or each * grid.nrows + 0.3
    drawn.supylabel(_wrapped(drawn.get_supylabel(), long, wanted.letters), fontsize=wanted.letters)
    for axes in drawn.axes:
        axes.yaxis.label.set_text(_wrapped(axes.yaxis.label.get_text(), long, float(axes.yaxis.label.get_fontsize())))
    legends = [*drawn.legends, *(one for axes in drawn.axes if (one := axes.get_legend()))]
    for old in legends:
        _legend(drawn, old, width - 2 * EDGE, _small(wanted), loc="outside upper left")
    panels = [axes for axes in drawn.axes if axes.get_subplotspec() is not None]
    drawn.set_size_inches(width, wanted.height or long + 1.0)
    for _ in range(3):
        drawn.draw_without_rendering()
        _settle_ticks(drawn)
        drawn.draw_without_rendering()
        high = min(axes.get_position().height for axes in panels) * drawn.get_figheight()
        if wanted.height is None:
            drawn.set_figheight(drawn.get_figheight() + grid.nrows * (each - high))
        elif high < LEAST:
            _too_small("high", grid.nrows, "panels above each other")
    if min(axes.get_position().width for axes in panels) * width < LEAST:
        _too_small("wide", grid.ncols, "columns of panels")


def _wrapped(text: str, inches: float, letters: float) -> str:
    """Break a text into lines of so many inches."""
    return textwrap.fill(" ".join(text.split()), max(8, int(inches / (letters * 0.52 / 72))))


def _wrap_titles(panels: Sequence[Axes], inches: float) -> None:
    for axes in panels:
        if axes.get_title():
            axes.title.set_text(_wrapped(axes.get_title(), inches, float(axes.title.get_fontsize())))


def _small(wanted: Print) -> float:
    return max(LEAST_LETTERS, wanted.letters * 8 / 9)


def _too_small(which: str, count: int, of: str) -> None:
    raise CellrateError(f"the picture is not {which} enough for {count} {of}: give it more, or draw fewer")


@dataclass(frozen=True)
class _Row:
    panels: Sequence[Axes]
    legend: Legend | None
    above: float
    below: float
    """Space around its panels [in]."""


def _by_hand(drawn: Drawn, wanted: Print, width: float) -> None:
    """Lay out a figure whose margins were set by hand."""
    shown = [axes for axes in drawn.axes if axes.get_visible()]
    spec = {axes: axes.get_subplotspec() for axes in shown}
    columns = max(one.colspan.stop for one in spec.values() if one is not None)
    lines = sorted({one.rowspan.start for one in spec.values() if one is not None})
    panel = (wanted.height and max(LEAST, wanted.height / len(lines) - 0.4)) or (PANEL if len(lines) > 1 else 2.0)
    drawn.set_size_inches(width, wanted.height or len(lines) * panel + 1.0)
    _wrap_titles(shown, (width - 0.7) / columns)
    for axes in shown:
        for label in (axes.yaxis.label, *(child.yaxis.label for child in axes.child_axes)):
            label.set_text(_wrapped(label.get_text(), panel, float(label.get_fontsize())))
    top = EDGE
    _set_title(drawn, wanted.title, width)
    measure = Measure(drawn)
    if wanted.title and drawn.heading is not None:
        top += (measure.extent(drawn.heading) or drawn.bbox_inches).height + GAP
    general = [_legend(drawn, old, width - 2 * EDGE, _small(wanted), loc="upper left") for old in drawn.legends]
    own = {
        axes: _legend(drawn, old, width - 2 * EDGE, _small(wanted), loc="lower left")
        for axes in shown
        if (old := axes.get_legend()) is not None
    }
    general_from = top
    top += sum(_height(measure, one) + GAP for one in general)
    rows: list[_Row] = []
    # Widths decide which labels fit, and these decide margins; twice is enough.
    across: list[tuple[float, float]] = [(0.5 + place * (width - 0.6) / columns, 0.5) for place in range(columns)]
    heights = [panel] * len(lines)
    for _ in range(3):
        around = {axes: _around(axes, measure, drawn) for axes in shown}
        rows = [_row([axes for axes in shown if spec[axes].rowspan.start == line], own, around, measure)  # type: ignore[union-attr]
                for line in lines]  # fmt: skip
        across = _across(shown, spec, around, columns, width)
        free = sum(row.above + row.below + (_height(measure, row.legend) if row.legend else 0.0) for row in rows)
        free += top + EDGE + GAP * (len(rows) - 1)
        each = PANEL if len(rows) > 1 else max(1.0, ALONE * across[0][1])
        if wanted.height is not None:
            each = (wanted.height - free) / len(rows)
            if each < LEAST:
                _too_small("high", len(rows), "panels above each other")
        heights = [each] * len(rows)
        height = wanted.height or free + sum(heights)
        drawn.set_size_inches(width, height)
        _place(rows, heights, across, spec, (width, height), top, measure)
        _settle_ticks(drawn)
    if drawn.heading is not None:
        drawn.heading.set_position((EDGE / width, 1 - EDGE / height))
    for one in general:
        one.set_bbox_to_anchor((EDGE / width, 1 - general_from / height), transform=drawn.transFigure)
        general_from += _height(measure, one) + GAP


def _place(
    rows: Sequence[_Row], heights: Sequence[float], across: Sequence[tuple[float, float]], spec: Any,
    size: tuple[float, float], top: float, measure: Measure,
) -> None:  # fmt: skip
    """Give panels and their legends their places, from top to bottom."""
    width, height = size
    y = height - top
    for row, high in zip(rows, heights, strict=True):
        if row.legend is not None:
            y -= _height(measure, row.legend)
            left = across[0][0] if _width(measure, row.legend) <= width - across[0][0] else EDGE
            figure = row.panels[0].get_figure(root=True)
            assert figure is not None
            row.legend.set_bbox_to_anchor((left / width, (y + 0.02) / height), transform=figure.transFigure)
        y -= row.above + high
        for axes in row.panels:
            left, wide = across[spec[axes].colspan.start]
            axes.set_position((left / width, y / height, wide / width, high / height))
        y -= row.below + GAP


def _across(
    shown: Sequence[Axes], spec: Any, around: dict[Axes, tuple[float, float, float, float]], columns: int, width: float
) -> list[tuple[float, float]]:
    """Give left edge and width of the panels of each column [in]."""
    left, right = [0.0] * columns, [0.0] * columns
    for axes in shown:
        place = spec[axes].colspan.start
        left[place] = max(left[place], around[axes][0])
        right[place] = max(right[place], around[axes][1])
    between = [right[place] + left[place + 1] + GAP for place in range(columns - 1)]
    each = (width - 2 * EDGE - left[0] - right[-1] - sum(between)) / columns
    if each < LEAST:
        _too_small("wide", columns, "columns of panels")
    found, x = [], EDGE + left[0]
    for place in range(columns):
        found.append((x, each))
        x += each + (between[place] if place < columns - 1 else 0.0)
    return found


def _row(
    panels: Sequence[Axes], own: dict[Axes, Legend], around: dict[Axes, tuple[float, float, float, float]],
    measure: Measure,
) -> _Row:  # fmt: skip
    legends = [own[axes] for axes in panels if axes in own]
    return _Row(
        panels,
        legends[0] if legends else None,
        max(around[axes][2] for axes in panels),
        max(around[axes][3] for axes in panels),
    )


def _around(axes: Axes, measure: Measure, drawn: Drawn) -> tuple[float, float, float, float]:
    """Give what stands left of a panel, right of it, above and below it [in]."""
    full = measure.extent(axes)
    box = axes.get_position().transformed(drawn.transFigure)
    x0, y0, x1, y1 = (edge / drawn.dpi for edge in (box.x0, box.y0, box.x1, box.y1))
    if full is None:
        return 0.0, 0.0, 0.0, 0.0
    return max(0.0, x0 - full.x0), max(0.0, full.x1 - x1), max(0.0, full.y1 - y1), max(0.0, y0 - full.y0)


def _settle_ticks(drawn: Drawn) -> None:
    """Let no labels of ticks stand on one another, at the sizes that panels have now."""
    measure = Measure(drawn)
    for axes in drawn.axes:
        texts = [label.get_text() for label in axes.get_xticklabels()] if axes.get_visible() else []
        if not any(texts) or are_apart(axes, measure):
            continue
        if all(re.fullmatch(r"[-−\d.,eE+$\\{}^ ]*", text) for text in texts):
            if axes.xaxis.get_scale() == "linear" and not _is_fixed(axes):
                axes.locator_params(axis="x", nbins=3)
            else:
                drop_labels(axes, measure)
        else:
            turn_labels(axes, measure)


def _is_fixed(axes: Axes) -> bool:
    from matplotlib.ticker import FixedLocator

    return isinstance(axes.xaxis.get_major_locator(), FixedLocator)


def _height(measure: Measure, part: Legend) -> float:
    found = measure.extent(part)
    return 0.0 if found is None else float(found.height)


def _width(measure: Measure, part: Legend) -> float:
    return measure.width(part)
