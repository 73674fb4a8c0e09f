"""Links that change, from Python: the ready scenarios, lines of fair shares, algorithms of one's own."""

from __future__ import annotations

import pytest

import cellrate
from cellrate.live import live_run
from cellrate.plotting.panels import fair_levels

MBPS = 1e6 / 424


def test_lines_of_fair_shares_follow_the_rate_in_force() -> None:
    levels = fair_levels(cellrate.Scenario.load("rain-fade").toml)
    rates = [(at_s, None if rate is None else rate * 3 / MBPS) for at_s, rate in levels["vc1"]]
    assert [at_s for at_s, _ in rates] == [0, 1, 2, 3, 5, 6, 7]
    for (_, rate), line in zip(rates, [100, 75, 50, 25, 50, 75, 100], strict=True):
        # No BRMs go this way: the target is all that is handed out.
        assert rate is not None
        assert abs(rate / (0.9 * line) - 1) < 1e-6


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


def test_a_live_run_refuses_them_with_the_key() -> None:
    text = cellrate.Scenario.load("rain-fade").toml.replace('warm_up = "1 s"', "")
    with pytest.raises(cellrate.ScenarioError, match=r"link\.sw1-sw2\.changes: .* this is a live run"):
        live_run(cellrate.Scenario.parse(text))
