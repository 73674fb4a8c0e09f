"""iperf3: its own figures of goodput, losses and jitter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..process import Program, Ready, Running
from . import Application, Plan, Surroundings

FIRST_PORT = 5201
CLOSING_S = 1.0
"""What iperf3 needs of the network after it has sent, to tell the other side its figures [s]."""


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
        words += ["--bitrate", str(settings["rate_bps"])]
    if settings["length_octets"] is not None:
        words += ["--length", str(settings["length_octets"])]
    elif settings["udp"]:
        # Its own choice follows the MTU of loopback on some versions.
        words += ["--length", str(min(around.mtu_octets - 28, 65_507))]
    client = Program("client", around.host, words)

    def read(ran: Mapping[str, Running]) -> dict[str, Any]:
        return summary(json.loads(ran["client"].output() or "{}"))

    return Plan([server], [client], result=read, needs=["iperf3"])


def summary(told: dict[str, Any]) -> dict[str, Any]:
    """Give the figures that matter out of iperf3's JSON."""
    if "error" in told or "end" not in told or not told["end"].get("streams"):
        return {"error": told.get("error", "iperf3 gave no figures")}
    end = told["end"]
    received = end.get("sum_received") or end["sum"]
    intervals = [interval["sum"] for interval in told.get("intervals", [])]
    figures = {
        "seconds": received["seconds"],
        "octets": received["bytes"],
        "goodput_bps": received["bits_per_second"],
        "step_s": 1.0,
        "sent_bps_per_step": [interval["bits_per_second"] for interval in intervals],
    }
    if "sum_sent" in end and "retransmits" in end["sum_sent"]:
        figures["retransmissions"] = end["sum_sent"]["retransmits"]
        senders = [stream["sender"] for stream in end["streams"]]
        figures["mean_rtt_s"] = sum(sender["mean_rtt"] for sender in senders) / len(senders) / 1e6
        figures["max_cwnd_octets"] = max(sender["max_snd_cwnd"] for sender in senders)
    if "sum" in end and "lost_packets" in end["sum"]:
        figures["datagrams"] = end["sum"]["packets"]
        figures["lost"] = end["sum"]["lost_packets"]
        figures["jitter_s"] = end["sum"]["jitter_ms"] / 1e3
        # The sender's octets stand in `sum`; what came is those that were not lost.
        share = 1 - figures["lost"] / max(1, figures["datagrams"])
        figures["octets"] = round(end["sum"]["bytes"] * share)
        figures["goodput_bps"] = end["sum"]["bits_per_second"] * share
    return figures
