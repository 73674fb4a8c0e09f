"""Offers of the rate-control adapters to applications: ACR, at a Unix socket.

The way to the socket is in the environment of every program, `CELLRATE_ADAPTERS`. A connection may ask as often as it
likes, a line each time::

    acr HOST PEER
    watch HOST PEER SECONDS

The first is answered with a line of two numbers: ACR of the adapter on the way from the host to its peer, and its PCR
[cells/s]. The second is answered with a line of JSON at once and after each period, until the program closes the
connection::

    {"host": "left", "peer": "right", "at_s": 0.5, "period_s": 0.5,
     "acr": 21500.0, "mean_acr": 20750.0, "pcr": 23584.9, "octets_per_s": 996000.0}

`at_s` counts from the request; `mean_acr` is the mean over the period that ends then, of values 10 ms apart (of the
first line, ACR itself); `octets_per_s` the octets of AAL5 PDUs that cells carry at `mean_acr`, 48 a cell, of which RM
cells take one in Nrm. Both are answered with `error` and a sentence where something is wrong.
"""

from __future__ import annotations

import contextlib
import json
import math
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ENVIRONMENT = "CELLRATE_ADAPTERS"

Offer = Callable[[str, str], tuple[float, float]]
"""From host and peer to ACR and PCR [cells/s]; a LookupError where there is no way."""
STEP_S = 0.01
"""Between two values of a mean [s]."""
SHORTEST_S, LONGEST_S = 0.02, 3600.0
"""Periods that may be asked for [s]."""
PAYLOAD = 48
"""Octets that a cell carries."""


@contextlib.contextmanager
def served(socket: Path, offer: Offer) -> Iterator[None]:
    """Answer at `socket` as long as the context lasts."""
    over = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                for reply in answers(line.decode(errors="replace"), offer, over.wait):
                    self.wfile.write(reply.encode() + b"\n")

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away in the middle of an answer is not an error."""

    with Server(str(socket), Handler) as server:
        # Programs that are other users ask too; the way to it is the run's own.
        socket.chmod(0o666)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="adapters", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            server.shutdown()
            thread.join()


def answers(line: str, offer: Offer, wait: Callable[[float], bool]) -> Iterator[str]:
    """Answer one line, with one line or, to `watch`, with one for each period.

    Parameters
    ----------
    line
        The request.
    offer
        What adapters offer.
    wait
        Waits so many seconds; true when there will be no more answers.

    Yields
    ------
    str
        A line of answer, without its end.

    """
    match line.split():
        case ["acr", host, peer]:
            yield answer(host, peer, offer)
        case ["watch", host, peer, period]:
            try:
                period_s = float(period)
            except ValueError:
                period_s = math.nan
            if SHORTEST_S <= period_s <= LONGEST_S:
                yield from watch(host, peer, period_s, offer, wait)
            else:
                yield f"error: a period of {period} s; it must be from {SHORTEST_S} to {LONGEST_S:.0f} s"
        case _:
            yield "error: write acr HOST PEER, or watch HOST PEER SECONDS"


def answer(host: str, peer: str, offer: Offer) -> str:
    """Give ACR and PCR now."""
    try:
        acr, pcr = offer(host, peer)
    except LookupError as error:
        return _complaint(error)
    return f"{acr:.3f} {pcr:.3f}"


def watch(host: str, peer: str, period_s: float, offer: Offer, wait: Callable[[float], bool]) -> Iterator[str]:
    """Give a line of JSON at once and after each period."""
    begin = time.monotonic()
    steps = round(period_s / STEP_S)
    values: list[float] = []
    count = 0
    while True:
        try:
            acr, pcr = offer(host, peer)
        except LookupError as error:
            yield _complaint(error)
            return
        values.append(acr)
        if count % steps == 0:
            mean = math.fsum(values) / len(values)
            yield json.dumps(
                {
                    "host": host,
                    "peer": peer,
                    "at_s": round(count * period_s / steps, 6),
                    "period_s": period_s,
                    "acr": round(acr, 3),
                    "mean_acr": round(mean, 3),
                    "pcr": round(pcr, 3),
                    "octets_per_s": round(PAYLOAD * mean, 1),
                }
            )
            values.clear()
        count += 1
        # From the beginning on, so that lateness does not add up.
        if wait(max(0.0, begin + count * period_s / steps - time.monotonic())):
            return


def _complaint(error: LookupError) -> str:
    return f"error: {error.args[0] if error.args else error}"
