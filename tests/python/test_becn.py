"""BRMs that switches originate: what a user sees of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.algorithms import Port
from cellrate.command_line.main import status
from cellrate.network.topology import Network
from cellrate.recorded.summaries import numbers
from conftest import PAIR

ORIGINATING = PAIR.replace('name = "sw"\n', 'name = "sw"\nbecn = { threshold = "2 cells" }\n')


def satellite(threshold: int, **settings: str) -> cellrate.Scenario:
    """Give one point of the ready scenario, with this threshold."""
    text = cellrate.ready_scenarios()["becn"].read_text().partition("[[sweep]]")[0]
    becn = f'{{ threshold = "{threshold} cells", sets = "ni" }}'
    return cellrate.Scenario.parse(text).set({"defaults.switch.becn": becn, **settings})


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(satellite(2500, duration="300 ms"))


def test_ports_say_how_many_they_have_originated(result: cellrate.Result) -> None:
    assert result.port("sw1->sw2")["backward_rm_originated"] == 3
    assert result.port("sw2->sw1")["backward_rm_originated"] == 0
    # Nothing else has come back to the sources by then.
    assert [result.vc(f"vc{i}")["backward_rm_received"] for i in (1, 2, 3)] == [1, 1, 1]


def test_tables_have_a_column_for_them_where_there_are_some(result: cellrate.Result) -> None:
    head, rows = numbers(result.summary, "ports")
    assert head[-1] == "BRMs\noriginated\ncells"
    assert {row[0]: row[-1] for row in rows}["sw1->sw2"] == "3"
    head, rows = numbers(cellrate.run(cellrate.Scenario.parse(PAIR)).summary, "ports")
    assert head[-1] == "dropped\ncells"
    assert {len(row) for row in rows} == {len(head)}


def test_stored_results_without_the_figure_can_still_be_shown(result: cellrate.Result) -> None:
    old = json.loads(json.dumps(result.summary))
    for row in old["ports"]:
        del row["backward_rm_originated"]
    assert numbers(old, "ports")[0][-1] == "dropped\ncells"


def test_pictures_of_networks_name_them() -> None:
    drawn = Network(json.loads(cellrate.Scenario.parse(ORIGINATING)._native.topology()))
    assert drawn.label(0) == ("sw", "ERICA, BECN")


def test_an_algorithm_of_ones_own_answers_them() -> None:
    told: list[float] = []

    class Half(cellrate.SwitchAlgorithm):
        """Everybody has half of the line."""

        def __init__(self, port: Port) -> None:
            self.half = port.link_rate / 2

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            told.append(now)
            return self.half

    half = {"defaults.switch.algorithm": '{ type = "custom", name = "half" }'}
    run = cellrate.run(satellite(100, duration="20 ms", **half), algorithms={"half": Half})
    # No BRM passes within 20 ms: these three are the port's own, and sources have half of the line.
    assert len(told) == run.port("sw1->sw2")["backward_rm_originated"] == 3
    assert run.vc("vc1")["final_acr"] == pytest.approx(149.76e6 / 424 / 2, rel=1 / 512)


def test_a_port_cannot_have_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "both.toml"
    file.write_text(ORIGINATING.replace("becn = ", "vs_vd = {}\nbecn = "))
    assert status(["validate", str(file)]) == 2
    assert "Turn one of the two off" in capsys.readouterr().err
