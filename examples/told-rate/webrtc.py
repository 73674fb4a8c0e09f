#!/usr/bin/env python3
"""A sender in the manner of WebRTC: a frame each 40 ms in paced datagrams, whose size follows the told rate.

webrtc.py send ADDRESS PORT HOST PEER SECONDS   prints its target rates as JSON
webrtc.py receive PORT                          on the peer: prints what came, when it is told to end
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence

FRAME_S = 0.04
SHARE = 0.85
"""Part of the rate that frames may have: headers and RM cells need the rest, and what is left empties queues."""
LEAST_BPS, MOST_BPS = 100_000, 6_000_000
DATAGRAM = 1200
HEADER = struct.Struct("!IId")
"""Number of the datagram and of its frame, and when it was sent."""


def frame_octets(told_bps: float) -> int:
    """Give the octets of a frame at the target that follows from the told rate."""
    return int(min(max(told_bps, LEAST_BPS), MOST_BPS) * FRAME_S / 8)


def datagrams(octets: int) -> list[int]:
    """Cut a frame into datagrams as equal as can be."""
    count = -(-octets // DATAGRAM)
    return [octets // count + (place < octets % count) for place in range(count)]


def instants(begin: float, count: int) -> Iterator[float]:
    """Give the instants of a frame's datagrams: evenly over nine tenths of its time."""
    return (begin + 0.9 * FRAME_S * place / count for place in range(count))


def send(address: str, port: int, rate: Callable[[], float], seconds: float) -> dict[str, object]:
    """Send for so long; `rate()` is the told rate [bit/s]."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begin, number, targets = time.monotonic(), 0, []
    for frame in range(int(seconds / FRAME_S)):
        octets = frame_octets(rate())
        targets.append(octets * 8 / FRAME_S)
        sizes = datagrams(octets)
        for at, size in zip(instants(begin + frame * FRAME_S, len(sizes)), sizes, strict=True):
            time.sleep(max(0.0, at - time.monotonic()))
            head = HEADER.pack(number, frame, time.monotonic())
            out.sendto(head.ljust(size, b"\0"), (address, port))
            number += 1
    each_second = [round(sum(part) / len(part)) for part in (targets[i : i + 25] for i in range(0, len(targets), 25))]
    return {"datagrams": number, "mean_bps": round(sum(targets) / len(targets)), "each_second": each_second}


def receive(port: int) -> dict[str, object]:
    """Count what comes until SIGTERM."""
    come = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    come.bind(("", port))
    come.settimeout(0.1)
    ends: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
    print("ready", flush=True)
    count, highest, octets, delays = 0, -1, 0, []
    while not ends:
        try:
            data = come.recv(65_536)
        except TimeoutError:
            continue
        number, _, sent = HEADER.unpack_from(data)
        count, highest, octets = count + 1, max(highest, number), octets + len(data)
        delays.append(time.monotonic() - sent)
    delays.sort()
    late = {f"p{part}_delay_s": round(delays[len(delays) * part // 100], 4) for part in (50, 95, 99) if delays}
    return {"datagrams": count, "lost": highest + 1 - count, "octets": octets, **late}


def main(words: Sequence[str]) -> None:
    """Send or receive."""
    if words[0] == "receive":
        print(json.dumps(receive(int(words[1]))), flush=True)
        return
    from told import Told

    address, port, host, peer, seconds = words[1:]
    told = Told(host, peer, 0.2)
    print(json.dumps(send(address, int(port), lambda: told.bits_per_s(SHARE), float(seconds))))


if __name__ == "__main__":
    main(sys.argv[1:])
