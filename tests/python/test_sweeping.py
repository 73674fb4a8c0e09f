"""A sweep as a whole: its rows in one table."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

import cellrate
from conftest import PAIR, SWEEP, swept

SWEPT = cellrate.Scenario.parse(SWEEP)


def test_a_single_result_has_a_table_too(result: cellrate.Result) -> None:
    assert cellrate.tidy(result, "ports").equals(cellrate.tidy([result], "ports"))


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


def test_quantities_have_their_numbers_beside_their_texts() -> None:
    lengths = '["10 km", "500 m", "1000 km"]'
    table = cellrate.tidy(swept(("defaults.link.length", lengths), ("defaults.abr.rif", '["1/16", "50 %"]')), "ports")
    assert table.column_names[:5] == [
        "defaults.link.length",
        "defaults.link.length [km]",
        "defaults.abr.rif",
        "defaults.abr.rif [1]",
        "port",
    ]
    rows = {(row["defaults.link.length"], row["defaults.link.length [km]"]) for row in table.to_pylist()}
    assert rows == {("10 km", 10.0), ("500 m", 0.5), ("1000 km", 1000.0)}
    assert set(table["defaults.abr.rif [1]"].to_pylist()) == {0.0625, 0.5}
    kinds = '[{ type = "erica" }, { type = "capc" }]'
    table = cellrate.tidy(swept(("defaults.switch.algorithm", kinds), ("seed", "[1, 2]")), "ports")
    assert table.column_names[:3] == ["defaults.switch.algorithm", "seed", "port"]


def test_over_seeds_there_are_means_with_intervals_and_counts() -> None:
    losing = PAIR.replace('length = "1 km"', 'length = "1 km", loss = "1 %"')
    results = swept(("defaults.abr.nrm", "[8, 32]"), ("seed", "[1, 2, 3, 4]"), text=losing)
    table = cellrate.tidy(results, over_seeds=True)
    rows = {(row["defaults.abr.nrm"], row["vc"]): row for row in table.to_pylist()}
    assert set(rows) == {(nrm, vc) for nrm in (8, 32) for vc in ("vc1", "vc1 (back)")}
    row = rows[8, "vc1"]
    values = [result.vc("vc1")["data_delivered"] for result in results[:4]]
    assert row["data_delivered_mean"] == pytest.approx(statistics.fmean(values))
    assert row["data_delivered_ci95"] == pytest.approx(3.18245 * statistics.stdev(values) / 2, rel=1e-5)
    assert row["data_delivered_n"] == 4
    assert row["category"] == "abr"
    assert "seed" not in table.column_names
    # Nothing arrives backward, and no delay either.
    assert (rows[8, "vc1 (back)"]["p99_delay_s_mean"], rows[8, "vc1 (back)"]["p99_delay_s_n"]) == (None, 0)
    runs = cellrate.tidy(results, "run", over_seeds=True).to_pylist()
    assert [(row["defaults.abr.nrm"], row["cell_hops_n"]) for row in runs] == [(8, 4), (32, 4)]
    assert not {"hash", "seed"} & set(runs[0])


def test_a_single_seed_has_no_interval() -> None:
    row = cellrate.tidy(swept(("defaults.abr.nrm", "[8]")), "ports", over_seeds=True).to_pylist()[0]
    assert (row["utilization_ci95"], row["utilization_n"]) == (None, 1)


def test_results_of_the_same_seed_are_no_replications_nor_are_those_of_other_scenarios() -> None:
    scenario = cellrate.Scenario.parse(PAIR)
    result = cellrate.run(scenario)
    with pytest.raises(cellrate.CellrateError, match="two results are the same: pair, seed 7"):
        cellrate.tidy([result, result], over_seeds=True)
    other = cellrate.run(scenario, set={"duration": "10 ms"}, seed=8)
    again = cellrate.run(scenario, seed=8)
    rows = cellrate.tidy([result, other, again], "run", over_seeds=True).to_pylist()
    assert [(row["duration_s_mean"], row["duration_s_n"]) for row in rows] == [(0.02, 2), (0.01, 1)]


def test_rows_that_there_are_not_are_told_with_those_that_there_are() -> None:
    with pytest.raises(cellrate.CellrateError, match='no rows "vc" in a result; there are run, vcs, ports, vc_windows'):
        cellrate.tidy(cellrate.sweep(SWEPT, workers=1), "vc")


def test_a_folder_has_the_tables_and_the_picture(tmp_path: Path) -> None:
    from cellrate.campaigns.running import sweep_into

    points = [(point.scenario, point.settings) for point in SWEPT.points()]
    sweep_into(tmp_path / "out", points, csv=True, plots=True, workers=1)
    names = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
    kinds = ("vcs", "ports", "shares", "fairness", "efficiency")
    tables = {"run.parquet"} | {f"{name}.{kind}" for name in kinds for kind in ("parquet", "csv")}
    assert names == {"campaign.json", "files.json", "summary.json", "sweep.png"} | tables
    head, *rows = (tmp_path / "out" / "vcs.csv").read_text().splitlines()
    assert head.startswith('"defaults.abr.nrm","vc","category",')
    assert rows[0].startswith('8,"vc1","abr",')
    assert (tmp_path / "out" / "point-001" / "vcs.csv").exists()
