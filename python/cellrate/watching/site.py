"""The page over HTTP: its files, and WebSockets at the same port.

Nothing is given without the address, which has a random token in it: neither to other users of this
machine, nor to pages of other origins, nor to foreign names that point here. An origin must be that of the page, port
included. A connection has a few seconds to say what it wants, there are not more than a few hundred of them, and where
descriptors run out the server waits for a second before it tries again.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hmac
import json
import logging
import re
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

FOLDER = Path(__file__).parent / "page"
"""Where `make lab` puts the page; in a wheel it is there."""

KINDS = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "editor.js": "text/javascript; charset=utf-8",
    "mode.js": "text/javascript; charset=utf-8",
    "kernel.js": "text/javascript; charset=utf-8",
    "LICENSES.txt": "text/plain; charset=utf-8",
}

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Beside the policy that the page itself has in its head."""

HEAD_S = 10.0
"""How long a connection has to say what it wants [s]."""

MOST_CONNECTIONS = 256
"""A page takes five for a moment, and one as long as it watches."""

MOST_OCTETS = 1000
"""Most octets of a page's message."""

Talk = Callable[["ServerConnection"], Awaitable[None]]
"""Conversation over a WebSocket that a page has opened."""


def files_of_page(mode: str) -> dict[str, bytes]:
    """Give the files of the page by their names.

    Raises
    ------
    CellrateError
        If the page has not been built.
    """
    if not (FOLDER / "page.js").is_file():
        raise CellrateError(
            "the page is not part of this installation: `make lab` in a checkout builds it, with Node.js and npm"
        )
    files = {name: (FOLDER / name).read_bytes() for name in KINDS if (FOLDER / name).is_file()}
    return {**files, "mode.js": mode_file(mode, {})}


def mode_file(mode: str, told: Mapping[str, object]) -> bytes:
    """Give the file that says what the page is for and what it is to know."""
    # JSON is JavaScript; the two line ends that once were not are escaped as all that is not ASCII.
    return f"globalThis.cellrateMode={json.dumps(mode)};\nglobalThis.cellrateTold={json.dumps(told)};\n".encode()


def names_of_machine() -> list[str]:
    """Give the addresses of this machine that others may reach, that of its way out first, then its name."""
    found: dict[str, None] = {}
    # Nothing is sent: the address is a documentation's (RFC 5737), and the system says by which of its own it would go.
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))
        found[way.getsockname()[0]] = None
    name = socket.gethostname()
    with contextlib.suppress(OSError, UnicodeError):
        for *_, place in socket.getaddrinfo(name, None, socket.AF_INET):
            found[str(place[0])] = None
    return [*(address for address in found if not address.startswith(("127.", "0."))), name]


class Site:
    """The server, as long as it is entered."""

    def __init__(
        self,
        *,
        mode: str,
        host: str = "127.0.0.1",
        port: int = 0,
        talk: Talk | None = None,
        token: str | None = None,
        told: Mapping[str, object] | None = None,
    ) -> None:
        """Prepare the page in `mode` ("lab" or "watch") at this port of this host, a free one when 0.

        Parameters
        ----------
        token
            The secret part of the address; a random one when None.
        told
            More for the page to know, as JSON has it.

        Raises
        ------
        CellrateError
            If the page has not been built, the token is too short or has other characters than an address, or nothing
            can be served there.
        """
        if token is not None and not re.fullmatch(r"[A-Za-z0-9_-]{6,64}", token):
            raise CellrateError(f"token is {token!r}; it must be 6 to 64 letters of ASCII, digits, - or _")
        self._talk = talk
        self._host = host
        self._token = token or secrets.token_urlsafe(16)
        self._files = files_of_page(mode)
        self._packed: dict[str, bytes] = {}
        self._loop = asyncio.new_event_loop()
        # The terminal is for the run: neither who left too early nor a lack of descriptors is written there.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._ended = asyncio.Event()
        try:
            self._port = self._loop.run_until_complete(self._open(port))
        except (OSError, OverflowError, UnicodeError) as error:
            self._loop.close()
            raise CellrateError(f"no page at port {port} of {host}: {error}") from None
        self._files["mode.js"] = mode_file(mode, {**(told or {}), "served": self.reachable})
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    async def _open(self, port: int) -> int:
        from websockets.asyncio.server import ServerConnection, serve

        connections = 0

        class Counted(ServerConnection):
            """A connection that is closed at once where there are too many, and whose path may have any octet."""

            _has_path = False

            def data_received(self, data: bytes) -> None:
                if not self._has_path:
                    line, end, rest = data.partition(b"\n")
                    self._has_path = bool(end)
                    data = escaped(line) + end + rest
                super().data_received(data)

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                nonlocal connections
                connections += 1
                super().connection_made(transport)
                if connections > MOST_CONNECTIONS:
                    self.transport.abort()

            def connection_lost(self, exc: Exception | None) -> None:
                nonlocal connections
                connections -= 1
                super().connection_lost(exc)

        logger = logging.Logger("cellrate.page")
        logger.addHandler(logging.NullHandler())
        self._server = await serve(
            self._converse,
            self._host,
            port,
            process_request=self._answer,
            create_connection=Counted,
            open_timeout=HEAD_S,
            close_timeout=1.0,
            max_size=MOST_OCTETS,
            compression=None,
            server_header=None,
            logger=logger,
        )
        return int(next(iter(self._server.sockets)).getsockname()[1])

    async def _serve(self) -> None:
        await self._ended.wait()
        self._server.close(close_connections=True)
        await self._server.wait_closed()

    @property
    def place(self) -> str:
        """Host and port, as a browser names them."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    @property
    def reachable(self) -> list[str]:
        """Give the addresses by which other machines may reach the page; none where it is for this one alone."""
        if self._host not in ("0.0.0.0", "::", ""):
            return [] if self._host in ("127.0.0.1", "localhost", "::1") else [self.address]
        return [f"http://{name}:{self._port}{self.path}" for name in names_of_machine()]

    @property
    def port(self) -> int:
        """The port."""
        return self._port

    @property
    def path(self) -> str:
        """The path of the page: "/", the token, "/"."""
        return f"/{self._token}/"

    @property
    def address(self) -> str:
        """Give the address to open, on this machine where it is at all addresses."""
        here = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "[::1]"}.get(self._host)
        return f"http://{self.place if here is None else f'{here}:{self._port}'}{self.path}"

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()

    async def _converse(self, connection: ServerConnection) -> None:
        assert self._talk is not None
        await self._talk(connection)

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Give a file, or None where a WebSocket is to be opened."""
        # Versions that do not tell the method take GET alone.
        method = getattr(request, "method", "GET")
        if method not in ("GET", "HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, "this page is only read\n", {"Allow": "GET, HEAD"})
        found = self._found(request)
        if found is not None and method == "HEAD":
            found.body = b""
        return found

    def _found(self, request: Request) -> Response | None:
        place = self._named(request)
        if place is None:
            return _response(HTTPStatus.FORBIDDEN, "this page is at another address\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{place}":
            return _response(HTTPStatus.FORBIDDEN, f"{origin} is not the origin of this page\n")
        path = request.path.partition("?")[0]
        if not hmac.compare_digest(path[: len(self.path)].encode(), self.path.encode()):
            return _response(HTTPStatus.FORBIDDEN, "the address lacks its token: open it as it was printed\n")
        name = path[len(self.path) :] or "index.html"
        if name == "events" and self._talk is not None:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return None
            return _response(
                HTTPStatus.UPGRADE_REQUIRED, "a WebSocket is to be opened here\n", {"Upgrade": "websocket"}
            )
        if name not in self._files:
            return _response(HTTPStatus.NOT_FOUND, f"there is no {name}; there are {', '.join(self._files)}\n")
        head = {"Content-Type": KINDS[name]}
        if takes_gzip(",".join(request.headers.get_all("Accept-Encoding"))):
            if name not in self._packed:
                self._packed[name] = gzip.compress(self._files[name], 6, mtime=0)
            return _response(HTTPStatus.OK, self._packed[name], {**head, "Content-Encoding": "gzip"})
        return _response(HTTPStatus.OK, self._files[name], head)

    def _named(self, request: Request) -> str | None:
        """Give host and port that a request names, where they are those of the page."""
        named = request.headers.get_all("Host")
        if len(named) != 1:
            return None
        if self._host in ("0.0.0.0", "::", ""):
            # By whichever name it was reached; the token is what counts.
            return named[0] if named[0].rpartition(":")[2] == str(self._port) else None
        known = {self.place, f"localhost:{self._port}"} if self._host == "127.0.0.1" else {self.place}
        return named[0] if named[0].lower() in known else None


def escaped(line: bytes) -> bytes:
    """Give a request line with octets above 127 as a URL has them (%XX): they are no ASCII, and get an answer so."""
    return b"".join(b"%%%02X" % octet if octet > 127 else bytes((octet,)) for octet in line)


def takes_gzip(accepted: str) -> bool:
    """Whether who asks takes gzip, by the weights of Accept-Encoding (RFC 9110, 12.5.3); what is named beats "*"."""
    weights: dict[str, float] = {}
    for part in accepted.split(","):
        coding, *parameters = (one.strip().lower() for one in part.split(";"))
        weight = next((one.partition("=")[2] for one in parameters if one.startswith("q=")), "1")
        try:
            weights[coding] = float(weight)
        except ValueError:
            weights[coding] = 0.0
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _response(status: HTTPStatus, body: str | bytes, head: dict[str, str] | None = None) -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    content = body.encode() if isinstance(body, str) else body
    fields: dict[str, Any] = {"Content-Type": "text/plain; charset=utf-8", **HEADERS, **(head or {})}
    fields |= {"Content-Length": str(len(content)), "Connection": "close"}
    return Response(status.value, status.phrase, Headers(fields), content)
