"""Endpoints of SCONE: packets that quic_peer sends, takes off, believes and forgets; the player's choices."""

from __future__ import annotations

import importlib.util
import random
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from cellrate.live.applications import Application, quic

FILE = Path(quic.__file__).parents[1] / "programs" / "quic_peer.py"


def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quic_peer", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PEER = program()
DESTINATION, SOURCE = b"12345678", b"abcdefgh"
SHORT = b"\x40" + DESTINATION + b"rest"
LONG = b"\xc0\x00\x00\x00\x01\x08" + DESTINATION + b"\x08" + SOURCE + b"rest"


def told(datagram: bytes, signal: int) -> bytes:
    """Write a signal as an element does (draft-ietf-scone-protocol)."""
    first = datagram[0] & 0xC0 | signal >> 1
    second = datagram[1] & 0x7F | (signal << 7 & 0xFF)
    return bytes([first, second]) + datagram[2:]


@pytest.mark.parametrize("datagram", [SHORT, LONG])
def test_a_packet_goes_in_front_and_comes_off(datagram: bytes) -> None:
    ids = PEER.ids_of(datagram)
    assert ids == (DESTINATION, SOURCE if datagram is LONG else b"")
    sent = PEER.scone_packet(*ids) + datagram
    assert PEER.split(sent) == (PEER.UNKNOWN, DESTINATION, datagram)
    for signal in (0, 1, 47, 126):
        assert PEER.split(told(sent, signal)) == (signal, DESTINATION, datagram)
    assert PEER.split(datagram) is None
    # Cut anywhere within the packet, or with nothing behind it, it is none.
    assert all(PEER.split(sent[:end]) is None for end in range(len(sent) - len(datagram) + 1))


def test_no_datagram_is_too_strange() -> None:
    random.seed(1)
    for _ in range(20_000):
        octets = random.randbytes(random.randint(0, 60))
        if random.random() < 0.5:
            octets = bytes([octets[0] | 0x80 if octets else 0x80]) + b"\x6f\x7d\xc0\xfd" + octets
        found = PEER.split(octets)
        assert found is None or (octets.endswith(found[2]) and found[2])


def test_rates_are_those_of_the_drafts_table() -> None:
    for signal, rate in {0: 1e5, 1: 112e3, 20: 1e6, 41: 11.2e6, 80: 1e9, 126: 199.5e9}.items():
        assert PEER.rate_of(signal) == pytest.approx(rate, rel=0.002)
    assert PEER.rate_of(127) is None


def test_the_lowest_advice_of_a_period_holds_and_ends_a_period_after_the_last() -> None:
    advice = PEER.Advice()
    assert advice.at(0.0) is None
    advice.learn(0.0, 5e6)
    advice.learn(10.0, 2e6)
    advice.learn(40.0, 8e6)
    assert advice.at(66.9) == 2e6
    assert advice.at(77.0) == 8e6
    assert advice.at(106.9) == 8e6
    assert advice.at(107.0) is None


def test_opportunities_are_three_and_then_one_in_20_to_30_s() -> None:
    opportunities = PEER.Opportunities()
    at = [step / 10 for step in range(1200) if opportunities.due(step / 10)]
    assert at[:3] == [0.0, 0.1, 0.2]
    gaps = [later - earlier for earlier, later in pairwise(at[2:])]
    assert len(gaps) >= 3
    assert all(20.0 <= gap <= 30.11 for gap in gaps)


class Inner:
    """A protocol of aioquic that processes datagrams for its own connection ID."""

    def __init__(self, counter: SimpleNamespace) -> None:
        self.counter, self.seen = counter, list[bytes]()

    def datagram_received(self, data: bytes, address: object) -> None:
        self.seen.append(data)
        self.counter.packets += data[1:9] == DESTINATION


def between() -> tuple[object, Inner]:
    counter = SimpleNamespace(packets=0)
    inner = Inner(counter)
    return PEER.Scone(inner, counter, is_client=False), inner


def test_a_receiver_believes_what_came_with_a_packet_of_its_own_connection() -> None:
    scone, inner = between()
    address = ("10.0.0.1", 4430)
    packet = told(PEER.scone_packet(DESTINATION, b""), 40)
    scone.datagram_received(packet + SHORT, address)  # type: ignore[attr-defined]
    assert inner.seen == [SHORT]
    assert scone.advice[address].at(PEER.time.monotonic()) == pytest.approx(10e6)  # type: ignore[attr-defined]
    # Another connection's ID in the packet, one that the connection does not process, and no advice.
    lower = told(PEER.scone_packet(b"87654321", b""), 20)
    scone.datagram_received(lower + SHORT, address)  # type: ignore[attr-defined]
    scone.datagram_received(told(packet, 20) + b"\x40" + b"strange!" + b"rest", address)  # type: ignore[attr-defined]
    scone.datagram_received(PEER.scone_packet(DESTINATION, b"") + SHORT, address)  # type: ignore[attr-defined]
    assert scone.advice[address].at(PEER.time.monotonic()) == pytest.approx(10e6)  # type: ignore[attr-defined]
    assert scone.refused == 2  # type: ignore[attr-defined]


def test_a_quality_is_the_highest_within_what_the_player_goes_by() -> None:
    qualities = [1e6, 2e6, 4e6]

    def chosen(by: str, advice: float | None, estimate: float | None) -> float:
        quality: float = PEER.quality_of(qualities, by, 0.5, advice, estimate)
        return quality

    assert [chosen("advice", rate, 9e9) for rate in (None, 1e5, 4e6, 7.9e6, 8e6)] == [1e6, 1e6, 2e6, 2e6, 4e6]
    assert chosen("estimate", 9e9, None) == 1e6
    assert chosen("both", 8e6, 4e6) == chosen("both", 4e6, 8e6) == 2e6
    assert chosen("both", None, 8e6) == chosen("both", 8e6, None) == 4e6


def test_a_player_stalls_when_its_buffer_is_empty_and_begins_again_with_enough() -> None:
    playback = PEER.Playback(4.0)
    playback.advance(10.0)
    playback.add(2.0)
    assert (playback.plays, playback.stalled_s) == (False, 0.0)  # The beginning is no stall.
    playback.add(2.0)
    playback.advance(13.0)
    assert (playback.plays, playback.buffer_s) == (True, 1.0)
    playback.advance(16.0)
    assert (playback.plays, playback.stalls, playback.stalled_s) == (False, 1, 2.0)
    playback.add(2.0)
    playback.advance(17.0)
    playback.add(2.0)
    playback.advance(18.0)
    assert (playback.stalls, playback.stalled_s, playback.buffer_s) == (1, 3.0, 3.0)


def test_an_application_without_aioquic_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    application = Application("film", "quic-player", "a", "b", 0.0, 1.0, {})
    with pytest.raises(
        Exception, match=r'"film": quic-player needs aioquic, which is not installed; pip install "cellrate\[quic\]"'
    ):
        quic.check(application)


def test_players_are_drawn_with_their_qualities_advice_and_buffers() -> None:
    from cellrate.plotting.players import figure

    first = {"at_s": 0.0, "took_s": 1.0, "quality_bps": 1e6, "buffer_s": 0.0, "left_s": 0.0, "advice_bps": None}
    second = {"at_s": 2.0, "took_s": 1.0, "quality_bps": 4e6, "buffer_s": 2.0, "left_s": 1.0, "advice_bps": 6e6}
    row = {"application": "film", "kind": "quic-player", "result": {"stalls": 1, "fetched": [first, second]}}
    quality, buffer = figure([row], "title", "stamp").axes
    drawn = {line.get_label(): np.asarray(line.get_ydata()).tolist() for line in quality.get_lines()}
    assert drawn == {"film, 1 stall": [1.0, 4.0], "advice for film": [6.0]}
    (held,) = buffer.get_lines()
    # It holds 3 s when the first segment has come, a second of which is played until the next is asked for.
    assert np.asarray(held.get_xydata()).tolist() == [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 3.0],
        [2.0, 2.0],
        [3.0, 1.0],
    ]


def test_a_player_is_seen_below_another_of_the_same_quality() -> None:
    from cellrate.plotting.players import figure

    segment = {"at_s": 0.0, "took_s": 1.0, "quality_bps": 1e6, "buffer_s": 0.0, "left_s": 0.0, "advice_bps": None}
    rows = [{"application": name, "result": {"stalls": 0, "fetched": [segment]}} for name in ("one", "other")]
    quality, _ = figure(rows, "title", "stamp").axes
    # The second has gaps through which the first shows.
    assert [line.get_linestyle() for line in quality.get_lines()] == ["-", "--"]
