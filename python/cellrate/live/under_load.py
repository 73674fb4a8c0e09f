"""Latency under load: the round trips of `ping` alone, and beside the applications that send meanwhile.

It is what flent's tests, rrul above all, are run for: how much longer a request takes while files go both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .applications.ping import distribution

SETTLES_S = 1.0
"""How long a load is behind a request that counts as alone [s]: queues have to drain."""

LOADS = ("ftp", "iperf3", "video", "voice", "web")
"""Kinds of applications that send."""


@dataclass(frozen=True)
class UnderLoad:
    """The round trips of a ping, those without and those with a load."""

    ping: str
    """Name of the application."""
    loads: tuple[str, ...]
    """Names of the applications that sent meanwhile."""
    idle: dict[str, float] | None
    """Median, 99th percentile and maximum while nothing else sent [s]; None if nothing was answered then."""
    loaded: dict[str, float] | None
    """Median, 99th percentile and maximum while something did [s]."""

    @property
    def increase_s(self) -> float | None:
        """By how much the median is longer under load [s]; None where one of the two is not known."""
        if self.idle is None or self.loaded is None:
            return None
        return self.loaded["median_rtt_s"] - self.idle["median_rtt_s"]


def under_load(summary: dict[str, Any]) -> list[UnderLoad]:
    """Give the latency under load of each ping of a live run that has other applications, in the order of the file."""
    rows = summary.get("applications", [])
    spans = {row["application"]: span for row in rows if row["kind"] in LOADS and (span := _span(row)) is not None}
    if not spans:
        return []
    return [_split(row, spans) for row in rows if row["kind"] == "ping" and row["result"].get("round_trips")]


def _split(row: dict[str, Any], spans: dict[str, tuple[float, float]]) -> UnderLoad:
    idle, loaded = [], []
    meanwhile: set[str] = set()
    for at_s, rtt_s in row["result"]["round_trips"]:
        sending = {name for name, (begin_s, end_s) in spans.items() if begin_s <= at_s < end_s}
        # A request before a load whose answer finds it, and one soon behind it, are neither.
        if sending:
            loaded.append(rtt_s)
            meanwhile |= sending
        elif not any(begin_s - rtt_s < at_s < end_s + SETTLES_S for begin_s, end_s in spans.values()):
            idle.append(rtt_s)
    return UnderLoad(
        row["application"],
        tuple(name for name in spans if name in meanwhile),
        distribution(idle) if idle else None,
        distribution(loaded) if loaded else None,
    )


def _span(row: dict[str, Any]) -> tuple[float, float] | None:
    """Give from when to when an application sent [s]; None if it did not start."""
    if row["ended"] is None:
        return None
    steps = row["result"].get("octets_per_step")
    end_s = row["end_s"] if steps is None else row["start_s"] + len(steps) * row["result"]["step_s"]
    return row["start_s"], min(row["end_s"], end_s)


def sentences(summary: dict[str, Any]) -> Iterator[str]:
    """Give what to say of the latency under load, a sentence for each ping."""
    for one in under_load(summary):
        if one.loaded is None:
            continue
        beside = f"beside {', '.join(one.loads)}"
        loaded = f"{_ms(one.loaded['median_rtt_s'])} (99 %: {_ms(one.loaded['p99_rtt_s'])}) {beside}"
        if one.idle is None:
            yield f"Latency under load, {one.ping}: median {loaded}; it was never alone"
            continue
        increase = one.increase_s or 0.0
        yield (
            f"Latency under load, {one.ping}: median {_ms(one.idle['median_rtt_s'])} "
            f"(99 %: {_ms(one.idle['p99_rtt_s'])}) alone, {loaded}: {increase * 1e3:+.2f} ms"
        )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
