"""Ports that lose whole PDUs: what a user sees of them."""

from __future__ import annotations

import json

import pytest

import cellrate
from cellrate.network.topology import Network
from cellrate.recorded.summaries import numbers


def ready(policy: str, duration: str = "2 s") -> cellrate.Scenario:
    """Give one point of the ready scenario."""
    text = cellrate.ready_scenarios()["frame-discard"].read_text().partition("[[sweep]]")[0]
    return cellrate.Scenario.parse(text).set({"defaults.switch.frame_discard": policy, "duration": duration})


@pytest.fixture(scope="module")
def results() -> dict[str, cellrate.Result]:
    policies = {
        "off": "off",
        "partial": '{ type = "partial" }',
        "early": '{ type = "early", threshold = "850 cells" }',
    }
    return {name: cellrate.run(ready(policy)) for name, policy in policies.items()}


def of_port(result: cellrate.Result) -> tuple[int, int]:
    """Give PDUs refused and cut."""
    row = result.port("sw1->sw2")
    return row["pdus_refused"], row["pdus_cut"]


def spoiled(result: cellrate.Result) -> int:
    return sum(row["spoiled_pdus"] for row in result.summary["tcp"])


def test_early_discard_spoils_nothing_and_partial_what_it_cuts(results: dict[str, cellrate.Result]) -> None:
    assert of_port(results["off"]) == (0, 0)
    assert spoiled(results["off"]) > 20
    refused, cut = of_port(results["partial"])
    assert refused > 0
    assert cut >= spoiled(results["partial"]) > 0
    refused, cut = of_port(results["early"])
    assert (cut, spoiled(results["early"])) == (0, 0)
    # Segments of 512 octets, of 12 cells each; SYNs and ACKs do not meet a long queue.
    assert results["early"].port("sw1->sw2")["dropped"] == 12 * refused > 0


def test_tables_of_ports_have_a_column_for_what_there_is(results: dict[str, cellrate.Result]) -> None:
    assert numbers(results["off"].summary, "ports")[0][-1] == "dropped\ncells"
    assert numbers(results["early"].summary, "ports")[0][-1] == "refused\nPDUs"
    head, rows = numbers(results["partial"].summary, "ports")
    assert head[-2:] == ["refused\nPDUs", "cut\nPDUs"]
    shown = {row[0]: row[-2:] for row in rows}
    assert shown["sw1->sw2"] == [f"{count:,}" for count in of_port(results["partial"])]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ('{ type = "partial" }', "PPD"),
        ('{ type = "early", threshold = "9 cells" }', "EPD"),
        ('{ type = "selective", threshold = "9 cells" }', "selective discard"),
        ('{ type = "fair", threshold = "9 cells", scale_factor = 1.5 }', "FBA"),
    ],
)
def test_pictures_of_networks_name_the_policy(policy: str, name: str) -> None:
    drawn = Network(json.loads(ready(policy)._native.topology()))
    assert drawn.label(0) == ("sw1", name)


def test_a_threshold_that_is_never_passed_is_refused() -> None:
    with pytest.raises(cellrate.ScenarioError, match="less than the room of its buffer"):
        cellrate.run(ready('{ type = "early", threshold = "1000 cells" }'))
