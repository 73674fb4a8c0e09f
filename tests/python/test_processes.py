from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import cellrate
from cellrate.papers import load_paper
from cellrate.running import processes
from cellrate.running.points import Point, run_each
from cellrate.running.processes import end_if_stopped, number_of_workers, side_by_side


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_what_calls_return_comes_in_their_order_and_progress_after_each(workers: int) -> None:
    seen: list[float] = []
    outcomes = side_by_side([lambda n=n: n * n for n in range(4)], workers=workers, progress=seen.append)  # type: ignore[misc]
    assert outcomes == [0, 1, 4, 9]
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_one_process_is_this_one_and_two_are_others() -> None:
    assert set(side_by_side([os.getpid] * 3, workers=1)) == {os.getpid()}
    assert os.getpid() not in side_by_side([os.getpid] * 3, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_call_raises_is_raised(workers: int) -> None:
    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        side_by_side([os.getpid, fail, os.getpid], workers=workers)


def fail_after(begun: Path) -> None:
    """Fail once another call has begun."""
    while not begun.exists():
        time.sleep(0.001)
    raise LookupError("nothing there")


def test_what_a_call_raises_is_raised_when_the_others_have_ended(tmp_path: Path) -> None:
    def write() -> None:
        (tmp_path / "begun").touch()
        time.sleep(0.2)
        (tmp_path / "ended").touch()

    calls: list[Callable[[], None]] = [partial(fail_after, tmp_path / "begun"), write]
    with pytest.raises(LookupError, match="nothing there"):
        side_by_side(calls, workers=2)
    assert (tmp_path / "ended").exists()


def test_a_call_that_takes_long_can_end_when_another_has_failed(tmp_path: Path) -> None:
    def take_long() -> None:
        (tmp_path / "begun").touch()
        for step in range(20_000):
            (tmp_path / "reached").write_text(str(step))
            end_if_stopped()
            time.sleep(0.001)

    calls: list[Callable[[], None]] = [partial(fail_after, tmp_path / "begun"), take_long]
    with pytest.raises(LookupError, match="nothing there"):
        side_by_side(calls, workers=2)
    assert int((tmp_path / "reached").read_text()) < 19_999


def test_a_call_that_never_returns_is_killed_when_another_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "END_S", 0.1)

    def hang() -> None:
        (tmp_path / "begun").touch()
        time.sleep(60)
        (tmp_path / "ended").touch()

    calls: list[Callable[[], None]] = [partial(fail_after, tmp_path / "begun"), hang]
    with pytest.raises(LookupError, match="nothing there"):
        side_by_side(calls, workers=2)
    assert not (tmp_path / "ended").exists()


def test_a_thread_that_a_call_has_left_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "END_S", 0.1)

    def sleep() -> None:
        time.sleep(60)
        (tmp_path / "ended").touch()

    def leave_a_thread() -> int:
        threading.Thread(target=sleep).start()
        return 1

    assert side_by_side([leave_a_thread, leave_a_thread], workers=2) == [1, 1]
    assert not (tmp_path / "ended").exists()


FORKING = """
import os
import cellrate

class Forks(cellrate.SwitchAlgorithm):
    forked = False
    def on_backward_rm(self, now, vc, queue):
        if not Forks.forked:
            Forks.forked = True
            os.fork()
        return 1000.0

scenario = cellrate.Scenario.load("two-source-transient")
custom = {"duration": "2 ms", "defaults.switch.algorithm": '{ type = "custom", name = "mine" }'}
cellrate.run(scenario.set(custom), algorithms={"mine": Forks})
print("ended", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_the_copy_of_a_process_that_a_plugin_forks_ends_with_the_run() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], check=True, capture_output=True, text=True)
    assert done.stdout == "ended\n"


def test_outside_of_processes_nothing_is_stopped() -> None:
    end_if_stopped()


def test_a_run_ends_when_what_became_of_another_one_could_not_be_kept(tmp_path: Path) -> None:
    scenario = cellrate.Scenario.load("greedy-15")
    points: list[Point] = [(scenario.set({"duration": duration}), {}) for duration in ("1 ms", "300 s")]

    def finish(place: int, _result: cellrate.Result) -> None:
        if place == 0:
            raise LookupError("no room")
        (tmp_path / "whole").touch()

    with pytest.raises(LookupError, match="no room"):
        run_each(points, finish, workers=2)
    assert not (tmp_path / "whole").exists()


def test_no_call_needs_no_process() -> None:
    assert side_by_side([], workers=2) == []


def test_there_are_no_more_workers_than_calls_or_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert [number_of_workers(workers, 2) for workers in (1, 2, 3)] == [1, 2, 2]
    assert number_of_workers(None, 1000) == 5
    assert number_of_workers(None, 1) == 1


def test_what_a_paper_defines_crosses_over() -> None:
    findings = load_paper("uili").experiments[0].findings
    assert side_by_side([partial(getattr, findings, "__module__")] * 2, workers=2) == [findings.__module__] * 2


def test_what_a_process_cannot_read_is_said() -> None:
    made = types.ModuleType("nowhere")
    exec("def call():\n    pass", vars(made))
    sys.modules["nowhere"] = made
    try:
        with pytest.raises(cellrate.RunError, match=r"cannot read what it is to call: .*No module named 'nowhere'"):
            side_by_side([made.call] * 2, workers=2)
    finally:
        del sys.modules["nowhere"]
