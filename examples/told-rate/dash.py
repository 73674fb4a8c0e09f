#!/usr/bin/env python3
"""A player in the manner of DASH: segments of a second over HTTP, in the best quality that the told rate carries.

dash.py serve PORT                          on the host that has the film
dash.py play ADDRESS PORT HOST PEER SECONDS on its peer: prints what it did as JSON
"""

from __future__ import annotations

import http.server
import json
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from itertools import pairwise

LADDER = (500_000, 1_000_000, 2_000_000, 3_000_000, 4_500_000, 6_000_000)
"""Qualities [bit/s]."""
SEGMENT_S = 1.0
SHARE = 0.8
"""Part of the rate that segments may have: headers, RM cells and the time between two requests need the rest."""
AHEAD_S = 4.0
"""Most that is fetched in advance [s]."""


def quality(told_bps: float, ladder: Sequence[int] = LADDER) -> int:
    """Give the best quality that the told rate carries, the lowest where it carries none."""
    return max((rate for rate in ladder if rate <= told_bps), default=ladder[0])


class Server(http.server.BaseHTTPRequestHandler):
    """Gives /RATE/NUMBER: as many octets as a segment of that rate has."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request."""
        octets = int(int(self.path.split("/")[1]) * SEGMENT_S / 8)
        self.send_response(200)
        self.send_header("Content-Length", str(octets))
        self.end_headers()
        self.wfile.write(bytes(octets))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def play(base: str, rate: Callable[[], float], seconds: float) -> dict[str, object]:
    """Play for so long; `rate()` is the told rate [bit/s]."""
    begin = time.monotonic()
    played_until, stalled, qualities = begin, 0.0, []
    number = 0
    while time.monotonic() - begin < seconds:
        rate_bps = quality(rate())
        with urllib.request.urlopen(f"{base}/{rate_bps}/{number}", timeout=30) as answer:
            answer.read()
        now = time.monotonic()
        if number:
            stalled += max(0.0, now - played_until)
        played_until = max(played_until, now) + SEGMENT_S
        qualities.append({"at_s": round(now - begin, 3), "bps": rate_bps})
        number += 1
        time.sleep(max(0.0, played_until - now - AHEAD_S))
    mean = sum(row["bps"] for row in qualities) / len(qualities)
    changes = sum(one["bps"] != other["bps"] for one, other in pairwise(qualities))
    return {"segments": number, "stalled_s": round(stalled, 3), "mean_bps": mean, "changes": changes, "list": qualities}


def main(words: Sequence[str]) -> None:
    """Serve or play."""
    if words[0] == "serve":
        http.server.ThreadingHTTPServer(("", int(words[1])), Server).serve_forever()
    from told import Told

    address, port, host, peer, seconds = words[1:]
    told = Told(host, peer, 0.5)
    print(json.dumps(play(f"http://{address}:{port}", lambda: told.bits_per_s(SHARE), float(seconds))))


if __name__ == "__main__":
    main(sys.argv[1:])
