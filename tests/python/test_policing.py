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


def shares(algorithm: str, misbehaves: str, action: str) -> tuple[float, cellrate.Result]:
    """Give what the first source of the ready scenario gets over the mean of the others, and the result."""
    text = cellrate.ready_scenarios()["misbehaving-source"].read_text().partition("[[sweep]]")[0]
    settings = {
        "defaults.switch.algorithm": algorithm,
        "vc.vc0.misbehaves": misbehaves,
        "defaults.vc.police.action": action,
    }
    result = cellrate.run(cellrate.Scenario.parse(text).set(settings))
    rates = [result.vc(f"vc{i}")["throughput_bps"] for i in range(4)]
    # Those that keep to the rules conform, whatever one of them does.
    assert all(row["nonconforming"] == 0 for row in result.summary["policing"][1:])
    return rates[0] / (sum(rates[1:]) / 3), result


DEAF, HASTY = '{ ignores = ["er", "ci"] }', "{ rate_factor = 1.5 }"


@pytest.mark.parametrize("algorithm", ['{ type = "capc" }', '{ type = "erica", measured_ccr = true }'])
@pytest.mark.parametrize("misbehaves", [DEAF, HASTY])
def test_what_is_policed_gets_no_more_than_the_others(algorithm: str, misbehaves: str) -> None:
    assert shares(algorithm, misbehaves, "count")[0] > 1.4
    share, result = shares(algorithm, misbehaves, "discard")
    assert share < 1.01
    assert result.port("sw1->sw2")["dropped"] == 0


def test_where_er_goes_by_what_a_source_claims_policing_by_er_is_no_help() -> None:
    assert shares('{ type = "erica" }', DEAF, "discard")[0] > 4


def test_an_honest_source_is_not_touched() -> None:
    share, result = shares('{ type = "capc" }', '"off"', "discard")
    assert share == pytest.approx(1, abs=0.001)
    assert all(row["nonconforming"] == 0 for row in result.summary["policing"])
