"""Max-min lines behind ACR follow who sends, and sweep pictures keep categories and directions apart."""

from __future__ import annotations

import numpy as np
import pytest

import cellrate
from cellrate.plotting.panels import fair_levels
from cellrate.plotting.runs import figure, panels_of
from cellrate.sweeps.quantities import Found, quantities
from conftest import swept

WHOLE = 0.9 * 155.52e6 / 424


@pytest.fixture(scope="module")
def transient() -> cellrate.Result:
    return cellrate.run("two-source-transient", set={"duration": "250 ms"})


def test_levels_change_where_a_source_begins_and_ends(transient: cellrate.Result) -> None:
    levels = fair_levels(transient.toml)
    first, second = levels["vc1"], levels["vc2"]
    assert [at_s for at_s, _ in first] == [0.0, 0.1, 0.2]
    assert [rate for _, rate in first] == pytest.approx([WHOLE, WHOLE / 2, WHOLE], rel=0.04)
    # What does not send has no line.
    assert [(at_s, rate is None) for at_s, rate in second] == [(0.0, True), (0.1, False), (0.2, True)]


def test_levels_follow_a_link_that_is_down() -> None:
    scenario = cellrate.Scenario.load("two-source-transient")
    document = scenario.to_dict()
    for link in document["link"]:
        if "sw2" in link["between"] and "sw1" in link["between"]:
            link["outages"] = [["20 ms", "30 ms"]]
    level = fair_levels(cellrate.Scenario.from_dict(document).toml)["vc1"]
    assert [(at_s, rate is None) for at_s, rate in level[:3]] == [(0.0, False), (0.02, True), (0.03, False)]


def test_lines_are_steps_with_gaps(transient: cellrate.Result) -> None:
    axes = figure(panels_of(transient), "title", "stamp").axes[0]
    first, second = [line for line in axes.lines if line.get_linestyle() == "--" and len(np.asarray(line.get_xdata()))]
    assert np.asarray(first.get_xdata()).tolist() == [0.0, 0.1, 0.2, 0.25]
    assert np.isnan(np.asarray(second.get_ydata(), float)).tolist() == [True, False, True, True]
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_texts()[-1].get_text() == "max-min of those that send"


def test_figures_of_categories_and_directions_are_apart() -> None:
    found = [Found.of(quantity, [cellrate.run("cbr-and-abr").summary]) for quantity in quantities()]
    throughput, *_ = [one.apart() for one in found if one.quantity.kind == "vcs"]
    axes = [one.quantity.axis for one in throughput]
    assert len(axes) > 1
    assert all(len({category for category in ("ABR", "CBR", "VBR") if category in axis}) == 1 for axis in axes)
    names = [name for one in throughput for name in one.names]
    assert sorted(names) == sorted(found[0].names)


def test_what_all_have_in_common_is_not_said() -> None:
    results = [result.summary for result in swept(("defaults.abr.nrm", "[8, 32]"))]
    (only,) = Found.of(quantities()[0], results).apart()
    assert only.quantity.axis == "throughput [Mbps]"
