"""Record of the hosts' kernels after a run: devices, sockets, settings."""

from __future__ import annotations

import json

from .process import HostLike, ask

DEVICE = "atm0"
SETTINGS = (
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv6.conf.all.disable_ipv6",
)


def sockets(host: HostLike) -> str:
    """`ss -tin`: every TCP connection with its window, round trip, retransmissions."""
    return ask(host, ["ss", "-Htin"])


def settings(host: HostLike) -> dict[str, str]:
    """Kernel settings, by name; those that this kernel has."""
    files = [f"/proc/sys/{name.replace('.', '/')}" for name in SETTINGS]
    lines = ask(host, ["sh", "-c", 'for f; do [ -r "$f" ] && echo "$f" $(cat "$f"); done', "sh", *files])
    found = {}
    for line in lines.splitlines():
        file, _, value = line.partition(" ")
        found[file.removeprefix("/proc/sys/").replace("/", ".")] = value
    return found


def device(host: HostLike) -> dict[str, object]:
    """Counters of the host's device: what the host sent, what its ring lost, what it got."""
    told = json.loads(ask(host, ["ip", "-s", "-j", "link", "show", DEVICE]) or "[]")
    if not told:
        return {}
    counters = told[0].get("stats64", told[0].get("stats", {}))
    return {
        "mtu_octets": told[0]["mtu"],
        "transmit_queue": told[0]["txqlen"],
        "sent_packets": counters["tx"]["packets"],
        "sent_octets": counters["tx"]["bytes"],
        "ring_dropped": counters["tx"]["dropped"],
        "received_packets": counters["rx"]["packets"],
        "received_octets": counters["rx"]["bytes"],
    }


def routes(host: HostLike) -> str:
    """`ip route`, with what TCP is told by it."""
    return ask(host, ["ip", "route", "show"]).strip()
