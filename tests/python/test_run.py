from __future__ import annotations

import json
import os
import pickle
import signal
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cellrate
from cellrate.algorithms import Load, Port
from cellrate.recorded.table import print_summary
from cellrate.running.points import Point, run_each
from conftest import PAIR, SWEEP

RUN_KEYS = {
    "scenario", "hash", "seed", "version", "duration_s", "cell_hops", "events", "set_up_s", "wall_s", "cell_hops_per_s",
}  # fmt: skip
VC_KEYS = {
    "vc", "category", "sent", "data_sent", "delivered", "data_delivered", "dropped", "in_flight", "forward_rm_sent",
    "backward_rm_received", "throughput_bps", "mean_acr", "final_acr", "mean_delay_s", "p50_delay_s", "p99_delay_s",
    "max_delay_s",
}  # fmt: skip
PORT_KEYS = {
    "port",
    "transmitted",
    "utilization",
    "max_queue",
    "mean_queue",
    "max_abr_queue",
    "dropped",
    "tagged_dropped",
    "backward_rm_originated",
    "pdus_refused",
    "pdus_cut",
}
TABLES = ("tcp", "exchanges", "pages", "exchange_list", "bursts", "burst_list", "frames", "frame_list")
CONVERSATIONS = (
    PAIR.split("[[probe]]")[0]
    + """
[[vc]]
name = "vc2"
path = ["a", "sw", "b"]
traffic = { type = "request-response", response = "16 cells", record = 2 }

[[vc]]
name = "vc3"
path = ["a", "sw", "b"]
traffic = { type = "tcp", preset = "reno" }

[[vc]]
name = "vc5"
path = ["a", "sw", "b"]
traffic = { type = "frames", frames_per_second = 500, size = "1 kB", record = 1 }

[[vc]]
name = "vc4"
path = ["a", "sw", "b"]
traffic = { type = "tcp", pages = { objects = [{ response = "600 octets" }], record = 1 } }
"""
)
LONG = PAIR.replace('"20 ms"', '"1000 s"').replace('every = "change"', 'every = "1 s"').replace('"1 ms"', '"1 s"')


def figures(result: cellrate.Result) -> Any:
    """All of a summary that does not depend on the machine."""
    run = {
        key: value
        for key, value in result.summary["run"].items()
        if key not in ("set_up_s", "wall_s", "cell_hops_per_s")
    }
    return {**result.summary, "run": run}


def same_series(one: cellrate.Result, other: cellrate.Result) -> bool:
    return all(
        np.array_equal(a.times_s, b.times_s) and np.array_equal(a.values, b.values)
        for a, b in zip(one.all_series(), other.all_series(), strict=True)
    )


def test_the_summary_has_its_documented_keys(result: cellrate.Result) -> None:
    others = {"virtual_sources", "policing", "host_bottlenecks", "refused", "negotiated", "clocks", "phase_effects"}
    others |= {
        "branch_points",
        "loopbacks",
        "channels",
        "flows",
        "completions",
        "unsettled",
        "beyond_signalling",
        "overbooked",
        "unkept",
        "starts",
        "transport_streams",
        "reference_list",
        "vc_windows",
        "port_windows",
        "policing_windows",
        "shares",
        "fairness",
        "efficiency",
    }
    assert set(result.summary) == {"run", "vcs", "ports", *TABLES, *others}
    assert set(result.summary["run"]) >= RUN_KEYS
    for row in result.summary["vcs"]:
        assert set(row) >= VC_KEYS
    for row in result.summary["ports"]:
        assert set(row) >= PORT_KEYS


def test_the_documented_keys_are_all_in_the_reference() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    missing = [key for key in RUN_KEYS | VC_KEYS | PORT_KEYS if f"`{key}`" not in text]
    assert not missing


def test_every_key_that_comes_out_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    rows = [result.summary["run"], *result.summary["vcs"], *result.summary["ports"]]
    missing = {key for row in rows for key in row if f"`{key}`" not in text}
    assert not missing


def test_every_key_of_bursts_and_of_tcp_is_in_the_reference() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    summary = cellrate.run(cellrate.Scenario.parse(CONVERSATIONS)).summary
    assert all(summary[rows] for rows in TABLES)
    missing = {key for rows in TABLES for row in summary[rows] for key in row if f"`{key}`" not in text}
    assert not missing


def test_an_object_over_tcp_is_recorded_instant_by_instant() -> None:
    summary = cellrate.run(cellrate.Scenario.parse(CONVERSATIONS)).summary
    first = summary["exchange_list"][0]
    instants = [first[key] for key in ("start_s", "opened_s", "request_cell_s", "request_delivered_s", "last_octet_s")]
    assert instants == sorted(instants)
    assert first["response_s"] == pytest.approx(first["last_octet_s"] - first["start_s"])
    assert first["cell_response_s"] < first["response_s"]
    assert summary["exchanges"][0]["count"] > 1
    assert summary["pages"][0]["max_load_s"] >= first["response_s"]


def test_a_run_says_what_reproduces_it(result: cellrate.Result) -> None:
    run = result.summary["run"]
    assert (run["scenario"], run["seed"], run["version"]) == ("pair", 7, cellrate.__version__)
    assert run["hash"] == cellrate.Scenario.parse(PAIR).hash
    for part in (run["scenario"], run["hash"][:12], "seed 7", cellrate.__version__):
        assert part in result.stamp


def test_cells_are_conserved_in_the_summary(result: cellrate.Result) -> None:
    row = result.vc("vc1")
    assert row["sent"] == row["delivered"] + row["dropped"] + row["in_flight"]
    assert row["sent"] > 1000


def test_the_same_scenario_gives_the_same_result(result: cellrate.Result) -> None:
    again = cellrate.run(cellrate.Scenario.parse(PAIR))
    assert figures(again) == figures(result)
    assert same_series(again, result)


def test_seed_and_settings_reach_the_run(pair_file: Path) -> None:
    result = cellrate.run(pair_file, set={"duration": "5 ms"}, seed=11)
    assert (result.summary["run"]["seed"], result.summary["run"]["duration_s"]) == (11, 0.005)


def test_series_are_found_by_probe_and_entity(result: cellrate.Result) -> None:
    acr = result.series("acr", vc="vc1")
    assert (acr.probe, acr.entity, acr.unit, acr.interval_s) == ("acr", "vc1", "cells/s", None)
    assert acr.times_s.dtype == np.float64
    queue = result.series("queue", port="sw->b")
    assert queue.interval_s == pytest.approx(1e-3)
    assert ("acr", "vc1") in result.series_names


def test_instants_and_intervals_are_the_numbers_that_one_would_write() -> None:
    series = cellrate.run("two-source-transient").series("acr", vc="vc1")
    np.testing.assert_array_equal(series.times_s, np.arange(400) / 1000)
    assert series.interval_s == 0.001
    # 50 ms and 150 ms are samples of this part, and 50 ms of it is one of the mean up to there.
    part = series.between(0.05, 0.15)
    assert (part.times_s[0], part.times_s[-1], len(part)) == (0.05, 0.15, 101)
    assert series.mean(0.049, 0.05) == series.at(0.05)


def test_a_series_that_is_not_there_names_those_that_are(result: cellrate.Result) -> None:
    with pytest.raises(cellrate.NoSuchSeries, match=r"no series acr of vc9; .*acr of vc1"):
        result.series("acr", vc="vc9")
    with pytest.raises(LookupError):
        result.series("z")


def test_a_series_is_asked_for_by_one_name(result: cellrate.Result) -> None:
    for names in ({"vc": "vc1", "port": "sw->b"}, {"port": "sw->b", "entity": "vc1"}, {"vc": "vc1", "entity": "vc1"}):
        with pytest.raises(TypeError, match=r"give one of vc, port, flows and entity, not (vc|port)="):
            result.series("acr", **names)


def test_rows_are_found_by_name(result: cellrate.Result) -> None:
    assert result.port("sw->b")["transmitted"] > 0
    with pytest.raises(KeyError, match="vc9"):
        result.vc("vc9")


def test_a_summary_is_read_when_it_is_asked_for() -> None:
    result = cellrate.run(cellrate.Scenario.parse(PAIR))
    text = result.summary_text()
    assert result.run["hash"] == cellrate.Scenario.parse(PAIR).hash
    copy = pickle.loads(pickle.dumps(result))
    assert copy.summary_text() == text
    assert json.loads(text) == result.summary == copy.summary
    # Read, it is the same, and may be changed.
    assert result.run is result.summary["run"]
    result.summary["more"] = []
    assert json.loads(result.summary_text()) == {**json.loads(text), "more": []}


def test_a_result_crosses_a_process_border_whole(result: cellrate.Result) -> None:
    copy = pickle.loads(pickle.dumps(result))
    assert copy.summary == result.summary
    assert same_series(copy, result)


def test_run_refuses_a_sweep() -> None:
    with pytest.raises(cellrate.CellrateError, match=r"3 points; cellrate\.sweep"):
        cellrate.run(cellrate.Scenario.parse(SWEEP))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_sweep_gives_the_same_with_any_number_of_workers(workers: int) -> None:
    one_by_one = [cellrate.run(cellrate.Scenario.parse(PAIR), set={"defaults.abr.nrm": n}) for n in (8, 32, 256)]
    results = cellrate.sweep(cellrate.Scenario.parse(SWEEP), workers=workers)
    assert [result.set for result in results] == [{"defaults.abr.nrm": n} for n in (8, 32, 256)]
    for swept, alone in zip(results, one_by_one, strict=True):
        assert swept.summary["vcs"] == alone.summary["vcs"]
        assert same_series(swept, alone)


def test_no_workers_are_too_few() -> None:
    with pytest.raises(cellrate.CellrateError, match="workers is 0; it must be at least 1"):
        cellrate.sweep(cellrate.Scenario.parse(SWEEP), workers=0)


def test_a_bad_point_of_a_sweep_is_found_before_anything_runs() -> None:
    bad = SWEEP.replace("[8, 32, 256]", "[8, 33]")
    with pytest.raises(cellrate.ScenarioError, match="33"):
        cellrate.sweep(cellrate.Scenario.parse(bad))


# The probe is right at the first point; what is wrong with the second one stands nowhere near it.
HALF_WRONG = (
    PAIR.replace('"acr"', '"fair_share"').replace('every = "change"', 'of = ["sw->b"]\nevery = "1 ms"')
    + """
[[sweep]]
set = "defaults.abr.nrm"
values = [32]

[[sweep]]
set = "defaults.switch.algorithm"
values = [{ type = "erica" }, { type = "eprca", threshold = "100 cells" }]
"""
)


def test_an_error_of_a_sweep_says_at_which_point() -> None:
    scenario = cellrate.Scenario.parse(HALF_WRONG)
    for ask in (cellrate.sweep, cellrate.Scenario.check):
        with pytest.raises(cellrate.ScenarioError, match="fair_share") as caught:
            ask(scenario)
        error = pickle.loads(pickle.dumps(caught.value))
        assert str(error).endswith(
            "\nAt point 2 of the sweep: defaults.abr.nrm = 32, "
            'defaults.switch.algorithm = { type = "eprca", threshold = "100 cells" }'
        )
        assert list(error.point) == ["defaults.abr.nrm", "defaults.switch.algorithm"]
        assert error.line is not None
    with pytest.raises(cellrate.ScenarioError, match="33") as alone:
        cellrate.Scenario.parse(PAIR).set({"defaults.abr.nrm": 33}).check()
    assert "At point" not in str(alone.value)
    assert alone.value.point is None


@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_in_a_run_of_a_sweep_says_at_which_point(workers: int) -> None:
    class Tight(cellrate.SwitchAlgorithm):
        def __init__(self, port: Port, interval: float) -> None:
            self.interval = interval

        def on_interval_end(self, load: Load) -> None:
            assert load.length > 0.0

    custom = PAIR.replace(
        '{ type = "erica" }', '{ type = "custom", name = "tight", parameters = { interval = 0.001 } }'
    )
    sweep = '\n[[sweep]]\nset = "defaults.switch.algorithm.parameters.interval"\nvalues = [0.001, 0.0]\n'
    scenario = cellrate.Scenario.parse(custom + sweep)
    with pytest.raises(cellrate.CellrateError, match=r"Tight.interval is 0.0; .*\nAt point 2 of the sweep: .* = 0"):
        cellrate.sweep(scenario, workers=workers, algorithms={"tight": Tight})


def noted(file: Path, place: int, result: cellrate.Result) -> int:
    """Note the run's length; the longest run first waits until all others have done so."""
    duration_s = result.summary["run"]["duration_s"]
    patience = time.monotonic() + 20.0
    while duration_s == 0.004 and time.monotonic() < patience and len(file.read_text().split()) < 3:
        time.sleep(0.01)
    with file.open("a") as opened:
        opened.write(f"{duration_s}\n")
    return place


def points_of(*durations: str) -> list[Point]:
    return [(cellrate.Scenario.parse(PAIR).set({"duration": duration}), {}) for duration in durations]


def test_several_processes_begin_the_longest_runs_first(tmp_path: Path) -> None:
    # One process has the longest run and waits; the other takes what is left in turn.
    (tmp_path / "order").touch()
    todo = points_of("1 ms", "3 ms", "2 ms", "4 ms")
    assert run_each(todo, partial(noted, tmp_path / "order"), workers=2) == [0, 1, 2, 3]
    assert (tmp_path / "order").read_text().split() == ["0.003", "0.002", "0.001", "0.004"]


def failed(file: Path, place: int, result: cellrate.Result) -> None:
    with file.open("a") as opened:
        opened.write(f"{place}\n")
    time.sleep(0.3 if place else 0.0)
    if place == 0:
        raise ValueError("the first point")


def test_a_point_that_fails_ends_the_sweep(tmp_path: Path) -> None:
    todo = points_of(*["1 ms"] * 12)
    with pytest.raises(ValueError, match="the first point"):
        run_each(todo, partial(failed, tmp_path / "began"), workers=2)
    # The other process was at its first point, and may have begun the next before it was told.
    assert len((tmp_path / "began").read_text().split()) <= 4


def killed(place: int, result: cellrate.Result) -> None:
    if place == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_told() -> None:
    with pytest.raises(cellrate.RunError, match="was killed; if memory was short, give fewer workers"):
        run_each(points_of("1 ms", "2 ms", "3 ms"), killed, workers=2)


def test_progress_rises_and_its_exception_ends_the_run() -> None:
    seen: list[float] = []

    class EnoughError(Exception):
        pass

    def progress(done: float) -> None:
        seen.append(done)
        if len(seen) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        cellrate.run(cellrate.Scenario.parse(LONG), progress=progress)
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < 1.0


def test_control_c_ends_a_run() -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(cellrate.Interrupted) as caught:
        cellrate.run(cellrate.Scenario.parse(LONG))
    assert isinstance(caught.value, KeyboardInterrupt)


def test_other_threads_run_meanwhile() -> None:
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()

    def progress(done: float) -> None:
        if len(ticks) > 20:
            raise InterruptedError

    try:
        with pytest.raises(InterruptedError):
            cellrate.run(cellrate.Scenario.parse(LONG), progress=progress)
    finally:
        stop.set()
        thread.join()


def test_threads_change_nothing_but_the_time() -> None:
    scenario = cellrate.Scenario.parse(CONVERSATIONS)
    assert figures(cellrate.run(scenario, threads=3)) == figures(cellrate.run(scenario))
    with pytest.raises(cellrate.CellrateError, match="threads is 0; it must be at least 1"):
        cellrate.run(scenario, threads=0)


def test_a_host_whose_line_is_the_bottleneck_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    several = PAIR.replace('name = "vc1"', 'name = "vc{i}"\ncount = 5')
    crowded = cellrate.run(cellrate.Scenario.parse(several))
    [row] = crowded.summary["host_bottlenecks"]
    waiting = sum(of["in_flight"] for of in crowded.summary["vcs"])
    assert waiting * 0.9 < row["waiting"] <= waiting
    print_summary(crowded.summary, {})
    assert f"{row['port']}: the host's own line is the bottleneck" in capsys.readouterr().out
    assert cellrate.run(cellrate.Scenario.parse(PAIR)).summary["host_bottlenecks"] == []


def test_setting_up_and_running_are_timed_apart() -> None:
    begun = time.perf_counter()
    run = cellrate.run(cellrate.Scenario.parse(PAIR)).summary["run"]
    assert run["set_up_s"] > 0
    assert run["wall_s"] > 0
    assert run["set_up_s"] + run["wall_s"] <= time.perf_counter() - begun
