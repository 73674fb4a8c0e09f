"""The study of SCONE: the simulated player beside numbers worked by hand, the monitor, the policer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from cellrate.live.programs.quic_peer import PERIOD_S, rate_of
from cellrate.papers import load_paper
from cellrate.papers.judging import NEAR
from scone import beside_live, followers
from scone.player import CELL_BITS, DATA, ONE_WAY_S, SEGMENT_S, TICK_S, Played, Segment, advised, signal_of
from scone.runs import ACR, NONE, POLICY, play


@pytest.mark.parametrize(
    ("signal", "rate"),
    [(0, 1e5), (1, 112_201), (20, 1e6), (21, 1.122019e6), (40, 1e7), (60, 1e8), (80, 1e9), (126, 199.526e9)],
)
def test_signals_are_those_of_the_draft_s_table(signal: int, rate: float) -> None:
    assert rate_of(signal) == pytest.approx(rate, rel=1e-5)
    assert signal_of(1.0001 * rate) == signal
    assert signal == 0 or signal_of(0.999 * rate) == signal - 1


def test_a_rate_is_told_by_the_step_below_it() -> None:
    rates = [1e6 * 1.001**n for n in range(2000)]
    lost = [1 - advised(rate) / rate for rate in rates]
    assert min(lost) >= 0
    assert max(lost) <= 0.109
    # A step of 10^(1/20), of which the mean over the logarithm is lost.
    assert sum(lost) / len(lost) == pytest.approx(0.056, abs=0.002)
    assert advised(1e12) == rate_of(126)


def test_a_player_alone_fetches_at_acr() -> None:
    run = play(ACR, 1)
    (player,) = run.players
    # ERICA hands out 90 % of 4 Mb/s; the step of SCONE below is 2.82 Mb/s, and the quality below 90 % of that 2 Mb/s.
    # The first three packets find ICR, 4 Mb/s.
    acr = 0.9 * 4e6 / 424
    assert [rate for _, rate in player.told] == pytest.approx(
        [3.162e6] * 3 + [2.818e6] * (len(player.told) - 3), rel=1e-3
    )
    assert {one.quality_bps for one in player.segments} == {2e6}
    due_s = 2e6 * SEGMENT_S / CELL_BITS / (acr * DATA) + 2 * ONE_WAY_S
    assert player.segments[3].took_s == pytest.approx(due_s, abs=TICK_S)
    # It plays what it fetches: a segment in 2 s, once the buffer is full.
    late = [one.at_s for one in player.segments if one.at_s > 60]
    assert (late[-1] - late[0]) / (len(late) - 1) == pytest.approx(SEGMENT_S, abs=0.01)
    assert run.stalls() == 0


def test_opportunities_are_three_at_once_and_then_every_20_to_30_s() -> None:
    (player,) = play(ACR, 1).players
    times = [at for at, _ in player.told]
    assert times[2] < 1
    gaps = [b - a for a, b in pairwise(times[2:])]
    # A packet waits for a datagram: a pause of the player is at most a segment.
    assert all(20 <= gap <= 30 + SEGMENT_S for gap in gaps)
    assert len(set(gaps)) > 1


def test_lowest_advice_of_a_period_holds() -> None:
    run = play(ACR, 4, 60.0)
    for player in run.players:
        for one in player.segments:
            known = [rate for at, rate in player.told if at <= one.at_s < at + PERIOD_S]
            assert one.advice_bps == min(known)


def test_the_monitor_finds_those_who_ignore_advice_and_no_others(tmp_path: Path) -> None:
    report = load_paper("scone").run(tmp_path / "report", only=["followers"])
    assert [claim.verdict for claim in report.claims] == [NEAR, NEAR]


def test_the_monitor_counts_a_segment_over_the_time_in_which_it_came() -> None:
    played = Played(1, "advice", [Segment(10.0, 4.0, 1e6, None, 1000.0)])
    assert followers.octets(played, 0, 12) == 500
    assert followers.octets(played, 11, 12) == 250
    assert followers.octets(played, 20, 30) == 0
    # 100 kb/s allow 837,500 octets in 67 s.
    at_most = Segment(0.0, 10.0, 1e6, None, 837_500.0)
    more = Segment(0.0, 10.0, 1e6, None, 837_501.0)
    assert followers.exceeds_at(Played(1, "advice", [at_most], told=[(0.0, 1e5)])) is None
    assert followers.exceeds_at(Played(1, "advice", [more], told=[(0.0, 1e5)])) == 10
    assert followers.exceeds_at(Played(1, "advice", [more])) is None


def test_players_do_what_they_did_between_real_hosts() -> None:
    runs = [beside_live.played(seed) for seed in (1, 2, 3)]
    for run in runs:
        # 4 Mb/s until a packet tells of the load, 20 to 30 s after the first ones; then 2 Mb/s, until the end.
        advised, estimating = run["advice"], run["estimate"]
        assert [a.quality_bps for a, b in pairwise(advised.segments) if a.quality_bps != b.quality_bps] == [4e6]
        fallen = next(one.at_s for one in advised.segments if one.quality_bps == 2e6)
        assert 20 < fallen < 1 + 30 + SEGMENT_S
        assert estimating.segments[0].quality_bps == 5e5
        assert estimating.segments[-1].quality_bps == 4e6
    # Its estimate knows nothing of packets, whose delays are drawn.
    assert len({run["estimate"].mean_quality() for run in runs}) == 1
    assert len({run["advice"].mean_quality() for run in runs}) > 1


def test_a_policer_discards_what_is_not_paced(tmp_path: Path) -> None:
    report = load_paper("scone").run(tmp_path / "report", only=["policer"])
    found = {claim.id: claim for claim in report.claims}
    assert found["policer.told"].verdict == NEAR
    assert str(found["policer.told"].measured).startswith("0.00 %")
    assert not str(found["policer.not-told"].measured).startswith("0.00 %")


def test_a_tariff_knows_nothing_of_load() -> None:
    told = {rate for player in play(POLICY, 4, 60.0).players for _, rate in player.told}
    assert len(told) == 1
    assert play(NONE, 4, 60.0).players[0].told  # An element tells those, too, who do not listen.
