"""Kept live runs of papers: found again as they were, and not read where anybody else could have written them."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.papers import kept
from cellrate.papers.kept import MARK, KeptRuns
from conftest import PAIR
from test_tree import ROOT, tracked

SCENARIO = cellrate.Scenario.parse(PAIR)


class Planted:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("owned",))


@pytest.fixture
def runs(tmp_path: Path) -> KeptRuns:
    """A folder with one kept run."""
    keep = KeptRuns(tmp_path / "out.runs")
    assert keep.open()
    keep.put(SCENARIO, cellrate.run(SCENARIO))
    assert keep.find(SCENARIO) is not None
    return keep


def entry(runs: KeptRuns) -> Path:
    """The folder of the one run."""
    (found,) = runs.folder.glob("live-*")
    return found


def test_a_kept_run_is_what_was_put_and_is_given_its_settings(runs: KeptRuns) -> None:
    first = cellrate.run(SCENARIO)
    found = runs.find(SCENARIO)
    assert found is not None
    for key in set(first.summary) - {"run"}:
        assert found.summary[key] == first.summary[key]
    assert found.series_names == first.series_names
    for probe in {probe for probe, _ in first.series_names}:
        for back, was in zip(found.all_series(probe), first.all_series(probe), strict=True):
            assert (back.values == was.values).all()
            assert (back.times_s == was.times_s).all()


def test_another_scenario_or_another_module_is_run_again(runs: KeptRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs.find(SCENARIO.set({"seed": 8})) is None
    # Results of another scenario under the name of this one.
    other = runs.folder / f"live-{SCENARIO.set({'seed': 8}).hash}"
    entry(runs).rename(other)
    assert runs.find(SCENARIO.set({"seed": 8})) is None
    other.rename(runs.folder / f"live-{SCENARIO.hash}")
    assert runs.find(SCENARIO) is not None
    monkeypatch.setattr(kept, "module_digest", lambda: "0" * 64)
    assert runs.find(SCENARIO) is None


def broken(place: Path, how: str) -> None:
    """Break a kept run."""
    summary, mark = place / "summary.json", place / MARK
    match how:
        case "changed":
            summary.write_text(summary.read_text().replace("7", "8"))
        case "cut off":
            os.truncate(summary, 100)
        case "missing":
            (place / "scenario.toml").unlink()
        case "more":
            (place / "series" / "more.parquet").write_text("")
        case "a link":
            summary.rename(place.parent.parent / "elsewhere.json")
            summary.symlink_to(place.parent.parent / "elsewhere.json")
        case "a pipe":
            (place / "scenario.toml").unlink()
            os.mkfifo(place / "scenario.toml")
        case "no mark":
            mark.unlink()
        case "a mark that is none":
            mark.write_text("[[[")
        case "a mark of something else":
            mark.write_text(json.dumps([1, 2]))
        case "a pickle":
            mark.write_bytes(pickle.dumps(Planted()))
        case "writable by others":
            place.chmod(0o777)
        case "linked":
            place.rename(place.parent.parent / "real")
            place.symlink_to(place.parent.parent / "real")


WAYS = [
    "changed",
    "cut off",
    "missing",
    "more",
    "a link",
    "a pipe",
    "no mark",
    "a mark that is none",
    "a mark of something else",
    "a pickle",
    "writable by others",
    "linked",
]


@pytest.mark.parametrize("how", WAYS)
def test_what_is_not_exactly_a_kept_run_is_run_again_and_replaced(
    runs: KeptRuns, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs.folder.parent)
    broken(entry(runs), how)
    assert runs.find(SCENARIO) is None
    runs.put(SCENARIO, cellrate.run(SCENARIO))
    assert runs.find(SCENARIO) is not None
    assert not Path("owned").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
def test_what_belongs_to_another_user_is_neither_read_nor_written_nor_removed(runs: KeptRuns) -> None:
    nobody = 65534
    os.chown(entry(runs), nobody, nobody)
    assert runs.find(SCENARIO) is None
    os.chown(entry(runs), 0, 0)
    os.chown(runs.folder, nobody, nobody)
    assert runs.find(SCENARIO) is None
    with pytest.warns(RuntimeWarning, match="is not a folder that only you can write to"):
        assert not runs.open()
    runs.discard()
    assert entry(runs).is_dir()


def test_a_run_that_does_not_count_is_known(runs: KeptRuns) -> None:
    other = SCENARIO.set({"seed": 8})
    assert not runs.is_discounted(other)
    runs.put(other, None)
    assert runs.is_discounted(other)
    assert runs.find(other) is None
    assert runs.find(SCENARIO) is not None


def test_only_kept_runs_are_removed_when_there_is_a_report(runs: KeptRuns) -> None:
    runs.put(SCENARIO.set({"seed": 8}), None)
    (runs.folder / ".cellrate-abandoned").mkdir(mode=0o700)
    (runs.folder / "notes.txt").write_text("")
    runs.discard()
    assert [found.name for found in runs.folder.iterdir()] == ["notes.txt"]
    (runs.folder / "notes.txt").unlink()
    runs.discard()
    assert not runs.folder.exists()


PIPES = {
    "python/cellrate/campaigns/batches.py",
    "python/cellrate/plugins/by_value.py",
    "python/cellrate/live/plugin_pipes.py",
    "python/cellrate/running/shared_memory.py",
}
"""Where what other processes of the same run, or the cluster that the user named, give is unpickled."""

UNPICKLES = re.compile(
    r"\b(cloud)?pickle\.(load|loads|Unpickler)\b|\bfrom (cloud)?pickle import\b|\b(shelve|dill|marshal)\b|"
    r"read_pickle|allow_pickle=True|joblib\.load"
)


def test_nothing_is_unpickled_but_what_comes_through_pipes_of_the_run() -> None:
    found = {
        str(file.relative_to(ROOT))
        for file in tracked("python/*.py", "papers/*.py")
        if UNPICKLES.search(file.read_text())
    }
    assert found <= PIPES
    for name in PIPES & found:
        text = (ROOT / name).read_text()
        for given in re.findall(r"pickle\.loads\(([^)]*)", text):
            assert not re.search("read|open", given), f"{name}: pickle.loads({given})"
