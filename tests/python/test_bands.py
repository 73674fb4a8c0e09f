"""Groups in pictures, ends of sources, curves that cover each other, and what a warm-up leaves out of the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import cellrate
from cellrate.plotting.alike import alike, said
from cellrate.plotting.bands import fold
from cellrate.plotting.runs import Panel, figure, panels_of
from cellrate.recorded.delays import Delays, pooled
from cellrate.results import Series
from test_plots import line, named

NETWORK = """
name = "n"
duration = "40 ms"
defaults.link = { rate = "100 Mbps", length = "10 km" }
host = [{ name = "s{i}", count = 7 }, { name = "d" }]
switch = [{ name = "sw1" }, { name = "sw2" }]
link = [
    { between = ["s{i}", "sw1"], count = 7 }, { between = ["sw1", "sw2"] }, { between = ["sw2", "d"] }
]
vc = [{ name = "g{i}", count = 6, path = ["s{i}", "sw1", "sw2", "d"] },
      { name = "late", path = ["s7", "sw1", "sw2", "d"], traffic = { type = "greedy", start = "5 ms", end = "20 ms" } }]
probe = [{ record = ["acr"] }, { record = ["received"], every = "1 ms" }]
"""


def of(name: str, times: Sequence[float], values: Sequence[float], interval: float | None = None) -> Series:
    return Series("acr", name, "", interval, np.array(times, dtype=float), np.array(values, dtype=float), 10.0)


GROUPS = {f"g{number}": "g1 ... g6" for number in range(1, 7)}


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(NETWORK))


def test_a_band_holds_every_value_of_its_members_at_any_instant() -> None:
    # Peaks of which none is longer than a picture's column, at irregular instants, one of them at the very end.
    random = np.random.default_rng(3)
    members = []
    for number in range(1, 7):
        times = np.sort(random.uniform(0, 10, 5000))
        members.append(of(f"g{number}", [0.0, *times], [1.0, *random.exponential(1, 5000)]))
    ((median, band),) = fold(members, GROUPS)
    assert median.entity == "g1 ... g6"
    assert band is not None
    assert max(one.max() for one in members) == np.fmax.reduce(band.high)
    assert min(one.min() for one in members) == np.fmin.reduce(band.low)
    for at in random.uniform(0, 10, 300):
        place = np.searchsorted(band.times_s, at, side="right") - 1
        for one in members:
            assert band.low[place] <= one.at(at) <= band.high[place]


def test_a_band_at_intervals_has_the_median_and_members_that_end_leave_it() -> None:
    times = [1.0, 2.0, 3.0]
    members = [
        of(f"g{number}", times[: 3 if number < 6 else 2], [number] * (3 if number < 6 else 2), 1.0)
        for number in range(1, 7)
    ]
    other = of("x", times, [9, 9, 9], 1.0)
    (median, band), (alone, none) = fold([*members, other], GROUPS)
    assert median.values.tolist() == [3.5, 3.5, 3.0]
    assert band is not None
    assert (band.low.tolist(), band.high.tolist()) == ([1, 1, 1], [6, 6, 5])
    assert (alone, none) == (other, None)


def test_what_cannot_be_laid_on_one_another_stays_apart() -> None:
    mixed = [of("g1", [1.0], [1.0], 1.0), of("g2", [0.0], [1.0])]
    assert [band for _, band in fold(mixed, GROUPS)] == [None, None]
    assert fold(mixed, {}) == [(mixed[0], None), (mixed[1], None)]


def test_groups_of_a_run_are_bands_and_each_shows_all(result: cellrate.Result) -> None:
    acr, received = panels_of(result)
    assert [one.label for one in acr.lines] == ["g1 ... g6", "late"]
    assert [one.label for one in received.lines] == ["g1 ... g6", "late"]
    assert [one.band is None for one in acr.lines] == [False, True]
    assert acr.levels.keys() == {"g1 ... g6", "late"}
    apart = panels_of(result, each=True)
    assert all(one.band is None for one in apart[0].lines)
    (axes, _) = result.plot().axes[:2]
    assert "least to largest, line: median" in named(axes)


def test_a_line_ends_where_its_source_ends(result: cellrate.Result) -> None:
    acr, received = panels_of(result)
    late = acr.lines[1].series
    recorded = result.series("acr", entity="late")
    changes = np.flatnonzero(np.diff(recorded.values))
    assert late.end_s == max(0.020, float(recorded.times_s[changes[-1] + 1]))
    assert late.end_s < 0.04
    # What has arrived is there to the end.
    assert received.lines[1].series.end_s == pytest.approx(0.04)
    assert cellrate.Scenario.parse(NETWORK).ends_s() == {"late": 0.02}


def test_curves_that_cover_each_other_are_one_with_both_names() -> None:
    a, b = of("a", [0, 1, 2], [5, 100, 5]), of("b", [0, 1, 2], [5, 100, 5])
    near, far = of("near", [0, 1, 2], [5.3, 100, 5]), of("far", [0, 1, 2], [8, 100, 5])
    assert alike([a, far, b, near]) == [([0, 2, 3], False), ([1], True)]
    assert alike([a, b]) == [([0, 1], True)]
    assert alike([a, of("later", [0, 1.5, 2], [5, 100, 5])]) == [([0], True), ([1], True)]
    assert said(["a", "b"], True) == "a = b"
    assert said(["a", "b"], False) == "a ≈ b"
    assert said(["a", "b", "c", "d"], True) == "a = ... = d (4)"
    gone = of("gone", [0, 1, 2], [np.nan, 100, 5])
    assert alike([gone, gone]) == [([0, 1], True)]


def test_a_warm_up_is_shaded_and_leaves_the_scale() -> None:
    peak = Series("queue", "p", "cells", 0.1, np.array([0.1, 0.2, 0.3]), np.array([9000.0, 100.0, 80.0]), 0.3)
    lines = [type(line("p"))(peak, "p")]
    whole = figure([Panel("queue [cells]", lines)], "t", "s")
    assert whole.axes[0].get_ylim()[1] > 9000
    shaded: Any = figure([Panel("queue [cells]", lines)], "t", "s", warm_up_s=0.15)
    assert shaded.axes[0].get_ylim()[1] == pytest.approx(105.0)
    assert "warm-up, not counted" in [text.get_text() for text in shaded.axes[0].texts]
    # A part of the time that is all warm-up is scaled by itself.
    inside = figure([Panel("queue [cells]", lines)], "t", "s", warm_up_s=0.15, time=(0.0, 0.12))
    assert inside.axes[0].get_ylim()[1] > 9000


def test_cells_of_a_group_are_one_distribution() -> None:
    one = Delays("a", np.array([1.0, 2.0]), np.array([3, 4], dtype=np.uint64))
    two = Delays("b", np.array([1.5, 2.0]), np.array([1, 6], dtype=np.uint64))
    both = pooled("a, b", [one, two])
    assert (both.delays_s.tolist(), both.cells.tolist()) == ([1.0, 1.5, 2.0], [3, 4, 10])
