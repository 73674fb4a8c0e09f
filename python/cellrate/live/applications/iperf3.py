"""iperf3: its own figures of goodput, losses and jitter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ...errors import CellrateError
from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings

FIRST_PORT = 5201
CLOSING_S = 1.0
"""Time that iperf3 needs of the network after it has sent, to tell the other side its figures [s]."""


WHOLE_SECOND = 0.95
"""Shorter intervals are the rest of a second [s]."""


def check(application: Application) -> None:
    """See that there is time for it.

    Raises
    ------
    CellrateError
        If the application has no time to run.
    """
    has_s = application.end_s - application.start_s
    if has_s <= CLOSING_S:
        raise CellrateError(
            f'application "{application.name}": iperf3 has {has_s:g} s, from {application.start_s:g} s to '
            f"{application.end_s:g} s; it must have more than {CLOSING_S:g} s, because it sends for whole seconds and "
            "then needs the network to tell the other side its figures"
        )


def plan(application: Application, around: Surroundings) -> Plan:
    """The server on the peer, which receives; the client on the host, which sends."""
    port = FIRST_PORT + around.number
    settings = application.settings
    seconds = max(1, math.floor(application.end_s - application.start_s - CLOSING_S))
    server = Program(
        "server",
        around.peer,
        ["iperf3", "--server", "--one-off", "--json", "--bind", around.peer.address, "--port", str(port)],
        ready=Ready(port=port),
    )
    words = ["iperf3", "--client", around.peer.address, "--port", str(port), "--json", "--time", str(seconds)]
    words += ["--parallel", str(settings["streams"])]
    if settings["udp"]:
        words.append("--udp")
    if settings["rate_bps"] is not None:
        # Its own is that of each stream; 0 would be without limit.
        words += ["--bitrate", str(max(1, round(settings["rate_bps"] / settings["streams"])))]
    if settings["length_octets"] is not None:
        words += ["--length", str(settings["length_octets"])]
    elif settings["udp"]:
        # Its own choice follows the MTU of loopback on some versions.
        words += ["--length", str(min(around.mtu_octets - 28, 65_507))]
    client = Program("client", around.host, words)

    def read(ran: Mapping[str, Running]) -> dict[str, Any]:
        return summary(json.loads(ran["client"].output() or "{}"), json.loads(ran["server"].output() or "{}"))

    return Plan([server], [client], result=read, needs=["iperf3"])


def summary(sender: dict[str, Any], receiver: dict[str, Any]) -> dict[str, Any]:
    """Give the figures that matter out of the JSON of both sides.

    Goodput is what came in the receiver's whole seconds: its sum also counts the time, a round trip or so, in which it
    learns that there is no more.
    """
    for told in (sender, receiver):
        if "error" in told or not told.get("end", {}).get("streams"):
            return {"error": told.get("error", "iperf3 gave no figures")}
    seconds = [interval["sum"] for interval in receiver["intervals"] if interval["sum"]["seconds"] > WHOLE_SECOND]
    span = sum(interval["seconds"] for interval in seconds)
    octets = sum(interval["bytes"] for interval in seconds)
    figures: dict[str, Any] = {
        "octets": octets,
        "seconds": span,
        "goodput_bps": octets * 8 / span if span else None,
        "step_s": 1.0,
        "octets_per_step": [interval["bytes"] for interval in seconds],
    }
    end = sender["end"]
    if "retransmits" in end.get("sum_sent", {}):
        figures["retransmissions"] = end["sum_sent"]["retransmits"]
        senders = [stream["sender"] for stream in end["streams"]]
        figures["mean_rtt_s"] = sum(one["mean_rtt"] for one in senders) / len(senders) / 1e6
        figures["max_cwnd_octets"] = max(one["max_snd_cwnd"] for one in senders)
    if "lost_packets" in end.get("sum", {}):
        figures["datagrams"] = end["sum"]["packets"]
        figures["lost"] = end["sum"]["lost_packets"]
        figures["jitter_s"] = end["sum"]["jitter_ms"] / 1e3
    return figures
