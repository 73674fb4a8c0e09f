"""Connections that switches police: what a user sees of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from conftest import PAIR

POLICED = PAIR.replace("[defaults]\n", '[defaults]\nvc = { police = { action = "count" } }\n', 1)


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(POLICED))


def test_every_key_of_a_policer_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    row = result.summary["policing"][0]
    assert (row["vc"], row["switch"], row["definition"]) == ("vc1", "sw", "ABR.1")
    assert {key for key in row if f"`{key}`" not in text} == set()


def test_sources_that_follow_the_standard_conform(result: cellrate.Result) -> None:
    for row in result.summary["policing"]:
        assert row["conforming"] > 100
        assert row["nonconforming"] == row["tagged"] == row["discarded"] == 0


def test_tables_have_a_row_for_each(
    result: cellrate.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "<td>vc1 at sw</td>" in result._repr_html_()
    file = tmp_path / "policed.toml"
    file.write_text(POLICED)
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert "\n vc1 at sw " in capsys.readouterr().out
    head, row = (tmp_path / "out" / "policing.csv").read_text().splitlines()[:2]
    assert head.startswith('"vc","switch","definition","conforming"')
    assert row.startswith('"vc1","sw","ABR.1",')
    plain = cellrate.run(cellrate.Scenario.parse(PAIR))
    assert plain.summary["policing"] == []
    assert "policed" not in plain._repr_html_()


def test_it_is_in_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "policed.toml"
    file.write_text(POLICED)
    assert status(["run", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policing"][0]["discarded"] == 0


def test_a_live_run_refuses_it_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "policed.toml"
    file.write_text(POLICED)
    assert status(["live", "run", str(file)]) != 0
    assert "police is of simulations" in capsys.readouterr().err
