"""Campaigns on a real scheduler with two real workers, of which one is killed, and so is the client."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate import CellrateError
from cellrate.campaigns.batches import Batch, Target, call_if_seen, run_batch, sent, sent_call
from cellrate.command_line.main import status
from cellrate.running.points import How
from conftest import PAIR, command
from test_campaigns import contents, until

pytest.importorskip("distributed")

LONG = PAIR.replace('"20 ms"', '"400 ms"')
ASKED = ["--sweep", "defaults.abr.nrm=[2, 4, 8, 32]", "--seeds", "3"]


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, *workers: str) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))
        for name in workers:
            self.start_worker(name)
        self.address: str = json.loads(self.file.read_text())["address"]

    def start(self, name: str, *arguments: str, kind: str = "scheduler") -> None:
        call = [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments, "--host", "127.0.0.1"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(call, stdout=log, stderr=log, cwd=self.folder)

    def start_worker(self, name: str) -> None:
        more = ("--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        self.start(name, *more, "--local-directory", str(self.folder / name), kind="worker")

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"), "one", "two")
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Give the result of this machine without a cluster."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "long.toml").write_text(LONG)
    assert status(["run", str(folder / "long.toml"), *ASKED, "--out", str(folder / "out"), "--workers", "1"]) == 0
    return contents(folder / "out")


def test_a_killed_worker_and_a_killed_client_cost_no_point_and_change_no_byte(
    cluster: Cluster, tmp_path: Path, local: dict[str, bytes]
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    call = [sys.executable, "-m", "cellrate", "run", "long.toml", *ASKED, "--out", "out"]
    with subprocess.Popen([*call, "--cluster", cluster.address], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        until(lambda: any(tmp_path.glob("out/point-*")))
        cluster.processes["one"].send_signal(signal.SIGKILL)
        cluster.processes["one"].wait()
        until(lambda: len(list(tmp_path.glob("out/point-*"))) >= 3)
        process.kill()
        process.communicate()
    cluster.start_worker("one")
    done = {file.parent.name: file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")}
    again = command("run", "long.toml", *ASKED, "--out", "out", "--cluster", cluster.file, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    for name, inode in done.items():
        assert (tmp_path / "out" / name / "summary.json").stat().st_ino == inode
    assert contents(tmp_path / "out") == local
    assert {entry.name for entry in tmp_path.iterdir()} == {"long.toml", "out"}


def test_a_client_of_ones_own_carries_algorithms_by_value(cluster: Cluster, tmp_path: Path) -> None:
    from distributed import Client

    class Fixed(cellrate.SwitchAlgorithm):
        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return 1e5

    scenario = cellrate.Scenario.parse(PAIR.replace('{ type = "erica" }', '{ type = "custom", name = "mine" }'))
    with Client(cluster.address, set_as_default=False) as client:
        swept = cellrate.sweep(
            scenario, seeds=3, out=tmp_path / "out", executor=client, algorithms={"mine": Fixed}, progress=False
        )
    here = cellrate.sweep(scenario, seeds=3, workers=1, algorithms={"mine": Fixed})
    assert [result.summary["vcs"] for result in swept] == [result.summary["vcs"] for result in here]


def test_interrupting_ends_what_runs_on_the_workers(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(PAIR.replace('"20 ms"', '"10 min"'))
    call = [sys.executable, "-m", "cellrate", "run", "long.toml", "--seeds", "4", "--out", "out"]
    call += ["--cluster", cluster.address]
    with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: any(tmp_path.glob(".out.points.partial/point-*")))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, "cellrate: interrupted\n")
    until(lambda: not any(tmp_path.glob(".out.points.partial/*.lock")))


def test_a_scheduler_that_is_lost_ends_the_command_with_what_is_done(tmp_path: Path) -> None:
    lost = Cluster(tmp_path, "one")
    try:
        (tmp_path / "long.toml").write_text(PAIR.replace('"20 ms"', '"2 s"'))
        call = [sys.executable, "-m", "cellrate", "run", "long.toml", "--seeds", "12", "--out", "out"]
        call += ["--cluster", lost.address]
        with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            until(lambda: any(tmp_path.glob("out/point-*")))
            lost.processes["scheduler"].kill()
            _, said = process.communicate(timeout=120)
        assert process.returncode == 1
        assert f"cellrate: the scheduler at {lost.address} is gone" in said
        assert " of 12 points are in out; the same command goes on with the rest" in said
    finally:
        lost.end()


def test_workers_that_do_not_share_the_folder_send_results_back(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(ThreadPoolExecutor):
        """A thread that sees no folder of the caller's, as a worker on another machine."""

        def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            monkeypatch.setattr(Target, "is_seen", lambda _: False)
            return super().submit(call, *arguments, **named)

    scenario = cellrate.Scenario.parse(PAIR)
    with Elsewhere(2) as executor:
        cellrate.sweep(scenario, seeds=3, out=tmp_path / "far", executor=executor, progress=False)
    cellrate.sweep(scenario, seeds=3, out=tmp_path / "near", workers=1)
    assert contents(tmp_path / "far") == contents(tmp_path / "near")


def test_any_executor_will_do(tmp_path: Path) -> None:
    from loky import ProcessPoolExecutor

    executor: Executor = ProcessPoolExecutor(2)
    with executor:
        swept = cellrate.sweep(PAIR_SCENARIO, seeds=3, out=tmp_path / "out", executor=executor, progress=False)
    assert len(swept) == 3
    with pytest.raises(
        CellrateError, match=r"executor is 3; it is a client of Dask, an executor of concurrent.futures"
    ):
        cellrate.sweep(PAIR_SCENARIO, seeds=3, out=tmp_path / "other", executor=3)
    with pytest.raises(CellrateError, match="executor needs out, a folder for the results"):
        cellrate.sweep(PAIR_SCENARIO, seeds=3, executor=executor)


PAIR_SCENARIO = cellrate.Scenario.parse(PAIR)


def test_a_worker_of_another_build_is_refused_with_both_named(monkeypatch: pytest.MonkeyPatch) -> None:
    given = sent(Batch(Target(Path("out"), "token"), How(), []), afar=True)
    table = sent_call(Target(Path("out"), "token"), len, "table")
    assert run_batch(given)[0] == []
    assert call_if_seen(table) is None
    other = {"cellrate": "0.0.1, build 0123", "Python": "3.8", "cloudpickle": "1", "numpy": "1", "pyarrow": "1"}
    monkeypatch.setattr("cellrate.campaigns.batches.facts", lambda: other)
    with pytest.raises(CellrateError, match=r"would not give the same results: cellrate 0\.0\.1, build 0123 there, "):
        run_batch(given)
    with pytest.raises(CellrateError, match="would not give the same results"):
        call_if_seen(table)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("tcp://127.0.0.1:1", "--cluster tcp://127.0.0.1:1: no scheduler answers there"),
        ("nothing.json", "--cluster nothing.json: there is no such file; give the one that dask scheduler"),
    ],
)
def test_where_there_is_no_scheduler_that_is_said(
    place: str,
    said: str,
    pair_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cellrate.campaigns.executors.CONNECT_S", 1)
    call = ["run", str(pair_file), "--seeds", "2", "--out", str(tmp_path / "out"), "--cluster", place]
    assert status(call) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_single_run_needs_no_cluster(pair_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(pair_file), "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "is a single run, which needs no cluster; add --sweep or --seeds" in capsys.readouterr().err


def test_a_paper_is_the_same_from_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    assert status(["paper", "new", str(tmp_path / "of-a-cluster")]) == 0
    call = ["paper", "run", str(tmp_path / "of-a-cluster"), "--out"]
    assert status([*call, str(tmp_path / "here"), "--workers", "1"]) == 0
    assert status([*call, str(tmp_path / "there"), "--cluster", cluster.address]) == 0
    assert {entry.name for entry in tmp_path.iterdir()} == {"of-a-cluster", "here", "there"}
    here, there = (contents(tmp_path / name) for name in ("here", "there"))
    assert here.keys() == there.keys()
    # The page and a file beside it say how long it took.
    assert {name for name in here if here[name] != there[name]} <= {"report.html", "took.json"}
