from __future__ import annotations

import gzip
import http.client
import json
import math
import os
import re
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import cellrate
from browsing import CHROMIUM, Browser
from cellrate.command_line.main import status
from cellrate.watching import board
from cellrate.watching.pace import Pace
from cellrate.watching.site import FOLDER, Site, takes_gzip
from conftest import PAIR, SWEEP


class Viewer(threading.Thread):
    """Opens the page and takes all events, until the stream ends."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address = address
        self.events: list[tuple[str, Any]] = []
        self.start()

    def run(self) -> None:
        place = urlsplit(self.address)
        reached = (str(place.hostname), int(place.port or 0))
        with socket.create_connection(reached, timeout=30) as connection, connection.makefile("rb") as told:
            # The key and its answer of RFC 6455, 1.3.
            connection.sendall(handshake(self.address))
            headers = [line.decode().strip() for line in iter(told.readline, b"\r\n")]
            assert headers[0] == "HTTP/1.1 101 Switching Protocols"
            assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in headers
            while True:
                first, length = told.read(2)
                if length >= 126:
                    length = int.from_bytes(told.read(2 if length == 126 else 8), "big")
                content = told.read(length)
                if first == 0x88:
                    return
                if first == 0x81:
                    self.events.extend(json.loads(content).items())


def handshake(address: str, *more: str) -> bytes:
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    place = urlsplit(address)
    lines = [
        f"GET {place.path}events HTTP/1.1",
        f"Host: {place.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        key,
        *more,
    ]
    return ("\r\n".join([*lines, "Sec-WebSocket-Version: 13"]) + "\r\n\r\n").encode()


def ask(address: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Give the answer to a request for a file of the page."""
    place = urlsplit(address)
    with closing(http.client.HTTPConnection(place.netloc, timeout=30)) as connection:
        connection.request("GET", place.path + path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def say(address: str, text: str) -> tuple[str, Any]:
    """Give the answer to a page that says something: the pace, or an error."""
    with connect(address.replace("http", "ws", 1) + "events", open_timeout=30, max_size=None) as connection:
        connection.send(text)
        for told in connection:
            for name, content in json.loads(told).items():
                if name in ("pace", "error"):
                    return name, content
    raise AssertionError("no answer")


def watched(text: str = PAIR, **options: Any) -> tuple[cellrate.Result, list[tuple[str, Any]]]:
    """A run that one viewer sees, and what it was told."""
    viewers: list[Viewer] = []
    result = cellrate.watch(
        cellrate.Scenario.parse(text), on_ready=lambda address: viewers.append(Viewer(address)), **options
    )
    viewers[0].join(30)
    assert not viewers[0].is_alive()
    return result, viewers[0].events


@pytest.mark.parametrize("speed", [math.inf, 0.05])
def test_a_viewer_sees_all_series_and_in_the_end_the_figures(speed: float) -> None:
    result, events = watched(speed=speed)
    plain = cellrate.run(cellrate.Scenario.parse(PAIR))
    assert result.summary["vcs"] == plain.summary["vcs"]
    assert result.summary["ports"] == plain.summary["ports"]

    (first, head), *rest = events
    assert first == "head"
    assert {name for name, _ in rest} == {"more"}
    assert (head["name"], head["duration_s"], head["purpose"]) == ("pair", 0.02, "Two hosts and a switch.")
    assert [panel["axis"] for panel in head["panels"]][:2] == ["ACR [Mbps]", "queue [cells]"]
    names = result.series_names
    seen: dict[int, list[list[float]]] = {place: [[], []] for place in range(len(names))}
    shown = 0.0
    for _, more in rest:
        assert more["now_s"] >= shown
        shown = more["now_s"]
        for place, (times, values) in more["series"].items():
            seen[int(place)][0] += times
            seen[int(place)][1] += values
    lines = [line for panel in head["panels"] for line in panel["lines"]]
    assert sorted(line["series"] for line in lines) == list(range(len(names)))
    for place, (probe, entity) in enumerate(names):
        series = next(series for series in plain.all_series(probe) if series.entity == entity)
        np.testing.assert_array_equal(seen[place][0], series.times_s)
        np.testing.assert_array_equal(seen[place][1], series.values)
    # Without the direction that carries nothing but RM cells.
    assert [row["vc"] for row in rest[-1][1]["figures"]["vcs"]] == ["vc1"]
    assert rest[-1][1]["figures"]["vcs"][0] in result.summary["vcs"]
    assert rest[-1][1]["figures"]["virtual_sources"] == result.summary["virtual_sources"] == []
    if speed == 0.05:
        assert len(rest) > 3
    # What a run is held back is not counted as its work.
    assert result.summary["run"]["wall_s"] < 0.3


def test_levels_stand_behind_rates_and_every_probe_has_a_panel() -> None:
    text = PAIR.replace('record = ["received", "queue", "utilization"]', 'record = ["received", "forward_rm", "z"]')
    _, events = watched(text, speed=math.inf)
    panels = events[0][1]["panels"]
    assert [panel["axis"] for panel in panels] == ["ACR [Mbps]", "cells received", "forward rm [cells]", "z"]
    [(at_s, rate)] = panels[0]["lines"][0]["level"]
    assert (at_s, rate) == (0, pytest.approx(0.9 * 155.52e6 / 424, rel=1e-3))
    assert panels[1]["lines"][0]["level"] == []
    assert [panel["lines"][0]["changes"] for panel in panels[:2]] == [True, False]


def test_what_is_infinite_is_not_drawn() -> None:
    # Constant rates take all of the line, and the load factor of nothing left is infinite.
    text = (
        PAIR.replace('record = ["received", "queue", "utilization"]', 'record = ["z"]')
        + '[[vc]]\nname = "cbr"\ncategory = "cbr"\npath = ["a", "sw", "b"]\n'
        + 'traffic = { type = "constant", rate = "155.52 Mbps" }\n'
    )
    result, events = watched(text, speed=math.inf)
    assert any(np.isinf(series.values).any() for series in result.all_series("z"))
    values = [value for _, more in events[1:] for _, values in more["series"].values() for value in values]
    assert None in values


def test_the_page_changes_the_pace() -> None:
    begun = threading.Event()
    answers: list[tuple[str, Any]] = []

    def drive(address: str) -> None:
        viewer = Viewer(address)

        def change() -> None:
            answers.append(say(address, '{"paused": true}'))
            begun.wait(0.3)
            count = len(viewer.events)
            begun.wait(0.3)
            answers.append(("more", len(viewer.events) - count))
            answers.append(say(address, '{"speed": null, "paused": false}'))

        threading.Thread(target=change, daemon=True).start()

    started = time.monotonic()
    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=1e-6, on_ready=drive)
    assert time.monotonic() - started > 0.6
    assert answers[0] == ("pace", {"speed": 1e-06, "paused": True})
    assert answers[1] == ("more", 0)
    assert answers[2] == ("pace", {"speed": None, "paused": False})


def test_a_pace_counts_from_when_it_was_set() -> None:
    pace = Pace(0.001)
    pace.begin()
    started = time.monotonic()
    threading.Timer(0.1, lambda: pace.set(speed=1.0)).start()
    # A quarter of an hour at the first speed.
    pace.hold(1.0)
    assert 0.0 < pace.held_s <= time.monotonic() - started < 500.0
    with pytest.raises(ValueError, match=r"speed is 0\.0; it must be above 0"):
        pace.set(speed=0.0)


def test_what_the_page_does_not_take_is_refused_by_name() -> None:
    said: dict[str, tuple[str, Any]] = {}
    seen: dict[str, tuple[int, str]] = {}

    def drive(address: str) -> None:
        bodies = ["", "[]", '{"speed": "fast"}', '{"speed": -1}', '{"speed": true}', '{"pause": true}', '{"paused": 1}']
        for body in [*bodies, '{"speed": 1' + "0" * 400 + "}", "[" * 900]:
            said[body[:20]] = say(address, body)
        seen["file"] = ask(address, "../server.py")
        seen["host"] = ask(address, "", {"Host": "example.org"})
        seen["port"] = ask(address, "", {"Host": "127.0.0.1"})
        for origin in ("http://example.org", "null", "http://127.0.0.1:1", f"https://{urlsplit(address).netloc}"):
            seen[origin] = ask(address, "page.js", {"Origin": origin})
        seen["own"] = ask(address, "page.js", {"Origin": f"http://{urlsplit(address).netloc}"})
        place = urlsplit(address)
        for path in ("/", "/page.js", "/events", f"/{'x' * 22}/page.js", place.path[:-2] + "/"):
            seen[f"token {path[:3]}{len(path)}"] = ask(f"http://{place.netloc}", path)
        seen["events"] = ask(address, "events")
        for path in ["", "page.js", "page.css", "mode.js"]:
            assert ask(address, path)[0] == 200

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert {name for name, _ in said.values()} == {"error"}
    assert said['{"speed": "fast"}'] == ("error", "speed is 'fast'; it must be a number above 0, or null")
    assert said['{"speed": -1}'] == ("error", "speed is -1.0; it must be above 0")
    assert ("error", "speed has 401 digits; null is as fast as it goes") in said.values()
    own = seen.pop("own")[0]
    statuses = {key: status for key, (status, _) in seen.items()}
    assert (own, statuses.pop("file"), statuses.pop("events")) == (200, 404, 426)
    assert len(statuses) == 11
    assert set(statuses.values()) == {403}
    assert "there is no ../server.py" in seen["file"][1]


def test_the_page_is_not_shown_within_others_and_is_what_it_says() -> None:
    heads: list[dict[str, str]] = []

    def drive(address: str) -> None:
        with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)) as connection:
            connection.request("GET", urlsplit(address).path)
            answer = connection.getresponse()
            assert b"default-src 'none'" in answer.read()
            heads.append(dict(answer.getheaders()))

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert heads[0]["X-Content-Type-Options"] == "nosniff"
    assert heads[0]["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert heads[0]["Referrer-Policy"] == "no-referrer"


def test_a_file_is_packed_for_who_takes_it_so() -> None:
    with Site(mode="watch") as site:
        place = urlsplit(site.address)
        for name in ("page.js", "mode.js", "page.js"):
            with closing(http.client.HTTPConnection(place.netloc, timeout=30)) as connection:
                connection.request("GET", place.path + name, headers={"Accept-Encoding": "gzip"})
                answer = connection.getresponse()
                assert answer.getheader("Content-Encoding") == "gzip"
                assert gzip.decompress(answer.read()).decode() == ask(site.address, name)[1]


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True), ("br, gzip;q=0.5", True), ("GZIP ; Q=1", True), ("*", True), ("x-gzip", True),
        ("gzip;q=0", False), ("gzip; q=0.000, *", False), ("*;q=0", False), ("br", False), ("", False),
        ("gzipped", False), ("gzip;q=much", False),
    ],
)  # fmt: skip
def test_a_file_is_packed_by_the_weights_of_who_asks(accepted: str, taken: bool) -> None:
    assert takes_gzip(accepted) == taken


def test_a_page_is_only_read_and_any_path_has_an_answer() -> None:
    def asked(method: str, path: bytes) -> bytes:
        with socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=30) as connection:
            connection.sendall(
                method.encode() + b" " + path + b" HTTP/1.1\r\nHost: " + place.netloc.encode() + b"\r\n\r\n"
            )
            with connection.makefile("rb") as told:
                return told.read()

    with Site(mode="watch") as site:
        place = urlsplit(site.address)
        path = place.path.encode()
        for method in ("POST", "PUT", "TRACE", "DELETE", "OPTIONS"):
            head = asked(method, path + b"page.css").partition(b"\r\n\r\n")[0]
            assert head.startswith(b"HTTP/1.1 405 ")
            assert b"\r\nAllow: GET, HEAD" in head
        head, _, body = asked("GET", path + b"page.css").partition(b"\r\n\r\n")
        assert asked("HEAD", path + b"page.css") == head + b"\r\n\r\n"
        assert body
        assert asked("GET", path + b"\xe9").startswith(b"HTTP/1.1 404 ")
        assert asked("GET", b"/\xff").startswith(b"HTTP/1.1 403 ")


def test_who_says_nothing_or_too_slowly_is_left_and_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellrate.watching.site.HEAD_S", 0.3)
    monkeypatch.setattr("cellrate.watching.site.MOST_CONNECTIONS", 8)
    silent: list[socket.socket] = []

    def drive(address: str) -> None:
        place = urlsplit(address)
        reached = (str(place.hostname), int(place.port or 0))
        silent.extend(socket.create_connection(reached, timeout=10) for _ in range(8))
        silent[0].sendall(b"GET / HTTP/1.1\r\nHost: ")
        # One more than there may be is closed without an answer.
        with socket.create_connection(reached, timeout=10) as other:
            assert other.recv(1) == b""
        for left in silent:
            assert left.recv(1000) == b""
            left.close()
        assert ask(address, "page.css")[0] == 200

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert len(silent) == 8


def test_a_server_without_descriptors_waits_and_goes_on() -> None:
    times: list[float] = []

    def drive(address: str) -> None:
        place = urlsplit(address)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        waiting = socket.socket()
        taken = [os.dup(waiting.fileno())]
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 1, hard))
        try:
            waiting.connect((str(place.hostname), int(place.port or 0)))
            began = time.process_time()
            time.sleep(0.5)
            times.append(time.process_time() - began)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            os.close(taken[0])
        waiting.sendall(handshake(address))
        waiting.settimeout(10)
        assert waiting.recv(12) == b"HTTP/1.1 101"
        waiting.close()

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    # A server that asks again and again takes all of it.
    assert times[0] < 0.4


def said_to(address: str, request: bytes) -> str:
    """Give the answer to a request."""
    place = urlsplit(address)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        # All but streams end at once.
        while not answer.startswith(b"HTTP/1.1 101") and (more := connection.recv(1000)):
            answer += more
        return answer.decode(errors="replace")


def test_a_stream_is_for_the_page_alone_and_for_web_sockets() -> None:
    answers: list[str] = []

    def drive(address: str) -> None:
        place = urlsplit(address)
        answers.append(said_to(address, handshake(address, "Origin: http://example.org")))
        answers.append(said_to(address, handshake(address, "Origin: null")))
        answers.append(said_to(address, handshake(address, "Origin: http://127.0.0.1")))
        answers.append(said_to(address, handshake(f"http://{place.netloc}/")))
        answers.append(said_to(address, f"GET {place.path}events HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()))
        answers.append(said_to(address, handshake(address, f"Origin: http://{place.netloc}")))

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert [answer.split()[1] for answer in answers] == ["403", "403", "403", "403", "426", "101"]


def test_a_viewer_that_leaves_is_missed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "VIEWERS_WITHIN_S", 1000.0)
    moments: list[float] = []

    def drive(address: str) -> None:
        # Nothing more is to come before the end: the run stands still.
        say(address, '{"paused": true}')
        place = urlsplit(address)
        connection = socket.create_connection((str(place.hostname), int(place.port or 0)))
        connection.sendall(handshake(address))
        assert connection.recv(12) == b"HTTP/1.1 101"

        def leave() -> None:
            connection.close()
            say(address, '{"speed": null, "paused": false}')
            moments.append(time.monotonic())

        threading.Timer(0.3, leave).start()

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=0.001, on_ready=drive)
    assert time.monotonic() - moments[0] < 500.0, "not the time that a viewer is waited for"


def test_requests_that_are_out_of_order_leave_the_terminal_alone(capfd: pytest.CaptureFixture[str]) -> None:
    answers: list[str] = []

    def drive(address: str) -> None:
        place = urlsplit(address)
        answers.append(said_to(address, b"POST /pace HTTP/1.1\r\nContent-Length: -1\r\n\r\n"))
        answers.append(said_to(address, b"\0\1\2\r\n\r\n"))
        answers.append(said_to(address, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n"))
        # More at once than a page has to say.
        with connect(address.replace("http", "ws", 1) + "events", max_size=None) as connection:
            connection.send("{}" * 600)
            with pytest.raises(ConnectionClosed):
                for _ in connection:
                    pass
        for _ in range(5):
            left = socket.create_connection((str(place.hostname), int(place.port or 0)))
            left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            left.sendall(f"GET {place.path}page.js HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode() * 100)
            left.close()
        time.sleep(0.3)

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert not any(" 200 " in answer.partition("\r\n")[0] for answer in answers)
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_watched_is_said_before_a_page_is_there(tmp_path: Path) -> None:
    def refused(text: str, **options: Any) -> str:
        with pytest.raises(cellrate.CellrateError) as caught:
            cellrate.watch(cellrate.Scenario.parse(text), on_ready=lambda _: pytest.fail("a page"), **options)
        return str(caught.value)

    assert "sweeps over 3 points; a page shows one run" in refused(SWEEP)
    assert refused(PAIR, speed=0.0) == "speed is 0.0; it must be above 0"
    assert refused(PAIR, speed=math.nan) == "speed is nan; it must be above 0"
    assert "no page at port 70000 of 127.0.0.1" in refused(PAIR, port=70000)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"no page at port {port} of 127.0.0.1" in refused(PAIR, port=port)


def test_the_command_says_where_the_page_is_and_writes_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(PAIR)
    viewers: list[Viewer] = []
    shown = print

    def told(*words: object, **options: Any) -> None:
        if words and str(words[0]).startswith("Open http://127.0.0.1:"):
            viewers.append(Viewer(str(words[0]).splitlines()[0].removeprefix("Open ")))
        shown(*words, **options)

    monkeypatch.setattr("builtins.print", told)
    assert status(["watch", str(file), "--speed", "1000", "--out", str(tmp_path / "out"), "--csv"]) == 0
    # Nothing behind the address, which who copies it would take along.
    assert re.search(r"^Open http://127\.0\.0\.1:\d+/[\w-]+/\nCtrl-C ends the run\.$", capsys.readouterr().out, re.M)
    assert (tmp_path / "out" / "summary.json").exists()
    assert viewers[0].events[-1][1]["figures"]["run"]["scenario"] == "pair"
    assert status(["watch", str(file), "--speed", "-1"]) == 2
    assert "speed is -1.0; it must be above 0" in capsys.readouterr().err


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests that need one."""
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def browsed(
    browser: Browser, look: Callable[[Browser, str], None], text: str = PAIR, **options: Any
) -> cellrate.Result:
    """A run that a browser looks at."""
    failures: list[BaseException] = []
    looking: list[threading.Thread] = []

    def body(address: str) -> None:
        try:
            with browser.apart():
                look(browser, address)
        except BaseException as error:
            failures.append(error)
            say(address, '{"speed": null, "paused": false}')
            # In case the run still waits for somebody.
            Viewer(address)

    def begin(address: str) -> None:
        looking.append(threading.Thread(target=body, args=[address], daemon=True))
        looking[0].start()

    result = cellrate.watch(cellrate.Scenario.parse(text), on_ready=begin, **options)
    looking[0].join(60)
    if failures:
        raise failures[0]
    return result


SPEED = "document.getElementById('speed')?.value"
"""How fast it goes, as a page that may still be loading says."""

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

pytestmark = pytest.mark.skipif(not (FOLDER / "page.js").is_file(), reason="the page has not been built here: make lab")


LENGTH = "cellrate.lab.store.track(cellrate.lab.store.head.panels[1].lines[0].series).times.length"
"""How many values the page has of the first line of the second panel."""

DRAWN = "typeof cellrate !== 'undefined' && cellrate.lab.store && cellrate.lab.panels.plots.length == 4"


@needs_browser
def test_a_browser_draws_the_panels_and_the_figures(browser: Browser) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        assert page.value("document.querySelectorAll('#panels canvas').length") == 4
        shown = page.value("document.body.innerText")
        assert "vc1" in shown
        assert "max-min fair rates" in shown
        assert page.value("document.querySelectorAll('#figures table').length") == 2
        lengths.append(page.value(LENGTH))

    lengths: list[int] = []
    result = browsed(browser, look, speed=0.02)
    assert lengths == [len(result.series("received").times_s)]


@needs_browser
def test_many_pages_of_one_browser_get_all_that_there_is(browser: Browser) -> None:
    def look(browser: Browser, address: str) -> None:
        # A browser opens six connections to a host and no more, but for WebSockets.
        pages = [browser.open(address) for _ in range(9)]
        for page in pages:
            page.until(DRAWN)
        pages[-1].value("document.getElementById('pause').click()")
        pages[-1].until(f"{SPEED} == 'stands still'")
        pages[-1].value("for (const id of ['pause', 'fastest']) document.getElementById(id).click()")
        for page in pages:
            page.until(f"{SPEED} == 'the run has ended'")
            lengths.append(page.value(LENGTH))

    lengths: list[int] = []
    result = browsed(browser, look, speed=1e-5)
    assert lengths == [len(result.series("received").times_s)] * 9


@needs_browser
def test_an_answer_that_comes_after_the_end_does_not_take_it_back(browser: Browser) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        page.value("cellrate.lab.more({ now_s: -1, series: [], cells: null, speed: 1, paused: true })")
        shown.append(page.value(SPEED))

    shown: list[str] = []
    browsed(browser, look, speed=math.inf)
    assert shown == ["the run has ended"]


@needs_browser
def test_panels_make_room_for_their_longest_number_and_share_their_time(browser: Browser) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        lefts = "cellrate.lab.panels.plots.map(({ plot }) => plot.bbox.left / devicePixelRatio)"
        before.extend(page.value(lefts))
        page.value(f"{LENGTH[: -len('.times.length')]}.values.values.fill(12345678); cellrate.lab.panels.update()")
        page.until("cellrate.lab.panels.plots[1].plot.scales.y.max > 1e7")
        after.extend(page.value(lefts))

    before: list[float] = []
    after: list[float] = []
    browsed(browser, look, speed=math.inf)
    assert len(set(before)) == len(set(after)) == 1
    # Two digits and a comma more than there is room for.
    assert after[0] > before[0] + 15


@needs_browser
def test_what_was_watched_can_be_run_again_in_the_page(browser: Browser) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        if not page.value("cellrate.lab.simulates"):
            return
        page.until("!document.getElementById('again').disabled")
        first.append(page.value("JSON.stringify(cellrate.lab.summary.vcs)"))
        page.value("document.getElementById('again').click()")
        page.until("cellrate.lab.summary && cellrate.lab.summary.ports.length && !cellrate.lab.store.head.live")
        page.until(f"{SPEED} == 'the run has ended'")
        again.append(page.value("JSON.stringify(cellrate.lab.summary.vcs.filter((row) => row.data_sent))"))

    first: list[str] = []
    again: list[str] = []
    browsed(browser, look, speed=math.inf)
    if not first:
        pytest.skip("the page was built without the simulator")
    assert json.loads(first[0]) == json.loads(again[0])


def test_a_class_reaches_the_run_where_it_is_served_to_all(capsys: pytest.CaptureFixture[str]) -> None:
    from cellrate.command_line.output import say_where
    from cellrate.watching.site import names_of_machine

    viewers: list[Viewer] = []

    def drive(address: str) -> None:
        say_where(address, "0.0.0.0")
        told = capsys.readouterr().out
        assert told.startswith(f"Open {address}\nOn other machines")
        assert told.endswith("\nCtrl-C ends the run.\n")
        others = [line.strip() for line in told.splitlines() if line.startswith("  http")]
        assert len(others) == len(names_of_machine())
        assert all(other.rpartition(":")[2] == address.rpartition(":")[2] for other in others)
        viewers.append(Viewer(others[-1]))

    result = cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, host="0.0.0.0", on_ready=drive)
    viewers[0].join(30)
    assert not viewers[0].is_alive()
    assert viewers[0].events[-1][0] == "more"
    assert result.summary["vcs"]
    say_where("http://127.0.0.1:1/token/", "127.0.0.1")
    assert capsys.readouterr().out == "Open http://127.0.0.1:1/token/\nCtrl-C ends the run.\n"
