"""Offers of the rate-control adapters to applications: ACR, at a Unix socket.

The way to the socket is in the environment of every program, `CELLRATE_ADAPTERS`. A connection may ask as often as it
likes, a line each time::

    acr HOST PEER

and is answered with a line of two numbers: ACR of the adapter on the way from the host to its peer, and its PCR
[cells/s]; or with `error` and a sentence.
"""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

ENVIRONMENT = "CELLRATE_ADAPTERS"

Offer = Callable[[str, str], tuple[float, float]]
"""From host and peer to ACR and PCR [cells/s]; a LookupError where there is no way."""


@contextlib.contextmanager
def served(socket: Path, offer: Offer) -> Iterator[None]:
    """Answer at `socket` as long as the context lasts."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                self.wfile.write(answer(line.decode(errors="replace"), offer).encode() + b"\n")

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away in the middle of an answer is no error."""

    with Server(str(socket), Handler) as server:
        # Programs that are other users ask too; the way to it is the run's own.
        socket.chmod(0o666)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="adapters", daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def answer(line: str, offer: Offer) -> str:
    """Answer one line."""
    words = line.split()
    if len(words) != 3 or words[0] != "acr":
        return "error: write acr HOST PEER"
    try:
        acr, pcr = offer(words[1], words[2])
    except LookupError as error:
        return f"error: {error.args[0] if error.args else error}"
    return f"{acr:.3f} {pcr:.3f}"
