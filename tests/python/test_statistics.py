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
from cellrate.sweeps.replications import mean_of
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
        {"vc": "a", "data_sent": 10, "throughput_bps": 4e6, "p99_delay_s": 0.004},
        {"vc": "b", "data_sent": 10, "throughput_bps": 6e6, "p99_delay_s": None},
        {"vc": "a (back)", "data_sent": 0, "throughput_bps": 0.0, "p99_delay_s": None},
    ],
    "ports": [{"port": "sw->b", "dropped": 0, "max_queue": 7}],
}


def test_figures_have_names() -> None:
    assert Figure.read("vcs.throughput").values(SUMMARY) == {"a": 4e6, "b": 6e6}
    assert Figure.read("vcs.p99_delay").values(SUMMARY) == {"a": 0.004}
    assert Figure.read("ports.max_queue[sw->b]").values(SUMMARY) == {"sw->b": 7.0}
    for text, said in (
        ("throughput", "is not a figure; write rows and a key"),
        ("vcs.speed", "rows of vcs have no speed; they have data_sent, throughput_bps, p99_delay_s"),
        ("vc.speed", 'there are no rows "vc" in a result; there are vcs, ports'),
        ("ports.dropped[sw->c]", "nothing called 'sw->c' has a ports.dropped"),
    ):
        with pytest.raises(CellrateError, match=said):
            Figure.read(text).values(SUMMARY)


@pytest.mark.parametrize(
    ("text", "margin"),
    [
        ("ports.dropped == 0", 0.0),
        ("vcs.throughput >= 5 Mbps", 1e6),
        ("most vcs.throughput >= 5 Mbps", 0.0),
        ("total vcs.throughput == 10 Mbps", 0.0),
        ("mean vcs.throughput < 4 Mbps", 1e6),
        ("vcs.p99_delay <= 4 ms", 0.0),
        ("vcs.p99_delay < 4 ms", 1e-9),
    ],
)
def test_criteria_say_by_how_much_they_fail(text: str, margin: float) -> None:
    assert Criterion.read(text).margin(SUMMARY) == pytest.approx(margin)
    assert Criterion.read(text).holds(SUMMARY) == (margin == 0.0)


def test_objectives_are_of_the_worst_unless_said() -> None:
    assert Objective.read("max vcs.throughput").value(SUMMARY) == 4e6
    assert Objective.read("min vcs.throughput").value(SUMMARY) == 6e6
    assert Objective.read("max total vcs.throughput").value(SUMMARY) == 1e7
    for read, text in ((Objective.read, "vcs.throughput"), (Criterion.read, "vcs.throughput"), (Precision.read, "a.b")):
        with pytest.raises(CellrateError, match="write "):
            read(text)
    with pytest.raises(CellrateError, match="'soon' is not a value"):
        Criterion.read("vcs.p99_delay < soon")


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
    assert "cellrate: not as sure as was asked for: vcs.throughput of bursts: ± " in said
    assert " % after 6 seeds" in said


def test_what_seeds_do_not_change_is_sure_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    call = ["run", str(tmp_path / "pair.toml"), "--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    assert status([*call, "--until", "vcs.throughput: 1 %"]) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 4
