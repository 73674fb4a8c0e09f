"""Results on the disk: replaced in one step, and a full disk that says which file had no room."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import cellrate
from cellrate.folders import atomic_folder
from cellrate.folders.atomic_folder import write_whole


def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    cellrate.run("two-source-transient", set={"duration": "1 ms"}).write(folder)
    return folder


def test_a_result_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = results(tmp_path)
    before = folder.stat().st_ino
    renamed: list[str] = []
    monkeypatch.setattr(Path, "rename", lambda self, target: renamed.append(f"{self} {target}"))
    cellrate.run("two-source-transient", set={"duration": "2 ms"}).write(folder)
    assert not renamed, "there was no instant without results"
    assert folder.stat().st_ino != before
    assert cellrate.load(folder).summary["run"]["duration_s"] == 0.002
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_without_the_system_call_it_is_replaced_in_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = results(tmp_path)
    monkeypatch.setattr(atomic_folder, "exchange", lambda one, other: False)
    cellrate.run("two-source-transient", set={"duration": "2 ms"}).write(folder)
    assert cellrate.load(folder).summary["run"]["duration_s"] == 0.002
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_files_and_folders_are_on_the_disk_before_they_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised: list[str] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        synchronised.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    folder = results(tmp_path)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*")} | {"."}
    (top,) = (path for path in synchronised if path.endswith(".partial"))
    assert {os.path.relpath(path, top) for path in synchronised} == written


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    def full(folder: Path) -> None:
        (folder / "first").write_text("1")
        os.utime(folder / "first", (1, 1))
        (folder / "second").write_text("2")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*/results/second'"):
        write_whole(tmp_path / "results", full)
    assert not list(tmp_path.iterdir())
