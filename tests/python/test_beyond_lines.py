"""Scenarios that ask more of their lines than these carry: promises beyond a line, and a start beyond it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.recorded.summaries import report
from conftest import command

LINE = 149.76e6 / 424
"""Rate of a line of 149.76 Mbps [cells/s]."""

HEAD = """
name = "beyond"
duration = "20 ms"
host = [{ name = "s{i}", count = 40 }, { name = "d" }]
switch = [{ name = "sw" }]
link = [{ between = ["s{i}", "sw"], count = 40 }, { between = ["sw", "d"] }]
[defaults]
link = { rate = "149.76 Mbps", length = "10 km" }
switch.algorithm = { type = "erica" }
"""


def scenario(*vcs: tuple[int, int, str], head: str = "") -> cellrate.Scenario:
    """Give one with connections from host `first` to host `last`, and what else is said of them."""
    entries = [
        f'[[vc]]\nname = "vc{host}"\npath = ["s{host}", "sw", "d"]\n{rest}\n'
        for first, last, rest in vcs
        for host in range(first, last + 1)
    ]
    return cellrate.Scenario.parse(head + HEAD + "".join(entries))


CBR = 'category = "cbr"\ntraffic = { type = "constant", rate = "40 Mbps" }'
VBR = 'category = "vbr"\ntraffic = { type = "on-off", rate = "100 Mbps", on = "1 ms", off = "1 ms" }'
GFR = 'category = "gfr"\nmcr = "5.5 Mbps"\ntraffic = { type = "tcp" }'
UBR = 'category = "ubr"\nmcr = "5.5 Mbps"\ntraffic = { type = "constant", rate = "1 Mbps" }'


@pytest.mark.parametrize(
    ("vcs", "promised", "connections"),
    [
        ([(1, 30, 'abr = { mcr = "6 Mbps" }')], 180e6, 30),
        ([(1, 24, 'abr = { mcr = "6.24 Mbps" }')], None, 0),
        ([(1, 25, 'abr = { mcr = "6.24 Mbps" }')], 156e6, 25),
        ([(1, 4, CBR)], 160e6, 4),
        ([(1, 4, VBR)], 200e6, 4),
        ([(1, 2, CBR), (3, 22, 'abr = { mcr = "5 Mbps" }')], 180e6, 22),
        ([(1, 30, GFR)], 165e6, 30),
        ([(1, 30, UBR)], 165e6, 30),
    ],
)
def test_promises_beyond_a_line_are_told(
    vcs: list[tuple[int, int, str]], promised: float | None, connections: int
) -> None:
    found = scenario(*vcs).overbooked()
    if promised is None:
        assert found == []
        return
    (row,) = found
    assert (row["port"], row["connections"]) == ("sw->d", connections)
    assert row["promised"] == pytest.approx(promised / 424, rel=1e-3)
    assert row["line"] == pytest.approx(LINE)


def test_admission_leaves_nothing_to_tell() -> None:
    vcs = (1, 30, 'abr = { mcr = "6 Mbps" }')
    assert scenario(vcs, head="admission = true\n").overbooked() == []
    assert len(scenario(vcs, head="admission = false\n").overbooked()) == 1


def test_validate_and_run_say_it(tmp_path: Path) -> None:
    file = tmp_path / "beyond.toml"
    file.write_text(scenario((1, 30, 'abr = { mcr = "6 Mbps" }')).toml)
    said = "Overbooked: sw->d: MCR, SCR (VBR) and PCR (CBR) of 30 connections sum to 180 Mbps"
    assert said in command("validate", file).stdout
    assert said in command("run", file).stdout
    rows = json.loads(command("run", file, "--json").stdout)["overbooked"]
    assert [row["connections"] for row in rows] == [30]


def test_a_start_beyond_a_line_is_told_where_the_longest_queue_is_its() -> None:
    long = scenario((1, 40, "")).set({"defaults.link.length": "500 km", "duration": "60 ms"})
    summary = cellrate.run(long).summary
    (row,) = summary["starts"]
    # 40 lines into one, for a round trip of 10 ms.
    assert (row["port"], row["connections"]) == ("sw->d", 40)
    assert row["queue"] == pytest.approx(39 * LINE * 0.010, rel=0.05)
    assert row["icr"] == pytest.approx(40 * LINE)
    assert any(isinstance(part, str) and part.startswith("Start: at sw->d 40 sources") for part in report(summary))


@pytest.mark.parametrize("algorithm", ["erica", "erica+", "osu", "pi", "phantom", "capc", "fecn", "rcp"])
@pytest.mark.parametrize("length", ["1 km", "100 km", "500 km"])
def test_a_start_is_told_where_feedback_waits_for_the_first_interval(length: str, algorithm: str) -> None:
    settings = {"defaults.link.length": length, "duration": "60 ms", "defaults.switch.algorithm": {"type": algorithm}}
    summary = cellrate.run(scenario((1, 40, "")).set(settings)).summary
    (longest,) = (row["max_abr_queue"] for row in summary["ports"] if row["port"] == "sw->d")
    assert [row["queue"] for row in summary["starts"]] == [longest]


@pytest.mark.parametrize(
    "settings",
    [
        {"defaults.abr.icr": "3 Mbps"},
        {"warm_up": "4 s", "duration": "4100 ms", "defaults.link.length": "100 km"},
        {"defaults.link.length": "1 km", "defaults.abr.icr": "4 Mbps"},
    ],
)
def test_a_start_within_a_line_or_left_out_is_not_told(settings: dict[str, str]) -> None:
    long = scenario((1, 40, "")).set({"defaults.link.length": "500 km", "duration": "60 ms"} | settings)
    summary = cellrate.run(long).summary
    assert summary["starts"] == []


FRAMES = '{ type = "frames", frames_per_second = 250, size = "30 kB" }'
CONSTANT = '{ type = "constant", rate = "60 Mbps" }'
GREEDY_UBR = 'category = "ubr"\ntraffic = { type = "greedy" }'
ABR = (1, 2, "")
LEFT = (40 + 0.1 * 149.76) * 1e6 / 424
"""Rate that GFR and UBR have: 40 Mb/s that are booked, and the tenth that ERICA leaves [cells/s]."""


def ubr(mcr: str, traffic: str = CONSTANT, category: str = "ubr") -> str:
    return f'category = "{category}"\nmcr = "{mcr}"\ntraffic = {traffic}'


def unkept(*vcs: tuple[int, int, str], head: str = "", **switch: object) -> list[dict[str, object]]:
    made = scenario(ABR, *vcs, head=head).set({f"defaults.switch.{key}": value for key, value in switch.items()})
    return made.unkept()


@pytest.mark.parametrize("head", ["", "admission = true\n"])
def test_an_mcr_that_shares_a_queue_with_who_brings_more_is_said_with_what_is_left(head: str) -> None:
    """A queue divides by what comes: 60 of 60 and 149.76."""
    vcs = (3, 3, ubr("40 Mbps")), (4, 4, GREEDY_UBR)
    (row,) = unkept(*vcs, head=head)
    assert (row["port"], row["by"], row["vc"], row["other"]) == ("sw->d", "queue", "vc3", "vc4")
    assert row["left"] == pytest.approx(LEFT * 60 / (60 + 149.76), rel=0.01)
    # By turns of one cell half of it, by weights nearly all.
    (row,) = unkept(*vcs, head=head, queueing='{ type = "round-robin" }')
    assert row["left"] == pytest.approx(LEFT / 2, rel=0.01)
    assert unkept(*vcs, head=head, queueing='{ type = "weighted-fair" }') == []
    # Alone, or beside one that brings no more than its own, it has all.
    assert unkept(vcs[0], head=head) == []


def test_what_is_said_to_be_left_is_what_comes() -> None:
    made = scenario(ABR, (3, 3, ubr("40 Mbps")), (4, 4, GREEDY_UBR))
    made = made.set({"duration": "400 ms", "defaults.abr": '{ icr = "5 Mbps" }'})
    (row,) = made.unkept()
    rate = {found["vc"]: found["delivered"] / 0.4 for found in cellrate.run(made).summary["vcs"]}["vc3"]
    assert rate == pytest.approx(row["left"], rel=0.05)
    assert rate < 0.5 * row["promised"]


@pytest.mark.parametrize(
    ("vcs", "switch", "by"),
    [
        # A buffer of GFR and UBR that a greedy one fills, although turns go by weight; with room for each it does not.
        ([(3, 3, ubr("40 Mbps", FRAMES, "gfr")), (4, 4, GREEDY_UBR)], {"buffers": '{ ubr = "1000 cells" }'}, "buffer"),
        (
            [(3, 3, ubr("40 Mbps", FRAMES, "gfr")), (4, 4, GREEDY_UBR)],
            {"buffers": '{ ubr = "1000 cells" }', "room": "300 cells"},
            None,
        ),
        # One buffer for all categories, which UBR fills.
        ([(3, 3, CBR), (4, 4, GREEDY_UBR)], {"buffers": '{ shared = "1000 cells" }'}, "buffer"),
        ([(3, 3, CBR), (4, 4, GREEDY_UBR)], {"buffers": '{ ubr = "300 cells", shared = "1000 cells" }'}, None),
        # A connection that is held to a rate fills the buffer that it shares.
        (
            [(3, 3, GREEDY_UBR + '\nshaped_to = "10 Mbps"'), (4, 4, ubr("20 Mbps", CONSTANT))],
            {"buffers": '{ ubr = "1000 cells" }'},
            "buffer",
        ),
    ],
)
def test_buffers_that_others_may_fill_are_said(
    vcs: list[tuple[int, int, str]], switch: dict[str, str], by: str | None
) -> None:
    room = f', room = "{switch["room"]}"' if "room" in switch else ""
    found = unkept(*vcs, buffers=switch["buffers"], queueing=f'{{ type = "weighted-fair"{room} }}')
    assert [row["by"] for row in found] == ([] if by is None else [by])


def test_a_source_beyond_its_contract_takes_what_others_are_promised_unless_it_is_policed() -> None:
    cbr = 'category = "cbr"\ntraffic = { type = "constant", rate = "70 Mbps" }'
    vbr = 'category = "vbr"\nscr = "20 Mbps"\ntraffic = { type = "greedy" }'
    head = "admission = true\n"
    (row,) = unkept((3, 3, cbr), (4, 4, vbr), head=head)
    assert (row["vc"], row["other"], row["by"]) == ("vc3", "vc4", "queue")
    for held in ("police = { mbs = 100 }", 'shaping = { scr = "20 Mbps", mbs = 100 }'):
        assert unkept((3, 3, cbr), (4, 4, f"{vbr}\n{held}"), head=head) == []


@pytest.mark.parametrize(("rate", "rows"), [("87.6 Mbps", 0), ("87.7 Mbps", 1)])
def test_a_promise_of_which_a_twentieth_is_missing_is_told(rate: str, rows: int) -> None:
    """A line of 149.76 is 95 % of 157.64, of which 70 are promised."""
    vbr = f'category = "vbr"\nscr = "20 Mbps"\ntraffic = {{ type = "constant", rate = "{rate}" }}'
    assert len(unkept((3, 3, CBR_70), (4, 4, vbr), head="admission = true\n")) == rows


WEIGHTS_WITH_ROOM = '{ type = "weighted-fair", room = "300 cells" }'
GREEDY_VBR = 'category = "vbr"\nscr = "20 Mbps"\ntraffic = { type = "greedy" }'
CBR_70 = 'category = "cbr"\ntraffic = { type = "constant", rate = "70 Mbps" }'


@pytest.mark.parametrize(
    ("vcs", "head", "switch", "promised"),
    [
        (
            [(3, 3, ubr("40 Mbps", FRAMES, "gfr")), (4, 4, GREEDY_UBR)],
            "",
            {"buffers": '{ ubr = "1000 cells" }', "queueing": WEIGHTS_WITH_ROOM},
            40e6,
        ),
        (
            [(3, 3, ubr("60 Mbps")), (4, 4, GREEDY_UBR + '\nshaped_to = "10 Mbps"')],
            "",
            {"buffers": '{ ubr = "1000 cells" }', "queueing": WEIGHTS_WITH_ROOM},
            60e6,
        ),
        ([(3, 3, CBR_70), (4, 4, GREEDY_UBR)], "", {"buffers": '{ ubr = "900 cells", shared = "1000 cells" }'}, 70e6),
        ([(3, 3, CBR_70), (4, 4, f"{GREEDY_VBR}\npolice = {{ mbs = 100 }}")], "admission = true\n", {}, 70e6),
    ],
)
def test_what_unkept_names_as_help_keeps_the_promise(
    vcs: list[tuple[int, int, str]], head: str, switch: dict[str, str], promised: float
) -> None:
    assert unkept(*vcs, head=head, **switch) == []
    made = scenario(ABR, *vcs, head=head).set({f"defaults.switch.{key}": value for key, value in switch.items()})
    made = made.set({"duration": "300 ms", "warm_up": "100 ms", "defaults.abr": '{ icr = "5 Mbps" }'})
    rate = {found["vc"]: found["delivered"] * 424 / 0.2 for found in cellrate.run(made).summary["vcs"]}["vc3"]
    assert rate > 0.99 * promised


def test_an_mcr_of_abr_needs_feedback() -> None:
    vcs = (3, 3, 'abr = { mcr = "60 Mbps" }')
    assert unkept(vcs) == []
    (row,) = unkept(vcs, algorithm='{ type = "none" }')
    assert (row["vc"], row["remedy"]) == ("vc3", "an algorithm or EFCI at the port")
    assert row["left"] == pytest.approx(149.76e6 / 424 / 3, rel=1e-3)


def test_validate_and_run_say_what_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "unkept.toml"
    file.write_text(scenario(ABR, (3, 3, ubr("40 Mbps")), (4, 4, GREEDY_UBR)).toml)
    said = "Not kept: at sw->d vc3 is promised 40 Mbps and has about 15.73: vc4 may bring more than it is promised"
    assert said in command("validate", file).stdout
    assert said in command("run", file).stdout
