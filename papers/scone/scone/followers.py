"""Who follows advice: the draft's monitor beside players that go by a tariff and players that ignore it."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.live.programs.quic_peer import PERIOD_S
from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .player import Played
from .runs import DURATION_S, POLICY, Run, Way, play

TARIFF_BPS = 2e6
IGNORES = Way("ignores the tariff", "estimate", policy=True)


def octets(played: Played, from_s: float, to_s: float) -> float:
    """Octets of segments in a span, each spread evenly over the time in which it came."""
    total = 0.0
    for one in played.segments:
        inside = min(to_s, one.at_s + one.took_s) - max(from_s, one.at_s)
        total += one.octets * max(0.0, inside) / one.took_s
    return total


def exceeds_at(played: Played) -> float | None:
    """When a monitor first sees more than a period's octets of the largest advice of two periods [s]; None for never.

    It judges by whole seconds, as `cellrate_proto::scone::Monitor` does.
    """
    for second in range(1, int(DURATION_S) + 1):
        known = [rate for at, rate in played.told if second - 2 * PERIOD_S <= at <= second]
        if known and octets(played, second - PERIOD_S, second) > max(known) * PERIOD_S / 8:
            return float(second)
    return None


def _said(run: Run) -> str:
    seen = [exceeds_at(one) for one in run.players]
    found = [at for at in seen if at is not None]
    when = f", after {min(found):.0f} to {max(found):.0f} s" if found else ""
    return f"{len(found)} of {len(seen)} players exceed{when}; {run.said()}"


def _findings(_: Results) -> Sequence[Finding]:
    follow, ignore = (play(way, 4, None, 1, TARIFF_BPS) for way in (POLICY, IGNORES))
    return [
        Finding(
            "followers.follow",
            _said(follow),
            all(exceeds_at(one) is None for one in follow.players),
            "Not explained.",
        ),
        Finding(
            "followers.ignore",
            _said(ignore),
            all(exceeds_at(one) is not None for one in ignore.players),
            "Not explained.",
        ),
    ]


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(name="followers", title="Who follows advice", points={}, findings=_findings, drawings=_drawings)
"""A tariff of 2 Mb/s. Runs are made as claims are measured, in this process."""
