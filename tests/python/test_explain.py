"""`cellrate explain`: each step of ACR against the RM cells of a capture of the same run, and against the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

import cellrate
from cellrate.running.explaining import Explanation, RateStep
from conftest import command, output
from test_capture import interface_names, packets

NETWORK = """
name = "two-switches"
duration = "60 ms"

[defaults]
link = { rate = "155.52 Mbps", length = "50 km" }
switch = SWITCH
abr = { icr = "20 Mbps" }

[[host]]
name = "a1"
[[host]]
name = "a2"
[[host]]
name = "b1"
[[host]]
name = "b2"
[[switch]]
name = "sw1"
[[switch]]
name = "sw2"

[[link]]
between = ["a1", "sw1"]
[[link]]
between = ["a2", "sw1"]
[[link]]
between = ["sw1", "sw2"]
[[link]]
between = ["sw2", "b1"]
rate = "25 Mbps"
[[link]]
between = ["sw2", "b2"]

[[vc]]
name = "vc1"
path = ["a1", "sw1", "sw2", "b1"]
[[vc]]
name = "vc2"
path = ["a2", "sw1", "sw2", "b2"]
"""

ERICA = '{ algorithm = { type = "erica" } }'
EFCI = '{ efci = { high = "40 cells" } }'
RELATIVE = '{ algorithm = { type = "relative-rate", ni_threshold = "20 cells", threshold = "60 cells" } }'

SLOW = {"link.sw1-sw2.rate": "24 Mbps"}


class BackwardRm(NamedTuple):
    port: str
    ns: int
    er: float
    ccr: float
    ci: bool
    ni: bool


def rate(code: int) -> float:
    """Decode a rate of an RM cell: nz, exponent of 5 bits, mantissa of 9 bits (TM 4.0, 5.10.3.1)."""
    nz, exponent, mantissa = code >> 14 & 1, code >> 9 & 31, code & 511
    return nz * 2.0**exponent * (1 + mantissa / 512)


def backward_rms(file: Path, vci: int) -> list[BackwardRm]:
    names, found = interface_names(file), []
    for packet in packets(file):
        # The ERF record's header has 16 octets; a cell there has no HEC.
        header, body = packet.octets[16:20], packet.octets[20:]
        own = (header[1] & 15) << 12 | header[2] << 4 | header[3] >> 4
        if own == vci and header[3] >> 1 & 7 == 6 and body[1] & 0x80:
            er, ccr = (rate(int.from_bytes(body[at : at + 2])) for at in (2, 4))
            found.append(
                BackwardRm(names[packet.interface], packet.ns, er, ccr, bool(body[1] & 32), bool(body[1] & 16))
            )
    return found


def network(switch: str) -> cellrate.Scenario:
    return cellrate.Scenario.parse(NETWORK.replace("SWITCH", switch))


def passages(steps: tuple[RateStep, ...]) -> list[BackwardRm]:
    return sorted(
        BackwardRm(
            passage.port,
            int(passage.at_s * 1e9 + 1e-4),
            passage.er_cells_per_s,
            step.brm.ccr_cells_per_s,
            passage.ci,
            passage.ni,
        )
        for step in steps
        if step.brm is not None
        for passage in step.brm.way
    )


@pytest.mark.parametrize("switch", [ERICA, EFCI, RELATIVE])
def test_each_step_agrees_with_the_rm_cells_of_a_capture(tmp_path: Path, switch: str) -> None:
    scenario = network(switch).record("acr")
    result = cellrate.run(scenario, capture=tmp_path)
    found = cellrate.explain(scenario, "vc1", "40 ms", steps=100_000)
    brms = [step for step in found.steps if step.brm is not None]
    assert len(brms) > 50
    # 50 km are 250 us: what left the last switch by then has come.
    seen = [cell for cell in backward_rms(tmp_path / "cells.pcapng", 32) if cell.ns < 40_000_000]
    last = [cell for cell in seen if cell.port == "sw1->a1" and cell.ns + 250_000 < 40_000_000]
    assert len(last) == len(brms)
    told = passages(found.steps)
    assert set(told) <= set(seen)
    assert len(told) == 3 * len(brms)
    check_rules(found)
    # A series is taken at intervals, and says at each what ACR is.
    times, values = result.series("acr", vc="vc1").times_s, result.series("acr", vc="vc1").values
    before = [value for time, value in zip(times, values, strict=True) if time <= 0.04][-1]
    assert before in {step.after_cells_per_s for step in found.steps[-40:]}


def check_rules(found: Explanation) -> None:
    """Hold steps against rules 8 and 9 by hand, with the default RIF and RDF of 1/16 and 1/16."""
    pcr = 149.76e6 / 424
    for one, following in zip(found.steps, found.steps[1:], strict=False):
        assert one.after_cells_per_s == following.before_cells_per_s
    for step in found.steps:
        if step.brm is None:
            continue
        before, brm, indicated = step.before_cells_per_s, step.brm, step.indicated_cells_per_s
        if brm.ci:
            assert indicated is not None
            assert indicated < before
        elif brm.ni:
            assert indicated == before
        else:
            assert indicated is not None
            assert before <= indicated <= pcr * 1.001
        assert step.after_cells_per_s == min(indicated, brm.er_cells_per_s)
        assert (8 in step.rules) == (indicated != before)
        assert (9 in step.rules) == (step.after_cells_per_s != indicated)


def test_who_wrote_er_ci_and_efci_is_named() -> None:
    erica = cellrate.explain(network(ERICA), "vc1", "40 ms").last_move
    assert erica is not None
    assert erica.brm is not None
    first, second, third = erica.brm.way
    assert [first.port, second.port, third.port] == ["b1->sw2", "sw2->sw1", "sw1->a1"]
    assert (first.control, second.control, third.control) == (None, "sw2->b1", "sw1->sw2")
    # The line of 25 Mbps is behind sw2.
    assert second.er_cells_per_s < first.er_cells_per_s
    assert third.er_cells_per_s == second.er_cells_per_s
    ahead = {"vc.vc2.abr.pcr": "20 Mbps", "vc.vc1.abr.pcr": "100 Mbps"}
    for port, more in [("sw2->b1", ahead), ("sw1->sw2", SLOW)]:
        marked = cellrate.explain(network(EFCI).set(more), "vc1", "40 ms", steps=2000).steps
        falls = [step.brm for step in marked if step.brm is not None and step.brm.ci]
        assert falls
        assert {brm.efci_from for brm in falls} == {port}
        assert all(brm.way[0].ci for brm in falls)
    relative = cellrate.explain(network(RELATIVE).set(SLOW), "vc1", "40 ms", steps=2000).steps
    set_ci = [step.brm for step in relative if step.brm is not None and step.brm.ci]
    assert set_ci
    assert all(not brm.way[1].ci and brm.way[2].ci and brm.efci_from is None for brm in set_ci)
    assert {brm.way[2].control for brm in set_ci} == {"sw1->sw2"}


def test_rules_at_frms_are_told() -> None:
    idle = network(ERICA).set(
        {
            "vc.vc1.traffic": {"type": "on-off", "rate": "15 Mbps", "on": "5 ms", "off": "15 ms"},
            "vc.vc1.abr.adtf": "10 ms",
            "vc.vc1.abr.icr": "1 Mbps",
        }
    )
    steps = cellrate.explain(idle, "vc1", steps=100_000).steps
    assert any(step.event == "idle" and step.rules == (5,) for step in steps)
    result = cellrate.run(idle)
    (row,) = [vc for vc in result.summary["vcs"] if vc["vc"] == "vc1"]
    assert sum(step.event == "idle" for step in steps) == row["idle_resets"]


def test_a_stored_result_and_a_point_are_explained_as_their_run_was(tmp_path: Path) -> None:
    file, out = tmp_path / "net.toml", tmp_path / "out"
    file.write_text(NETWORK.replace("SWITCH", ERICA))
    command("run", str(file), "--out", str(out))
    from_file = output("explain", str(file), "--vc", "vc1", "--at", "20 ms", "--json")
    assert output("explain", str(out), "--vc", "vc1", "--at", "20ms", "--json") == from_file
    by_hand = cellrate.explain(cellrate.load(out), "vc1", 0.02)
    assert json.loads(json.dumps([step.after_cells_per_s for step in by_hand.steps])) == [
        step["after_cells_per_s"] for step in from_file["steps"]
    ]
    study = tmp_path / "study"
    command("run", str(file), "--sweep", "defaults.abr.nrm=[8, 32]", "--out", str(study))
    refused = command("explain", str(study), "--vc", "vc1")
    assert refused.returncode == 2
    assert "--point N" in refused.stderr
    assert "nrm = 8" in refused.stderr
    one = output("explain", str(study), "--vc", "vc1", "--point", "nrm=8", "--json")
    assert one["steps"] != from_file["steps"]


def test_the_command_says_it_in_words(tmp_path: Path) -> None:
    file = tmp_path / "net.toml"
    file.write_text(NETWORK.replace("SWITCH", ERICA))
    told = command("explain", str(file), "--vc", "vc1", "--at", "3 ms", "--steps", "3").stdout
    assert "a BRM came back" in told
    assert "sw2->b1 lowered ER from" in told
    assert "rule 9: at most ER" in told
    early = command("explain", str(file), "--vc", "vc1", "--at", "0.1 ms").stdout
    assert "nothing has moved the ACR of vc1" in early


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--vc", "nosuch"], "no ABR source is called nosuch; ABR sources are vc1, vc1 (back), vc2, vc2 (back)"),
        (["--vc", "vc1", "--at", "70 ms"], "ends at 0.06 s; there is nothing at 0.07 s"),
        (["--vc", "vc1", "--steps", "0"], "steps is 0"),
        (["--vc", "vc1", "--at", "5 cells"], "5 cells"),
    ],
)
def test_what_cannot_be_explained_is_refused(tmp_path: Path, arguments: list[str], told: str) -> None:
    file = tmp_path / "net.toml"
    file.write_text(NETWORK.replace("SWITCH", ERICA))
    refused = command("explain", str(file), *arguments)
    assert refused.returncode == 2
    assert told in refused.stderr
