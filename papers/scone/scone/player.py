"""The live player's rules over a simulated ABR connection, with an element of SCONE in the adapter of its server."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from itertools import pairwise

from cellrate import Burst, TrafficSource
from cellrate.live.programs.quic_peer import Advice, Opportunities, Playback, quality_of, rate_of
from cellrate.plugin_classes import SendingEnd

QUALITIES_BPS = (500e3, 1e6, 1.5e6, 2e6, 3e6, 4e6, 6e6)
"""Qualities of `live/scone-player` [bit/s]."""
SEGMENT_S = 2.0
BUFFER_S = 12.0
PREBUFFER_S = 4.0
SHARE = 0.9
"""Part of what a player goes by that a quality may take; these four are the live player's."""
DATAGRAM_OCTETS, DATAGRAM_CELLS = 1200, 26
"""A datagram of QUIC with headers of UDP, IP, LLC/SNAP and AAL5, in cells."""
CELL_BITS = 8 * DATAGRAM_OCTETS / DATAGRAM_CELLS
"""Bits of an application in a cell."""
DATA = 31 / 32
"""Part of the cells of an ABR source that are data."""
TICK_S = 0.02
AHEAD = 2
"""Ticks' worth of cells that wait in the adapter while a segment is sent."""
ONE_WAY_S = 0.0102


def signal_of(rate_bps: float) -> int:
    """Give the largest signal whose rate is not above a rate [bit/s]; 0 for less than 100 kb/s."""
    if rate_bps <= 1e5:
        return 0
    return min(126, math.floor(20 * math.log10(rate_bps / 1e5) + 1e-9))


def advised(rate_bps: float) -> float:
    """Give a rate as SCONE tells it: the step of 12 % at or below it [bit/s]."""
    told = rate_of(signal_of(rate_bps))
    assert told is not None
    return told


@dataclass(frozen=True)
class Segment:
    """A segment that was fetched."""

    at_s: float
    took_s: float
    quality_bps: float
    advice_bps: float | None
    octets: float


@dataclass
class Played:
    """Segments of one player, and what its screen showed."""

    number: int
    by: str
    segments: list[Segment] = field(default_factory=list)
    told: list[tuple[float, float]] = field(default_factory=list)
    """Instants and rates that came [s, bit/s]."""
    stalls: int = 0
    stalled_s: float = 0.0

    def mean_quality(self, from_s: float = 0.0) -> float:
        """Mean quality of the segments that were asked for from an instant on [Mb/s]."""
        known = [one.quality_bps for one in self.segments if one.at_s >= from_s]
        return sum(known) / len(known) / 1e6 if known else math.nan

    def switches(self) -> int:
        """Count the changes of quality from one segment to the next."""
        qualities = [one.quality_bps for one in self.segments]
        return sum(a != b for a, b in pairwise(qualities))


class Player(TrafficSource):
    """Server and player in one: a segment is handed to the adapter a tick's worth of cells at a time.

    The element is the server's adapter: when a SCONE packet is due it writes what ACR carries, or the policy's rate,
    and the player learns of it a way later. It asks for the next segment when its buffer has room.
    """

    def __init__(
        self, end: SendingEnd, played: Played, *, policy_bps: float | None = None, start_s: float = 0.0
    ) -> None:
        drawn = random.Random(end.seed)
        self.played, self.policy_bps = played, policy_bps
        self.advice, self.opportunities = Advice(), Opportunities(drawn.uniform)
        self.playback = Playback(PREBUFFER_S)
        self.playback.last_s = start_s
        self.estimate: float | None = None
        self.at_s, self.left, self.quality = start_s, 0, 0.0
        self.asked_at_s: float | None = None

    def next_burst(self, now: float, acr: float, queue: int) -> Burst | None:
        """Hand over the next part of a segment, and end one whose last cells are in the adapter."""
        if self.asked_at_s is not None and self.left == 0:
            # Its last cells leave at ACR and arrive a way later.
            self._arrive(now + queue / (acr * DATA) + ONE_WAY_S)
        if self.asked_at_s is None:
            self._ask(acr)
        at = max(now + 1e-6, self.at_s)
        if self.opportunities.due(at):
            self._tell(at, acr)
        tick = TICK_S * acr * DATA
        room = max(1, int(AHEAD * tick - max(0.0, queue - tick)))
        cells = min(self.left, room)
        self.left -= cells
        self.at_s = at + TICK_S
        return Burst(at=at, cells=cells)

    def _ask(self, acr: float) -> None:
        """Ask for a segment as soon as the buffer has room: the server has the question a way later."""
        asks_s = self.playback.last_s
        wait_s = self.playback.buffer_s + SEGMENT_S - BUFFER_S
        if wait_s > 0.0:
            asks_s += wait_s
        self.playback.advance(asks_s)
        self.at_s = max(self.at_s, asks_s + ONE_WAY_S)
        if not self.played.segments and self.opportunities.due(self.at_s):
            # The handshake's datagrams have told what there is to tell.
            self._tell(asks_s - ONE_WAY_S, acr)
        advice = self.advice.at(asks_s)
        self.quality = quality_of(list(QUALITIES_BPS), self.played.by, SHARE, advice, self.estimate)
        self.left = max(1, math.ceil(self.quality * SEGMENT_S / CELL_BITS))
        self.asked_at_s, self.asked_advice = asks_s, advice

    def _arrive(self, done_s: float) -> None:
        assert self.asked_at_s is not None
        took_s = done_s - self.asked_at_s
        self.playback.advance(done_s)
        self.playback.add(SEGMENT_S)
        octets = self.quality * SEGMENT_S / 8
        rate = 8 * octets / took_s
        self.estimate = rate if self.estimate is None else (self.estimate + rate) / 2
        self.played.segments.append(Segment(self.asked_at_s, took_s, self.quality, self.asked_advice, octets))
        self.played.stalls, self.played.stalled_s = self.playback.stalls, self.playback.stalled_s
        self.asked_at_s = None

    def _tell(self, at: float, acr: float) -> None:
        carried = acr * DATA * CELL_BITS if self.policy_bps is None else self.policy_bps
        rate = advised(carried)
        self.advice.learn(at + ONE_WAY_S, rate)
        self.played.told.append((at + ONE_WAY_S, rate))
