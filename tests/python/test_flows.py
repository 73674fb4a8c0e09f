"""Flows and calls that come and go, from Python: rows, tables, what a live run says."""

from __future__ import annotations

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.live import live_run


def test_calls_have_rows_and_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = cellrate.Scenario.load("calls", set={"duration": "3 s"})
    [row] = cellrate.run(scenario).summary["flows"]
    assert row["flows"] == "calls"
    assert row["offered"] == row["begun"] + row["no_room"] + row["no_slot"]
    assert 150 < row["begun"] < 250
    assert row["no_slot"] == 0
    assert status(["run", "calls", "--set", 'duration="3 s"']) == 0
    printed = capsys.readouterr().out
    assert f" calls       {row['offered']}" in printed
    assert "calls 1 " in printed


def test_other_switches_have_the_same_calls() -> None:
    # Nothing that happens to cells changes what is offered, or what is admitted.
    runs = [
        cellrate.run(cellrate.Scenario.load("calls", set={"duration": "2 s", "seed": 3, "defaults.switch": switch}))
        for switch in ({"algorithm": {"type": "erica"}}, {"algorithm": {"type": "phantom"}})
    ]
    assert runs[0].summary["flows"] == runs[1].summary["flows"]


def test_a_live_run_refuses_them() -> None:
    text = cellrate.Scenario.load("calls").toml.replace('warm_up = "1 s"', "")
    with pytest.raises(cellrate.ScenarioError, match="flows come and go, and this is a live run"):
        live_run(cellrate.Scenario.parse(text))


def test_flows_of_a_size_have_rows_by_classes_of_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    summary = cellrate.run(cellrate.Scenario.load("web-search-flows", set={"duration": "12 s"})).summary
    [demand] = summary["flows"]
    total, *classes = summary["completions"]
    assert total["count"] == demand["completed"] == sum(row["count"] for row in classes)
    assert all(row["mean_slowdown"] >= 1 and row["p50_time_s"] <= row["p99_time_s"] for row in classes)
    assert status(["run", "web-search-flows", "--set", 'duration="12 s"']) == 0
    assert "search, 10 to 100 kB" in capsys.readouterr().out
