"""A sweep as a whole: its rows in one table, and its figures over what was varied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.lines import Line2D

import cellrate
from cellrate.sweeping import figure
from conftest import PAIR, SWEEP

SWEPT = cellrate.Scenario.parse(SWEEP)


def swept(*sweeps: tuple[str, str]) -> list[cellrate.Result]:
    more = "".join(f'\n[[sweep]]\nset = "{path}"\nvalues = {values}\n' for path, values in sweeps)
    return cellrate.sweep(cellrate.Scenario.parse(PAIR + more), workers=1)


def positions(line: Line2D) -> list[float]:
    values: list[float] = np.asarray(line.get_xdata()).tolist()
    return values


def test_a_table_has_the_rows_of_all_points_behind_what_they_set() -> None:
    results = cellrate.sweep(SWEPT, workers=1)
    table = cellrate.tidy(results)
    assert table.column_names[:3] == ["defaults.abr.nrm", "vc", "category"]
    assert table.num_rows == sum(len(result.summary["vcs"]) for result in results)
    assert table["defaults.abr.nrm"].unique().to_pylist() == [8, 32, 256]
    rows = [row for row in table.to_pylist() if (row["defaults.abr.nrm"], row["vc"]) == (32, "vc1")]
    sent = [row["data_sent"] for row in rows]
    assert sent == [results[1].vc("vc1")["data_sent"]]
    assert cellrate.tidy(results, "run").num_rows == 3
    assert cellrate.tidy(results, "ports")["port"].to_pylist()[0] == results[0].summary["ports"][0]["port"]
    assert cellrate.tidy(results, "tcp").num_rows == 0


def test_settings_that_are_no_numbers_stay_texts() -> None:
    table = cellrate.tidy(swept(("defaults.abr.rif", '["1/16", "1/64"]'), ("seed", "[1, 2]")))
    assert set(table["defaults.abr.rif"].to_pylist()) == {"1/16", "1/64"}
    assert set(table["seed"].to_pylist()) == {1, 2}


def test_rows_that_there_are_not_are_told_with_those_that_there_are() -> None:
    with pytest.raises(cellrate.CellrateError, match='no rows "vc" in a result; there are run, vcs, ports, tcp'):
        cellrate.tidy(cellrate.sweep(SWEPT, workers=1), "vc")


def test_numbers_have_an_axis_with_a_tick_for_each_value() -> None:
    drawn = figure(cellrate.sweep(SWEPT, workers=1))
    assert drawn is not None
    assert [axes.get_ylabel() for axes in drawn.axes] == [
        "throughput [Mbps]",
        "p99 delay [ms]",
        "utilization [%]",
        "max queue [cells]",
    ]
    last = drawn.axes[-1]
    assert (last.get_xlabel(), last.get_xscale()) == ("defaults.abr.nrm", "log")
    assert [label.get_text() for label in last.get_xticklabels()] == ["8", "32", "256"]
    assert [positions(line) for line in drawn.axes[0].lines] == [[8.0, 32.0, 256.0]]


def test_values_with_a_unit_are_numbers_in_order() -> None:
    drawn = figure(swept(("duration", '["40 ms", "10 ms", "20 ms"]')))
    assert drawn is not None
    assert drawn.axes[-1].get_xlabel() == "duration [ms]"
    assert positions(drawn.axes[0].lines[0]) == [10.0, 20.0, 40.0]


def test_algorithms_stand_beside_each_other_by_their_types_and_are_not_joined() -> None:
    drawn = figure(swept(("defaults.switch.algorithm", '[{ type = "erica" }, { type = "capc" }]')))
    assert drawn is not None
    assert [label.get_text() for label in drawn.axes[-1].get_xticklabels()] == ["erica", "capc"]
    assert all(line.get_linestyle() == "None" for line in drawn.axes[0].lines)


def test_what_else_is_varied_has_lines_of_its_own() -> None:
    drawn = figure(swept(("defaults.abr.nrm", "[8, 16, 32]"), ("defaults.abr.rif", '["1/16", "1/64"]')))
    assert drawn is not None
    assert [line.get_label() for line in drawn.axes[0].lines] == ["vc1 rif 1/16", "vc1 rif 1/64"]
    assert all(len(positions(line)) == 3 for line in drawn.axes[0].lines)


def test_of_many_connections_the_spread_is_drawn() -> None:
    many = cellrate.ready_scenarios()["algorithms"].read_text()
    drawn = figure(cellrate.sweep(cellrate.Scenario.parse(many).set({"duration": "30 ms"}), workers=1))
    assert drawn is not None
    assert [line.get_label() for line in drawn.axes[0].lines] == ["least of 10", "median", "largest"]


def test_without_anything_varied_there_is_no_picture() -> None:
    assert figure([]) is None
    assert figure([cellrate.run(cellrate.Scenario.parse(PAIR))]) is None
    assert figure(swept(("seed", "[3]"))) is None


def test_a_folder_has_the_tables_and_the_picture(tmp_path: Path) -> None:
    from cellrate.running import sweep_into

    points = [(point.scenario, point.set) for point in SWEPT.points()]
    sweep_into(tmp_path / "out", points, csv=True, plots=True, workers=1)
    names = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert names == {"summary.json", "vcs.csv", "ports.csv", "sweep.png", "sweep.svg"}
    head, *rows = (tmp_path / "out" / "vcs.csv").read_text().splitlines()
    assert head.startswith('"defaults.abr.nrm","vc","category",')
    assert rows[0].startswith('8,"vc1","abr",')
    assert (tmp_path / "out" / "point-001" / "vcs.csv").exists()
