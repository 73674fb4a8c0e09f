"""Latency under load and repeated live runs: what is made of pings and of several runs, without hosts."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

from cellrate.errors import CellrateError
from cellrate.live import repeated
from cellrate.live.applications import Application, ping
from cellrate.live.applications.series import series_of
from cellrate.live.table import network_parts, print_repeated
from cellrate.live.under_load import UnderLoad, under_load
from cellrate.terminal import Console

OUTPUT = """\
PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.
64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=8.00 ms
64 bytes from 10.0.0.1: icmp_seq=3 ttl=64 time=9.50 ms
64 bytes from 10.0.0.1: icmp_seq=3 ttl=64 time=99.0 ms (DUP!)
64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=1010 ms

--- 10.0.0.1 ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, 25% packet loss, time 600ms
"""


def row(name: str, kind: str, result: dict[str, Any], span: tuple[float, float] = (0.0, 10.0), **more: Any) -> Any:
    told = {"application": name, "kind": kind, "ended": "by itself", "failed": False, "result": result}
    return {**told, "start_s": span[0], "end_s": span[1], **more}


def summary(*rows: Any, passed: bool = True, **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"vcs": [], "ports": [], "links": [], "kernels": []}
    return {"run": {"duration_s": 10.0}, "applications": [*rows], "timing": {"passed": passed}, **empty, **more}


def pinged(*round_trips: tuple[float, float]) -> dict[str, Any]:
    found = ping.distribution([rtt_s for _, rtt_s in round_trips])
    return {"sent": len(round_trips), "received": len(round_trips), **found, "round_trips": [*map(list, round_trips)]}


def test_answers_have_the_instants_of_their_requests_and_count_once() -> None:
    found = ping.summary(OUTPUT, 4, 2.0, 0.2)
    assert (found["sent"], found["received"]) == (4, 3)
    assert found["round_trips"] == [[2.0, 0.008], [pytest.approx(2.2), 1.01], [pytest.approx(2.4), 0.0095]]
    assert (found["median_rtt_s"], found["p99_rtt_s"], found["max_rtt_s"]) == (0.0095, 1.01, 1.01)
    assert ping.summary("", 4, 2.0, 0.2) == {"error": "no request was answered"}


def test_a_ping_without_time_for_an_answer_is_refused() -> None:
    def has(seconds: float) -> Application:
        return Application("p", "ping", "a", "b", 1.0, 1.0 + seconds, {"interval_s": 0.2, "size_octets": 56})

    ping.check(has(1.3))
    with pytest.raises(CellrateError, match=r'application "p": ping has 1.1 s, from 1 s to 2.1 s'):
        ping.check(has(1.1))


def test_requests_beside_a_load_are_told_from_those_alone() -> None:
    steps = {"octets_per_step": [1000, 1000], "step_s": 1.0}
    trips = [(0.0, 0.01), (0.9, 0.2), (1.0, 0.03), (2.9, 0.05), (3.9, 0.3), (4.0, 0.012), (9.0, 0.011)]
    told = summary(
        row("p", "ping", pinged(*trips)),
        row("down", "iperf3", steps, (1.0, 9.5)),
        row("later", "ftp", {}, (4.0, 8.0), ended=None),
        row("other", "command", {}),
    )
    # The load ends with what it sent, at 3 s, and its queue within a second; a request whose answer finds its beginning
    # is neither.
    (found,) = under_load(told)
    assert (found.ping, found.loads) == ("p", ("down",))
    assert found.idle == ping.distribution([0.01, 0.012, 0.011])
    assert found.loaded == ping.distribution([0.03, 0.05])
    assert found.increase_s == pytest.approx(0.029)
    said = [part for part in network_parts(told, []) if isinstance(part, str)]
    alone, beside = "median 11.00 ms (99 %: 12.00 ms) alone", "40.00 ms (99 %: 50.00 ms) beside down"
    assert said == [f"Latency under load, p: {alone}, {beside}: +29.00 ms"]


def test_no_load_or_no_time_alone_makes_no_difference_up() -> None:
    alone = row("p", "ping", pinged((0.0, 0.01)))
    assert under_load(summary(alone)) == []
    assert under_load(summary()) == []
    always = under_load(summary(alone, row("v", "voice", {})))
    assert always == [UnderLoad("p", ("v",), None, ping.distribution([0.01]))]
    assert always[0].increase_s is None
    assert under_load(summary(row("p", "ping", {"error": "no request was answered"}), row("v", "voice", {}))) == []


def test_series_of_applications_lie_where_they_happened() -> None:
    steps = {"octets_per_step": [1000, 500], "step_s": 0.5}
    goodput, trips = series_of(
        summary(row("down", "ftp", steps, (9.0, 10.0)), row("p", "ping", pinged((1.0, 0.01), (1.2, 0.02))))
    )
    assert (goodput.probe, goodput.entity, goodput.unit) == ("goodput", "down", "bit/s")
    assert (goodput.times_s.tolist(), goodput.values.tolist()) == ([9.0, 9.5, 10.0], [16000.0, 8000.0, 0.0])
    assert (trips.probe, trips.at(1.1), trips.at(5.0)) == ("round_trip", 0.01, 0.02)


def test_means_are_over_runs_in_time_and_say_so() -> None:
    def run(mbps: float | None, passed: bool = True) -> dict[str, Any]:
        return summary(row("bulk", "iperf3", {"goodput_bps": mbps and mbps * 1e6}, failed=mbps is None), passed=passed)

    runs = [run(8.0), run(9.0), run(100.0, passed=False), run(10.0), run(None)]
    (found,) = repeated.means(runs)
    # Student's t of two degrees of freedom: 4.3027.
    assert (found.of, found.figure, found.mean.mean, found.mean.n) == ("bulk", "goodput", 9e6, 3)
    assert found.mean.half_width == pytest.approx(4.30265 * 1e6 / math.sqrt(3), rel=1e-5)
    assert repeated.content([found])[0]["ci95"] == found.mean.half_width
    out = io.StringIO()
    print_repeated(Console(file=out, width=200), runs)
    assert "goodput [Mbps]" in out.getvalue()
    assert "9.000 ± 2.484" in out.getvalue().replace("+-", "±")
    assert "Means over the 4 of 5 runs that were in time" in out.getvalue()


def test_a_single_run_in_time_has_no_interval() -> None:
    bulk = row("bulk", "iperf3", {"goodput_bps": 8e6})
    runs = [summary(bulk), summary(bulk, passed=False)]
    (found,) = repeated.means(runs)
    assert found.mean.half_width is None
    assert repeated.remark(runs) == "Means over the 1 of 2 runs that were in time: too few for an interval."
    late = [summary(bulk, passed=False)] * 2
    assert repeated.means(late) == []
    assert repeated.remark(late) == "None of the 2 runs was in time: there are no means."
