"""Runs, sweeps and what they keep where there is nothing of POSIX: Linux that looks like Windows (like_windows)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LIKE_WINDOWS = Path(__file__).parent / "like_windows"
SHORT = ["two-source-transient", "--set", "duration=20ms"]
SWEEP = ["--sweep", "defaults.abr.nrm=[8, 16, 32]"]


def environment() -> dict[str, str]:
    paths = [str(LIKE_WINDOWS), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNDEFAULTENCODING": "1"}


def python(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python as on Windows, in a session of its own."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, env=environment(), text=True, capture_output=True,
        start_new_session=True, check=False,
    )  # fmt: skip


def cellrate(*arguments: str | Path, folder: Path) -> str:
    """Run a command that ends well, and give what it prints."""
    done = python("-m", "cellrate", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """A folder, in which nothing hidden is left in the end."""
    yield tmp_path
    assert not [name for name in names(tmp_path) if name.startswith(".") or name.endswith(".lock")]


IMPORT_ALL = """
import importlib, pkgutil, sys
import cellrate
from cellrate.folders import locks
for found in pkgutil.walk_packages(cellrate.__path__, "cellrate."):
    if not found.name.startswith(("cellrate.data", "cellrate.live.programs")) and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print(locks.sys.platform, "portalocker" in sys.modules, hasattr(locks, "fcntl"), hasattr(locks.os, "fork"))
"""


def test_every_module_can_be_imported(here: Path) -> None:
    done = python("-c", IMPORT_ALL, folder=here)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["win32", "True", "False", "False"]


def test_what_is_open_stays_and_nothing_gives_way_to_a_folder(here: Path) -> None:
    """Files in use are refused, as Windows refuses them: the other tests rest on that."""
    text = """
import pathlib
from cellrate.folders import locks
place = pathlib.Path("place")
place.mkdir()
with (place / "file").open("wb"):
    for attempt in (place / "file").unlink, lambda: place.rename("other"):
        try:
            attempt()
        except PermissionError:
            print("refused")
pathlib.Path("empty").mkdir()
try:
    place.rename("empty")
except FileExistsError:
    print("refused")
place.rename("other")
"""
    done = python("-c", text, folder=here)
    assert (done.stdout.split(), done.stderr) == (["refused"] * 3, "")


ONE_AFTER_THE_OTHER = """
import sys
from cellrate.command_line.main import status
for folder in "new", "empty", "new":
    assert status(["run", *sys.argv[1:], "--csv", "--plot", "--out", folder]) == 0
"""


def test_a_run_is_written_into_nothing_an_empty_folder_and_over_results(here: Path) -> None:
    (here / "empty").mkdir()
    done = python("-c", ONE_AFTER_THE_OTHER, *SHORT, folder=here)
    assert done.returncode == 0, done.stderr
    assert names(here) == {"new", "empty"}
    assert names(here / "new") == names(here / "empty") >= {"summary.json", "scenario.toml", "series"}
    assert b"\r" not in (here / "new/scenario.toml").read_bytes()


def test_a_sweep_goes_on_where_it_was_and_keeps_what_is_not_asked_for(here: Path) -> None:
    sweep = ["run", *SHORT, "--out", "out"]
    cellrate(*sweep, *SWEEP, "--workers", "2", folder=here)
    first = json.loads((here / "out/summary.json").read_text())
    kept = (here / "out/point-001/summary.json").stat().st_mtime_ns
    shutil.rmtree(here / "out/point-002")
    cellrate(*sweep, *SWEEP, "--workers", "1", folder=here)
    assert json.loads((here / "out/summary.json").read_text()) == first
    assert (here / "out/point-001/summary.json").stat().st_mtime_ns == kept
    cellrate(*sweep, "--sweep", "defaults.abr.nrm=[16, 32]", "--workers", "1", folder=here)
    assert len(names(here / "out/earlier")) == 1
    cellrate(*sweep, *SWEEP, "--fresh", "--plot", "--workers", "1", folder=here)
    assert names(here) == {"out"}


def test_what_a_killed_sweep_has_left_is_removed(here: Path) -> None:
    slow = ["run", "two-source-transient", "--set", "duration=4s", *SWEEP, "--out", "out"]
    # In one process: here no worker sees that its parent has ended.
    killed = subprocess.Popen(
        [sys.executable, "-m", "cellrate", *slow, "--workers", "1"], cwd=here, env=environment(), start_new_session=True
    )
    area = here / ".out.points.partial"
    while not (area / "point-001").exists() and not (here / "out/point-001").exists():
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert area.exists()
    cellrate("run", *SHORT, *SWEEP, "--out", "out", "--workers", "1", folder=here)
    assert names(here) == {"out"}


LOCKS = """
import sys
from pathlib import Path
from cellrate.folders.locks import Lock, LockFiles, points_in
from cellrate.folders.owned import own_folder, remove_left_behind, temporary, write_file_whole
one, other, third = (Lock(Path("a.lock")) for _ in range(3))
assert one.take() and not other.take() and not other.take(shared=True)
one.give_back()
assert one.take(shared=True) and other.take(shared=True) and not third.take() and one.take(shared=True)
other.give_back()
assert Path("a.lock").exists() and one.take() and not third.take(shared=True)
one.give_back()
assert not Path("a.lock").exists()
assert isinstance(points_in(Path()), LockFiles)
with temporary("cellrate-") as place, own_folder(place, "kept-", "") as kept:
    remove_left_behind(place, "kept-.*")
    assert kept.is_dir()
with own_folder(Path(), "left-", ""):
    (Path() / "left-1").mkdir()
    remove_left_behind(Path(), "left-[0-9]")
    assert not Path("left-1").exists()
write_file_whole(Path("text"), b"first")
write_file_whole(Path("text"), ["second", "\\n"])
assert Path("text").read_bytes() == b"second\\n"
"""


def test_locks_exclude_each_other_and_leave_no_file(here: Path) -> None:
    done = python("-c", LOCKS, folder=here)
    assert done.returncode == 0, done.stderr
    assert {name.partition("-")[0] for name in names(here)} == {"left", "text"}
