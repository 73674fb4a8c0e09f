"""Paper tcp-lrd-vbr: its metrics and its arithmetic, without its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellrate.papers import load_paper
from cellrate.papers.runs import run_points
from tcp_lrd_vbr import across, arithmetic, averaging, on_off, sensitivity, tables
from tcp_lrd_vbr.common import Sample, efficiency, metrics


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


def test_a_sample_expects_what_one_more_run_could_be() -> None:
    sample = Sample([9.0, 10.0, 11.0])
    # t(2) = 4.303: the mean is known within 4.303 / sqrt(3) = 2.48, one more run within 4.303 x sqrt(4/3) = 4.97.
    assert sample.interval() == pytest.approx(2.484, abs=0.001)
    assert sample.expects(14.9)
    assert not sample.expects(15.0)
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


def test_every_row_has_ten_seeds_and_a_quick_run_one() -> None:
    for table in range(1, 7):
        points = dict(tables.points(table))
        assert len(points) == 30
        assert sum(not point.extra for point in points.values()) == 3
    assert len(across.EXPERIMENT.points) == 180
    assert len(averaging.EXPERIMENT.points) == 20
    # The first has runs with a finer look at the queue, too.
    for experiment, row, ways in (
        (sensitivity.EXPERIMENT, sensitivity.GROUND, 2),
        (sensitivity.LONG, sensitivity.SATELLITE, 1),
    ):
        assert len(experiment.points) == 5 * (ways + len(row.choices))
        assert all(point.extra for point in experiment.points.values())
    assert sum("duty 0.7" in name and not point.extra for name, point in on_off.EXPERIMENT.points.items()) == 1


def test_published_values_stand_in_the_file_as_in_the_code() -> None:
    published = load_paper("tcp-lrd-vbr").published
    for table, rows in tables.PUBLISHED.items():
        for row, values in rows.items():
            for metric, value in zip(("queue", "throughput", "efficiency"), values, strict=True):
                assert published[f"table-{table}.row-{row}.{metric}"]["published"] == value
    assert sum(len(rows) for rows in tables.PUBLISHED.values()) == 18


def test_a_figure_is_reproduced_within_a_tenth_or_as_one_more_of_the_seeds() -> None:
    def held(values: list[float], said: float) -> bool | None:
        return tables._compared("table-1.row-1.queue", (1, 1, "queue"), "", Sample(values), said).holds

    assert held([100.0, 101.0, 102.0], 111.0) is True
    assert held([100.0, 101.0, 102.0], 113.0) is False
    # The interval of one more run is 4.3 x 20 x sqrt(4/3) either way.
    assert held([80.0, 100.0, 120.0], 190.0) is True
    assert held([100.0], 150.0) is None


def test_every_choice_can_be_run_and_changes_something_and_has_its_text() -> None:
    paper = load_paper("tcp-lrd-vbr")
    for experiment, row in ((sensitivity.LONG, sensitivity.SATELLITE), (sensitivity.EXPERIMENT, sensitivity.GROUND)):
        as_run = paper.scenario(experiment.points["as run, seed 1"])
        for name in row.choices:
            assert paper.scenario(experiment.points[f"{name}, seed 1"]).hash != as_run.hash
            assert paper.published[f"{row.prefix}.{name}"]["kind"] == "sensitivity"
    assert as_run.hash == paper.scenario(dict(tables.points(1))["row-1, seed 1"]).hash


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
