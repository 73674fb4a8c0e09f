"""Campaigns: what is done stays, whatever ends a sweep, and the same command ends with the same bytes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate import CellrateError
from cellrate.campaigns.batches import Target, lacks
from cellrate.campaigns.executors import Workers
from cellrate.campaigns.manifest import Manifest
from cellrate.campaigns.running import sweep_into
from cellrate.campaigns.scheduling import run_each
from cellrate.campaigns.store import naming
from cellrate.command_line.main import status
from cellrate.folders.locks import Lock, LockFiles, Locks, points_in
from cellrate.folders.owned import area_of, owning
from cellrate.running.points import Point
from cellrate.sweeps.varying import Points
from conftest import PAIR, SWEEP, command

SWEPT = [(point.scenario, point.settings) for point in cellrate.Scenario.parse(SWEEP).points()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def seeded(seeds: int, text: str = SWEEP) -> Sequence[Point]:
    return Points(cellrate.Scenario.parse(text), seeds)


LONG = PAIR.replace('"20 ms"', '"1 s"')
ASKED = ["run", "long.toml", "--sweep", "defaults.abr.nrm=[2, 4, 8]", "--seeds", "2", "--csv", "--out", "out"]


def started(folder: Path, workers: int = 2) -> subprocess.Popen[str]:
    (folder / "long.toml").write_text(LONG)
    call = [sys.executable, "-m", "cellrate", *ASKED, "--workers", str(workers)]
    return subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(condition: Callable[[], bool]) -> None:
    last = time.monotonic() + 60
    while not condition() and time.monotonic() < last:
        time.sleep(0.005)
    assert condition()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Give the files of the command when nobody disturbs it."""
    folder = tmp_path_factory.mktemp("whole")
    with started(folder) as process:
        assert process.wait() == 0
    assert [entry.name for entry in folder.iterdir() if entry.name != "long.toml"] == ["out"]
    return contents(folder / "out")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_is_done_stays_and_the_same_command_ends_with_the_same_bytes(
    tmp_path: Path, whole: dict[str, bytes], number: signal.Signals
) -> None:
    with started(tmp_path) as process:
        until(lambda: len(list(tmp_path.glob("out/point-*"))) >= 2)
        os.kill(process.pid, number)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 1, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    done = sorted(entry.name for entry in tmp_path.glob("out/point-*"))
    if number != signal.SIGKILL:
        assert f"{len(done)} of 6 points are in out; the same command goes on with the rest" in complaint
        assert {entry.name for entry in tmp_path.iterdir()} == {"long.toml", "out"}
    swept = cellrate.load_sweep(tmp_path / "out")
    assert (len(swept), len(swept.missing)) == (len(done), 6 - len(done))
    assert swept.tidy().num_rows == 2 * len(done)
    kept = {name: (tmp_path / "out" / name / "summary.json").stat().st_ino for name in done}
    assert command(*ASKED, "--workers", "1", cwd=tmp_path).returncode == 0
    assert {name: (tmp_path / "out" / name / "summary.json").stat().st_ino for name in done} == kept
    assert contents(tmp_path / "out") == whole
    assert {entry.name for entry in tmp_path.iterdir()} == {"long.toml", "out"}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="semaphores have names in files on Linux alone")
@pytest.mark.parametrize("end", [os.kill, os.killpg])
def test_no_semaphore_stays_of_what_was_killed_and_nothing_is_said_of_it(
    tmp_path: Path, end: Callable[[int, int], None]
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    call = [sys.executable, "-m", "cellrate", *ASKED, "--workers", "2"]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(call, cwd=tmp_path, stdout=said, stderr=said, start_new_session=True)
    names = f"sem.loky-{process.pid}-*"
    until(lambda: any(area_of(tmp_path / "out").glob("point-*")))
    assert any(Path("/dev/shm").glob(names))
    end(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: not any(Path("/dev/shm").glob(names)))
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert "resource_tracker" not in (tmp_path / "said").read_text()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in files on Linux alone")
def test_a_killed_tracker_of_semaphores_says_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        until(lambda: any(area_of(tmp_path / "out").glob("point-*")))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        [tracker] = [
            int(child) for child in children if b"loky.backend.resource" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
        os.kill(tracker, signal.SIGKILL)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "Traceback" not in complaint


def test_two_processes_share_the_points(tmp_path: Path, whole: dict[str, bytes]) -> None:
    with started(tmp_path) as first, started(tmp_path, workers=1) as second:
        until(lambda: (tmp_path / "out").exists())
        seen: dict[str, int] = {}
        while first.poll() is None or second.poll() is None:
            for file in tmp_path.glob("out/point-*/summary.json"):
                assert seen.setdefault(file.parent.name, file.stat().st_ino) == file.stat().st_ino
            time.sleep(0.01)
        assert (first.returncode, second.returncode) == (0, 0)
    assert contents(tmp_path / "out") == whole
    assert {entry.name for entry in tmp_path.iterdir()} == {"long.toml", "out"}


def test_others_at_work_with_other_points_are_not_disturbed(tmp_path: Path) -> None:
    with started(tmp_path, workers=1) as process:
        until(lambda: (tmp_path / "out" / "campaign.json").exists())
        with pytest.raises(CellrateError, match=r"another cellrate is at work on .*out, with other points"):
            sweep_into(tmp_path / "out", SWEPT, workers=1)
        assert process.wait() == 0


def test_a_run_takes_the_place_of_what_a_killed_sweep_has_left(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        until(lambda: any(area_of(tmp_path / "out").glob("point-*")))
        process.kill()
        process.wait()
    # Its workers end with it, in a moment.
    until(points_in(area_of(tmp_path / "out")).remove)
    (tmp_path / ".out.abcd1234.partial").mkdir()
    (tmp_path / ".out.mine.partial").mkdir()
    with owning(tmp_path / ".out.abcd1234.partial"):
        cellrate.run(SWEPT[0][0]).write(tmp_path / "out", plots=False)
        assert {entry.name for entry in tmp_path.iterdir()} == {
            "long.toml", "out", ".out.abcd1234.partial", ".out.mine.partial",
        }  # fmt: skip
    cellrate.run(SWEPT[0][0]).write(tmp_path / "out", plots=False)
    # The last one is no name that cellrate gives.
    assert {entry.name for entry in tmp_path.iterdir()} == {"long.toml", "out", ".out.mine.partial"}


def test_more_seeds_and_more_values_add_points(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, seeded(2), workers=1)
    kept = {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    assert len(kept) == 6
    said: list[str] = []
    wider = SWEEP.replace("[8, 32, 256]", "[2, 8, 32, 256]")
    sweep_into(out, seeded(3, wider), workers=1, complain=said.append)
    assert said == []
    assert kept < {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    sweep_into(tmp_path / "anew", seeded(3, wider), workers=1)
    assert contents(out) == contents(tmp_path / "anew")


def test_what_no_longer_fits_is_said_and_kept_and_found_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, seeded(2), workers=1)
    before = contents(out)
    said: list[str] = []
    longer = SWEEP.replace('"20 ms"', '"10 ms"')
    sweep_into(out, seeded(1, longer), workers=1, complain=said.append)
    assert said == [
        f"{out} keeps 6 points that are not asked for now (6 of another scenario: duration is '20 ms' there, '10 ms' "
        f"now); they are in {out / 'earlier'}"
    ]
    assert len(cellrate.load_sweep(out)) == 3
    kept = {file.stat().st_ino for file in out.glob("earlier/*/summary.json")}
    sweep_into(out, seeded(2), workers=1, complain=said.append)
    assert kept == {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    shutil.rmtree(out / "earlier")
    after = contents(out)
    manifests = [json.loads(texts.pop("campaign.json")) for texts in (before, after)]
    assert manifests[0]["points"] == manifests[1]["points"]
    assert after == before


def test_another_build_fits_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    monkeypatch.setattr("cellrate.campaigns.manifest.build", lambda: "0123456789abcdef")
    said: list[str] = []
    sweep_into(out, SWEPT, workers=1, complain=said.append)
    assert "(3 by another build of cellrate, " in said[0]
    assert said[0].endswith(f"; this is 0123456789abcdef); they are in {out / 'earlier'}")


@pytest.mark.parametrize(
    "damage",
    [
        lambda point: (point / "summary.json").write_text(""),
        lambda point: (point / "summary.json").unlink(),
        lambda point: (point / "scenario.toml").write_text(""),
        lambda point: (point / "series" / "acr.parquet").write_bytes(b"PAR1"),
        lambda point: (point / "series" / "acr.parquet").unlink(),
        lambda point: shutil.rmtree(point / "series"),
        lambda point: flip(point / "series" / "queue.parquet"),
        lambda point: flip(point / "scenario.toml"),
        lambda point: flip(point / "files.json"),
        lambda point: (point / "files.json").unlink(),
        lambda point: (point / "files.json").write_text('{"of": "../../x", "files": {}}'),
        lambda point: edited(point / "summary.json", "data_sent", 123_456_789),
    ],
)
def test_a_point_that_is_damaged_is_run_again(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    before = contents(out)
    damage(out / "point-002")
    (out / "run.parquet").unlink()
    said: list[str] = []
    sweep_into(out, SWEPT, workers=1, complain=said.append)
    assert contents(out) == before
    assert len(said) == 1
    assert said[0].startswith(f"1 points in {out} are not whole and are run again (point-002: ")


def flip(file: Path) -> None:
    """Change octets in the middle of a file."""
    octets = bytearray(file.read_bytes())
    for place in range(len(octets) // 3, len(octets) // 2):
        octets[place] ^= 0x5A
    file.write_bytes(octets)


def edited(file: Path, key: str, value: object) -> None:
    """Change a value of the first connection in a summary, which stays one in all else."""
    content = json.loads(file.read_bytes())
    content["vcs"][0][key] = value
    file.write_text(json.dumps(content))


def test_a_point_that_is_damaged_is_told_when_it_is_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    (out / "point-002" / "series" / "acr.parquet").unlink()
    table = out / "point-003" / "series" / "queue.parquet"
    table.write_bytes(table.read_bytes()[:40] + b"!" + table.read_bytes()[41:])
    swept = cellrate.load_sweep(out)
    with pytest.raises(CellrateError, match=r"point-002 is not whole: series/acr.parquet: No such file or directory"):
        swept[1]
    with pytest.raises(CellrateError, match=r"point-003 is not whole: series/queue.parquet has other octets than it"):
        swept[2].all_series("queue")[0]


@pytest.mark.parametrize("name", ["run.parquet", "vcs.parquet", "vcs.csv", "summary.json", "files.json"])
@pytest.mark.parametrize("damage", [Path.unlink, flip, lambda file: file.write_bytes(b"")])
def test_tables_that_are_damaged_are_made_again(tmp_path: Path, name: str, damage: Callable[[Path], object]) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, csv=True, workers=1)
    before = contents(out)
    damage(out / name)
    assert cellrate.load_sweep(out).tidy().num_rows == 6
    sweep_into(out, SWEPT, workers=1)
    assert contents(out) == before


@pytest.mark.parametrize("damage", [Path.unlink, flip, lambda file: file.write_bytes(b"")])
def test_a_manifest_that_is_damaged_is_written_anew_and_points_are_found(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    before = contents(out)
    kept = {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    damage(out / "campaign.json")
    said: list[str] = []
    sweep_into(out, SWEPT[1:], workers=1, complain=said.append)
    assert "it is written anew, and points that are asked for are found again" in said[0]
    assert "keeps 1 points that are not asked for now" in said[1]
    damage(out / "campaign.json")
    sweep_into(out, SWEPT, workers=1, complain=said.append)
    assert kept == {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    assert contents(out) == before


def test_points_of_earlier_versions_load_and_are_run_again_with_a_word(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    before = contents(out)
    for file in out.rglob("files.json"):
        file.unlink()
    assert [len(result.series_names) for result in cellrate.load_sweep(out)] == [4, 4, 4]
    said: list[str] = []
    # Those that are not asked for stay as they are.
    sweep_into(out, SWEPT[:1], workers=1, complain=said.append)
    assert len(list(out.glob("earlier/*/summary.json"))) == 2
    sweep_into(out, SWEPT, workers=1, complain=said.append)
    assert [text.partition(" in ")[0] for text in said if "run again" in text] == ["1 points", "2 points"]
    assert "(point-001: files.json is missing, as in points of earlier versions)" in said[1]
    # The manifest knows what was asked for between.
    assert {**contents(out), "campaign.json": b""} == {**before, "campaign.json": b""}


def test_all_is_run_again_where_that_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT, workers=1)
    before = {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    held = [file.open() for file in out.glob("point-*/summary.json")]
    sweep_into(out, SWEPT, workers=1, fresh=True)
    assert not before & {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    for file in held:
        file.close()


def test_plots_and_tables_that_are_asked_for_later_are_added(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_into(out, SWEPT[:2], workers=1)
    kept = {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    assert lacks(out / "point-001", Target(out, "", csv=True))
    sweep_into(out, SWEPT[:2], csv=True, plots=True, workers=1)
    assert kept == {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    sweep_into(tmp_path / "anew", SWEPT[:2], csv=True, plots=True, workers=1)
    assert contents(out) == contents(tmp_path / "anew")


def test_tables_are_what_tidy_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if there were many points, of which some are in memory at a time.
    monkeypatch.setattr("cellrate.campaigns.tables.CHUNK", 2)
    swept = sweep_into(tmp_path / "out", seeded(2), workers=1)
    results = list(swept)
    for of in ("run", "vcs", "ports"):
        assert swept.tidy(of).equals(cellrate.tidy(results, of))
    assert swept.tidy("vcs", over_seeds=True).equals(cellrate.tidy(results, "vcs", over_seeds=True))
    with pytest.raises(CellrateError, match='there are no rows "vc" in a result; there are run, vcs'):
        swept.tidy("vc")


def test_a_sweep_is_a_table_of_pandas_polars_and_xarray(tmp_path: Path) -> None:
    swept = sweep_into(tmp_path / "out", seeded(2), workers=1)
    assert len(swept.to_pandas()) == len(swept.to_polars()) == 12
    dataset = swept.to_xarray("ports")
    assert dict(dataset.sizes) == {"defaults.abr.nrm": 3, "seed": 2, "port": 4}
    assert float(dataset["utilization"].sel({"defaults.abr.nrm": 32, "seed": 8, "port": "sw->b"})) == pytest.approx(
        swept[3].port("sw->b")["utilization"]
    )
    assert "run" not in swept.to_xarray("run").dims
    with pytest.raises(IndexError, match=r"there is no point 6; <Sweep .*: 6 points>"):
        swept[6]
    assert swept[-1].set == {"defaults.abr.nrm": 256, "seed": 8}
    assert [result.set["seed"] for result in swept[:2]] == [7, 8]


def test_the_overview_has_a_row_for_each_value_of_a_key(
    pair_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "--sweep",
        "defaults.abr.nrm=[8, 32]",
        "--sweep",
        'duration=["5 ms", "10 ms"]',
        "--out",
        str(tmp_path / "out"),
    ]
    assert status(["run", str(pair_file), *asked, "--workers", "1"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("pair: 4 points\n")
    assert [line.split()[:2] for line in told.splitlines()[5:9]] == [
        ["8", "5"], ["8", "10"], ["32", "5"], ["32", "10"],
    ]  # fmt: skip
    assert status(["show", str(tmp_path / "out"), "--by", "nrm"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[:2] for line in told.splitlines()[5:7]] == [["8", "2"], ["32", "2"]]
    # Another key that was varied is no chance: nothing is said of how sure these means are.
    assert told.endswith("Means over duration.\n")
    assert "±" not in told
    assert status(["show", str(tmp_path / "out"), "--csv", "--by", "defaults.abr.nrm"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("defaults.abr.nrm,runs,throughput_mbps,throughput_mbps_ci95,")
    assert [row.split(",")[:2] for row in rows] == [["8", "2"], ["32", "2"]]
    assert all(row.split(",")[3] == "" for row in rows)
    assert status(["show", str(tmp_path / "out"), "--by", "icr"]) == 2
    assert (
        "icr names none of the keys that were varied, which are defaults.abr.nrm, duration" in capsys.readouterr().err
    )


def test_points_that_are_the_same_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CellrateError, match="points 1 and 2 of the sweep are the same scenario with the same seed"):
        sweep_into(tmp_path / "out", [SWEPT[0], SWEPT[0]], workers=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is not a manifest of a campaign"), ('{"campaign": 2}', "is of format 2; this cellrate .* reads 1")],
)
def test_a_manifest_of_somebody_else_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(CellrateError, match=said):
        cellrate.load_sweep(tmp_path)
    (tmp_path / "point-001").mkdir()
    manifest = Manifest.of(SWEPT, "")
    (tmp_path / "campaign.json").write_text(manifest.text().replace("point-001", "../point-001"))
    with pytest.raises(CellrateError, match=r"folder of point 1 is '../point-001', and must be point- and its number"):
        cellrate.load_sweep(tmp_path)


def test_a_lock_is_had_by_one_or_shared(tmp_path: Path) -> None:
    first, second, third = (Lock(tmp_path / "a.lock") for _ in range(3))
    assert first.take()
    assert not second.take()
    assert not second.take(shared=True)
    first.give_back()
    assert not (tmp_path / "a.lock").exists()
    assert second.take(shared=True)
    assert third.take(shared=True)
    assert not second.take()
    third.give_back()
    assert (tmp_path / "a.lock").exists() or second.take(shared=True)


HOLDS = """
import sys
from pathlib import Path
from cellrate.folders import locks as kinds
locks = getattr(kinds, sys.argv[2])(Path(sys.argv[1]))
print(locks.take(7), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", [Locks, LockFiles])
def test_locks_by_number_end_with_who_holds_them(kind: type[Locks | LockFiles], tmp_path: Path) -> None:
    file = tmp_path / "points.lock"
    first, second = kind(file), kind(file)
    # One process twice, as threads of a worker are.
    assert (first.take(1), second.take(1), second.take(2), first.take(2)) == (True, False, True, False)
    first.give_back(1)
    assert second.take(1)
    assert not first.remove()
    second.close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, file, kind.__name__], stdin=-1, stdout=-1, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        assert (first.take(7), first.take(8)) == (False, True)
        assert not second.remove()
        process.kill()
        process.wait()
    assert first.take(7)
    first.close()
    # A file that was removed counts no longer for who has it open.
    assert second.take(3)
    second.give_back(3)
    assert first.remove()
    assert not any(tmp_path.iterdir())
    assert first.remove()
    assert first.take(3)
    assert (second.take(3), second.take(4)) == (False, True)
    with pytest.raises(FileNotFoundError):
        kind(tmp_path / "nowhere" / "points.lock").take(1)


def test_a_seed_gives_the_scenario_that_setting_it_gives() -> None:
    scenario = cellrate.Scenario.parse(PAIR)
    for seed in (0, 12, 2**63 - 1):
        seeded, plain = scenario.with_seed(seed), scenario.set({"seed": seed})
        assert (seeded.hash, seeded.toml, seeded.seed) == (plain.hash, plain.toml, seed)
        assert (seeded.origin, plain.origin) == ((scenario, seed), (plain, None))
        assert cellrate.run(seeded).summary["vcs"] == cellrate.run(plain).summary["vcs"]
    for seed in (-1, 2**63):
        with pytest.raises(OverflowError):
            scenario.with_seed(seed)
    last = scenario.set({"seed": 2**63 - 2})
    assert Points(last, 2)[1][0].seed == 2**63 - 1
    with pytest.raises(cellrate.ScenarioError, match="9223372036854775808 is too large"):
        Points(last, 3)


def test_tables_are_the_same_from_one_process_and_from_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellrate.campaigns.tables.CHUNK", 2)
    monkeypatch.setattr("cellrate.campaigns.running.SHARED", 6)
    calls: list[object] = []

    def counted(workers: Workers, target: Target, call: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
        calls.append(call)
        return run_each(workers, target, call, things)

    monkeypatch.setattr("cellrate.campaigns.running.run_each", counted)
    for workers in (1, 2):
        sweep_into(tmp_path / f"{workers}", seeded(2), workers=workers, csv=True)
        # Once for the points and once for the kinds of rows.
        assert len(calls) == 2 * (workers - 1)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_algorithms_of_ones_own_are_known_by_their_text(tmp_path: Path) -> None:
    code = (
        "import cellrate\nclass Mine(cellrate.SwitchAlgorithm):\n    def on_backward_rm(self, now, vc, queue):\n"
        "        return {rate}\n"
    )
    scenario = PAIR.replace('{ type = "erica" }', '{ type = "custom", name = "mine" }')
    (tmp_path / "own.toml").write_text(scenario)
    call = ["run", str(tmp_path / "own.toml"), "--seeds", "2", "--out", str(tmp_path / "out"), "--workers", "1"]
    inodes = []
    for name, rate in (("one", 1e5), ("one", 1e5), ("two", 2e5)):
        # Another name, since a module that was imported stays.
        (tmp_path / f"{name}.py").write_text(code.format(rate=rate))
        assert status([*call, "--algorithm", f"mine={tmp_path / name}.py:Mine"]) == 0
        inodes.append({file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")})
    assert inodes[0] == inodes[1]
    assert inodes[1] != inodes[2]


def test_a_full_disk_is_said_with_the_place_where_the_error_names_none(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No space left on device: .*point-001"), naming(tmp_path / "point-001"):
        raise OSError(28, "Error writing bytes to file")
    with pytest.raises(OSError, match=r"No space left on device: .*acr"), naming(tmp_path / "point-001"):
        raise OSError(28, "No space left on device", str(tmp_path / "acr"))


FULL = """
mount -t tmpfs -o size=600k none small || exit 77
printf '%s' "$2" > small/long.toml
cd small
"$1" -m cellrate run long.toml --seeds 40 --workers 2 --out out
echo "status $?, $(ls out | grep -c point-) points, $(ls -A | tr '\\n' ' ')"
mount -o remount,size=20m . || exit 1
"$1" -m cellrate run long.toml --seeds 40 --workers 1 --out out || exit 1
cp -r out ../kept
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="a small file system needs root and unshare"
)
def test_a_disk_that_fills_up_costs_only_what_did_not_fit(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    text = PAIR.replace('{ type = "erica" }', '{ type = "erica" } # ' + "filler " * 2000)
    call = ["unshare", "--mount", "sh", "-c", FULL, "sh", sys.executable, text]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if done.returncode == 77:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    told = next(line for line in done.stdout.splitlines() if line.startswith("status "))
    match = re.fullmatch(r"status 1, (\d+) points, long.toml out ", told)
    assert match, told
    kept = int(match[1])
    assert 0 < kept < 40
    assert re.search(
        rf"No space left on device: .*; {kept} of 40 points are in out; the same command goes on", done.stderr
    )
    sweep_into(tmp_path / "plain", seeded(40, text))
    assert contents(tmp_path / "kept") == contents(tmp_path / "plain")
