"""A sweep as one picture: what is where in it, and that all of it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import cellrate
from cellrate.plotting.sweeps import figure
from cellrate.sweeps.replications import mean_of, student_975
from cellrate.sweeps.settings import labels_of, names_of, numbers_of
from conftest import PAIR, SWEEP, swept

SWEPT = cellrate.Scenario.parse(SWEEP)

NRM = ("defaults.abr.nrm", "[8, 32, 256]")
LENGTH = ("defaults.link.length", '["1 km", "10 km", "100 km", "1000 km"]')
TARGET = ("defaults.switch.algorithm.target_utilization", '["80 %", "90 %", "95 %"]')
RIF = ("defaults.abr.rif", '["1/16", "1/64"]')
SEEDS = ("seed", "[1, 2, 3, 4, 5, 6]")
ALGORITHMS = (
    "defaults.switch.algorithm",
    '[{ type = "erica" }, { type = "erica", effective_number = true }, { type = "capc" }]',
)

TEN = """name = "ten"
duration = "5 ms"

[defaults]
link = { rate = "149.76 Mbps", length = "100 km" }
switch.algorithm = { type = "erica", target_utilization = "95 %" }

[[host]]
name = "s{i}"
count = 10

[[host]]
name = "d"

[[switch]]
name = "sw"

[[link]]
between = ["s{i}", "sw"]
count = 10

[[link]]
between = ["sw", "d"]

[[vc]]
name = "vc{i}"
path = ["s{i}", "sw", "d"]
count = 10
"""

RANDOM = PAIR.replace('length = "1 km"', 'length = "1 km", loss = "1 %"')
"""With losses, which differ from seed to seed."""

BURSTS = PAIR.replace(
    'name = "vc1"', 'name = "vc1"\ntraffic = { type = "request-response", request = "2 cells", response = "100 cells" }'
)

FRAMES = PAIR.replace(
    'name = "vc1"', 'name = "vc1"\ntraffic = { type = "frames", frames_per_second = 1000, size = "500 B" }'
)


def positions(line: Line2D) -> list[float]:
    values: list[float] = np.asarray(line.get_xdata()).tolist()
    return values


def drawn_of(results: Sequence[cellrate.Result]) -> Figure:
    drawn = figure(results)
    assert drawn is not None
    return drawn


def texts(drawn: Figure) -> list[str]:
    return [text.get_text() for text in drawn.texts]


def legends(drawn: Figure) -> dict[str, list[str]]:
    """Give the names in the legends, by what their panels are of."""
    labels = [axes.get_ylabel() for axes in drawn.axes if axes.get_ylabel()]
    found = [[text.get_text() for text in legend.get_texts()] for axes in drawn.axes if (legend := axes.get_legend())]
    return dict(zip(labels, found, strict=True))


def assert_readable(drawn: Figure) -> None:
    """See that everything is inside the picture, and that no text stands above another, nor a legend above a panel."""
    canvas: Any = FigureCanvasAgg(drawn)
    canvas.draw()
    renderer = canvas.get_renderer()
    panels = [axes.get_window_extent(renderer) for axes in drawn.axes]
    found: list[Text] = list(drawn.texts)
    for axes in drawn.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label]
        place = axes.get_subplotspec()
        if place is not None and place.is_last_row():
            found += axes.get_xticklabels()
        legend = axes.get_legend()
        if legend is not None:
            found += [legend.get_title(), *legend.get_texts()]
            assert not any(legend.get_window_extent(renderer).overlaps(panel) for panel in panels)
    shown = [text for text in found if text.get_text()]
    boxes = {text: text.get_window_extent(renderer) for text in shown}
    width, height = drawn.bbox.size
    outside = [text for text, box in boxes.items() if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]
    assert outside == []
    # The box of what is turned holds more than its letters.
    upright = [text for text in shown if text.get_rotation() in (0.0, 90.0)]
    above = [(one, other) for one, other in combinations(upright, 2) if boxes[one].overlaps(boxes[other])]
    assert above == []


def test_numbers_have_an_axis_with_a_tick_for_each_value() -> None:
    drawn = figure(cellrate.sweep(SWEPT, workers=1))
    assert drawn is not None
    assert [axes.get_ylabel() for axes in drawn.axes] == [
        "throughput [Mbps]",
        "p99 delay [ms]",
        "utilization [%]",
        "max queue [cells]",
    ]
    last = drawn.axes[-1]
    assert (last.get_xlabel(), last.get_xscale()) == ("defaults.abr.nrm", "log")
    assert [label.get_text() for label in last.get_xticklabels()] == ["8", "32", "256"]
    assert [positions(line) for line in drawn.axes[0].lines] == [[8.0, 32.0, 256.0]]


def test_values_with_a_unit_are_numbers_in_order() -> None:
    drawn = figure(swept(("duration", '["40 ms", "10 ms", "20 ms"]')))
    assert drawn is not None
    assert drawn.axes[-1].get_xlabel() == "duration [ms]"
    assert positions(drawn.axes[0].lines[0]) == [10.0, 20.0, 40.0]


def test_algorithms_stand_beside_each_other_by_their_types_and_are_not_joined() -> None:
    drawn = figure(swept(("defaults.switch.algorithm", '[{ type = "erica" }, { type = "capc" }]')))
    assert drawn is not None
    assert [label.get_text() for label in drawn.axes[-1].get_xticklabels()] == ["erica", "capc"]
    assert all(line.get_linestyle() == "None" for line in drawn.axes[0].lines)


def test_what_else_is_varied_has_lines_of_its_own() -> None:
    drawn = figure(swept(("defaults.abr.nrm", "[8, 16, 32]"), ("defaults.abr.rif", '["1/16", "1/64"]')))
    assert drawn is not None
    assert [line.get_label() for line in drawn.axes[0].lines] == ["vc1 rif 1/16", "vc1 rif 1/64"]
    assert all(len(positions(line)) == 3 for line in drawn.axes[0].lines)


def test_of_many_connections_the_spread_is_drawn() -> None:
    many = cellrate.ready_scenarios()["algorithms"].read_text()
    drawn = figure(cellrate.sweep(cellrate.Scenario.parse(many).set({"duration": "30 ms"}), workers=1))
    assert drawn is not None
    assert [line.get_label() for line in drawn.axes[0].lines] == ["least of 10", "median", "largest"]


def test_without_anything_varied_there_is_no_picture() -> None:
    assert figure([]) is None
    assert figure([cellrate.run(cellrate.Scenario.parse(PAIR))]) is None
    assert figure(swept(("seed", "[3]"))) is None


def test_three_parameters_are_axis_lines_and_columns() -> None:
    drawn = drawn_of(swept(NRM, LENGTH, TARGET, text=TEN))
    assert_readable(drawn)
    headings = [axes.get_title() for axes in drawn.axes if axes.get_title()]
    assert headings == ["nrm 8", "nrm 32", "nrm 256"]
    targets = [f"target_utilization {value} %" for value in (80, 90, 95)]
    assert legends(drawn)["throughput [Mbps]"] == targets
    # Of ten connections the median, with the span of all behind it; of ports the largest.
    assert all(len(axes.lines) == 3 and len(axes.collections) == 3 for axes in drawn.axes[:3])
    legend = drawn.axes[2].get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "median of 10 VCs;\nshaded: least to largest"
    assert legends(drawn)["utilization [%]"] == targets
    legend = drawn.axes[8].get_legend()
    assert legend is not None
    assert legend.get_title().get_text().startswith("largest of")
    assert drawn.axes[-2].get_xlabel() == "defaults.link.length [km]"
    # The same colour is the same value everywhere.
    colours = {line.get_label(): line.get_color() for line in drawn.axes[0].lines}
    again = {line.get_label(): line.get_color() for line in drawn.axes[7].lines}
    assert colours == again


def test_what_of_a_fourth_parameter_is_drawn_is_said() -> None:
    drawn = drawn_of(swept(NRM, LENGTH, TARGET, RIF, text=TEN))
    assert_readable(drawn)
    assert "Drawn are the points with rif 1/16 only. summary.json has all points." in texts(drawn)


def test_many_values_of_a_second_parameter_are_lines_of_their_own_and_more_are_counted() -> None:
    lengths = ("defaults.link.length", str([f"{km} km" for km in range(1, 14)]).replace("'", '"'))
    values = ("defaults.switch.algorithm.target_utilization", str([f"{value} %" for value in range(80, 90)]))
    drawn = drawn_of(swept(lengths, (values[0], values[1].replace("'", '"')), text=TEN))
    assert_readable(drawn)
    shown = legends(drawn)["throughput [Mbps]"]
    assert (len(shown), shown[0], shown[-1]) == (8, "target_utilization 80 %", "target_utilization 89 %")
    said = "8 of the 10 values of defaults.switch.algorithm.target_utilization are drawn. summary.json has all points."
    assert said in " ".join(" ".join(texts(drawn)).split())


def test_seeds_are_no_axis_but_give_means_with_their_intervals() -> None:
    results = swept(("defaults.abr.nrm", "[8, 32]"), SEEDS, text=RANDOM)
    drawn = drawn_of(results)
    assert_readable(drawn)
    assert drawn.axes[-1].get_xlabel() == "defaults.abr.nrm"
    axes = drawn.axes[0]
    line = next(line for line in axes.lines if line.get_label() == "vc1")
    assert positions(line) == [8.0, 32.0]
    expected = mean_of([result.vc("vc1")["throughput_bps"] / 1e6 for result in results[:6]])
    assert np.asarray(line.get_ydata())[0] == pytest.approx(expected.mean)
    assert expected.half_width is not None
    assert expected.half_width > 0
    bars = [bar for one in axes.collections if isinstance(one, LineCollection) for bar in one.get_segments()]
    ends = {(round(float(low), 9), round(float(high), 9)) for (_, low), (_, high) in bars}
    half = expected.half_width
    assert (round(expected.mean - half, 9), round(expected.mean + half, 9)) in ends
    assert "Means of n = 6 seeds; bars: 95 % confidence intervals of the means (Student's t)." in texts(drawn)


def test_algorithms_with_seeds_have_the_algorithms_as_axis() -> None:
    drawn = drawn_of(swept(ALGORITHMS, SEEDS, text=TEN))
    assert_readable(drawn)
    ticks = [label.get_text() for label in drawn.axes[-1].get_xticklabels()]
    assert ticks == ["erica", "erica, effective_number", "capc"]


def test_seeds_alone_have_a_picture_with_their_mean() -> None:
    drawn = drawn_of(swept(SEEDS))
    assert_readable(drawn)
    assert [label.get_text() for label in drawn.axes[-1].get_xticklabels()] == ["6 seeds"]
    assert all(len(positions(line)) == 1 for line in drawn.axes[0].lines if line.get_label() == "vc1")


def test_seeds_without_effect_are_said_to_have_none() -> None:
    drawn = drawn_of(swept(("defaults.abr.nrm", "[8, 32]"), ("seed", "[1, 2]"), text=BURSTS))
    assert "Means of n = 2 seeds, which make no difference." in texts(drawn)


def test_many_categories_with_long_labels_are_readable() -> None:
    kinds = ", ".join(f'{{ type = "erica", interval = "{ms} ms", delta = 0.{ms} }}' for ms in range(1, 10))
    drawn = drawn_of(swept(("defaults.switch.algorithm", f"[{kinds}]"), text=TEN))
    assert_readable(drawn)
    ticks = [label.get_text() for label in drawn.axes[-1].get_xticklabels()]
    assert ticks[0] == "erica, interval 1 ms, delta 0.1"
    assert len(set(ticks)) == 9


def test_names_are_shown_as_they_are() -> None:
    drawn = drawn_of(swept(("name", '["$a_1$", "$b^2$"]'), text=PAIR.replace('"vc1"', '"_vc1"')))
    assert_readable(drawn)
    assert legends(drawn)["throughput [Mbps]"] == [" _vc1"]
    assert [label.get_text() for label in drawn.axes[-1].get_xticklabels()] == [r"\$a_1\$", r"\$b^2\$"]


def test_values_of_different_units_are_in_order_and_labels_apart() -> None:
    drawn = drawn_of(swept(("defaults.link.length", '["11 km", "500 m", "10 km", "10500 m"]')))
    assert_readable(drawn)
    assert positions(drawn.axes[0].lines[0]) == [0.5, 10.0, 10.5, 11.0]


def test_applications_have_panels() -> None:
    tcp = cellrate.ready_scenarios()["tcp-over-abr"].read_text().replace("500 ms", "60 ms")
    drawn = drawn_of(swept(("defaults.abr.nrm", "[8, 32]"), text=tcp))
    assert legends(drawn)["goodput\nof TCP connections [Mbps]"] == ["tcp"]
    drawn = drawn_of(swept(("defaults.abr.nrm", "[8, 32]"), text=BURSTS))
    assert legends(drawn)["mean response\nof bursts\nrequest [ms]"] == ["vc1 request"]
    assert legends(drawn)["mean response\nof bursts\nresponse [ms]"] == ["vc1 (back) response"]
    drawn = drawn_of(swept(("defaults.abr.nrm", "[8, 32]"), text=FRAMES))
    assert legends(drawn)["whole frames [%]"] == ["vc1"]
    whole = next(axes for axes in drawn.axes if axes.get_ylabel() == "whole frames [%]")
    assert np.asarray(whole.lines[0].get_ydata()).tolist() == pytest.approx([100.0, 100.0], abs=6)


def test_labels_tell_values_apart() -> None:
    erica, effective = '{ type = "erica" }', '{ type = "erica", effective_number = true }'
    assert labels_of([erica, effective, '{ type = "capc" }']) == {
        erica: "erica",
        effective: "erica, effective_number",
        '{ type = "capc" }': "capc",
    }
    long = ["x" * 30 + end for end in "ab"]
    assert labels_of(long) == dict(zip(long, long, strict=True))
    assert labels_of(["x" * 30])["x" * 30] == "x" * 21 + "..."
    tables = ['{ rate = "1 Mbps", n = { m = 1 } }', '{ rate = "2 Mbps", n = { m = 1 } }']
    assert list(labels_of(tables).values()) == ["rate 1 Mbps", "rate 2 Mbps"]


def test_names_are_as_long_as_they_must_be() -> None:
    names = names_of(["defaults.abr.nrm", "vc.vc1.abr.rif", "vc.vc2.abr.rif"])
    assert list(names.values()) == ["nrm", "vc1.abr.rif", "vc2.abr.rif"]


@pytest.mark.parametrize(
    ("written", "values", "unit"),
    [
        (["10 km", "500 m"], [10.0, 0.5], "km"),
        (["80 %", "0.9", "1/16"], [0.8, 0.9, 0.0625], "1"),
        (["0.3 ms", "1 s"], [0.0003, 1.0], "s"),
        (["1 Mbps", "1000 cells/s"], [1e6, 424e3], "bit/s"),
        (["64 kB", "1 KiB"], [64e3, 1024.0], "octets"),
        (["100 cells", "53 kB"], [100.0, 1000.0], "cells"),
    ],
)
def test_quantities_of_one_dimension_are_numbers(written: list[str], values: list[float], unit: str) -> None:
    found = numbers_of(written)
    assert found is not None
    assert (found.values, found.unit) == (values, unit)


@pytest.mark.parametrize("written", [["10 km", "1 s"], ["erica"], ["1/0"], ["10 km", "ten"]])
def test_anything_else_is_none(written: list[str]) -> None:
    assert numbers_of(written) is None


@pytest.mark.parametrize(
    ("degrees", "value"), [(1, 12.7062), (2, 4.30265), (3, 3.18245), (9, 2.26216), (10, 2.22814), (30, 2.04227)]
)
def test_quantiles_of_student_are_those_of_tables(degrees: int, value: float) -> None:
    assert student_975(degrees) == pytest.approx(value, abs=5e-5)


def test_a_mean_has_its_interval() -> None:
    assert mean_of([1.0, 2.0, 3.0]).half_width == pytest.approx(4.30265 / 3**0.5, abs=1e-4)
    assert mean_of([5.0]).half_width is None
    # Values that are all the same say nothing of the error, as a single one does.
    assert mean_of([0.1] * 7).half_width is None
    assert mean_of([0.1] * 7).is_constant


def test_many_panels_stand_in_stacks_that_fit_a_screen() -> None:
    results = [cellrate.run("frame-discard", set={"duration": "300 ms"}, point=point) for point in range(1, 6)]
    drawn = drawn_of(results)
    assert len(drawn.axes) == 9
    width, height = drawn.get_size_inches()
    assert width < 19
    assert height < 9
    assert_readable(drawn)
    # In the order of one stack, from top to bottom and then to the right, each with its values below.
    places = [axes.get_position() for axes in drawn.axes]
    assert [sum(place.x0 == pytest.approx(other.x0) for other in places) for place in places] == [3] * 9
    below = [axes for axes in drawn.axes if axes.get_xlabel()]
    assert len(below) == 3
    assert {label.get_text() for axes in below for label in axes.get_xticklabels()} >= {"off", "early", "fair"}
    alone = figure(results, stacked=False)
    assert alone is not None
    assert [axes.get_ylabel() for axes in alone.axes] == [
        axes.get_ylabel()
        for axes in sorted(drawn.axes, key=lambda axes: (axes.get_position().x0, -axes.get_position().y0))
    ]
    assert alone.get_size_inches()[1] > 2 * height


def test_a_stack_that_is_shorter_has_its_values_below_its_last_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellrate.plotting.sweeps.picture.IN_A_STACK", 3)
    drawn = drawn_of(swept(("defaults.abr.nrm", "[8, 32]")))
    count = len(drawn.axes)
    below = [axes for axes in drawn.axes if axes.get_xlabel()]
    assert len(below) == -(-count // 3)
    assert all(any(label.get_visible() for label in axes.get_xticklabels()) for axes in below)
    assert_readable(drawn)
