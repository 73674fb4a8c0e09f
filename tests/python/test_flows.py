"""Flows and calls that come and go, from Python: rows, tables, what a live run says."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
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
    assert re.search(rf"^ calls +{row['offered']} ", printed, re.MULTILINE)
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
    with pytest.raises(cellrate.ScenarioError, match="flows that come and go need a simulation"):
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


@pytest.fixture(scope="module")
def searched() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.load("web-search-flows", set={"duration": "12 s"}))


def test_how_many_are_under_way_is_a_series_and_a_panel(searched: cellrate.Result) -> None:
    series = searched.series("concurrent", flows="search")
    [demand] = searched.summary["flows"]
    assert (series.interval_s, series.unit, len(series)) == (0.02, "flows", 600)
    assert series.values[0] == 0
    assert 0 < series.max() <= demand["max_concurrent"]
    # Samples of what changes a few times a second are near the mean over time.
    assert series.mean(5, 12) == pytest.approx(demand["mean_concurrent"], rel=0.05)
    labels = [axes.get_ylabel() for axes in searched.plot("concurrent", "queue").axes]
    assert "flows under way" in labels


def test_every_beginning_and_end_is_a_change() -> None:
    text = cellrate.Scenario.load("calls", set={"duration": "2 s"}).toml
    text += '[[probe]]\nrecord = ["concurrent"]\nof = ["calls"]\nevery = "change"\n'
    text = text.replace('record = ["acr", "concurrent"]', 'record = ["acr"]')
    result = cellrate.run(cellrate.Scenario.parse(text))
    [row] = result.summary["flows"]
    series = result.series("concurrent")
    assert (series.entity, series.interval_s) == ("calls", None)
    assert series.max() == row["max_concurrent"]
    assert series.mean(1, 2) == pytest.approx(row["mean_concurrent"], rel=1e-9)


def test_set_up_has_its_mean_and_its_largest(searched: cellrate.Result) -> None:
    [row] = cellrate.run(cellrate.Scenario.load("calls", set={"duration": "3 s"})).summary["flows"]
    # There and back over 120 km, 5 us per km.
    assert row["mean_set_up_s"] == pytest.approx(1.2e-3, rel=1e-9)
    assert row["max_set_up_s"] == pytest.approx(1.2e-3, rel=1e-9)
    assert searched.summary["flows"][0]["mean_set_up_s"] == 0.0


def test_completion_times_are_distributions_by_classes_of_sizes(searched: cellrate.Result, tmp_path: Path) -> None:
    rows = {row["below_octets"]: row for row in searched.summary["completions"] if row["count"]}
    assert "search, all" in searched.completion_times
    assert len(searched.completion_times) == len([row for row in searched.summary["completions"] if row["count"]])
    for name, times in searched.completion_times.items():
        assert times.name == name
        [row] = [
            row
            for row in searched.summary["completions"]
            if (row["from_octets"], row["below_octets"]) == (times.from_octets, times.below_octets)
        ]
        assert int(times.counts[-1]) == row["count"]
        assert times.quantile(1.0) == pytest.approx(row["max_time_s"], rel=1e-12)
        assert times.quantile(0.5) == pytest.approx(row["p50_time_s"], rel=1 / 64)
    assert 10_000 in rows
    table = cellrate.tidy({"one": searched}, "completion_times")
    assert table.column_names == ["result", "flows", "from_octets", "below_octets", "time_s", "count", "share"]
    folder = searched.write(tmp_path / "out", csv=True)
    for other in (cellrate.load(folder), pickle.loads(pickle.dumps(searched))):
        assert list(other.completion_times) == list(searched.completion_times)
        for name, times in other.completion_times.items():
            assert np.array_equal(times.times_s, searched.completion_times[name].times_s)
            assert np.array_equal(times.counts, searched.completion_times[name].counts)
    assert (folder / "completion_times.csv").read_text().startswith('"flows","from_octets","below_octets","time_s"')
    # The folder is one of cellrate's still, and is replaced.
    (folder / "completion_times.png").write_bytes(b"of an earlier version")
    searched.write(folder, plots=False)
    assert not (folder / "completion_times.png").exists()
    assert status(["plot", str(folder), "--completion-times", "--out", str(tmp_path / "times.svg")]) == 0
    assert "search, 10 to 100 kB" in (tmp_path / "times.svg").read_text()


def test_completion_times_of_others_are_an_error(searched: cellrate.Result, tmp_path: Path) -> None:
    (axes,) = searched.plot_completion_times("search").axes
    assert [line.get_ydata()[-1] for line in axes.lines] == [100.0] * len(searched.completion_times)  # type: ignore[index]
    with pytest.raises(cellrate.CellrateError, match=r"calls has no distribution of completion times: .* are search"):
        searched.plot_completion_times("calls")
    with pytest.raises(cellrate.CellrateError, match="there are none to draw"):
        cellrate.run(cellrate.Scenario.load("calls", set={"duration": "1.5 s"})).plot_completion_times()
    folder = searched.write(tmp_path / "one", plots=False)
    other = cellrate.run(cellrate.Scenario.load("calls", set={"duration": "1.5 s"})).write(
        tmp_path / "two", plots=False
    )
    (other / "completion_times.parquet").write_bytes((folder / "completion_times.parquet").read_bytes())
    with pytest.raises(cellrate.CellrateError, match=r"completion_times.parquet is of another run than"):
        cellrate.load(other).completion_times  # noqa: B018
