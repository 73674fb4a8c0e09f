"""Results read back are what was written, and what is not whole is said with its file."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate import CellrateError, Result
from cellrate.command_line.main import status
from cellrate.live import load_live
from conftest import PAIR


@pytest.fixture
def folder(result: Result, tmp_path: Path) -> Path:
    return result.write(tmp_path / "run", plots=False)


@pytest.fixture
def swept(sweep_file: Path, tmp_path: Path) -> Path:
    out = tmp_path / "sweep"
    assert status(["run", str(sweep_file), "--seeds", "2", "--out", str(out)]) == 0
    return out


def same(one: Result, other: Result) -> bool:
    """Whether all that a result has is the same, to the last bit."""
    return (
        (one.summary, one.set, one.toml, one.purpose) == (other.summary, other.set, other.toml, other.purpose)
        and one.series_names == other.series_names
        and all(
            (a.probe, a.entity, a.unit, a.interval_s, a.end_s) == (b.probe, b.entity, b.unit, b.interval_s, b.end_s)
            and np.array_equal(a.times_s, b.times_s)
            and np.array_equal(a.values, b.values)
            for a, b in zip(one.all_series(), other.all_series(), strict=True)
        )
    )


def test_a_result_read_back_is_the_one_that_was_written(result: Result, folder: Path) -> None:
    loaded = cellrate.load(folder)
    assert same(loaded, result)
    assert loaded.purpose == "Two hosts and a switch."
    assert loaded.series("acr").mean("1 ms", "9 ms") == result.series("acr").mean("1 ms", "9 ms")


def test_series_of_one_probe_that_several_have_are_told_apart(tmp_path: Path) -> None:
    text = PAIR.replace('record = ["acr"]\nevery = "change"', 'record = ["acr"]\nof = ["vc1"]\nevery = "5 ms"')
    text += '\n[[vc]]\nname = "vc2"\npath = ["b", "sw", "a"]\nabr = { icr = "1 Mbps" }\n'
    text += '\n[[probe]]\nrecord = ["acr"]\nof = ["vc2"]\nevery = "change"\n'
    result = cellrate.run(cellrate.Scenario.parse(text))
    loaded = cellrate.load(result.write(tmp_path / "out", plots=False))
    assert same(loaded, result)
    assert [series.interval_s for series in loaded.all_series("acr")] == [0.005, None]


def test_what_is_written_again_is_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = cellrate.load(folder).write(tmp_path / "again", plots=False)
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    assert len(files) == 7
    assert all((folder / file).read_bytes() == (again / file).read_bytes() for file in files)


def test_a_loaded_result_crosses_a_process_border_with_its_series(result: Result, folder: Path) -> None:
    crossed = pickle.loads(pickle.dumps(cellrate.load(folder)))
    shutil.rmtree(folder)
    assert same(crossed, result)


def test_a_sweep_read_back_knows_what_each_point_set(sweep_file: Path, swept: Path) -> None:
    loaded = cellrate.load_sweep(swept)
    run_again = cellrate.sweep(sweep_file, seeds=2, workers=1)
    assert [result.set for result in loaded] == [result.set for result in run_again]
    assert [result.summary["vcs"] for result in loaded] == [result.summary["vcs"] for result in run_again]
    assert [result.series("acr").at("5 ms") for result in loaded] == [r.series("acr").at("5 ms") for r in run_again]
    assert cellrate.tidy(loaded, "ports") == cellrate.tidy(run_again, "ports")


def test_a_single_run_is_a_sweep_of_one(result: Result, folder: Path) -> None:
    (loaded,) = cellrate.load_sweep(folder)
    assert same(loaded, result)


def test_a_sweep_is_not_taken_for_a_run(swept: Path) -> None:
    with pytest.raises(CellrateError, match=r"sweep has the results of 6 runs; cellrate\.load_sweep gives them all"):
        cellrate.load(swept)


def test_what_is_no_result_is_said(tmp_path: Path) -> None:
    with pytest.raises(CellrateError, match="nowhere holds no results: there is no such folder"):
        cellrate.load(tmp_path / "nowhere")
    with pytest.raises(CellrateError, match=r"holds no results: summary\.json: No such file"):
        cellrate.load(tmp_path)
    for text, said in (("[1]", "is not a summary of a run or a sweep"), ("{", "is not JSON: ")):
        (tmp_path / "summary.json").write_text(text)
        with pytest.raises(CellrateError, match=said):
            cellrate.load_sweep(tmp_path)


def test_a_folder_that_is_not_whole_is_said_with_the_file(folder: Path) -> None:
    table = folder / "series" / "queue.parquet"
    table.write_bytes(table.read_bytes()[:-20])
    with pytest.raises(CellrateError, match=r"queue\.parquet cannot be read"):
        cellrate.load(folder)
    table.unlink()
    (folder / "scenario.toml").unlink()
    with pytest.raises(CellrateError, match=r"scenario\.toml, which belongs to .*summary\.json: No such file"):
        cellrate.load(folder)


def test_series_of_another_run_are_not_taken(folder: Path, tmp_path: Path) -> None:
    other = cellrate.run(cellrate.Scenario.parse(PAIR), seed=8).write(tmp_path / "other", plots=False)
    shutil.copy(other / "series" / "acr.parquet", folder / "series")
    with pytest.raises(CellrateError, match=r"acr\.parquet is of another run than .*summary\.json"):
        cellrate.load(folder)


def test_series_that_were_replaced_meanwhile_are_not_taken(folder: Path, tmp_path: Path) -> None:
    loaded = cellrate.load(folder)
    cellrate.run(cellrate.Scenario.parse(PAIR), seed=8).write(folder, plots=False)
    with pytest.raises(CellrateError, match=r"acr\.parquet has been replaced since the result was loaded"):
        loaded.series("acr")


def test_a_point_that_is_not_what_the_sweep_says_is_refused(swept: Path) -> None:
    file = swept / "point-002" / "summary.json"
    summary = json.loads(file.read_text())
    summary["run"]["hash"] = "0" * 64
    file.write_text(json.dumps(summary))
    with pytest.raises(
        CellrateError, match=r"point-002/summary\.json is not of the scenario that .*campaign\.json says"
    ):
        list(cellrate.load_sweep(swept))


def test_rows_of_results_by_name_begin_with_it(folder: Path, swept: Path) -> None:
    results: dict[str, Result | Sequence[Result]] = {
        "alone": cellrate.load(folder),
        "swept": cellrate.load_sweep(swept),
    }
    rows = cellrate.tidy(results, "run")
    assert rows["result"].to_pylist() == ["alone", *["swept"] * 6]
    assert rows["defaults.abr.nrm"].to_pylist() == [None, 8, 8, 32, 32, 256, 256]
    means = cellrate.tidy(results, "run", over_seeds=True)
    assert means["result"].to_pylist() == ["alone", "swept", "swept", "swept"]
    assert means["cell_hops_n"].to_pylist() == [1, 2, 2, 2]


def test_the_same_result_under_two_names_is_compared(folder: Path) -> None:
    loaded = cellrate.load(folder)
    assert cellrate.tidy({"a": loaded, "b": loaded}, "run", over_seeds=True)["result"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("options", [[], ["--sweep", "duration=['1 ms', '2 ms']"], ["--seeds", "2"]])
def test_show_prints_what_run_printed(
    options: list[str], pair_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(pair_file), *options, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert status(["show", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out + f"Results are in {tmp_path / 'out'}\n" == told


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_show_prints_the_json_of_run(
    kind: str, pair_file: Path, sweep_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pair_file if kind == "run" else sweep_file
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = capsys.readouterr().out
    assert status(["show", str(tmp_path / "out"), "--json"]) == 0
    assert capsys.readouterr().out == told


def test_plot_draws_a_part_of_a_run_anew(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "part.svg"
    arguments = ["plot", str(folder), "--probe", "acr", "--from", "1 ms", "--until", "4ms", "--out", str(picture)]
    assert status(arguments) == 0
    assert capsys.readouterr().out == f"Plot: {picture}\n"
    assert "ACR [Mbps]" in picture.read_text()
    assert "utilization" not in picture.read_text()


def test_plot_draws_a_sweep(swept: Path, tmp_path: Path) -> None:
    picture = tmp_path / "sweep.svg"
    assert status(["plot", str(swept), "--out", str(picture)]) == 0
    text = picture.read_text()
    assert all(f"<!-- {words} -->" in text for words in ("throughput [Mbps]", "max queue [cells]", "defaults.abr.nrm"))
    assert "<!-- time [s] -->" not in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--probe", "acx"],
            "no run has a series acx; the series of these runs: acr of vc1, received of vc1, queue of ",
        ),
        (["--from", "3 s"], "time is from 3.0 s to inf s; there is nothing of a run from 0 s to 0.02 s in it"),
        (["--from", "5 ms", "--until", "1 ms"], "ends before it begins"),
        (["--from", "soon"], "soon"),
        (["--out", "picture.gif"], "a picture is a file that ends in .png, .svg, .pdf"),
    ],
)
def test_plot_says_what_it_cannot_draw(
    folder: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(folder), *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--until", "--entity", "--beside"])
def test_a_part_of_a_sweep_needs_a_probe(swept: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["plot", str(swept), option, str(swept)]) == 2
    assert f"sweep is of 6 runs; {option} needs --probe" in capsys.readouterr().err


def test_plot_draws_the_series_of_all_points_and_of_other_folders(folder: Path, swept: Path, tmp_path: Path) -> None:
    picture = tmp_path / "together.svg"
    arguments = ["plot", str(swept), "--beside", str(folder), "--probe", "queue", "--entity", "sw->b"]
    assert status([*arguments, "--out", str(picture)]) == 0
    # No cell ever waits: the curves of all six points and of the run cover each other.
    assert "<!-- sweep: nrm 8, seed 7 = ... = run (7) -->" in picture.read_text()


def test_a_loaded_result_can_be_written_over_its_own_folder(result: Result, folder: Path) -> None:
    cellrate.load(folder).write(folder, plots=False)
    assert same(cellrate.load(folder), result)


@pytest.fixture
def live_folder(tmp_path: Path) -> Path:
    """A live run as it is written: the first attempt out of time, the second one counts."""
    timing = {"passed": True, "failures": [], "lateness_p99_s": 0.0005, "stalls": 3, "longest_stall_s": 0.01}
    timing |= {"cpu_share": 0.07}
    late = timing | {"passed": False, "failures": ["99 % of wake-ups late by more than 5 ms"]}
    ran = {"application": "bulk", "kind": "command", "host": "a", "peer": "b", "failed": False, "complaints": []}
    ran |= {"exit_status": 0, "ended": "by itself", "result": {}}
    counted = cellrate.run(cellrate.Scenario.parse(PAIR))
    counted.summary |= {"timing": timing, "applications": [ran], "kernels": []}
    folder = counted.write(tmp_path / "live", plots=False)
    for number, verdict in ((1, late), (2, timing)):
        (folder / f"attempt-{number}").mkdir()
        summary = counted.summary | {"timing": verdict}
        (folder / f"attempt-{number}" / "summary.json").write_text(json.dumps(summary))
    return folder


def test_a_live_run_is_read_back_with_its_attempts(live_folder: Path) -> None:
    run = load_live(live_folder)
    assert [attempt.summary["timing"]["passed"] for attempt in run.attempts] == [False, True]
    assert run.in_time
    assert run.application("bulk")["ended"] == "by itself"
    assert same(run.result, cellrate.load(live_folder))
    assert run.attempts[0].series_names == []


def test_a_simulation_is_no_live_run(folder: Path) -> None:
    with pytest.raises(CellrateError, match=r"run has the result of a simulation; cellrate\.load gives it"):
        load_live(folder)


def test_show_prints_applications_and_every_verdict_of_a_live_run(
    live_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["show", str(live_folder)]) == 0
    told = capsys.readouterr().out
    assert "bulk" in told
    assert "Attempt 1: OUT OF TIME (99 % of wake-ups late by more than 5 ms)" in told
    assert "Attempt 2: in time" in told
