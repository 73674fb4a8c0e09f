from __future__ import annotations

import pytest

from cellrate import Scenario, run
from cellrate.papers import load_paper
from cellrate.papers.judging import NEAR, NEITHER
from cellrate.papers.report import Report
from uili import bursts, tradeoff
from uili.common import POLICIES, settings


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return load_paper("uili").run(tmp_path_factory.mktemp("paper") / "report", quick=True)


def test_a_quick_run_measures_every_claim_of_the_paper(report: Report) -> None:
    published = load_paper("uili").published
    measured = {claim.id for claim in report.claims}
    kinds = {name: row.get("kind", "claim") for name, row in published.items()}
    assert {name for name, kind in kinds.items() if kind == "claim"} <= measured <= set(published)


@pytest.mark.parametrize(
    "claim",
    [
        "bottleneck.none", "bottleneck.jump", "bottleneck.august-swings", "bottleneck.august-below",
        "bottleneck.baseline-goal", "bottleneck.baseline-swings", "bottleneck.count-fast", "bottleneck.count-stays",
        "bottleneck.time-slow", "bottleneck.joint-leaves", "bottleneck.queue", "bursts.small-time",
        "bursts.small-count", "bursts.medium-order", "bursts.medium-acr", "bursts.medium-once", "bursts.medium-idle",
        "bursts.large-august", "bursts.large-slow", "bursts.large-once",
    ],
)  # fmt: skip
def test_what_the_policies_are_for_shows(report: Report, claim: str) -> None:
    (row,) = [row for row in report.claims if row.id == claim]
    assert row.verdict == NEAR, row


def test_what_does_not_hold_says_why(report: Report) -> None:
    assert [claim.id for claim in report.claims if claim.verdict == NEITHER] == [
        "bottleneck.early",
        "bursts.medium-time",
    ]
    assert all(claim.verdict == NEAR or claim.why for claim in report.claims)


def test_the_rates_of_section_7_2_4_are_judged_at_a_tenth(report: Report) -> None:
    held = {claim.id: (claim.measured, claim.verdict) for claim in report.claims}
    assert held["bursts.medium-count"] == ("119.2 Mbps", NEAR)
    assert held["bursts.medium-time"] == ("60.4 Mbps", NEITHER)


def test_the_map_has_every_policy_burst_and_idle_time_twice() -> None:
    cells = len(POLICIES) * len(tradeoff.SIZES) * len(tradeoff.IDLE_MS)
    assert len(tradeoff.EXPERIMENT.points) == 2 * cells
    assert all(point.extra for point in tradeoff.EXPERIMENT.points.values())


def test_the_attack_is_felt_without_a_policy_and_not_under_aging() -> None:
    paper = load_paper("uili")
    queue = {
        policy: tradeoff.cost(run(paper.scenario(tradeoff.EXPERIMENT.points[f"attack, {policy}, 256, 10"])), 10)
        for policy in ("none", "switch-based")
    }
    # Five bursts of 256 cells at nearly the line rate: four fifths of them queue.
    assert queue["none"] > 0.75 * 5 * 256
    assert queue["switch-based"] < 50


def test_the_front_is_what_nothing_beats() -> None:
    places = {"fast": (100.0, 1000.0), "safe": (10.0, 1.0), "beaten": (50.0, 1000.0), "middle": (50.0, 10.0)}
    assert tradeoff.front(places) == ["fast", "safe", "middle"]


def test_bursts_are_listed_and_summed_up() -> None:
    scenario = Scenario.load(load_paper("uili").folder / "scenarios" / "client-server.toml")
    result = run(scenario, set={"duration": "600 ms", "vc.web.traffic.record": 3, **settings("joint", "10 Mbps")})
    rows = result.summary["bursts"]
    assert [(row["vc"], row["role"], row["size_cells"]) for row in rows] == [
        ("web", "request", 16),
        ("web (back)", "response", 256),
    ]
    assert all(row["count"] > 3 for row in rows)
    single = result.summary["burst_list"]
    assert [burst["number"] for burst in single] == [1, 2, 3, 1, 2, 3]
    for burst in single:
        bits = burst["size_cells"] * 424
        assert burst["throughput_bps"] == pytest.approx(bits / burst["response_s"])
        # Three links of 500 km.
        assert burst["delivery_s"] - burst["response_s"] > 0.0075
    assert bursts.responses(result) == []


def test_figure_11_has_the_rates_of_section_7_2_4() -> None:
    assert {policy: one.value for policy, one in bursts._marks("medium").items()} == {
        "count-based": 120.0,
        "time-based": 68.0,
    }
    assert bursts._marks("small") == bursts._marks("large") == {}
