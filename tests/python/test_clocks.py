"""Clocks that differ, and what a run and the command say of phases and of rates that cannot settle."""

from __future__ import annotations

from pathlib import Path

from cellrate import Scenario, run
from conftest import command, output

LOCKED = """
name = "locked"
duration = "100 ms"
defaults.link = { rate = "149.76 Mbps", length = "10 km" }
host = [{ name = "s{i}", count = 2 }, { name = "d" }]
switch = [{ name = "sw", buffers = { ubr = "400 cells" } }]
link = [{ between = ["s{i}", "sw"], count = 2 }, { between = ["sw", "d"] }]
vc = [{ name = "v{i}", count = 2, path = ["s{i}", "sw", "d"], category = "ubr", traffic = { type = "greedy" } }]
"""

UNSTABLE = """
name = "unstable"
duration = "200 ms"
defaults.link = { rate = "149.76 Mbps", length = "1000 km" }
defaults.switch.algorithm = { type = "phantom" }
host = [{ name = "s{i}", count = 20 }, { name = "d" }]
switch = [{ name = "sw" }]
link = [{ between = ["s{i}", "sw"], count = 20 }, { between = ["sw", "d"] }]
vc = [{ name = "v{i}", count = 20, path = ["s{i}", "sw", "d"] }]
"""


def test_a_run_says_that_phases_decided_and_independent_clocks_end_it(tmp_path: Path) -> None:
    file = tmp_path / "locked.toml"
    file.write_text(LOCKED)
    assert "Phase effects: at sw->d" in command("run", str(file)).stdout
    [row] = output("run", str(file), "--json")["phase_effects"]
    assert (row["port"], row["vcs"]) == ("sw->d", 2)
    independent = Scenario.parse(LOCKED).set({"defaults.clocks": "independent"})
    summary = run(independent).summary
    assert summary["phase_effects"] == []
    assert [clock["clock"] for clock in summary["clocks"]] == ["s1", "s2", "d"]
    assert all(abs(clock["offset_ppm"]) <= 20 for clock in summary["clocks"])
    assert "Clocks: 3 not exact" in command("run", str(file), "--set", "defaults.clocks=independent").stdout


def test_rates_that_cannot_settle_are_said_before_and_after(tmp_path: Path) -> None:
    file = tmp_path / "unstable.toml"
    file.write_text(UNSTABLE)
    assert "Unsettled: Phantom at sw->d, 20 connections: gain x delay is 17.4" in command("validate", str(file)).stdout
    rows = output("run", str(file), "--json")["unsettled"]
    assert [row["by"] for row in rows] == ["rule", "run"]
    assert rows[1]["swing"] > 0.1
    settled = Scenario.parse(UNSTABLE).set({"defaults.link.length": "1 km"})
    assert settled.set({"defaults.switch.algorithm.alpha": 0.001}).cannot_settle() == []


def test_tcp_with_clocks_of_its_own_starves_nobody(tmp_path: Path) -> None:
    points = Scenario.load("phase-effects").points()
    exact, independent = (run(point.scenario).summary for point in points)
    [row] = exact["phase_effects"]
    assert row["starved_loss"] > 1e4 * row["favoured_loss"]
    assert (row["favoured"], row["starved"]) == ("vc1", "vc2")
    assert independent["phase_effects"] == []
    shares = [row["throughput_bps"] for row in independent["vcs"] if row["vc"] in ("vc1", "vc2")]
    assert min(shares) > 0.05 * max(shares)
    told = command("run", "phase-effects", "--set", "duration=5s").stdout
    assert "Phase effects in 1 of 2 runs (clocks exact)" in told
