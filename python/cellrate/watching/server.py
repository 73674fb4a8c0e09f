"""The page over HTTP, on this machine only: files, a stream of events, and the pace.

| request | answer |
| --- | --- |
| GET / and the files of the page | the page |
| GET /events | a WebSocket (RFC 6455), on which the page says nothing: `head` once, then `more` as the run goes on |
| POST /pace | sets speed and pause, given as JSON: {"speed": 0.01, "paused": false}; null for as fast as it goes |

A live run has no pace.

A browser opens no more than six connections to a host for all its pages together, but for WebSockets, of which there
may be hundreds: with server-sent events the sixth page on a run would be the last thing that any of them does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import socket
import sys
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
"""After so long without news an empty frame shows whether somebody is still there [s]."""

ACCEPTED = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What a key of RFC 6455 is answered with, among others."""

TEXT, CLOSE, PONG = 1, 8, 10
"""Opcodes of RFC 6455."""

MOST_OCTETS = 1000
"""Of a request's body."""


class Page:
    """The server, as long as it is entered; without a pace the run goes by the clock."""

    def __init__(self, board: Board, pace: Pace | None, port: int) -> None:
        class Handler(_Handler):
            pass

        Handler.board, Handler.pace = board, pace
        try:
            self._server = _Server(("127.0.0.1", port), Handler)
        except (OSError, OverflowError) as error:
            raise CellrateError(f"no page at port {port} of 127.0.0.1: {error}") from None
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of who left before the answer was there: the terminal is for the run."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


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
            if not 0 <= length <= MOST_OCTETS:
                raise ValueError(f"Content-Length is {length}; it must be from 0 to {MOST_OCTETS}")
            self.pace.set(**_pace(json.loads(self.rfile.read(length))))
        except RecursionError:
            self._refuse(HTTPStatus.BAD_REQUEST, "lists within lists within lists; what is taken is one object")
            return
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
        key = self.headers.get("Sec-WebSocket-Key")
        if key is None or self.headers.get("Upgrade", "").lower() != "websocket":
            self._refuse(HTTPStatus.UPGRADE_REQUIRED, "/events is a WebSocket")
            return
        self.close_connection = True
        self.send_response(HTTPStatus.SWITCHING_PROTOCOLS)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accepted = base64.b64encode(hashlib.sha1(f"{key}{ACCEPTED}".encode(), usedforsecurity=False).digest())
        self.send_header("Sec-WebSocket-Accept", accepted.decode())
        self.end_headers()
        self.board.enter()
        try:
            head = self.board.head
            self._tell(head=head)
            seen = [0] * sum(len(panel["lines"]) for panel in head["panels"])
            shown_s = 0.0
            while not self._has_left():
                more = self.board.since(seen, shown_s, QUIET)
                if more is None:
                    # Nobody answers one that nobody asked for.
                    self._frame(PONG, b"")
                    continue
                shown_s = more["now_s"]
                self._tell(more={**more, **({} if self.pace is None else self.pace.state)})
                if "figures" in more:
                    break
                threading.Event().wait(BETWEEN)
            self._frame(CLOSE, b"")
        except ConnectionError:
            return
        finally:
            self.board.leave()

    def _has_left(self) -> bool:
        """Whether the page has said anything: there is nothing for it to say but that it leaves."""
        try:
            self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def _tell(self, **content: object) -> None:
        self._frame(TEXT, json.dumps(content, allow_nan=False).encode())

    def _frame(self, opcode: int, content: bytes) -> None:
        """Write a whole message (RFC 6455, 5.2)."""
        length = len(content)
        if length < 126:
            told = bytes([length])
        elif length < 1 << 16:
            told = bytes([126]) + length.to_bytes(2, "big")
        else:
            told = bytes([127]) + length.to_bytes(8, "big")
        self.wfile.write(bytes([0x80 | opcode]) + told + content)

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
        try:
            settings["speed"] = math.inf if speed is None else float(speed)
        except OverflowError:
            raise ValueError(f"speed has {len(str(speed))} digits; null is as fast as it goes") from None
    if "paused" in asked:
        if not isinstance(asked["paused"], bool):
            raise ValueError(f"paused is {asked['paused']!r}; it must be true or false")
        settings["paused"] = asked["paused"]
    return settings
