"""Runs of players: a scenario, by what they and the element go, and what they played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cellrate
from cellrate.papers.statistics import jain
from cellrate.plugin_classes import SendingEnd

from .player import CELL_BITS, DATA, Played, Player

FOLDER = Path(__file__).parents[1] / "scenarios"
LINE = "sw1->sw2"
SHARE_BPS = 4e6
"""Share of the line for each player, cells and all [bit/s]."""
FAIR_BPS = SHARE_BPS / 424 * DATA * CELL_BITS
"""Share of the line in octets of an application: the tariff that a policy tells [bit/s]."""
DURATION_S = 150.0
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Way:
    """Where a player's quality comes from, and what the element writes."""

    name: str
    by: str
    policy: bool = False


ACR = Way("advice from ACR", "advice")
POLICY = Way("advice by policy", "advice", policy=True)
BOTH = Way("ACR's advice and estimate", "both")
NONE = Way("no advice", "estimate")
WAYS = (ACR, POLICY, BOTH, NONE)


@dataclass(frozen=True)
class Run:
    """Players of one run."""

    players: Sequence[Played]
    mean_queue: float
    max_queue: int
    stamp: str

    def quality(self, from_s: float = 0.0) -> float:
        """Mean quality of the players [Mb/s]."""
        return sum(one.mean_quality(from_s) for one in self.players) / len(self.players)

    def first(self) -> float:
        """Mean quality of the first segments [Mb/s]."""
        return sum(one.segments[0].quality_bps for one in self.players) / len(self.players) / 1e6

    def switches(self) -> float:
        """Changes of quality of a player in the mean."""
        return sum(one.switches() for one in self.players) / len(self.players)

    def stalls(self) -> int:
        """Stalls of all players."""
        return sum(one.stalls for one in self.players)

    def fairness(self) -> float:
        """Jain's index of the mean qualities."""
        return jain([one.mean_quality() for one in self.players])

    def said(self) -> str:
        """Write its figures."""
        seconds = sum(one.stalled_s for one in self.players)
        return (
            f"{self.quality():.2f} Mb/s, first segments {self.first():.2f}, {self.switches():.1f} switches a player, "
            f"{self.stalls()} stalls ({seconds:.1f} s), fairness {self.fairness():.3f}, queue {self.mean_queue:,.1f} "
            f"in the mean and {self.max_queue:,} cells at most"
        )


def traffic_of(way: Way, policy_bps: float = FAIR_BPS) -> str:
    """Give the players' traffic as the scenario has it."""
    policy = f", policy_bps = {policy_bps:.0f}" if way.policy else ""
    return f'{{ type = "custom", name = "player", parameters = {{ by = "{way.by}"{policy} }} }}'


@cache
def play(way: Way, count: int = 4, period_s: float | None = None, seed: int = 1, tariff_bps: float = FAIR_BPS) -> Run:
    """Run so many players, with load that comes and goes every `period_s` [s] on half of the line, or none."""
    line_bps = SHARE_BPS * count
    steps, at, on = ['["0 s", "0 cells/s"]'], period_s or DURATION_S, True
    while at < DURATION_S:
        rate = f"{line_bps / 2 / 424:.1f} cells/s" if on else "0 cells/s"
        steps.append(f'["{at:g} s", "{rate}"]')
        at, on = at + (period_s or DURATION_S), not on
    settings: dict[str, object] = {
        "host.server{i}.count": count,
        "host.player{i}.count": count,
        "link.server{i}-sw1.count": count,
        "link.sw2-player{i}.count": count,
        "vc.video{i}.count": count,
        "link.sw1-sw2.rate": f"{line_bps:.0f} bps",
        "vc.video{i}.traffic": traffic_of(way, tariff_bps),
        "vc.load.traffic.steps": f"[{', '.join(steps)}]",
        "seed": seed,
    }
    made: list[Player] = []

    def player(end: SendingEnd, by: str, policy_bps: float | None = None) -> Player:
        number = int(end.name.removeprefix("video"))
        one = Player(end, Played(number, by), policy_bps=policy_bps, start_s=float(number - 1))
        made.append(one)
        return one

    result = cellrate.run(FOLDER / "players.toml", set=settings, traffic={"player": player})
    for one in made:
        one.playback.advance(DURATION_S)
        one.played.stalls, one.played.stalled_s = one.playback.stalls, one.playback.stalled_s
    port = result.port(LINE)
    players = sorted((one.played for one in made), key=lambda played: played.number)
    return Run(tuple(players), port["mean_queue"], port["max_queue"], result.stamp)
