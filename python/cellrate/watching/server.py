"""The page over HTTP, on this machine only: files, a stream of events, and the pace.

| request | answer |
| --- | --- |
| GET / and the files of the page | the page |
| GET /events | a stream of server-sent events: `head` once, then `more` as the run goes on |
| POST /pace | sets speed and pause, given as JSON: {"speed": 0.01, "paused": false}; null for as fast as it goes |

A live run has no pace.
"""

from __future__ import annotations

import json
import math
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from types import TracebackType
from typing import Any

from ..errors import CellrateError
from .board import Board
from .pace import Pace

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/uPlot.js": ("uPlot.iife.min.js", "text/javascript; charset=utf-8"),
    "/uPlot.css": ("uPlot.min.css", "text/css; charset=utf-8"),
}

BETWEEN = 0.05
"""From one event to the next, at least [s]."""

QUIET = 5.0
"""After so long without news a comment shows whether somebody is still there [s]."""

MOST_OCTETS = 1000
"""Of a request's body."""


class Page:
    """The server, as long as it is entered; without a pace the run goes by the clock."""

    def __init__(self, board: Board, pace: Pace | None, port: int) -> None:
        class Handler(_Handler):
            pass

        Handler.board, Handler.pace = board, pace
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except (OSError, OverflowError) as error:
            raise CellrateError(f"no page at port {port} of 127.0.0.1: {error}") from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        """What to open."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> Page:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    board: Board
    pace: Pace | None
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self._is_from_here():
            return
        if self.path == "/events":
            self._stream()
        elif self.path in FILES:
            name, kind = FILES[self.path]
            self._answer(HTTPStatus.OK, (resources.files(__package__) / "page" / name).read_bytes(), kind)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"there is no {self.path}; there are {', '.join(FILES)} and /events")

    def do_POST(self) -> None:
        if not self._is_from_here():
            return
        if self.path == "/pace" and self.pace is None:
            self._refuse(HTTPStatus.CONFLICT, "a live run goes by the clock")
            return
        if self.path != "/pace" or self.pace is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"nothing is taken at {self.path}; there is /pace")
            return
        try:
            length = int(self.headers.get("Content-Length", "0"))
            if length > MOST_OCTETS:
                raise ValueError(f"{length} octets are too many; there may be {MOST_OCTETS}")
            self.pace.set(**_pace(json.loads(self.rfile.read(length))))
        except ValueError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._answer(HTTPStatus.OK, json.dumps(self.pace.state).encode(), "application/json")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on the terminal, which is for the run."""

    def _is_from_here(self) -> bool:
        """A page from elsewhere that a browser shows may not reach this one under a name of its own."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        origin = self.headers.get("Origin")
        own = ("127.0.0.1", "localhost")
        if host in own and (origin is None or origin.split("//", 1)[-1].rsplit(":", 1)[0] in own):
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "this page is for 127.0.0.1 and localhost")
        return False

    def _stream(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.board.enter()
        try:
            head = self.board.head
            self._event("head", head)
            seen = [0] * sum(len(panel["lines"]) for panel in head["panels"])
            shown_s = 0.0
            while True:
                more = self.board.since(seen, shown_s, QUIET)
                if more is None:
                    self.wfile.write(b":\n\n")
                    continue
                shown_s = more["now_s"]
                self._event("more", {**more, **({} if self.pace is None else self.pace.state)})
                if "figures" in more:
                    return
                threading.Event().wait(BETWEEN)
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self.board.leave()

    def _event(self, name: str, content: object) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(content, allow_nan=False)}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        # What is left of the request is not read.
        self.close_connection = True
        self._answer(status, f"{why}\n".encode(), "text/plain; charset=utf-8")


def _pace(asked: Any) -> dict[str, Any]:
    """Check what a page asks for."""
    if not isinstance(asked, dict) or not asked.keys() <= {"speed", "paused"}:
        raise ValueError('what is taken is {"speed": number or null, "paused": true or false}')
    settings: dict[str, Any] = {}
    if "speed" in asked:
        speed = asked["speed"]
        if speed is not None and (isinstance(speed, bool) or not isinstance(speed, int | float)):
            raise ValueError(f"speed is {speed!r}; it must be a number above 0, or null")
        settings["speed"] = math.inf if speed is None else float(speed)
    if "paused" in asked:
        if not isinstance(asked["paused"], bool):
            raise ValueError(f"paused is {asked['paused']!r}; it must be true or false")
        settings["paused"] = asked["paused"]
    return settings
