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
    assert row["queue"] == pytest.approx(39 * LINE * 0.010, rel=0.01)
    assert row["icr"] == pytest.approx(40 * LINE)
    assert any(isinstance(part, str) and part.startswith("Start: at sw->d 40 sources") for part in report(summary))


@pytest.mark.parametrize(
    "settings",
    [
        {"defaults.abr.icr": "3 Mbps"},
        {"warm_up": "4 s", "duration": "4100 ms", "defaults.link.length": "100 km"},
        {"defaults.link.length": "1 km"},
    ],
)
def test_a_start_within_a_line_or_left_out_is_not_told(settings: dict[str, str]) -> None:
    long = scenario((1, 40, "")).set({"defaults.link.length": "500 km", "duration": "60 ms"} | settings)
    summary = cellrate.run(long).summary
    assert summary["starts"] == []
