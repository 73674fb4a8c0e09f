"""Playout at a receiver: frames of video out of a buffer, packets of voice at their instants.

Worked out after the run from the instants of arrival, so that one run answers for any size of buffer.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

CLOCK_HZ = 90_000
"""The media clock of video over RTP."""
VOICE_CLOCK_HZ = 8_000
STAMPS = 1 << 32
"""Timestamps of RTP begin anywhere, and go round here (RFC 3550, 5.1)."""


@dataclass(frozen=True)
class Frame:
    """A frame that came whole."""

    at_s: float
    """When its last octet came [s], from the first packet of all."""
    media_s: float
    """Its place in the video [s]."""
    octets: int
    """Its length."""


@dataclass(frozen=True)
class Played:
    """How playing went."""

    played: int
    """Frames shown."""
    overflowed: int
    """Frames that found no room in the buffer."""
    late: int
    """Frames that came after their instant had gone by; only where the player does not wait."""
    stalls: int
    """How often the picture stood because a frame had not come."""
    stalled_s: float
    """How long, together [s]."""
    max_buffer_octets: int
    """The most that was in the buffer."""


def whole_frames(packets: Sequence[Mapping[str, Any]]) -> tuple[list[Frame], int]:
    """Put packets of RTP/JPEG together: the frames that came whole, in order of arrival, and the number of others."""
    by_stamp: dict[int, list[Mapping[str, Any]]] = {}
    for packet in packets:
        by_stamp.setdefault(packet["stamp"], []).append(packet)
    if not by_stamp:
        return [], 0
    first = min(packet["at_s"] for packet in packets)
    frames = []
    for stamp, pieces in by_stamp.items():
        pieces.sort(key=lambda piece: int(piece["offset"]))
        due = 0
        for piece in pieces:
            # A piece that came twice changes nothing.
            due += piece["octets"] if piece["offset"] == due else 0
        end = pieces[-1]
        if end["marker"] and due == end["offset"] + end["octets"]:
            at_s = max(piece["at_s"] for piece in pieces) - first
            frames.append(Frame(at_s, stamp / CLOCK_HZ, due))
    frames.sort(key=lambda frame: frame.at_s)
    return frames, len(by_stamp) - len(frames)


def play(frames: Sequence[Frame], *, buffer_octets: int, prebuffer_s: float, wait: bool) -> Played:
    """Play frames out of a buffer.

    The first is shown `prebuffer_s` after it came, each other one as much after the one before as it stands behind it
    in the video, so that frames that were left out or lost hold the picture. A frame leaves the buffer when it is
    shown.

    Parameters
    ----------
    frames
        In order of arrival.
    buffer_octets
        Room in the buffer; a frame that does not fit is lost.
    prebuffer_s
        From the first frame's arrival to its showing [s].
    wait
        Whether a frame that is not there yet is waited for, which makes all that follow later; else it is late, and
        lost.
    """
    held: list[tuple[float, int]] = []
    shown_s: float | None = None
    media_s = 0.0
    played = overflowed = late = stalls = most = 0
    stalled_s = 0.0
    for frame in frames:
        held = [(at_s, octets) for at_s, octets in held if at_s > frame.at_s]
        due_s = frame.at_s + prebuffer_s if shown_s is None else shown_s + frame.media_s - media_s
        if shown_s is not None and (frame.media_s <= media_s or (not wait and due_s < frame.at_s)):
            late += 1
            continue
        if sum(octets for _, octets in held) + frame.octets > buffer_octets:
            overflowed += 1
            continue
        if due_s < frame.at_s:
            stalls += 1
            stalled_s += frame.at_s - due_s
            due_s = frame.at_s
        held.append((due_s, frame.octets))
        most = max(most, sum(octets for _, octets in held))
        shown_s, media_s = due_s, frame.media_s
        played += 1
    return Played(played, overflowed, late, stalls, stalled_s, most)


def hear(packets: Sequence[Mapping[str, Any]], *, packet_s: float, playout_delay_s: float) -> dict[str, object]:
    """Tell how much of voice over RTP is heard.

    A packet is heard if it, or a copy of it in a later one, has come by its instant: `playout_delay_s` after the
    earliest at which it could have come, by the packet that was fastest of all. The rest is silence.

    Parameters
    ----------
    packets
        As `datagram_recorder` writes them: `at_s`, `sequence`, `stamp`, `copies` (timestamp offsets).
    packet_s
        Voice in a packet [s].
    playout_delay_s
        See above [s].
    """
    if not packets:
        return {"packets": 0, "heard": 0}
    order = sorted(packets, key=lambda packet: float(packet["at_s"]))
    stamps = _unwrapped([packet["stamp"] for packet in order])
    zero = min(stamps)
    step = round(packet_s * VOICE_CLOCK_HZ)
    due = (max(stamps) - zero) // step + 1
    came: dict[int, float] = {}
    recovered: dict[int, float] = {}
    for packet, stamp in zip(order, stamps, strict=True):
        number = (stamp - zero) // step
        came.setdefault(number, packet["at_s"])
        for offset in packet.get("copies", []):
            older = (stamp - offset - zero) // step
            if older >= 0:
                recovered.setdefault(older, packet["at_s"])
    fastest = min(at_s - number * packet_s for number, at_s in came.items())
    silent = []
    by_copy = 0
    for number in range(due):
        instant = fastest + number * packet_s + playout_delay_s
        if came.get(number, float("inf")) <= instant:
            continue
        if recovered.get(number, float("inf")) <= instant:
            by_copy += 1
        else:
            silent.append(number)
    intervals = [after["at_s"] - before["at_s"] for before, after in pairwise(order)]
    return {
        "packets_due": due,
        "packets": len(came),
        "lost": due - len(came),
        "late": sum(number in came for number in silent),
        "recovered": by_copy,
        "heard": due - len(silent),
        "silent_periods": sum(number - 1 not in silent for number in set(silent)),
        "silent_s": len(silent) * packet_s,
        "jitter_s": jitter(order),
        "interval_s": {
            "mean": statistics.fmean(intervals) if intervals else None,
            "deviation": statistics.stdev(intervals) if len(intervals) > 1 else None,
            "most": max(intervals, default=None),
        },
        "intervals_s": intervals,
    }


def jitter(packets: Sequence[Mapping[str, Any]]) -> float:
    """Interarrival jitter (RFC 3550, 6.4.1) [s]."""
    estimate = 0.0
    stamps = _unwrapped([packet["stamp"] for packet in packets])
    for (before, after), (stamp, next_stamp) in zip(pairwise(packets), pairwise(stamps), strict=True):
        media = (next_stamp - stamp) / VOICE_CLOCK_HZ
        estimate += (abs(after["at_s"] - before["at_s"] - media) - estimate) / 16
    return estimate


def _unwrapped(stamps: Sequence[int]) -> list[int]:
    """Give timestamps that do not go round: each is less than half the way round from the one before."""
    whole = list(stamps[:1])
    for stamp in stamps[1:]:
        ahead = (stamp - whole[-1] + STAMPS // 2) % STAMPS - STAMPS // 2
        whole.append(whole[-1] + ahead)
    return whole
