"""Links that change, from Python: the ready scenarios, lines of fair shares, algorithms of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate import _native
from cellrate.command_line.main import status
from cellrate.plotting.panels import fair_levels
from conftest import PAIR

MBPS = 1e6 / 424


def test_lines_of_fair_shares_follow_the_rate_in_force() -> None:
    levels = fair_levels(cellrate.Scenario.load("rain-fade").toml)
    rates = [(at_s, None if rate is None else rate * 3 / MBPS) for at_s, rate in levels["vc1"]]
    assert [at_s for at_s, _ in rates] == [0, 1, 2, 3, 5, 6, 7]
    for (_, rate), line in zip(rates, [100, 75, 50, 25, 50, 75, 100], strict=True):
        # No BRMs go this way: the target is all that is handed out.
        assert rate is not None
        assert abs(rate / (0.9 * line) - 1) < 1e-6


def test_fair_rates_over_time_are_those_of_each_span(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["fair", "rain-fade", "--over-time", "--json"]) == 0
    spans = json.loads(capsys.readouterr().out)["spans"]
    assert [span["from_s"] for span in spans] == [0, 1, 2, 3, 5, 6, 7]
    for span, line in zip(spans, [100, 75, 50, 25, 50, 75, 100], strict=True):
        assert [flow["rate"] for flow in span["flows"]] == pytest.approx([0.3 * line * MBPS] * 3)
    assert status(["fair", "rain-fade", "--over-time", "--utilization", "100 %"]) == 0
    printed = capsys.readouterr().out
    assert [part.split(" s")[0] for part in printed.split("from ")[1:]] == ["0", "1", "2", "3", "5", "6", "7"]
    # Without it those of the beginning.
    assert status(["fair", "rain-fade", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"] == spans[0]["flows"]
    with pytest.raises(ValueError, match="utilization is 0; it must be above 0"):
        cellrate.Scenario.load("rain-fade").fair_over_time(utilization=0)


def test_fair_rates_over_time_have_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = cellrate.Scenario.load("rain-fade").to_dict()
    link = next(link for link in document["link"] if "changes" in link)
    link["changes"] = [{"at": f"{number} ms", "rate": f"{50 + number % 2} Mbps"} for number in range(1, 600)]
    file = tmp_path / "often.toml"
    file.write_text(cellrate.Scenario.from_dict(document).toml)
    assert status(["fair", str(file), "--over-time"]) == 2
    assert "--over-time: it changes more than 500 times" in capsys.readouterr().err


def test_an_algorithm_of_ones_own_is_told_of_rates() -> None:
    told: list[float] = []

    class Own(cellrate.SwitchAlgorithm):
        def on_link_rate(self, link_rate: float) -> None:
            told.append(round(link_rate * 424))

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return 1000.0

    text = cellrate.Scenario.load("rain-fade").toml.replace('"utilization", "capacity"', '"utilization"')
    cellrate.run(
        cellrate.Scenario.parse(text),
        set={"defaults.switch.algorithm": {"type": "custom", "name": "own"}},
        algorithms={"own": Own},
    )
    # Both ways.
    assert told == [rate * 1_000_000 for rate in (75, 50, 25, 50, 75, 100) for _ in range(2)]


def test_links_change_live_as_they_do_simulated() -> None:
    changes = """changes = [
    { at = "5 ms", rate = "20 Mbps", delay = "1 ms" },
    { at = "11 ms", rate = "0 bps", in_flight = "lost" },
    { at = "12 ms", rate = "100 Mbps", delay = "5 us" },
]"""
    text = PAIR.replace('between = ["sw", "b"]', f'between = ["sw", "b"]\n{changes}')
    scenario = cellrate.Scenario.parse(text)
    simulated = cellrate.run(scenario)
    # Generated traffic, which needs no hosts: in one process the two are the same cell by cell.
    live = json.loads(_native.live_nodes(scenario._native).summary)
    for row in live["vcs"]:
        expected = simulated.vc(row["vc"])
        for key in ("sent", "delivered", "dropped", "forward_rm_sent", "final_acr"):
            assert row[key] == expected[key], (row["vc"], key)
    assert simulated.vc("vc1")["dropped"] > 40
    constant = cellrate.run(cellrate.Scenario.parse(PAIR)).vc("vc1")
    assert simulated.vc("vc1")["delivered"] < constant["delivered"]
