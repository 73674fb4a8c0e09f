"""HTTP/3 over QUIC (aioquic) with SCONE packets: a server, a player, a download. quic_peer.py OPTIONS PACKAGE...

The draft's parts of endpoints (draft-ietf-scone-protocol, working-group text of August 2026) stand between UDP and
aioquic: SCONE packets are put in front of datagrams that leave, and taken off those that come. aioquic cannot be taught
the transport parameter by which endpoints agree on that; these ones are made for each other and go without.

Run as a file of its own: nothing of the package is imported. OPTIONS is a JSON object; the packages are files of
aioquic and of others that it imports, in whose folders all of them are found.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PERIOD_S = 67.0
"""How long advice holds, and the span over which the lowest one counts."""
FIRST, LEAST_S, MOST_DELAY_S = 3, 20.0, 10.0
"""SCONE packets at the beginning, and the time to the next one after them, with a delay that is drawn."""
VERSIONS = (0x6F7DC0FD, 0xEF7DC0FD)
UNKNOWN = 127
INDICATION = b"\xc8\x13"
"""Ends datagrams of a client that has not heard from the server."""
CONNECTION_ID_OCTETS = 8
TICK_S = 0.02
"""Between two parts of an answer that is paced."""


def rate_of(signal: int) -> float | None:
    """Give the rate of a signal of seven bits [bit/s]; None where it is unknown."""
    return None if signal == UNKNOWN else 1e5 * 10 ** (signal / 20)


def ids_of(datagram: bytes) -> tuple[bytes, bytes]:
    """Give destination and source connection ID of a datagram's first packet; short headers have no source."""
    if not datagram[0] & 0x80:
        return datagram[1 : 1 + CONNECTION_ID_OCTETS], b""
    end = 6 + datagram[5]
    return datagram[6:end], datagram[end + 1 : end + 1 + datagram[end]]


def scone_packet(destination: bytes, source: bytes) -> bytes:
    """Make a SCONE packet without advice, as endpoints send it (RFC 8999, 5.1, for its form)."""
    lengths_and_ids = bytes([len(destination)]) + destination + bytes([len(source)]) + source
    return bytes([0xC0 | UNKNOWN >> 1]) + VERSIONS[UNKNOWN & 1].to_bytes(4, "big") + lengths_and_ids


def split(datagram: bytes) -> tuple[int, bytes, bytes] | None:
    """Give signal, destination connection ID and the rest of a datagram that begins with a SCONE packet."""
    if len(datagram) < 7 or not datagram[0] & 0x80:
        return None
    version = int.from_bytes(datagram[1:5], "big")
    if version not in VERSIONS:
        return None
    end = 6 + datagram[5]
    if datagram[5] > 20 or len(datagram) <= end or datagram[end] > 20:
        return None
    rest = end + 1 + datagram[end]
    if len(datagram) <= rest:
        return None
    return (datagram[0] & 0x3F) << 1 | version >> 31, datagram[6:end], datagram[rest:]


class Advice:
    """Record of a receiver: the lowest advice of a period, which ends a period after the last one."""

    def __init__(self) -> None:
        self._told: list[tuple[float, float]] = []

    def learn(self, now: float, rate: float) -> None:
        """Take in what a packet says at `now` [s], in bit/s."""
        self._told = [one for one in self._told if now - one[0] < PERIOD_S]
        self._told.append((now, rate))

    def at(self, now: float) -> float | None:
        """Give the rate that holds at `now` [s] in bit/s; None without."""
        return min((rate for at, rate in self._told if now - at < PERIOD_S), default=None)


class Opportunities:
    """Instants at which a sender puts a SCONE packet in front of a datagram; `draw` gives a delay between two [s]."""

    def __init__(self, draw: Callable[[float, float], float] = random.uniform) -> None:
        self._draw = draw
        self._sent, self._next = 0, 0.0

    def due(self, now: float) -> bool:
        """Whether one is due at `now` [s]; counts it as sent."""
        if self._sent >= FIRST and now < self._next:
            return False
        self._sent += 1
        self._next = now + LEAST_S + self._draw(0, MOST_DELAY_S)
        return True


class Scone(asyncio.DatagramProtocol):
    """Between UDP and a protocol of aioquic, which sees neither SCONE packets nor the indication."""

    def __init__(self, inner: Any, counter: Any, is_client: bool) -> None:
        self.inner, self.counter = inner, counter
        self.says_so = is_client
        self.advice: dict[Any, Advice] = {}
        self.opportunities: dict[Any, Opportunities] = {}
        self.told: list[dict[str, float]] = []
        self.refused = 0
        self.begun = time.monotonic()
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        """Stand between `transport` and the inner protocol."""
        self.transport = transport
        self.inner.connection_made(self)

    def datagram_received(self, data: bytes, address: Any) -> None:
        """Take off a SCONE packet; it is believed where another packet of the datagram was for the same connection."""
        found = split(data)
        before = self.counter.packets
        self.inner.datagram_received(data if found is None else found[2], address)
        processed = self.counter.packets > before
        self.says_so = self.says_so and not processed
        if found is None:
            return
        signal, destination, rest = found
        rate = rate_of(signal)
        is_ours = ids_of(rest)[0][: len(destination)] == destination
        if rate is None:
            return
        if not processed or not is_ours:
            self.refused += 1
            return
        now = time.monotonic()
        self.advice.setdefault(address[:2], Advice()).learn(now, rate)
        self.told.append({"at_s": now - self.begun, "advice_bps": rate})

    def error_received(self, error: Exception) -> None:
        """Pass on an error of the socket."""
        self.inner.error_received(error)

    def connection_lost(self, error: Exception | None) -> None:
        """Pass on the end of the socket."""
        self.inner.connection_lost(error)

    def sendto(self, data: bytes, address: Any = None) -> None:
        """Send a datagram of aioquic, behind a SCONE packet when one is due."""
        if self.opportunities.setdefault(address and address[:2], Opportunities()).due(time.monotonic()):
            data = scone_packet(*ids_of(data)) + data
        self.transport.sendto(data + INDICATION if self.says_so else data, address)

    def close(self) -> None:
        """Close the socket."""
        self.transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


def quality_of(qualities: list[float], by: str, share: float, advice: float | None, estimate: float | None) -> float:
    """Give the highest quality that is within `share` of what the player goes by; the lowest without [bit/s]."""
    known = {"advice": [advice], "estimate": [estimate], "both": [advice, estimate]}[by]
    rates = [rate for rate in known if rate is not None]
    most = share * min(rates, default=0.0)
    return max((quality for quality in qualities if quality <= most), default=qualities[0])


class Playback:
    """Buffer of a player [s of play]: it begins to play, and goes on after a stall, with so much in it."""

    def __init__(self, prebuffer_s: float) -> None:
        self.prebuffer_s, self.buffer_s = prebuffer_s, 0.0
        self.plays, self.has_played = False, False
        self.stalls, self.stalled_s, self.last_s = 0, 0.0, 0.0

    def advance(self, now_s: float) -> None:
        """Play until `now_s`."""
        span, self.last_s = now_s - self.last_s, now_s
        if self.plays:
            played = min(span, self.buffer_s)
            self.buffer_s -= played
            span -= played
            if span > 0.0:
                self.plays = False
                self.stalls += 1
        if not self.plays and self.has_played:
            self.stalled_s += span

    def add(self, seconds: float) -> None:
        """Take in a segment."""
        self.buffer_s += seconds
        if not self.plays and self.buffer_s >= self.prebuffer_s:
            self.plays = self.has_played = True


def counting_logger() -> Any:
    """Give a logger for aioquic that counts packets which a connection has processed."""

    class Counter:
        packets = 0

        def start_trace(self, is_client: bool, odcid: bytes) -> Any:
            trace = Trace(is_client=is_client, odcid=odcid)
            trace.counter = self
            return trace

        def end_trace(self, trace: Any) -> None:
            """Nothing is kept of it."""

    from aioquic.quic.logger import QuicLoggerTrace

    class Trace(QuicLoggerTrace):  # type: ignore[misc, unused-ignore]
        counter: Any

        def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
            self.counter.packets += category == "transport" and event == "packet_received"

    return Counter()


def http_protocol(pace_of: Any = None) -> Any:
    """Give the class of both ends of HTTP/3 over aioquic."""
    from aioquic.asyncio.protocol import QuicConnectionProtocol
    from aioquic.h3.connection import H3Connection
    from aioquic.h3.events import DataReceived, HeadersReceived
    from aioquic.quic.events import ConnectionTerminated

    class Http(QuicConnectionProtocol):  # type: ignore[misc, unused-ignore]
        def __init__(self, *args: Any, **keys: Any) -> None:
            super().__init__(*args, **keys)
            self.http = H3Connection(self._quic)
            self.waiting: dict[int, tuple[asyncio.Future[int], int]] = {}
            self.tasks: set[asyncio.Task[None]] = set()

        async def get(self, path: str, pace_bps: float | None) -> int:
            """Give how many octets the answer has."""
            stream = self._quic.get_next_available_stream_id()
            headers = [
                (b":method", b"GET"),
                (b":scheme", b"https"),
                (b":authority", b"host"),
                (b":path", path.encode()),
            ]
            if pace_bps is not None:
                headers.append((b"pace", str(round(pace_bps)).encode()))
            self.http.send_headers(stream, headers, end_stream=True)
            answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            self.waiting[stream] = (answer, 0)
            self.transmit()
            return await answer

        def quic_event_received(self, event: Any) -> None:
            if isinstance(event, ConnectionTerminated):
                for answer, _ in self.waiting.values():
                    if not answer.done():
                        answer.set_exception(ConnectionError(event.reason_phrase or "the connection has ended"))
            for one in self.http.handle_event(event):
                if isinstance(one, HeadersReceived) and not self._quic.configuration.is_client:
                    task = asyncio.ensure_future(self.answer(one.stream_id, dict(one.headers)))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                elif isinstance(one, DataReceived) and one.stream_id in self.waiting:
                    answer, octets = self.waiting[one.stream_id]
                    octets += len(one.data)
                    self.waiting[one.stream_id] = (answer, octets)
                    if one.stream_ended and not answer.done():
                        del self.waiting[one.stream_id]
                        answer.set_result(octets)

        async def answer(self, stream: int, headers: dict[bytes, bytes]) -> None:
            """Send as many octets as the path says, at the pace that is asked for [bit/s]."""
            left = int(headers[b":path"].rpartition(b"/")[2])
            pace = float(headers[b"pace"]) if b"pace" in headers else math.inf
            self.http.send_headers(stream, [(b":status", b"200")])
            begun, sent = time.monotonic(), 0
            while left > 0:
                # Cut so that what has been sent is what the pace allows until now.
                allowed = left if pace == math.inf else int(pace / 8 * (time.monotonic() - begun + TICK_S)) - sent
                part = min(left, max(0, allowed))
                left, sent = left - part, sent + part
                if part:
                    self.http.send_data(stream, bytes(part), end_stream=left == 0)
                    self.transmit()
                if left:
                    await asyncio.sleep(TICK_S)

    return Http


async def serve(options: dict[str, Any]) -> None:
    """Answer until it is ended."""
    from aioquic.asyncio.server import QuicServer
    from aioquic.quic.configuration import QuicConfiguration

    counter = counting_logger()
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"], quic_logger=counter)
    configuration.congestion_control_algorithm = options["congestion_control"]
    configuration.load_cert_chain(options["certificate"], options["key"])
    server = QuicServer(configuration=configuration, create_protocol=http_protocol())
    await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Scone(server, counter, is_client=False), local_addr=(options["server"], options["port"])
    )
    print("listening", flush=True)
    await asyncio.Event().wait()


async def connected(options: dict[str, Any]) -> tuple[Scone, Any]:
    """Connect to the server; gives the SCONE part and the HTTP part."""
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.connection import QuicConnection

    counter = counting_logger()
    configuration = QuicConfiguration(
        is_client=True, alpn_protocols=["h3"], quic_logger=counter, server_name="cellrate"
    )
    configuration.max_data = configuration.max_stream_data = 1 << 24
    configuration.load_verify_locations(options["certificate"])
    http = http_protocol()(QuicConnection(configuration=configuration))
    scone = Scone(http, counter, is_client=True)
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: scone, local_addr=(options["client"], 0))
    http.connect((options["server"], options["port"]))
    await http.wait_connected()
    return scone, http


async def play(options: dict[str, Any], result: dict[str, Any]) -> None:
    """Fetch segment after segment, each in the quality that the player finds right."""
    scone, http = await connected(options)
    begun = scone.begun
    playback = Playback(options["prebuffer_s"])
    playback.last_s = time.monotonic() - begun
    result["told"] = scone.told
    try:
        await fetch_segments(options, result, scone, http, playback)
    finally:
        playback.advance(time.monotonic() - begun)
        result.update(stalls=playback.stalls, stalled_s=playback.stalled_s, refused=scone.refused)


async def fetch_segments(
    options: dict[str, Any], result: dict[str, Any], scone: Scone, http: Any, playback: Playback
) -> None:
    """Fetch until it is ended."""
    begun, server = scone.begun, (options["server"], options["port"])
    estimate: float | None = None
    while True:
        now = time.monotonic()
        playback.advance(now - begun)
        wait_s = playback.buffer_s + options["segment_s"] - options["buffer_s"]
        if wait_s > 0.0:
            await asyncio.sleep(wait_s)
            continue
        advice = scone.advice.get(server, Advice()).at(now)
        quality = quality_of(options["qualities_bps"], options["by"], options["share"], advice, estimate)
        octets = round(quality * options["segment_s"] / 8)
        buffer_s = playback.buffer_s
        got = await http.get(f"/{octets}", advice if options["pace"] else None)
        done = time.monotonic()
        playback.advance(done - begun)
        left_s = playback.buffer_s
        playback.add(options["segment_s"])
        rate = got * 8 / (done - now)
        estimate = rate if estimate is None else (estimate + rate) / 2
        row = {"at_s": now - begun, "took_s": done - now, "octets": got, "quality_bps": quality, "buffer_s": buffer_s}
        result["segments"].append({**row, "left_s": left_s, "advice_bps": advice, "estimate_bps": estimate})


async def download(options: dict[str, Any], result: dict[str, Any]) -> None:
    """Fetch one file, paced by advice where it is asked to be: a part at a time, as advice may change."""
    scone, http = await connected(options)
    server = (options["server"], options["port"])
    result["told"] = scone.told
    left = options["size_octets"]
    while left > 0:
        now = time.monotonic()
        advice = scone.advice.get(server, Advice()).at(now)
        part = left if left < options["part_octets"] else options["part_octets"]
        got = await http.get(f"/{part}", advice if options["pace"] else None)
        left -= got
        row = {"at_s": now - scone.begun, "took_s": time.monotonic() - now, "octets": got, "advice_bps": advice}
        result["segments"].append(row)
        result["refused"] = scone.refused


async def fetch(options: dict[str, Any]) -> int:
    """Play or download until it has ended or its time is over; the result is written either way."""
    result: dict[str, Any] = {"segments": [], "told": [], "error": None}
    kind = {"play": play, "download": download}[options["do"]]
    task = asyncio.ensure_future(kind(options, result))
    # The network stops at about the same instant, and whoever stops it ends this, too: what was fetched is kept.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await asyncio.wait_for(task, options["seconds"])
    except (TimeoutError, asyncio.CancelledError):
        pass
    except (OSError, ConnectionError) as error:
        result["error"] = str(error)
    finally:
        file = Path(options["result"])
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(result))
        draft.replace(file)
    return 1 if result["error"] else 0


def main() -> int:
    """Do what the options say."""
    options = json.loads(sys.argv[1])
    sys.path[:0] = dict.fromkeys(str(Path(package).parent.parent) for package in sys.argv[2:])
    if options["do"] == "serve":
        asyncio.run(serve(options))
        return 0
    return asyncio.run(fetch(options))


if __name__ == "__main__":
    sys.exit(main())
