"""Flows and calls that come and go, from Python: rows, tables, what a live run says."""

from __future__ import annotations

from pathlib import Path

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
    assert total["count"] == demand["completed"]
    for key in ("offered", "blocked", "count", "unfinished"):
        assert total[key] == sum(row[key] for row in classes)
    assert all(row["offered"] == row["blocked"] + row["count"] + row["unfinished"] for row in classes)
    assert demand["max_concurrent"] >= demand["mean_concurrent"] > 0
    complete = [row for row in classes if row["count"]]
    assert all(row["mean_slowdown"] >= 1 and row["p50_time_s"] <= row["p99_time_s"] for row in complete)
    assert status(["run", "web-search-flows", "--set", 'duration="12 s"']) == 0
    assert "search, 10 to 100 kB" in capsys.readouterr().out


@pytest.mark.parametrize("category", ["abr", "ubr"])
def test_tcp_carries_flows_to_their_end_whatever_is_lost(category: str) -> None:
    keys = {"duration": "20 s", "flows.search.category": category, "flows.search.end": "12 s"}
    summary = cellrate.run(cellrate.Scenario.load("tcp-flows", set=keys)).summary
    [demand] = summary["flows"]
    assert demand["completed"] == demand["begun"] == demand["offered"] > 15
    lost = sum(row["dropped"] for row in summary["vcs"])
    assert (lost > 0) == (category == "ubr")
    assert (sum(row["retransmitted"] for row in summary["tcp"]) > 0) == (lost > 0)


def test_flows_and_sizes_come_from_files(tmp_path: Path) -> None:
    text = cellrate.Scenario.load("tcp-flows", set={"duration": "2 s", "warm_up": "0 s"}).toml
    begin, rest = text.split("[[flows]]")
    probes = rest[rest.index("[[probe]]") :]
    (tmp_path / "flows.csv").write_text("t,from,to,size\n0.1,1,2,9000\n0.2,3,1,1460\n")
    arrivals = 'arrivals = { type = "trace", file = "flows.csv", unit = "octets", prefix = "server" }'
    traced = f'{begin}[[flows]]\nname = "traced"\n{arrivals}\ntcp = {{}}\n\n{probes}'
    (tmp_path / "traced.toml").write_text(traced)
    [demand] = cellrate.run(cellrate.Scenario.load(tmp_path / "traced.toml")).summary["flows"]
    assert (demand["offered"], demand["completed"]) == (2, 2)
    (tmp_path / "sizes.cdf").write_text("10 0.5\n20 1\n")
    sized = text.replace(
        'size = { type = "web-search" }', 'size = { type = "cdf", file = "sizes.cdf", unit = "packets" }'
    )
    (tmp_path / "sized.toml").write_text(sized.replace('gap = "240 ms"', 'gap = "5 ms"'))
    total = cellrate.run(cellrate.Scenario.load(tmp_path / "sized.toml")).summary["completions"][0]
    # Half are 15 kB, the others lie evenly between that and 30 kB.
    assert total["count"] > 200
    assert total["mean_octets"] == pytest.approx(18_750, rel=0.05)
