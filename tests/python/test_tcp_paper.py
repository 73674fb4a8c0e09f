"""Paper tcp-lrd-vbr: its metrics and its arithmetic, without its runs."""

from __future__ import annotations

import math
import random
import statistics
import tomllib
from pathlib import Path

import pytest

from cellrate.papers import Finding, Tried, load_paper
from cellrate.papers.runs import run_points
from cellrate.running.points import run_many
from tcp_lrd_vbr import across, arithmetic, beyond, on_off, sensitivity, tables
from tcp_lrd_vbr.common import ROW_SEEDS, Sample, efficiency, metrics


def test_metrics_follow_the_paper_s_own_example() -> None:
    # 0.78 x (149.76 - 56.44) = 72.79; 68.72 of that is 94.4 %.
    assert efficiency(68.72, 56.44, 512) == pytest.approx(94.4, abs=0.05)
    assert 100 * arithmetic.payload_share(512) == pytest.approx(78.0, abs=0.05)
    assert 100 * arithmetic.payload_share(9140) == pytest.approx(87.0, abs=0.05)


def test_rows_that_contradict_the_others_are_found() -> None:
    found = {finding.id: finding for finding in arithmetic.EXPERIMENT.findings({})}
    assert found["arithmetic.row-3"].measured == "46.53 Mbps"
    assert found["arithmetic.rows"].holds is True
    assert found["arithmetic.sources"].measured == "90.1 %"
    # Each pair of tables took one VBR throughput: 57.85 in 3 and 4, ten too low, 70.96 in 5 and 6.
    assert arithmetic.implied_vbr(59.16, 82.5) == pytest.approx(57.83, abs=0.01)
    assert arithmetic.implied_vbr(67.23, 84.1, 9140) == pytest.approx(57.87, abs=0.01)
    assert arithmetic.implied_vbr(49.50, 80.53) == pytest.approx(70.96, abs=0.01)
    assert arithmetic.implied_vbr(58.76, 85.71, 9140) == pytest.approx(70.96, abs=0.01)
    assert found["arithmetic.row-2"].measured == "92.6 %, 94.3 %"
    assert 9 * arithmetic.bounded_mean(7.5, 7) == pytest.approx(67.5)
    # Half of a normal distribution, without bounds that count: the root of 2 / pi.
    assert arithmetic.bounded_mean(0, 1) == pytest.approx(0.7979, abs=1e-4)
    assert arithmetic.implied_vbr(68.72, 94.4) == pytest.approx(56.44, abs=0.05)


def test_a_sample_is_written_with_the_interval_of_its_mean() -> None:
    sample = Sample([9.0, 10.0, 11.0])
    # t(2) = 4.303: the mean is known within 4.303 / sqrt(3) = 2.48.
    assert sample.interval() == pytest.approx(2.484, abs=0.001)
    assert sample.text(1) == "10.0 ± 2.5"
    assert Sample([5.0]).text(1) == "5.0"


def test_claims_across_tables_are_judged_on_the_tables_that_the_paper_speaks_of() -> None:
    queues = [[5000.0, 4500.0, 4000.0]] * 4 + [[90_000.0, 100_000.0, 110_000.0]] * 2
    means = {(table, "queue"): row for table, row in enumerate(queues, 1)}
    means |= {(table, "throughput"): [60.0, 50.0, 40.0] for table in (1, 2)}
    means |= {(table, "throughput"): [58.0, 49.0, 39.0] for table in (3, 4)}
    # Tables 5 and 6 grow with the row: the order is claimed of tables 1 and 2.
    assert across._ordered(means).holds is True
    assert across._ordered({**means, (2, "queue"): [5000.0, 4500.0, 5100.0]}).holds is False
    assert across._dominant(means).holds is True
    assert across._dominant({**means, (3, "queue"): [60_000.0] * 3, (4, "queue"): [60_000.0] * 3}).holds is False
    assert across._short_cost(means).holds is True
    assert across._short_cost({**means, (4, "throughput"): [58.0, 49.0, 37.0]}).holds is False


def test_every_row_has_its_seeds_and_a_quick_run_one() -> None:
    for table in range(1, 7):
        points = dict(tables.points(table))
        assert len(points) == 3 * len(tables.seeds_of(table))
        assert sum(not point.extra for point in points.values()) == 3
        # Rows that may decide a cause have the seeds of the claims.
        assert len(dict(tables.ways(table))) == (len(tables.WAYS) * len(points) if table in tables.WAYS_OF else 0)
    # One more run that could be the published one takes three seeds.
    assert [len(tables.seeds_of(table)) for table in range(1, 7)] == [10, 10, 5, 5, 5, 5]
    # The first has runs with a finer look at the queue, too.
    for experiment, row, ways in (
        (sensitivity.EXPERIMENT, sensitivity.GROUND, 2),
        (sensitivity.LONG, sensitivity.SATELLITE, 1),
    ):
        assert len(experiment.points) == len(ROW_SEEDS) * (ways + len(row.choices))
        assert all(point.extra for point in experiment.points.values())
    assert sum("duty 0.7" in name and not point.extra for name, point in on_off.EXPERIMENT.points.items()) == 1


def test_a_quick_run_says_nothing_of_runs_that_are_shorter() -> None:
    paper = load_paper("tcp-lrd-vbr")
    point = dict(tables.points(3))["row-1, seed 1"]
    (result,) = run_many([(paper.scenario(point, quick=True).set({"duration": "100 ms"}), {})])
    assert tables.is_short(result, 3)
    assert not tables.is_short(result, 1)
    found = tables._findings(3, {tables.key(row, 1): result for row in (1, 2, 3)})
    claims = [paper.claim(one, quick=True) for one in found]
    assert {claim.verdict for claim in claims} == {None}


def test_the_largest_queue_of_a_table_is_in_its_picture() -> None:
    paper = load_paper("tcp-lrd-vbr")
    for table in range(1, 7):
        drawn = dict(tables.points(table))[tables.key(*tables.DRAWN)]
        assert drawn.set["probe.2.every"] == "1 ms"
        assert tomllib.loads(paper.scenario(drawn).toml)["probe"][1]["record"] == ["abr_queue"]


def test_published_values_stand_in_the_file_as_in_the_code() -> None:
    published = load_paper("tcp-lrd-vbr").published
    for table, rows in tables.PUBLISHED.items():
        for row, values in rows.items():
            for metric, value in zip(("queue", "throughput", "efficiency"), values, strict=True):
                assert published[f"table-{table}.row-{row}.{metric}"]["published"] == value
    assert sum(len(rows) for rows in tables.PUBLISHED.values()) == 18


def test_a_figure_of_a_table_is_judged_by_all_its_seeds_and_a_per_cent_by_what_is_lost() -> None:
    paper = load_paper("tcp-lrd-vbr")
    assert paper.published["table-1.row-1.efficiency"]["judged"] == "per cent"
    seeds = [91.0 + 0.02 * seed for seed in range(10)]
    # Within 4 % of 94.4, and 8.9 % are lost instead of 5.6.
    claim = paper.claim(Finding("table-1.row-1.efficiency", "91.1", why="Why.", values=seeds))
    assert (claim.verdict, claim.cause, claim.seeds) == ("neither", "unexplained", 10)
    tried = {"table-1.slopes-swapped": Tried(values=[value + 3.5 for value in seeds])}
    assert paper.claim(Finding("table-1.row-1.efficiency", "91.1", values=seeds, rows=tried)).cause == "open"


def test_every_choice_can_be_run_and_changes_something_and_has_its_text() -> None:
    paper = load_paper("tcp-lrd-vbr")
    for experiment, row in ((sensitivity.LONG, sensitivity.SATELLITE), (sensitivity.EXPERIMENT, sensitivity.GROUND)):
        as_run = paper.scenario(experiment.points["as run, seed 1"])
        for name in row.choices:
            assert paper.scenario(experiment.points[f"{name}, seed 1"]).hash != as_run.hash
            assert paper.published[f"{row.prefix}.{name}"]["kind"] == "sensitivity"
    assert as_run.hash == paper.scenario(dict(tables.points(1))["row-1, seed 2"]).set({"seed": 1}).hash


def test_renegotiated_video_has_the_mean_of_its_program_and_the_deviation_of_means_over_a_second() -> None:
    # Without bounds that count all stays: of 16.7 values each deviates by 16.7^-0.2 times as much.
    assert beyond.bounded_deviation(7.5, 0.5) == pytest.approx(0.5)
    assert beyond.bounded_deviation(0, 1, 100) == pytest.approx(math.sqrt(1 - 2 / math.pi))
    # Values of a sample that is as large as need be.
    chance = random.Random(1)
    sample = [value for value in (chance.gauss(5, 5) for _ in range(200_000)) if 0 <= value <= 15]
    assert beyond.bounded_deviation(5, 5) == pytest.approx(statistics.pstdev(sample), rel=0.01)
    mean, deviation = beyond.renegotiated(5, 5)
    assert mean == arithmetic.bounded_mean(5, 5)
    assert deviation == pytest.approx(beyond.bounded_deviation(5, 5) * (0.06 / 1) ** 0.2)


def test_vs_vd_in_the_paper_s_network_moves_the_queue_to_where_the_long_loop_ends() -> None:
    paper = load_paper("tcp-lrd-vbr")
    length = {"duration": "6 s"}
    scenarios = {
        way: paper.scenario(beyond.EXPERIMENT.points[f"5, {way}, seed 1"]).set(length) for way in ("as run", "vs-vd")
    }
    as_run, segmented = (result for (result,) in (run_many([(scenario, {})]) for scenario in scenarios.values()))
    line = {name: metrics(result, 512).queue for name, result in (("as run", as_run), ("vs-vd", segmented))}
    one, in_all = beyond.waiting(segmented)
    assert 4 * line["vs-vd"] < line["as run"]
    assert one < line["vs-vd"] < in_all


def test_a_second_of_table_1_loses_nothing_and_is_not_run_twice(tmp_path: Path) -> None:
    paper = load_paper("tcp-lrd-vbr")
    point = dict(tables.points(1))["row-1, seed 1"]
    scenario = paper.scenario(point).set({"duration": "1 s"})
    first, again = run_points([(scenario, {}), (scenario, {"a": "b"})], tmp_path / "campaign")
    assert [entry.name for entry in tmp_path.glob("campaign/point-*")] == ["point-001"]
    assert again.summary == first.summary
    assert (first.set, again.set) == ({}, {"a": "b"})
    found = metrics(first, 512)
    assert (found.dropped, found.retransmitted) == (0, 0)
    assert found.throughput > 10
    assert len(first.series("abr_queue")) > 5
