"""ping: round trips, each with the instant of its request."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import CellrateError
from ..process import Program, Running
from .planned import Application, Plan, Surroundings

WAITS_S = 1.0
"""How long the answer to the last request is waited for [s]."""

ANSWER = re.compile(r"icmp_seq=(\d+) .*time=([\d.]+) ms")


def check(application: Application) -> None:
    """See that there is time for a request and its answer.

    Raises
    ------
    CellrateError
        If the time is too short for a request.
    """
    if _requests(application) < 1:
        raise CellrateError(
            f'application "{application.name}": ping has {application.end_s - application.start_s:g} s, from '
            f"{application.start_s:g} s to {application.end_s:g} s; it must have {WAITS_S:g} s at least for the answer "
            "to its last request, and time for that"
        )


def plan(application: Application, around: Surroundings) -> Plan:
    """The requests on the host; the peer's kernel answers."""
    settings = application.settings
    interval_s = settings["interval_s"]
    sent = _requests(application)
    words = ["ping", "-n", "-c", str(sent), "-i", f"{interval_s:g}", "-s", str(settings["size_octets"])]
    words += ["-W", f"{WAITS_S:g}", around.peer.address]

    def read(ran: Mapping[str, Running]) -> dict[str, Any]:
        return summary(ran["client"].output(), sent, application.start_s, interval_s)

    return Plan(foreground=[Program("client", around.host, words)], result=read, needs=["ping"])


def _requests(application: Application) -> int:
    has_s = application.end_s - application.start_s - WAITS_S
    return math.floor(has_s / float(application.settings["interval_s"]))


def summary(output: str, sent: int, start_s: float, interval_s: float) -> dict[str, Any]:
    """Give the figures that matter out of what ping prints.

    Parameters
    ----------
    output
        A line for each answer; one that comes twice counts once.
    sent
        Requests [1 or more].
    start_s
        When the first was sent, in the network's time [s].
    interval_s
        From a request to the next [s].
    """
    round_trips: dict[int, float] = {}
    for number, ms in ANSWER.findall(output):
        round_trips.setdefault(int(number), float(ms) / 1e3)
    if not round_trips:
        return {"error": "no request was answered"}
    answers = [[start_s + (number - 1) * interval_s, rtt_s] for number, rtt_s in sorted(round_trips.items())]
    return {
        "sent": sent,
        "received": len(answers),
        **distribution([rtt_s for _, rtt_s in answers]),
        "round_trips": answers,
    }


def distribution(round_trips_s: Sequence[float]) -> dict[str, float]:
    """Give median, 99th percentile and maximum of one or more round trips [s]."""
    ordered = sorted(round_trips_s)
    return {
        "median_rtt_s": statistics.median(ordered),
        "p99_rtt_s": ordered[math.ceil(0.99 * len(ordered)) - 1],
        "max_rtt_s": ordered[-1],
    }
