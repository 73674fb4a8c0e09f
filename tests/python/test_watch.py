from __future__ import annotations

import http.client
import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import cellrate
from browsing import CHROMIUM, Browser
from cellrate.command_line.main import status
from cellrate.watching.pace import Pace
from conftest import PAIR, SWEEP


class Viewer(threading.Thread):
    """Opens the page and takes all events, until the stream ends."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.place = urlsplit(address).netloc
        self.events: list[tuple[str, Any]] = []
        self.start()

    def run(self) -> None:
        host, port = self.place.split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile("rb") as told:
            # The key and its answer of RFC 6455, 1.3.
            connection.sendall(handshake(self.place))
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


def handshake(place: str, *more: str) -> bytes:
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    lines = ["GET /events HTTP/1.1", f"Host: {place}", "Upgrade: websocket", "Connection: Upgrade", key, *more]
    return ("\r\n".join([*lines, "Sec-WebSocket-Version: 13"]) + "\r\n\r\n").encode()


def ask(
    address: str, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)) as connection:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


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
    assert [panel["axis"] for panel in panels] == ["ACR [Mbps]", "cells received", "forward_rm [cells]", "z"]
    assert panels[0]["lines"][0]["level"] == pytest.approx(0.9 * 155.52e6 / 424, rel=1e-3)
    assert panels[1]["lines"][0]["level"] is None
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
    answers: list[tuple[int, str]] = []

    def drive(address: str) -> None:
        viewer = Viewer(address)

        def change() -> None:
            answers.append(ask(address, "POST", "/pace", '{"paused": true}'))
            begun.wait(0.3)
            count = len(viewer.events)
            begun.wait(0.3)
            answers.append((len(viewer.events) - count, ""))
            answers.append(ask(address, "POST", "/pace", '{"speed": null, "paused": false}'))

        threading.Thread(target=change, daemon=True).start()

    started = time.monotonic()
    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=1e-6, on_ready=drive)
    assert time.monotonic() - started > 0.6
    assert answers[0] == (200, '{"speed": 1e-06, "paused": true}')
    assert answers[1] == (0, "")
    assert answers[2] == (200, '{"speed": null, "paused": false}')


def test_a_pace_counts_from_when_it_was_set() -> None:
    pace = Pace(0.001)
    pace.begin()
    started = time.monotonic()
    threading.Timer(0.1, lambda: pace.set(speed=1.0)).start()
    # Ten seconds at the first speed.
    pace.hold(0.01)
    assert 0.09 < time.monotonic() - started < 5.0
    assert pace.held_s == pytest.approx(time.monotonic() - started, abs=0.05)
    with pytest.raises(ValueError, match=r"speed is 0\.0; it must be above 0"):
        pace.set(speed=0.0)


def test_what_the_page_does_not_take_is_refused_by_name() -> None:
    seen: dict[str, tuple[int, str]] = {}

    def drive(address: str) -> None:
        for body in ["", "[]", '{"speed": "fast"}', '{"speed": -1}', '{"speed": true}', '{"pause": true}', "{}" * 600]:
            seen[body[:20]] = ask(address, "POST", "/pace", body)
        seen["paused"] = ask(address, "POST", "/pace", '{"paused": 1}')
        seen["path"] = ask(address, "POST", "/run", "{}")
        seen["file"] = ask(address, "GET", "/../server.py")
        seen["host"] = ask(address, "GET", "/", headers={"Host": "example.org"})
        seen["origin"] = ask(address, "POST", "/pace", "{}", {"Origin": "http://example.org"})
        seen["own"] = ask(address, "POST", "/pace", "{}", {"Origin": address.rstrip("/")})
        for path in ["/", "/page.js", "/page.css", "/uPlot.js", "/uPlot.css"]:
            assert ask(address, "GET", path)[0] == 200

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert {key: status for key, (status, _) in seen.items()} == {
        **dict.fromkeys(["", "[]", '{"speed": "fast"}', '{"speed": -1}', '{"speed": true}', '{"pause": true}'], 400),
        "{}" * 10: 400,
        "paused": 400,
        "path": 404,
        "file": 404,
        "host": 403,
        "origin": 403,
        "own": 200,
    }
    assert seen['{"speed": "fast"}'][1] == "speed is 'fast'; it must be a number above 0, or null\n"
    assert seen['{"speed": -1}'][1] == "speed is -1.0; it must be above 0\n"
    assert "there is no /../server.py" in seen["file"][1]


def said_to(address: str, request: bytes) -> str:
    """What a request is answered with."""
    place = urlsplit(address)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        # All but streams end at once.
        while not answer.startswith(b"HTTP/1.1 101") and (more := connection.recv(1000)):
            answer += more
        return answer.decode(errors="replace")


def test_a_stream_is_for_pages_of_this_machine_and_for_web_sockets() -> None:
    answers: list[str] = []

    def drive(address: str) -> None:
        place = urlsplit(address).netloc
        answers.append(said_to(address, handshake(place, "Origin: http://example.org")))
        answers.append(said_to(address, handshake(place, "Origin: null")))
        answers.append(said_to(address, f"GET /events HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()))
        answers.append(said_to(address, handshake(place, f"Origin: http://{place}")))

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert [answer.split()[1] for answer in answers] == ["403", "403", "426", "101"]


def test_a_viewer_that_leaves_is_missed_at_once() -> None:
    moments: list[float] = []

    def drive(address: str) -> None:
        # Nothing more is to come before the end: the run stands still.
        ask(address, "POST", "/pace", '{"paused": true}')
        place = urlsplit(address)
        connection = socket.create_connection((str(place.hostname), int(place.port or 0)))
        connection.sendall(handshake(place.netloc))
        assert connection.recv(12) == b"HTTP/1.1 101"

        def leave() -> None:
            connection.close()
            ask(address, "POST", "/pace", '{"speed": null, "paused": false}')
            moments.append(time.monotonic())

        threading.Timer(0.3, leave).start()

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=0.001, on_ready=drive)
    assert time.monotonic() - moments[0] < 3.0, "not the five seconds that a viewer is waited for"


def test_requests_that_are_out_of_order_leave_the_terminal_alone(capfd: pytest.CaptureFixture[str]) -> None:
    answers: list[str] = []

    def drive(address: str) -> None:
        place = urlsplit(address)
        for length in ("-1", "1001", "many"):
            head = f"POST /pace HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: {length}\r\n\r\n"
            answers.append(said_to(address, head.encode()))
        bodies = ('{"speed": 1' + "0" * 400 + "}", "[" * 1000)
        answers.extend(ask(address, "POST", "/pace", body)[1] for body in bodies)
        for _ in range(5):
            left = socket.create_connection((str(place.hostname), int(place.port or 0)))
            left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            left.sendall(f"GET /uPlot.js HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode() * 100)
            left.close()
        time.sleep(0.3)

    cellrate.watch(cellrate.Scenario.parse(PAIR), speed=math.inf, on_ready=drive, wait=False)
    assert "Content-Length is -1; it must be from 0 to 1000" in answers[0]
    assert "Content-Length is 1001; it must be from 0 to 1000" in answers[1]
    assert " 400 " in answers[2]
    assert answers[3] == "speed has 401 digits; null is as fast as it goes\n"
    assert answers[4].startswith("lists within lists") or "Expecting value" in answers[4]
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_watched_is_said_before_a_page_is_there(tmp_path: Path) -> None:
    def refused(text: str, **options: Any) -> str:
        with pytest.raises(cellrate.CellrateError) as caught:
            cellrate.watch(cellrate.Scenario.parse(text), on_ready=lambda _: pytest.fail("a page"), **options)
        return str(caught.value)

    assert "sweeps over 3 points; a page shows one run" in refused(SWEEP)
    assert "records nothing to watch; add a [[probe]]" in refused(PAIR.split("[[probe]]")[0])
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
            viewers.append(Viewer(str(words[0]).split()[1].rstrip(";")))
        shown(*words, **options)

    monkeypatch.setattr("builtins.print", told)
    assert status(["watch", str(file), "--speed", "1000", "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert "Ctrl-C ends the run." in capsys.readouterr().out
    assert (tmp_path / "out" / "summary.json").exists()
    assert viewers[0].events[-1][1]["figures"]["run"]["scenario"] == "pair"
    assert status(["watch", str(file), "--speed", "-1"]) == 2
    assert "speed is -1.0; it must be above 0" in capsys.readouterr().err


def browsed(tmp_path: Path, look: Callable[[Browser, str], None], text: str = PAIR, **options: Any) -> cellrate.Result:
    """A run that a browser looks at."""
    failures: list[BaseException] = []
    looking: list[threading.Thread] = []

    def body(address: str) -> None:
        try:
            with Browser(tmp_path / "browser") as browser:
                look(browser, address)
        except BaseException as error:
            failures.append(error)
            ask(address, "POST", "/pace", '{"speed": null, "paused": false}')
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


@needs_browser
def test_a_browser_draws_the_panels_and_the_figures(tmp_path: Path) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        assert page.value("document.querySelectorAll('canvas').length") == 4
        shown = page.value("document.body.innerText")
        assert "vc1" in shown
        assert "max-min fair rates" in shown
        lengths.append(page.value("panels[1].lines[0].times.length"))

    lengths: list[int] = []
    result = browsed(tmp_path, look, speed=0.02)
    assert lengths == [len(result.series("received").times_s)]


@needs_browser
def test_many_pages_of_one_browser_get_all_that_there_is(tmp_path: Path) -> None:
    def look(browser: Browser, address: str) -> None:
        # A browser opens six connections to a host and no more, but for WebSockets.
        pages = [browser.open(address) for _ in range(9)]
        for page in pages:
            page.until("typeof panels !== 'undefined' && panels.length == 4")
        pages[-1].value("pause.click()")
        pages[-1].until(f"{SPEED} == 'stands still'")
        pages[-1].value("pause.click(); fastest.click()")
        for page in pages:
            page.until(f"{SPEED} == 'the run has ended'")
            lengths.append(page.value("panels[1].lines[0].times.length"))

    lengths: list[int] = []
    result = browsed(tmp_path, look, speed=1e-5)
    assert lengths == [len(result.series("received").times_s)] * 9


@needs_browser
def test_an_answer_that_comes_after_the_end_does_not_take_it_back(tmp_path: Path) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until("typeof panels !== 'undefined' && panels.length == 4")
        page.value("""
            asked = window.fetch;
            held = new Promise((go) => { answer_now = go; });
            window.fetch = async (...request) => {
              const answer = await asked(...request);
              await held;
              return answer;
            };
            null""")
        page.value("fastest.click()")
        page.until(f"{SPEED} == 'the run has ended'")
        page.value("pace.isOld = true; answer_now()")
        page.until("!pace.isOld")
        shown.append(page.value(SPEED))

    shown: list[str] = []
    browsed(tmp_path, look, speed=1e-5)
    assert shown == ["the run has ended"]


@needs_browser
def test_panels_make_room_for_their_longest_number_and_share_their_time(tmp_path: Path) -> None:
    def look(browser: Browser, address: str) -> None:
        page = browser.open(address)
        page.until(f"{SPEED} == 'the run has ended'")
        before.extend(page.value("panels.map((panel) => panel.plot.bbox.left / devicePixelRatio)"))
        page.value("panels[1].lines[0].values = panels[1].lines[0].values.map(() => 12345678); draw()")
        page.until("panels[1].plot.scales.y.max > 1e7")
        after.extend(page.value("panels.map((panel) => panel.plot.bbox.left / devicePixelRatio)"))

    before: list[float] = []
    after: list[float] = []
    browsed(tmp_path, look, speed=math.inf)
    assert len(set(before)) == len(set(after)) == 1
    # Two digits and a comma more than there is room for.
    assert after[0] > before[0] + 15
