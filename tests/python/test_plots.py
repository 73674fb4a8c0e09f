"""Plots of a run: every legend is whole, and says of how many lines it is."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cellrate.drawing.figures import Drawn
from cellrate.plotting.panels import Level
from cellrate.plotting.runs import MOST_NAMED, Line, Panel, figure
from cellrate.results import Series
from conftest import swept


def line(name: str, value: float = 1.0) -> Line:
    series = Series("acr", name, "cells/s", 0.1, np.array([0.1, 0.2]), np.array([value, value]), 0.2)
    return Line(series, name)


def panel(names: list[str], levels: dict[str, Level] | None = None, second: bool = True) -> Panel:
    axis = "[1000 cells/s]" if second else None
    return Panel("ACR [Mbps]", [line(name) for name in names], second_axis=axis, levels=levels or {})


def named(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def legend_is_whole(drawn: Figure) -> bool:
    """Whether each legend is inside the picture, off all panels but what is above its own, and above no other's."""
    canvas: Any = FigureCanvasAgg(drawn)
    renderer = canvas.get_renderer()
    legends = [legend.get_window_extent(renderer) for axes in drawn.axes if (legend := axes.get_legend())]
    panels = [axes.get_window_extent(renderer).shrunk(0.98, 0.98) for axes in drawn.axes]
    inside = all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= drawn.bbox.x1 and box.y1 <= drawn.bbox.y1 for box in legends)
    apart = not any(box.overlaps(other) for box in legends for other in panels)
    return inside and apart and not any(a.overlaps(b) for a in legends for b in legends if a is not b)


@pytest.mark.parametrize("count", [1, 5, 6, 10, 15, 22, 24, 25, 100])
@pytest.mark.parametrize("stem", ["vc", "cross-traffic-of-line-"])
def test_no_legend_is_cut(stem: str, count: int) -> None:
    names = [f"{stem}{number}" for number in range(1, count + 1)]
    drawn = figure([panel(names, {names[0]: [(0.0, 1.0)]}), panel(["sw->d"], second=False)], "title", "stamp")
    assert named(drawn.axes[0])[-1] == "max-min of those that send"
    assert legend_is_whole(drawn)
    left, right = (drawn.axes[0].get_position().x0, drawn.axes[0].get_position().x1)
    assert (right - left) * drawn.get_figwidth() >= 4.39


def test_several_panels_of_many_lines_have_legends_apart() -> None:
    names = [f"vc{number}" for number in range(1, 31)]
    drawn = figure(
        [panel(names, {names[0]: [(0.0, 1.0)]}), panel(names), panel(names)], "title", "stamp", panel_height=1.15
    )
    assert legend_is_whole(drawn)


def test_a_few_long_names_stand_beside_as_well() -> None:
    names = [f"a connection with a name of many words, number {number}" for number in range(3)]
    assert legend_is_whole(figure([panel(names)], "title", "stamp"))


def test_few_lines_leave_the_figure_as_wide_as_it_was() -> None:
    assert figure([panel(["vc1", "vc2"])], "title", "stamp").get_figwidth() == pytest.approx(7.2)


def test_of_many_lines_some_have_names_and_the_others_are_grey_and_counted() -> None:
    names = [f"vc{number}" for number in range(1, 100)]
    (axes,) = figure([panel([*names, "long"])], "title", "stamp").axes
    shown = named(axes)
    assert shown[-1] == f"{100 - (MOST_NAMED - 1)} more"
    assert len(shown) == MOST_NAMED
    assert {"vc1", "vc2", "long"} <= set(shown)
    lines = [one for one in axes.lines if len(np.asarray(one.get_xdata()))]
    assert len(lines) == 100
    dashes: dict[str, Any] = {str(one.get_label()): one for one in lines}
    looks = {(one.get_color(), str(one._dash_pattern)) for name, one in dashes.items() if name in shown}
    assert len(looks) == MOST_NAMED - 1
    others = {one.get_color() for one in lines if one.get_label() not in shown}
    assert len(others) == 1
    assert not others & {colour for colour, _ in looks}


def test_up_to_so_many_lines_all_have_names() -> None:
    names = [f"vc{number}" for number in range(MOST_NAMED)]
    assert named(figure([panel(names)], "title", "stamp").axes[0]) == names


def test_names_are_shown_as_they_are() -> None:
    (axes,) = figure([panel(["$vc_1$", "_vc_2"])], "$a$", "stamp").axes
    assert named(axes) == [r"\$vc_1\$", " _vc_2"]


def test_a_plot_says_what_the_point_of_a_sweep_sets() -> None:
    (*_, result) = swept(("defaults.abr.nrm", "[8, 32]"), ("duration", '["5 ms"]'))
    drawn = result.plot("acr")
    assert "defaults.abr.nrm = 32, duration = 5 ms" in [text.get_text() for text in drawn.texts]


def test_what_a_point_sets_is_all_between_title_and_panels() -> None:
    path = "switch.sw1.ports.sw2.algorithm.target_utilization"
    words = ", ".join(f"{path} = {number} %" for number in range(80, 92))
    drawn = figure([panel(["vc1", "vc2"])], "title", "stamp", subtitle=words)
    (told,) = [text for text in drawn.texts if text.get_text().startswith(path)]
    assert " ".join(told.get_text().split()) == words
    canvas: Any = FigureCanvasAgg(drawn)
    box = told.get_window_extent(canvas.get_renderer())
    legend = drawn.axes[0].get_legend()
    assert legend is not None
    assert box.x1 <= drawn.bbox.x1
    assert box.y1 <= drawn.bbox.y1
    assert box.y0 >= legend.get_window_extent(canvas.get_renderer()).y1


def test_an_axis_of_nothing_ends_at_one() -> None:
    nothing = Panel("port_drops [cells]", [line("sw->d", 0.0)])
    few = Panel("port_drops [cells]", [line("sw->d", 0.5)])
    tops = [axes.get_ylim()[1] for axes in figure([nothing, few], "title", "stamp").axes]
    assert tops[0] == 1
    assert 0.5 < tops[1] < 0.6


@pytest.mark.parametrize("setting", ["figure.constrained_layout.use", "figure.autolayout"])
def test_a_layout_that_somebody_uses_for_his_own_figures_leaves_ours_alone(setting: str) -> None:
    def picture() -> bytes:
        drawn = figure([panel(["vc1", "vc2"]), panel(["vc1"])], "title", "stamp")
        assert isinstance(drawn, Drawn)
        return drawn._repr_png_()

    alone = picture()
    theirs: dict[Any, Any] = {setting: True}
    with mpl.rc_context(theirs):
        assert picture() == alone
