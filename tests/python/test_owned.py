"""Temporary files and folders end with their owner, and what is written obeys the user's umask."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.folders.owned import own_folder, owning, temporary, umask, write_file_whole
from cellrate.running.shared_memory import PREFIX, shared_folder
from cellrate.wireshark.dissector import install


@pytest.fixture
def mask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


def test_the_umask_is_known_without_being_changed(mask: int) -> None:
    assert umask() == mask
    assert os.umask(mask) == mask


def test_everything_written_obeys_the_umask(
    mask: int, pair_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / "written").mkdir()
    monkeypatch.chdir(place)
    for words in (
        ["run", str(pair_file), "--out", "deep/run", "--csv", "--capture", "cells"],
        ["run", str(pair_file), "--out", "deep/run"],
        ["run", str(pair_file), "--sweep", "seed=[1, 2]", "--out", "deep/sweep", "--workers", "1"],
        ["trace", "cells/cells.pcapng", "--out", "arrivals.txt"],
        ["new", "mine.toml", "--from", "parking-lot"],
        ["draw", str(pair_file), "--out", "pair.svg"],
        ["paper", "new", "study"],
        [
            "advise",
            "--link",
            "OC-3",
            "--distance",
            "100 km",
            "--switches",
            "erica",
            "--application",
            "bulk",
            "--write",
            "advised.toml",
        ],
    ):
        assert status(words) == 0, words
    install(place / "plugins")
    found = modes(place)
    assert {"deep/run/summary.json", "deep/sweep/point-001", "arrivals.txt", "advised.toml"} <= found.keys()
    open_to_more = {name: oct(mode) for name, mode in found.items() if mode & mask}
    closed_to_the_group = {name: oct(mode) for name, mode in found.items() if not mode & 0o040}
    assert (open_to_more, closed_to_the_group) == ({}, {})


def leave(parent: Path, name: str) -> Path:
    """Leave a folder as a killed process does, with something in it that its owner may not write to."""
    (parent / name / "read-only").mkdir(parents=True)
    (parent / name / "read-only" / "file").write_text("")
    (parent / name / "read-only").chmod(0o555)
    return parent / name


def test_temporaries_of_killed_processes_go_and_others_stay(tmp_path: Path) -> None:
    left, held, another = (leave(tmp_path, f"work-{name}") for name in ("abcd1234", "held1234", "longer-name"))
    (tmp_path / "work-file1234").write_text("")
    os.mkfifo(tmp_path / "work-pipe1234")
    (tmp_path / "work-link1234").symlink_to(another)
    with owning(held), temporary("work-", parent=tmp_path) as folder:
        assert folder.is_dir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with temporary("work-", parent=tmp_path):
            assert folder.is_dir()
        # A folder that is not to be removed by this process is safe from others, too.
        with own_folder(tmp_path, "work-", "") as own, temporary("work-", parent=tmp_path):
            assert own.is_dir()
    assert not left.exists()
    assert not folder.exists()
    there = {entry.name for entry in tmp_path.iterdir()}
    assert there - {own.name} == {held.name, another.name, "work-pipe1234", "work-link1234"}


def test_a_folder_that_another_process_took_for_left_behind_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tempfile.mkdtemp
    made: list[str] = []

    def taken(**choices: Any) -> str:
        made.append(str(make(**choices)))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", taken)
    with own_folder(tmp_path, "work-", "") as folder:
        assert len(made) == 2
        assert folder == Path(made[1])


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_arrays_of_killed_processes_go_wherever_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name in ("memory", "disk"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("cellrate.running.shared_memory.IN_MEMORY", tmp_path / "memory")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "disk"))
    left = leave(tmp_path / place, f"{PREFIX}abcd1234")
    with shared_folder() as folder:
        assert folder.parent == tmp_path / "memory"
        assert not left.exists()


def test_a_file_appears_whole_after_those_half_written(tmp_path: Path) -> None:
    (tmp_path / ".rates.txt.abcd1234.partial").write_text("half")
    (tmp_path / ".other.txt.abcd1234.partial").write_text("half")
    write_file_whole(tmp_path / "rates.txt", ["1\n", "2\n"])

    def failing() -> Iterator[str]:
        yield "3\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file_whole(tmp_path / "rates.txt", failing())
    assert (tmp_path / "rates.txt").read_text() == "1\n2\n"
    assert {entry.name for entry in tmp_path.iterdir()} == {"rates.txt", ".other.txt.abcd1234.partial"}


def test_a_live_run_removes_what_killed_ones_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cellrate.live import supervision

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = leave(tmp_path, f"{supervision.TEMPORARY}abcd1234")

    def attempt(*_: object) -> cellrate.Result:
        assert not left.exists()
        raise cellrate.RunError("seen")

    monkeypatch.setattr(supervision, "attempt", attempt)
    with pytest.raises(cellrate.RunError, match="seen"):
        supervision.live_run("two-source-transient")
    assert list(tmp_path.iterdir()) == []
