"""Output of the command line for runs with several seeds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.sweeps.replications import mean_of
from cellrate.sweeps.table import print_means
from conftest import PAIR

RANDOM = (
    PAIR
    + """
[[vc]]
name = "bursts"
category = "vbr"
pcr = "40 Mbps"
path = ["b", "sw", "a"]
traffic = { type = "on-off", rate = "30 Mbps", on = { exponential = "1 ms" }, off = { exponential = "1 ms" } }
"""
)


def printed(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    return [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]


def test_seeds_have_their_means_in_a_table_for_each_point(capsys: pytest.CaptureFixture[str]) -> None:
    points = cellrate.sweep(cellrate.Scenario.parse(RANDOM), over={"defaults.abr.nrm": [8, 32]}, seeds=3, workers=1)
    print_means(points)
    rows = printed(capsys)
    assert [row for row in rows if row[0] == "pair"] == [
        ["pair", f"defaults.abr.nrm = {nrm}", "3 seeds"] for nrm in (8, 32)
    ]
    of_bursts = [row for row in rows if row[0] == "bursts"]
    for row, runs in zip(of_bursts, (points[:3], points[3:]), strict=True):
        mean = mean_of([run.vc("bursts")["throughput_bps"] / 1e6 for run in runs])
        assert mean.half_width is not None
        assert row[1] == f"{mean.mean:.2f} ± {mean.half_width:.2f}"
    assert rows[-1] == ["Means of the seeds 7, 8, 9, ± half their 95 % confidence intervals (Student's t)."]


def test_a_mean_of_some_of_the_runs_says_of_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    points = cellrate.sweep(cellrate.Scenario.parse(PAIR), seeds=3, workers=1)
    points[1].summary["vcs"] = []
    print_means(points)
    (row,) = [row for row in printed(capsys) if row[0] == "vc1"]
    assert [cell.endswith(" (2)") for cell in row[1:]] == [True, True]


def test_seeds_that_make_no_difference_are_told_so(pair_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(pair_file), "--seeds", "4", "--workers", "1"]) == 0
    rows = printed(capsys)
    assert rows[-1] == ["Means of the seeds 7, 8 ... 10, which make no difference."]
    assert len([row for row in rows if row[0] == "vc1"]) == 1
    # A single one is a run like any other.
    assert status(["run", str(pair_file), "--seeds", "1"]) == 0
    assert "Hash" in capsys.readouterr().out


def test_where_seeds_make_no_difference_an_interval_is_empty(
    pair_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["--sweep", "defaults.abr.nrm=[8, 32]", "--seeds", "2", "--out", str(tmp_path / "out"), "--workers", "1"]
    assert status(["run", str(pair_file), *sweep]) == 0
    capsys.readouterr()
    assert status(["show", str(tmp_path / "out"), "--csv"]) == 0
    head, *rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    ends = [place for place, name in enumerate(head) if name.endswith("_ci95")]
    assert ends
    assert len(rows) == 2
    assert all(row[place] == "" and row[place - 1] for row in rows for place in ends)
    table = cellrate.load_sweep(tmp_path / "out").tidy("ports", over_seeds=True)
    assert set(table.column("max_queue_ci95").to_pylist()) == {None}
    assert set(table.column("max_queue_n").to_pylist()) == {2}


def test_another_key_that_was_varied_does_not_widen_an_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "random.toml").write_text(RANDOM)
    sweep = ["--sweep", 'vc.bursts.traffic.rate=["10 Mbps", "30 Mbps"]', "--sweep", "defaults.abr.nrm=[8, 32]"]
    call = [
        "run",
        str(tmp_path / "random.toml"),
        *sweep,
        "--seeds",
        "3",
        "--out",
        str(tmp_path / "out"),
        "--workers",
        "1",
    ]
    assert status(call) == 0
    results = list(cellrate.load_sweep(tmp_path / "out"))
    capsys.readouterr()
    assert status(["show", str(tmp_path / "out"), "--csv", "--by", "nrm"]) == 0
    head, *rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    place = head.index("throughput_mbps_ci95")
    for row in rows:
        of_seeds = [
            sum(
                sum(one["throughput_bps"] for one in result.summary["vcs"] if one["data_sent"]) / 2e6
                for result in results
                if result.settings["defaults.abr.nrm"] == row[0] and result.settings["seed"] == str(seed)
            )
            for seed in (7, 8, 9)
        ]
        assert float(row[place]) == pytest.approx(mean_of(of_seeds).half_width)
