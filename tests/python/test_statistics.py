"""Warm-up, batch means, prediction intervals, paired differences, and replications until a figure is sure."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate import CellrateError, Series
from cellrate.campaigns.statistics import WarmUp, batch_means, paired, prediction_interval, warm_up
from cellrate.command_line.main import status
from cellrate.sweeps.figures import Criterion, Figure, Objective, Precision
from cellrate.sweeps.replications import mean_of, mean_over_seeds
from conftest import PAIR
from test_means import RANDOM


def series(
    values: list[float] | np.ndarray[tuple[int], np.dtype[np.float64]], interval_s: float | None = 1.0
) -> Series:
    numbers = np.asarray(values, dtype=float)
    return Series("queue", "sw->b", "cells", interval_s, np.arange(1.0, len(numbers) + 1), numbers, float(len(numbers)))


NOISE = np.random.default_rng(1).normal(0.0, 1.0, 1000)


def test_a_transient_is_found_where_it_ends() -> None:
    decaying = 100.0 + NOISE + 50.0 * np.exp(-np.arange(1000) / 30.0)
    found = warm_up(series(decaying))
    # 50 exp(-t / 30) is down to the noise of means of five, 0.45, at t = 141.
    assert found.found
    assert 80 <= found.end_s <= 220


def test_a_steady_series_has_no_warm_up_and_one_that_grows_has_no_steady_state() -> None:
    assert warm_up(series([5.0] * 500)) == WarmUp(0.0, True)
    assert not warm_up(series(np.arange(1000.0))).found
    with pytest.raises(CellrateError, match="queue of sw->b has 99 values; to find a warm-up takes 100"):
        warm_up(series([1.0] * 99))


def test_a_step_is_a_warm_up_up_to_it() -> None:
    # Groups of five: the step at the 101st value is the 21st group, which begins at 101 s.
    assert warm_up(series([9.0] * 100 + [1.0] * 400)).end_s == 101.0


def test_a_series_on_change_is_taken_at_equal_distances() -> None:
    changing = Series("acr", "vc1", "cells/s", None, np.array([0.0, 1.0]), np.array([10.0, 2.0]), 10.0)
    assert warm_up(changing).end_s == pytest.approx(1.0, abs=0.06)
    assert batch_means(changing, after_s=1.1).mean == 2.0


def test_batch_means_are_those_of_batches() -> None:
    found = batch_means(series([7.0, *range(40)]), batches=4)
    expected = mean_of([4.5, 14.5, 24.5, 34.5])
    assert (found.mean, found.half_width, found.n) == (expected.mean, expected.half_width, 4)
    assert batch_means(series([100.0] * 20 + [1.0] * 40), after_s=21.0, batches=4).mean == 1.0
    with pytest.raises(CellrateError, match="3 values from 0 s on are too few for 2 batches of two or more"):
        batch_means(series([1.0, 2.0, 3.0]), batches=2)


def test_a_prediction_interval_is_wider_than_that_of_the_mean() -> None:
    # t(0.975, 2) = 4.30265, s = 1: 2 -+ 4.30265 sqrt(4/3).
    low, high = prediction_interval([1.0, 2.0, 3.0]) or (0.0, 0.0)
    assert (low, high) == pytest.approx((2 - 4.30265 * math.sqrt(4 / 3), 2 + 4.30265 * math.sqrt(4 / 3)), rel=1e-5)
    assert prediction_interval([1.0]) is None


def test_differences_are_taken_seed_by_seed() -> None:
    scenario = cellrate.Scenario.parse(RANDOM)
    base, other = (
        cellrate.sweep(scenario, set={"vc.bursts.traffic.rate": rate}, seeds=4, workers=1)
        for rate in ("30 Mbps", "20 Mbps")
    )
    (found,) = paired(base, other, "vcs.throughput[bursts]")
    values = [
        b.vc("bursts")["throughput_bps"] - a.vc("bursts")["throughput_bps"] for a, b in zip(base, other, strict=True)
    ]
    assert found.mean == mean_of(values)
    assert found.differs
    # The same bursts, only thinner: the difference varies less than what it is of.
    alone = mean_of([b.vc("bursts")["throughput_bps"] for b in other])
    assert (found.mean.half_width or 0.0) < (alone.half_width or 0.0)
    with pytest.raises(CellrateError, match="seeds differ: 10 are of one of the two only"):
        paired(base, other[:3], "vcs.throughput")


SUMMARY = {
    "vcs": [
        {
            "vc": "a",
            "category": "abr",
            "data_sent": 10,
            "data_delivered": 9,
            "throughput_bps": 4e6,
            "mean_delay_s": 0.001,
            "p99_delay_s": 0.004,
            "mean_acr": 1e4,
        },
        {
            "vc": "b",
            "category": "vbr",
            "data_sent": 10,
            "data_delivered": 1,
            "throughput_bps": 6e6,
            "mean_delay_s": 0.011,
            "p99_delay_s": None,
            "mean_acr": None,
        },
        {
            "vc": "a (back)",
            "category": "abr",
            "data_sent": 0,
            "data_delivered": 0,
            "throughput_bps": 0.0,
            "mean_delay_s": None,
            "p99_delay_s": None,
            "mean_acr": None,
        },
    ],
    "ports": [
        {"port": "sw->b", "dropped": 0, "max_queue": 7, "utilization": 0.95},
        {"port": "a->sw", "dropped": 0, "max_queue": 1, "utilization": 0.1},
    ],
    "tcp": [{"vc": "a", "connection": number, "segments": 5, "goodput_bps": number * 1e6} for number in (1, 2)]
    + [{"vc": "b", "connection": 1, "segments": 5, "goodput_bps": 4e6}],
}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        # As the columns add up: throughputs are added, of queues and delays the largest counts.
        ("vcs.throughput", {"": 1e7}),
        ("vcs.p99_delay", {"": 0.004}),
        ("ports.max_queue", {"": 7}),
        ("vcs.mean_delay", {"": (9 * 0.001 + 0.011) / 10}),
        ("each vcs.throughput", {"a": 4e6, "b": 6e6}),
        ("least vcs.throughput", {"": 4e6}),
        ("mean vcs.mean_delay", {"": 0.006}),
        ("abr vcs.throughput", {"": 4e6}),
        ("total vbr vcs.throughput", {"": 6e6}),
        ("each abr tcp.goodput", {"a #1": 1e6, "a #2": 2e6}),
        ("total abr tcp.goodput", {"": 3e6}),
        ("gfr vcs.throughput", {}),
        ("ports.max_queue[sw->b]", {"sw->b": 7}),
        # One that tells nothing is there by its name.
        ("ports.max_queue[a->sw]", {"a->sw": 1}),
        ("tcp.goodput[a #2]", {"a #2": 2e6}),
    ],
)
def test_figures_have_one_meaning(text: str, values: dict[str, float]) -> None:
    assert Figure.read(text).values(SUMMARY) == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("vcs.throughput", "throughput, total of VCs [Mbps]"),
        ("abr vcs.throughput", "throughput, total of ABR VCs [Mbps]"),
        ("ports.max_queue", "max queue, largest of ports [cells]"),
        ("each ports.utilization", "utilization, each port [%]"),
        ("vcs.mean_delay", "mean delay, mean of VCs by delivered [ms]"),
        ("vcs.mean_acr[a]", "mean ACR of a [Mbps]"),
    ],
)
def test_a_figure_says_what_it_is_made_of(text: str, label: str) -> None:
    assert Figure.read(text).axis == label


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("throughput", "is not a figure; write rows and a key"),
        ("vcs.speed", "rows of vcs have no speed; they have sent, data_sent,"),
        ("vc.speed", 'there are no rows "vc" in a result; there are run, vcs, ports'),
        ("ports.dropped[sw->c]", "nothing called 'sw->c' has a ports.dropped; there are sw->b, a->sw"),
        ("abr ports.max_queue", "ports are of no category; ports.max_abr_queue is of ABR alone"),
        ("vcs.p50_delay", "VCs make no such figure together; put each, mean, least or most in front"),
        ("some vcs.throughput", "is not a figure"),
        ("abr total vcs.throughput", "is not a figure"),
    ],
)
def test_what_is_no_figure_is_said(text: str, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        Figure.read(text).values(SUMMARY)


@pytest.mark.parametrize(
    ("text", "margin"),
    [
        ("ports.dropped == 0", 0.0),
        ("vcs.throughput >= 10 Mbps", 0.0),
        ("each vcs.throughput >= 5 Mbps", 1e6),
        ("each abr vcs.throughput >= 4 Mbps", 0.0),
        ("most vcs.throughput >= 5 Mbps", 0.0),
        ("total vcs.throughput == 10 Mbps", 0.0),
        ("mean vcs.throughput < 4 Mbps", 1e6),
        ("vcs.throughput_bps > 1e6", 0.0),
        ("vcs.p99_delay <= 4 ms", 0.0),
        ("vcs.p99_delay_s <= 0.004", 0.0),
        ("vcs.p99_delay < 4 ms", 1e-9),
        ("ports.max_queue <= 2000 cells", 0.0),
        ("ports.max_queue <= 7", 0.0),
        ("ports.max_queue[sw->b] <= 318 octets", 1.0),
        ("ports.max_queue<=1 kB", 0.0),
        ("ports.utilization >= 90 %", 0.0),
        ("ports.utilization>=0.96", 0.01),
        ("vcs.mean_acr <= 4.24 Mbps", 0.0),
        ("vcs.mean_acr < 10000 cells/s", 1e-9),
    ],
)
def test_criteria_say_by_how_much_they_fail(text: str, margin: float) -> None:
    assert Criterion.read(text).margin(SUMMARY) == pytest.approx(margin)
    assert Criterion.read(text).holds(SUMMARY) == (margin == 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ports.max_queue <= 9 Mbps",
            "ports.max_queue: '9 Mbps' is not a number of cells: \"Mbps\" is not a unit of one",
        ),
        ("ports.max_queue <= 1 ms", r"write a number and its unit \(cells, octets, kB, MB, GB, KiB, MiB\)"),
        ("tcp.goodput >= 2 ms", "tcp.goodput_bps: '2 ms' is not a rate: \"ms\" is not a unit of one"),
        ("vcs.p99_delay <= 2000 cells", "vcs.p99_delay_s: '2000 cells' is not a time"),
        ("vcs.p99_delay <= 10", "'10' has no unit; write a number and its unit"),
        ("vcs.throughput >= 10", "'10' has no unit"),
        (
            "ports.utilization >= 90",
            "ports.utilization: '90' is not a share of a whole, from 0 to 1; write 90 % or 0.9",
        ),
        ("shares.of_fair_share >= 90", "shares.of_fair_share: '90' would be 9000 %; write 90 % or 9000 %"),
        ("vcs.idle_resets <= 1e400", "vcs.idle_resets: '1e400' is beyond what numbers here can be"),
        ("ports.max_queue <= 1e400", "ports.max_queue: '1e400' is beyond what numbers here can be"),
        ("ports.utilization >= 120 %", "is not a share of a whole, from 0 to 1; write one from 0 % to 100 %"),
        ("ports.utilization >= 9 Mbps", "'9 Mbps' is not a ratio"),
        ("tcp.timeouts <= 5 %", "'5 %': tcp.timeouts is a number; write one such as 10"),
        ("vcs.p99_delay < soon", "'soon' is not a time"),
        ("vcs.throughput", "is not a criterion; write a figure"),
        ("vcs.throughput => 3 Mbps", "is not a criterion|is not a figure"),
    ],
)
def test_a_criterion_is_of_the_dimension_of_its_figure(text: str, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        Criterion.read(text)


def test_objectives_are_of_what_the_rows_make() -> None:
    assert Objective.read("max vcs.throughput").value(SUMMARY) == 1e7
    assert Objective.read("max least vcs.throughput").value(SUMMARY) == 4e6
    assert Objective.read("min ports.max_queue").value(SUMMARY) == 7
    assert Objective.read("max abr vcs.throughput").heading == "max of\nthroughput\ntotal of ABR VCs\nMbps"
    for read, text in ((Objective.read, "vcs.throughput"), (Criterion.read, "vcs.throughput"), (Precision.read, "a.b")):
        with pytest.raises(CellrateError, match="write "):
            read(text)
    with pytest.raises(CellrateError, match="an objective is one value; leave each out"):
        Objective.read("max each vcs.throughput")


def test_an_interval_is_of_seeds_alone() -> None:
    # Two settings, two seeds: with seed 1 the mean over settings is 6, with seed 2 it is 7.
    points = [
        ({"nrm": nrm, "seed": seed}, value)
        for nrm, seed, value in (("8", "1", 2.0), ("8", "2", 3.0), ("32", "1", 10.0), ("32", "2", 11.0))
    ]
    assert mean_over_seeds(points) == mean_of([6.0, 7.0])
    # Without seeds there is no chance, and no interval.
    assert mean_over_seeds([({"nrm": "8"}, 2.0), ({"nrm": "32"}, 10.0)]).half_width is None
    # Nor is there where a setting lacks a seed.
    assert mean_over_seeds(points[:3]).half_width is None


def test_seeds_are_added_until_a_figure_is_sure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "random.toml").write_text(RANDOM)
    call = ["run", str(tmp_path / "random.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert status([*call, "--until", "vcs.throughput[bursts]: 15 %", "--seeds", "60"]) == 0
    results = list(cellrate.load_sweep(tmp_path / "out"))
    mean = mean_of([result.vc("bursts")["throughput_bps"] for result in results])
    assert 4 <= len(results) < 60
    assert mean.half_width is not None
    assert mean.half_width <= 0.15 * mean.mean
    capsys.readouterr()
    assert status([*call, "--until", "vcs.throughput[bursts]: 1 %", "--seeds", "6"]) == 1
    said = capsys.readouterr().err
    assert "cellrate: not as sure as was asked for: throughput of bursts (bursts): ± " in said
    assert " % after 6 seeds" in said


def test_what_seeds_do_not_change_is_sure_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    call = ["run", str(tmp_path / "pair.toml"), "--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    assert status([*call, "--until", "vcs.throughput: 1 %"]) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 4
