"""Runs of a paper: a campaign beside the report, which goes on after an interruption and leaves with the report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrate.command_line.main import status
from cellrate.papers import load_paper, writing
from cellrate.papers.runs import campaign_for, kept_runs
from test_campaigns import contents, until

POINTS = """
    points={f"seed {seed}": Point("target", set={"seed": seed, "duration": "400 ms"}) for seed in range(1, 9)},
    findings=lambda results: [Finding("target.utilization", f"{len(results)} %", values=[90.0])],
    drawings=lambda results: [],
"""


@pytest.fixture
def paper(tmp_path: Path) -> Iterator[Path]:
    """A paper of eight runs."""
    folder = tmp_path / "mine"
    assert status(["paper", "new", str(folder)]) == 0
    (code,) = folder.glob("*/__init__.py")
    code.write_text(
        "from cellrate.papers import Experiment, Finding, Point\n\n"
        f'EXPERIMENTS = (Experiment(name="target", title="Eight runs",{POINTS}),)\n'
    )
    (scenario,) = folder.glob("scenarios/*.toml")
    scenario.rename(folder / "scenarios" / "target.toml")
    yield folder
    sys.modules.pop("mine", None)


def test_a_killed_command_goes_on_with_the_runs_that_are_missing(paper: Path, tmp_path: Path) -> None:
    call = [sys.executable, "-m", "cellrate", "paper", "run", str(paper), "--out", str(tmp_path / "out")]
    call += ["--workers", "2"]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as process:
        until(lambda: len(list(tmp_path.glob("out.runs/campaign/point-*"))) >= 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    summaries = list(tmp_path.glob("out.runs/campaign/point-*/summary.json"))
    assert 2 <= len(summaries) < 8
    # Kept open: their numbers are not given to other files.
    held = [(file, file.open("rb")) for file in summaries]
    with campaign_for(tmp_path / "out") as campaign:
        results = load_paper(paper).measure(quick=False, workers=2, progress=None, campaign=campaign)
        assert len(results["target"]) == 8
        for file, handle in held:
            assert file.stat().st_ino == os.fstat(handle.fileno()).st_ino
            handle.close()
    assert not kept_runs(tmp_path / "out").exists()


def test_a_report_that_fails_keeps_the_runs_and_one_that_is_written_leaves_nothing_else(
    paper: Path, tmp_path: Path
) -> None:
    (code,) = paper.glob("*/__init__.py")
    sound = code.read_text()
    code.write_text(sound.replace('"target.utilization"', '"target.unheard-of"'))
    with pytest.raises(KeyError, match="unheard-of"):
        load_paper(paper).run(tmp_path / "out", workers=1)
    assert len(list(tmp_path.glob("out.runs/campaign/point-*"))) == 8
    code.write_text(sound)
    sys.modules.pop("mine")
    assert status(["paper", "run", str(paper), "--out", str(tmp_path / "out")]) == 0
    assert {entry.name for entry in tmp_path.iterdir()} == {"mine", "out"}


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to another user")
@pytest.mark.parametrize("place", ["out.runs", "out.runs/campaign"])
def test_runs_that_another_user_could_have_written_are_not_used(paper: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "out.runs" / "campaign").mkdir(parents=True, mode=0o700)
    os.chown(tmp_path / place, 65534, 65534)
    with pytest.warns(RuntimeWarning, match=f"{place} is not a folder that only you can write to"):
        load_paper(paper).run(tmp_path / "out", workers=1)
    assert not any((tmp_path / "out.runs" / "campaign").iterdir())
    assert (tmp_path / "out" / "report.json").is_file()


def test_what_is_still_being_read_is_removed_by_the_last_one(tmp_path: Path) -> None:
    runs = kept_runs(tmp_path / "out")
    with campaign_for(tmp_path / "out") as first:
        with campaign_for(tmp_path / "out") as second:
            assert first == second
            (first / "point-001").mkdir()
        assert (first / "point-001").is_dir()
    assert not runs.exists()


def test_a_link_in_the_place_of_the_campaign_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out.runs").mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out.runs" / "campaign").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="none are kept"), campaign_for(tmp_path / "out") as place:
        assert not place.is_relative_to(tmp_path)
    assert contents(tmp_path / "elsewhere") == {}


def test_what_reports_write_into_the_tree_is_no_change_of_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "python" / "cellrate" / "papers"
    paper = tmp_path / "papers" / "one"
    for folder in (code, paper):
        folder.mkdir(parents=True)
    for file in (code / "writing.py", paper / "README.md", paper / "counts.json", paper / "paper.toml"):
        file.write_text("first\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "First"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(writing, "__file__", str(code / "writing.py"))
    for written in ("README.md", "counts.json"):
        (paper / written).write_text("second\n")
    assert len(writing.provenance()["commit"]) == 12
    (paper / "paper.toml").write_text("second\n")
    assert writing.provenance()["commit"].endswith(" with changes")
