"""Nothing is lost by writing results: what cellrate has not written stays, whatever holds it and whenever it came."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import cellrate
from cellrate.campaigns.running import sweep_into
from cellrate.folders.atomic_folder import write_whole
from cellrate.folders.replaceable import REPORT, check_apart, plain_name, replaceable
from cellrate.papers import load_paper
from cellrate.running.into_folders import run_into
from conftest import PAIR, SWEEP, command

SWEPT = [(point.scenario, point.settings) for point in cellrate.Scenario.parse(SWEEP).points()]
RUN = {"run": {"scenario": "pair", "hash": "1234", "version": "0"}}


def write(files: Mapping[str, object]) -> Callable[[Path], None]:
    """Give what writes files: texts, and anything else as JSON."""

    def fill(folder: Path) -> None:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    return fill


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def written(result: cellrate.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result.write(tmp_path_factory.mktemp("written") / "out", csv=True)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept") / "out"
    sweep_into(folder, SWEPT, csv=True, plots=True, workers=1)
    return folder


@pytest.fixture
def out(written: Path, tmp_path: Path) -> Path:
    """A folder with the results of a run."""
    return shutil.copytree(written, tmp_path / "out")


@pytest.mark.parametrize(
    "stranger",
    [
        "thesis.txt", ".notes", "cells.pcapng", "series/mine.parquet", "series/mine.csv", "series/deeper/acr.csv",
        "rates.csv", "plot.pdf", "sweep.png", "attempt-1/summary.json", "point-001/summary.json", "more/summary.json",
    ],
)  # fmt: skip
def test_results_with_anything_beside_them_are_left_alone(result: cellrate.Result, out: Path, stranger: str) -> None:
    write({stranger: "years of work"})(out)
    before = contents(out)
    named = stranger if stranger.startswith("series") and "deeper" not in stranger else ""
    with pytest.raises(cellrate.CellrateError, match="nothing that cellrate has written there; give another") as caught:
        result.write(out)
    assert named in str(caught.value)
    assert contents(out) == before
    assert [entry.name for entry in out.parent.iterdir()] == ["out"]


def test_a_series_that_somebody_derived_is_none_of_the_run(result: cellrate.Result, out: Path) -> None:
    shutil.copy(out / "series" / "acr.parquet", out / "series" / "smoothed.parquet")
    with pytest.raises(cellrate.CellrateError, match=r"holds series/smoothed\.parquet"):
        result.write(out)


def test_a_link_among_results_is_none(result: cellrate.Result, out: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("")
    (out / "scenario.toml").unlink()
    (out / "scenario.toml").symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(cellrate.CellrateError, match=r"holds scenario\.toml"):
        result.write(out)


@pytest.mark.parametrize("content", ["{}", "[]", "mine", '{"run": {"name": "mine"}}', '{"points": []}'])
def test_a_summary_of_somebody_else_makes_no_results(result: cellrate.Result, tmp_path: Path, content: str) -> None:
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(cellrate.CellrateError, match=r"holds summary\.json"):
        result.write(tmp_path)
    assert contents(tmp_path) == {"summary.json": content.encode()}


def test_of_a_folder_without_results_something_is_named(tmp_path: Path) -> None:
    write({"b": "", "a": ""})(tmp_path)
    with pytest.raises(cellrate.CellrateError, match=r"holds no results \(summary\.json\), but a;"):
        replaceable(tmp_path)


@pytest.mark.parametrize("stranger", ["point-002/notes.txt", "point-1/summary.json", "vcs.txt", "plot.png"])
def test_a_sweep_with_anything_beside_it_is_left_alone(swept: Path, tmp_path: Path, stranger: str) -> None:
    out = shutil.copytree(swept, tmp_path / "out")
    write({stranger: "years of work"})(out)
    with pytest.raises(cellrate.CellrateError, match=stranger.split("/", maxsplit=1)[0]):
        sweep_into(out, SWEPT, progress=lambda fraction: pytest.fail("it ran"))
    assert (out / stranger).read_text() == "years of work"


def test_a_sweep_is_replaced_by_a_run_and_a_run_by_a_sweep(swept: Path, tmp_path: Path) -> None:
    out = shutil.copytree(swept, tmp_path / "out")
    result = cellrate.run(SWEPT[0][0])
    result.write(out, plots=False)
    assert {entry.name for entry in out.iterdir()} == {"summary.json", "scenario.toml", "series", "delays.parquet"}
    # And a run by a sweep, once that is whole.
    sweep_into(out, SWEPT[:2], workers=1)
    assert {entry.name for entry in out.iterdir() if entry.is_dir()} == {"point-001", "point-002"}


LIVE: dict[str, object] = {
    "summary.json": RUN,
    "scenario.toml": "",
    "attempt-1/summary.json": RUN,
    "attempt-1/applications/ftp/anything": "",
    "attempt-2/summary.json": RUN,
    "attempt-2/nodes/sw1.json": "",
}
REPEATED: dict[str, object] = {
    "summary.json": {"runs": [RUN, RUN]},
    **{f"run-00{number}/{name}": content for number in (1, 2) for name, content in LIVE.items()},
}


@pytest.mark.parametrize(
    ("files", "stranger"), [(LIVE, "attempt-2/notes.txt"), (REPEATED, "run-002/notes.txt"), (REPEATED, "notes.txt")]
)
def test_live_runs_are_replaced_but_not_with_anything_beside_them(
    tmp_path: Path, files: dict[str, object], stranger: str
) -> None:
    for _ in range(2):
        write_whole(tmp_path / "out", write(files))
    write({stranger: ""})(tmp_path / "out")
    with pytest.raises(cellrate.CellrateError, match=f"holds {stranger}"):
        write_whole(tmp_path / "out", write(files))


@pytest.mark.parametrize("stranger", ["notes.txt", "figures/mine.png", "summary.json"])
def test_a_report_is_replaced_but_not_with_anything_beside_it(tmp_path: Path, stranger: str) -> None:
    files = {"report.json": {"paper": "", "claims": []}, "report.html": "", "figures/a.png": "", "figures/a.svg": ""}
    for _ in range(2):
        write_whole(tmp_path / "out", write(files), mark=REPORT)
    write({stranger: ""})(tmp_path / "out")
    with pytest.raises(cellrate.CellrateError, match=f"holds {stranger}"):
        load_paper("uili").run(tmp_path / "out", progress=lambda fraction: pytest.fail("it ran"))


def test_a_link_is_followed_and_stays(result: cellrate.Result, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        assert result.write(tmp_path / "link", plots=False) == tmp_path / "link"
    assert (tmp_path / "link").readlink() == Path("real")
    assert (tmp_path / "real" / "summary.json").is_file()
    assert {entry.name for entry in tmp_path.iterdir()} == {"real", "link"}


def test_links_that_lead_nowhere_are_told(result: cellrate.Result, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with pytest.raises(cellrate.CellrateError, match="one"):
        result.write(tmp_path / "one")
    assert {entry.name for entry in tmp_path.iterdir()} == {"one", "other"}


@pytest.mark.parametrize("earlier", [False, True])
def test_what_appears_during_a_run_stays_and_so_do_the_results(tmp_path: Path, earlier: bool) -> None:
    if earlier:
        cellrate.run(cellrate.Scenario.parse(PAIR)).write(tmp_path / "out", plots=False)

    def one() -> cellrate.Result:
        write({"out/thesis.txt": "years of work", "out-2/thesis.txt": "too"})(tmp_path)
        return cellrate.run(cellrate.Scenario.parse(PAIR))

    with pytest.raises(cellrate.RunError, match=r"changed meanwhile \(thesis\.txt\).* the results are in .*/out-3"):
        run_into(tmp_path / "out", one)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "out" / "summary.json").exists() == earlier
    assert (tmp_path / "out-3" / "summary.json").is_file()
    assert {entry.name for entry in tmp_path.iterdir()} == {"out", "out-2", "out-3"}


def test_results_that_another_run_wrote_meanwhile_stay(result: cellrate.Result, out: Path) -> None:
    def one() -> cellrate.Result:
        result.write(out, plots=False)
        return result

    with pytest.raises(cellrate.RunError, match="has changed meanwhile"):
        run_into(out, one, plots=True)
    assert not (out / "plot.png").exists()
    assert (out.with_name("out-2") / "plot.png").is_file()


def test_a_folder_that_cannot_be_moved_away_keeps_its_results(
    result: cellrate.Result, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def busy(self: Path, target: Path) -> Path:
        if self == out:
            raise OSError(16, "Device or resource busy")
        return rename(self, target)

    before = contents(out)
    # As on a file system where folders cannot change places in one step.
    monkeypatch.setattr("cellrate.folders.atomic_folder.exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(cellrate.RunError, match=r"cannot be replaced .*busy.* results are in .*out-2"):
        result.write(out, plots=False)
    assert contents(out) == before
    assert (out.with_name("out-2") / "summary.json").is_file()
    assert {entry.name for entry in out.parent.iterdir()} == {"out", "out-2"}


def test_an_interrupt_between_the_two_moves_puts_back_what_was_there(
    result: cellrate.Result, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.suffix == ".partial":
            raise KeyboardInterrupt
        return rename(self, target)

    before = contents(out)
    monkeypatch.setattr("cellrate.folders.atomic_folder.exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result.write(out, plots=False)
    assert contents(out) == before
    assert [entry.name for entry in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("capture", ["r/c", "r/c/cells", "r/link", "r/x/../c"])
def test_a_capture_in_the_folder_of_the_results_is_status_2(pair_file: Path, tmp_path: Path, capture: str) -> None:
    (tmp_path / "r" / "x").mkdir(parents=True)
    (tmp_path / "r" / "link").symlink_to("c")
    done = command("run", pair_file, "--out", "r/c", "--capture", capture, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--capture {capture} is in --out r/c" in done.stderr
    assert not (tmp_path / "r" / "c").exists()


def test_a_capture_of_a_live_run_in_the_folder_of_its_results_is_told(tmp_path: Path) -> None:
    done = command("live", "run", "two-source-transient", "--out", "r", "--capture", "r/cells", cwd=tmp_path)
    assert done.returncode == 2
    assert "--capture r/cells is in --out r" in done.stderr


def test_a_capture_beside_the_results_or_above_them_is_none_in_them(tmp_path: Path) -> None:
    for capture in ("cells", "out-2", "."):
        check_apart(tmp_path / "out", tmp_path / capture)
    check_apart(None, tmp_path)
    check_apart(tmp_path, None)


@pytest.mark.parametrize("arguments", [["run", "--plot"], ["watch", "--csv"], ["live", "run"], ["draw"]])
def test_a_name_that_leads_elsewhere_is_status_2(tmp_path: Path, arguments: list[str]) -> None:
    write({"in/named.toml": PAIR.replace('"pair"', '"../../evil"')})(tmp_path)
    done = command(*arguments, "named.toml", cwd=tmp_path / "in")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'named.toml: name = "../../evil" cannot name a folder' in done.stderr
    assert "give --out" in done.stderr
    assert set(contents(tmp_path)) == {"in/named.toml"}


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "/evil", "a\\u0000b", "a\\nb"])
def test_a_name_that_names_no_folder_is_told(name: str) -> None:
    scenario = cellrate.Scenario.parse(PAIR.replace('"pair"', f'"{name}"'), file="named.toml")
    with pytest.raises(cellrate.ScenarioError) as caught:
        plain_name(scenario)
    assert str(caught.value).startswith(f'named.toml: name = "{name}" cannot')
    assert (caught.value.file, caught.value.key) == ("named.toml", "name")


def test_a_name_that_names_no_folder_does_with_out(tmp_path: Path) -> None:
    write({"named.toml": PAIR.replace('"pair"', '"../../evil"')})(tmp_path)
    done = command("run", "named.toml", "--plot", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "plot.png").is_file()


def test_any_other_name_names_a_folder() -> None:
    for name in ("pair", "Zwei Quellen", "größer", "a..b", "50 %"):
        assert plain_name(cellrate.Scenario.parse(PAIR.replace('"pair"', f'"{name}"'))) == name


def test_a_run_that_gives_nothing_leaves_no_folders_that_were_made_for_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    def fail(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "there" / "one" / "two" / "out", fail)
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]
