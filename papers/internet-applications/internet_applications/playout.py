"""Picture as the person at the receiver sees it: a playout buffer between the network and the screen.

The first frame is shown when so many have come as the player gathers at first, and then one after the other, a frame
time apart; where the sender left frames out, the one before stands for them. When there is none the film stands still
until the next one comes. What is lost is skipped: the next one takes its turn. A frame that finds the buffer full is
lost, too.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellrate.results import Result

GATHERED = 12
"""Frames that the player waits for at first: half a second of the film."""


@dataclass(frozen=True)
class Frame:
    """A frame that the sender sent."""

    number: int
    """In the film, from 1 on; frames that were left out are counted."""
    sent_s: float
    arrived_s: float | None
    """None for one that did not arrive whole."""
    octets: int


@dataclass(frozen=True)
class Shown:
    """A film as it was seen."""

    frames: int
    """That were sent."""
    lost_in_network: tuple[int, ...]
    """Their numbers."""
    lost_in_buffer: tuple[int, ...]
    suspended_s: float
    """How long the film stood still for want of frames, all times together [s]."""
    peak_frames: int
    """Most frames that waited."""
    peak_octets: int

    @property
    def lost(self) -> int:
        """Frames that were sent and never shown: what the application tells."""
        return len(self.lost_in_network) + len(self.lost_in_buffer)

    @property
    def loss(self) -> float:
        """Their share [0 to 1]."""
        return self.lost / self.frames if self.frames else 0.0

    def longest_gap(self) -> int:
        """Give the most frames in a row that were never shown."""
        missing = sorted({*self.lost_in_network, *self.lost_in_buffer})
        longest = length = 0
        last = None
        for number in missing:
            length = length + 1 if last is not None and number == last + 1 else 1
            longest, last = max(longest, length), number
        return longest


def frames_of(result: Result) -> list[Frame]:
    """Read the frames of a simulated run that left or arrived, or are known to be lost."""
    return [frame(row) for row in result.summary["frame_list"] if row["arrived_s"] is not None or row["lost"]]


def frame(row: Mapping[str, Any]) -> Frame:
    """Read a row of results."""
    return Frame(row["number"], row["at_s"], row["arrived_s"], row["octets"])


def play(
    frames: Sequence[Frame], frames_per_second: float, *, room: int | None = None, gathered: int = GATHERED
) -> Shown:
    """Show a film.

    Parameters
    ----------
    frames
        That were sent, in order.
    frames_per_second
        Of the film, those left out included.
    room
        Frames that the buffer holds; without limit when None.
    gathered
        Frames that the player waits for at first; no more than `room`.
    """
    came = sorted((f.arrived_s, f.number, f.octets) for f in frames if f.arrived_s is not None)
    lost = tuple(f.number for f in frames if f.arrived_s is None)
    if not came:
        return Shown(len(frames), lost, (), 0.0, 0, 0)
    first = min(gathered, room or gathered, len(came)) - 1
    spacing = 1.0 / frames_per_second
    lowest = min(number for _, number, _ in came[: first + 1])
    origin = came[first][0] - lowest * spacing
    waiting: list[tuple[float, int]] = []
    """Instants at which what waits is shown, and octets."""
    in_buffer: list[int] = []
    suspended, octets, peak_frames, peak_octets = 0.0, 0, 0, 0
    missing = sorted(lost)
    skipped = 0
    for at, number, size in came:
        while skipped < len(missing) and missing[skipped] < number:
            origin -= spacing if missing[skipped] > lowest else 0.0
            skipped += 1
        while waiting and waiting[0][0] <= at:
            octets -= heapq.heappop(waiting)[1]
        if room is not None and len(waiting) >= room:
            in_buffer.append(number)
            origin -= spacing
            continue
        due = origin + number * spacing
        if due < at:
            suspended += at - due
            origin += at - due
            due = at
        heapq.heappush(waiting, (due, size))
        octets += size
        peak_frames, peak_octets = max(peak_frames, len(waiting)), max(peak_octets, octets)
    return Shown(len(frames), lost, tuple(in_buffer), suspended, peak_frames, peak_octets)
