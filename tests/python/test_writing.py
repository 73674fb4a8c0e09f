from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cellrate
from cellrate.campaigns.running import sweep_into
from cellrate.command_line.main import status
from cellrate.folders.atomic_folder import write_whole
from cellrate.results import writing
from conftest import PAIR, SWEEP


def names(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def written(result: cellrate.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that there is of a result."""
    return result.write(tmp_path_factory.mktemp("written") / "out", csv=True)


def test_a_folder_of_results_holds_everything(result: cellrate.Result, written: Path) -> None:
    assert names(written) == {
        "summary.json",
        "scenario.toml",
        *(
            f"series/{probe}.{kind}"
            for probe in ("acr", "received", "queue", "utilization")
            for kind in ("parquet", "csv")
        ),
        "plot.png",
        *(f"delays.{kind}" for kind in ("parquet", "csv")),
        *(f"{name}.csv" for name in ("vcs", "ports", "shares", "fairness", "efficiency")),
    }
    assert json.loads((written / "summary.json").read_text()) == result.summary


def test_rows_with_rows_in_them_are_tables_too(tmp_path: Path) -> None:
    result = cellrate.run(cellrate.Scenario.parse(PAIR))
    result.summary["applications"] = [
        {"application": "one", "complaints": [], "result": {"octets": 7}, "mixed": 1},
        {"application": "two", "complaints": ["late"], "result": {"pages": [1, 2]}, "mixed": "a"},
    ]
    rows = (result.write(tmp_path / "out", csv=True, plots=False) / "applications.csv").read_text().splitlines()
    assert rows[0] == '"application","complaints","result","mixed"'
    assert rows[1].startswith('"one","[]","{""octets"": 7')
    assert rows[2].endswith(',"""a"""')


def test_plots_and_csv_are_left_out_on_request(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", plots=False)
    assert not any(name.endswith((".png", ".svg", ".csv")) for name in names(folder))


def test_series_are_written_in_parts_and_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = '[[probe]]\nrecord = ["queue"]\nof = ["sw->a", "a->sw", "sw->b"]\nevery = "1 ms"\n'
    scenario = cellrate.Scenario.parse(PAIR[: PAIR.index("[[probe]]")] + probe)
    result = cellrate.run(scenario)
    whole = result.write(tmp_path / "whole", csv=True, plots=False)
    # Two series of 20 values, then the third.
    monkeypatch.setattr(writing, "_ROWS_OF_PART", 21)
    parts = result.write(tmp_path / "parts", csv=True, plots=False)
    file = "series/queue.parquet"
    groups = [pq.ParquetFile(folder / file).num_row_groups for folder in (whole, parts)]
    assert groups == [1, 2]
    assert pq.read_table(parts / file).equals(pq.read_table(whole / file), check_metadata=True)
    assert (parts / file).with_suffix(".csv").read_bytes() == (whole / file).with_suffix(".csv").read_bytes()
    read = cellrate.load(parts)
    for one, other in zip(read.all_series(), result.all_series(), strict=True):
        assert (one.times_s.tolist(), one.values.tolist()) == (other.times_s.tolist(), other.values.tolist())


def test_the_stored_scenario_gives_the_same_result(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", plots=False)
    again = cellrate.run(folder / "scenario.toml")
    assert again.summary["run"]["hash"] == result.summary["run"]["hash"]
    assert again.summary["vcs"] == result.summary["vcs"]


def test_parquet_holds_the_series_and_what_reproduces_them(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", plots=False)
    table = pq.read_table(folder / "series" / "acr.parquet")
    assert table.column_names == ["entity", "time_s", "value"]
    assert table["value"].to_pylist() == result.series("acr").values.tolist()
    assert set(table["entity"].to_pylist()) == {"vc1"}
    metadata = table.schema.metadata
    assert metadata[b"hash"].decode() == result.summary["run"]["hash"]
    assert (metadata[b"seed"], metadata[b"unit"]) == (b"7", b"cells/s")


def test_plots_and_series_are_the_same_bytes_each_time(result: cellrate.Result, written: Path, tmp_path: Path) -> None:
    again = result.write(tmp_path / "again")
    for name in names(again):
        assert (again / name).read_bytes() == (written / name).read_bytes(), name


def test_earlier_results_are_replaced_whole(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", csv=True, plots=False)
    result.write(folder, plots=False)
    assert "series/acr.csv" not in names(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_anything_else_is_left_alone(result: cellrate.Result, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(cellrate.CellrateError, match="not empty and holds no results"):
        result.write(tmp_path)
    assert names(tmp_path) == {"thesis.tex"}


def test_a_file_in_the_place_of_the_folder_is_an_error(result: cellrate.Result, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(cellrate.CellrateError, match="is a file"):
        result.write(tmp_path / "out")


def test_an_empty_folder_is_filled(result: cellrate.Result, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result.write(tmp_path / "out", plots=False)
    assert "summary.json" in names(tmp_path / "out")


def test_what_fails_half_way_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    summary = '{"run": {"scenario": "pair", "hash": "1234", "version": "0"}}'

    def succeed(partial: Path) -> None:
        (partial / "summary.json").write_text(summary)

    write_whole(tmp_path / "out", succeed)

    def fail(partial: Path) -> None:
        (partial / "summary.json").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "out", fail)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "summary.json").read_text() == summary


SWEPT = [(point.scenario, point.settings) for point in cellrate.Scenario.parse(SWEEP).points()]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_has_a_folder_per_point(tmp_path: Path, workers: int) -> None:
    results = sweep_into(tmp_path / "out", SWEPT, workers=workers)
    points = json.loads((tmp_path / "out" / "summary.json").read_text())["points"]
    assert [point["set"] for point in points] == [{"defaults.abr.nrm": n} for n in (8, 32, 256)]
    assert [{"set": result.set, **result.summary} for result in results] == points
    assert {"point-001/summary.json", "point-003/series/acr.parquet"} <= names(tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_sweep_has_the_same_bytes_from_one_process_and_from_two(tmp_path: Path) -> None:
    for workers in (1, 2):
        sweep_into(tmp_path / str(workers), SWEPT, csv=True, workers=workers)
    assert names(tmp_path / "1") == names(tmp_path / "2")
    # Of each point the summary, the scenario, the inventory, four series twice, and five tables; and these of all as
    # Parquet too, with one of runs, the summary, the manifest and the inventory.
    assert len(names(tmp_path / "1")) == 3 * (3 + 2 * 4 + 5) + 2 * 5 + 1 + 3
    for name in names(tmp_path / "1"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_a_point_of_a_sweep_is_what_its_run_alone_writes(tmp_path: Path) -> None:
    sweep_into(tmp_path / "swept", SWEPT, workers=1)
    alone = cellrate.run(SWEPT[2][0]).write(tmp_path / "alone", plots=False)
    # Delays are not recorded in it; a run that is written by itself has their distributions all the same.
    for name in names(alone) - {"summary.json", "delays.parquet"}:
        assert (alone / name).read_bytes() == (tmp_path / "swept" / "point-003" / name).read_bytes(), name


def test_a_sweep_whose_second_point_cannot_be_written_keeps_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = cellrate.results.writing.fill_result

    def fill(result: cellrate.Result, folder: Path, **how: bool) -> object:
        if folder.name == "point-002":
            (folder / "summary.json").touch()
            raise OSError(28, "No space left on device", str(folder / "summary.json"))
        return write(result, folder, csv=how["csv"], plots=how["plots"])

    monkeypatch.setattr("cellrate.results.writing.fill_result", fill)
    with pytest.raises(OSError, match=r"No space left on device: .*point-002") as caught:
        sweep_into(tmp_path / "out", SWEPT, workers=1)
    assert caught.value.__notes__ == [
        "at point 2 of the sweep: defaults.abr.nrm = 32",
        f"1 of 3 points are in {tmp_path / 'out'}; the same command goes on with the rest",
    ]
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {"campaign.json", "point-001"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    monkeypatch.undo()
    assert len(sweep_into(tmp_path / "out", SWEPT, workers=1)) == 3


def test_a_sweep_into_a_folder_of_somebody_else_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(cellrate.CellrateError, match="holds no results"):
        sweep_into(tmp_path, SWEPT, progress=lambda fraction: pytest.fail("it ran"))
    assert names(tmp_path) == {"thesis.txt"}


def fail(*_: object) -> None:
    raise ValueError("no\n  ink")


NO_INK = "could not be drawn, and the rest is written: ValueError: no ink"


def test_a_plot_that_cannot_be_drawn_is_left_out_with_a_warning(
    result: cellrate.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw_half(_result: cellrate.Result, base: Path) -> None:
        base.with_name("plot.png").touch()
        fail()

    monkeypatch.setattr("cellrate.plotting.runs.draw_result", draw_half)
    with pytest.warns(RuntimeWarning, match=f"^plot {NO_INK}$") as caught:
        result.write(tmp_path / "out")
    assert caught[0].filename == __file__
    assert {"summary.json", "scenario.toml", "series/acr.parquet"} <= names(tmp_path / "out")
    assert not any("plot" in name for name in names(tmp_path / "out"))


def test_a_sweep_whose_pictures_cannot_be_drawn_is_written_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for drawing in ("runs.draw_result", "delays.figure", "sweeps.figure"):
        monkeypatch.setattr(f"cellrate.plotting.{drawing}", fail)
    said: list[str] = []
    results = sweep_into(tmp_path / "out", SWEPT, plots=True, csv=True, workers=1, complain=said.append)
    assert said == [f"point-001/plot, point-002/plot, point-003/plot and 1 more {NO_INK}"]
    assert len(results) == 3
    assert {"summary.json", "vcs.csv", "point-003/series/acr.parquet"} <= names(tmp_path / "out")
    assert not any(name.endswith((".png", ".svg")) for name in names(tmp_path / "out"))


def test_an_interrupt_while_a_plot_is_drawn_is_one(
    result: cellrate.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise cellrate.Interrupted("ended")

    monkeypatch.setattr("cellrate.plotting.runs.draw_result", interrupt)
    with pytest.raises(cellrate.Interrupted):
        result.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_says_which_plot_is_missing_and_ends_with_status_1(
    pair_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
) -> None:
    monkeypatch.setattr("cellrate.plotting.runs.draw_result", fail)
    assert status(["run", str(pair_file), "--plot", "--out", str(tmp_path / "out"), *options]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"cellrate: plot {NO_INK}\n"
    assert '"vcs"' in printed.out if options else "Results are in" in printed.out
    assert "summary.json" in names(tmp_path / "out")


def test_dollars_in_a_name_are_dollars_and_no_mathematics(tmp_path: Path) -> None:
    name = r"goodput in $\frac{Mb}$"
    named = cellrate.Scenario.parse(SWEEP).set({"name": name})
    points = [(point.scenario, point.settings) for point in named.points()][:2]
    sweep_into(tmp_path / "out", points, plots=True, workers=1)
    # As it stands in the text of the drawing, whose letters are shapes.
    title = f"<!-- {name}"
    for folder in (tmp_path / "out", tmp_path / "out" / "point-001"):
        assert status(["plot", str(folder), "--out", str(tmp_path / "drawn.svg")]) == 0
        assert title in (tmp_path / "drawn.svg").read_text()
    assert points[0][0].draw().texts[0].get_text() == name.replace("$", r"\$")
    points[0][0].draw().savefig(tmp_path / "network.png")


def test_dollars_in_what_is_varied_are_none_either(tmp_path: Path) -> None:
    from cellrate.plotting.sweeps import figure

    named = PAIR + '[[sweep]]\nset = "name"\nvalues = ["$a_$", "$b_$"]\n[[sweep]]\nset = "seed"\nvalues = [1, 2, 3]\n'
    drawn = figure(cellrate.sweep(cellrate.Scenario.parse(named), workers=1))
    assert drawn is not None
    drawn.savefig(tmp_path / "sweep.png")
    labels = {label.get_text() for axes in drawn.axes for label in axes.get_xticklabels()}
    assert {r"\$a_\$", r"\$b_\$"} <= labels
