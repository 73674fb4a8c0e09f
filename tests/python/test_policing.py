"""Connections that switches police: what a user sees of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.live import doctor, live_run
from conftest import PAIR

_FOUND = doctor.findings()

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
    assert "policer" not in plain._repr_html_()


def test_it_is_in_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "policed.toml"
    file.write_text(POLICED)
    assert status(["run", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policing"][0]["discarded"] == 0


LIVE = """
name = "policed-pair"
duration = "1500 ms"
[defaults]
link = { rate = "10 Mbps", delay = "1 ms" }
[[host]]
name = "a"
[[host]]
name = "b"
[[switch]]
name = "sw"
[[link]]
between = ["a", "sw"]
[[link]]
between = ["sw", "b"]
[[vc]]
name = "vc"
path = ["a", "sw", "b"]
category = "gfr"
mcr = "100 kbps"
mfs = 40
traffic = { type = "none" }
police = { definition = "gfr.2" }
[[application]]
name = "datagrams"
host = "a"
peer = "b"
kind = { type = "command", words = WORDS }
"""

DATAGRAMS = (
    "import socket, time\n"
    "own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for _ in range(50):\n"
    "    own.sendto(bytes(1372), ('{peer}', 9))\n"
    "    time.sleep(0.02)\n"
)


@pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))
def test_a_live_run_polices_the_packets_of_programs() -> None:
    words = json.dumps([sys.executable, "-c", DATAGRAMS])
    run = live_run(cellrate.Scenario.parse(LIVE.replace("WORDS", words)), attempts=1, allow_commands=True)
    assert run.failed_applications == []
    (row,) = run.result.summary["policing"]
    assert (row["vc"], row["switch"], row["definition"]) == ("vc", "sw", "GFR.2")
    # 30 cells every 20 ms are 1,500 cells/s, of which 236 are promised: one frame in six or seven is eligible.
    cells = run.result.vc("vc")["data_sent"]
    assert row["conforming"] + row["nonconforming"] == pytest.approx(cells, abs=60)
    assert 0.1 < row["conforming"] / cells < 0.3
    assert row["tagged"] == row["nonconforming"]
    assert row["discarded"] == 0


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
