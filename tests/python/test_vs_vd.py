"""Switches that segment the control loop: what a user sees of their virtual sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.network.topology import Network
from conftest import PAIR

SEGMENTED = PAIR.replace('name = "sw"\n', 'name = "sw"\nvs_vd = { t0 = "1 ms" }\n') + (
    '\n[[probe]]\nrecord = ["acr", "source_queue"]\nof = ["vc1 at sw"]\nevery = "2 ms"\n'
)


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(SEGMENTED))


def test_every_key_of_a_virtual_source_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    (row,) = result.summary["virtual_sources"]
    assert (row["vc"], row["switch"]) == ("vc1", "sw")
    assert {key for key in row if f"`{key}`" not in text} == set()


def test_its_series_are_found_by_name(result: cellrate.Result) -> None:
    acr = result.series("acr", vc="vc1 at sw")
    assert acr.unit == "cells/s"
    assert acr.values[-1] == result.summary["virtual_sources"][0]["final_acr"]
    assert result.series("source_queue", entity="vc1 at sw").values[0] == 0


def test_data_is_conserved_though_rm_cells_are_of_two_loops(result: cellrate.Result) -> None:
    vc, (row,) = result.vc("vc1"), result.summary["virtual_sources"]
    waiting = row["data_received"] - row["data_sent"]
    assert 0 <= waiting <= row["max_queue"]
    on_way = vc["data_sent"] - vc["data_delivered"] - vc["dropped"]
    assert waiting <= on_way <= vc["in_flight"] <= on_way + 20


def test_tables_have_a_row_for_it(result: cellrate.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "<td>vc1 at sw</td>" in result._repr_html_()
    file = tmp_path / "segmented.toml"
    file.write_text(SEGMENTED)
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert "\n vc1 at sw " in capsys.readouterr().out
    head, row = (tmp_path / "out" / "virtual_sources.csv").read_text().splitlines()
    assert head.startswith('"vc","switch","data_received"')
    assert row.startswith('"vc1","sw",')
    # Elsewhere there is no such table.
    plain = cellrate.run(cellrate.Scenario.parse(PAIR))
    assert plain.summary["virtual_sources"] == []
    assert "virtual source" not in plain._repr_html_()


def test_its_switch_is_drawn_as_one() -> None:
    drawn = Network(json.loads(cellrate.Scenario.parse(SEGMENTED)._native.topology()))
    assert drawn.label(0) == ("sw", "ERICA, VS/VD")


def test_an_algorithm_in_python_answers_both_loops(result: cellrate.Result) -> None:
    class Fixed(cellrate.SwitchAlgorithm):
        """Everybody has 20,000 cells/s."""

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return 20_000.0

    custom = SEGMENTED.replace('{ type = "erica" }', '{ type = "custom", name = "fixed" }')
    run = cellrate.run(cellrate.Scenario.parse(custom), algorithms={"fixed": Fixed})
    (row,) = run.summary["virtual_sources"]
    assert row["final_acr"] == pytest.approx(20_000, rel=0.002)
    assert run.vc("vc1")["final_acr"] == pytest.approx(20_000, rel=0.002)
