"""The kinds of applications: what each runs on its two hosts, and how its result is read.

A kind is a function from an `Application` and its surroundings to a `Plan`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import command, ftp, iperf3, ping, quic, video, voice, web
from .planned import Application, Plan, Surroundings

__all__ = ["Application", "Plan", "Surroundings", "check", "plan"]

KINDS: dict[str, Callable[[Application, Surroundings], Plan]] = {
    "command": command.plan,
    "ftp": ftp.plan,
    "iperf3": iperf3.plan,
    "ping": ping.plan,
    "quic-download": quic.plan,
    "quic-player": quic.plan,
    "video": video.plan,
    "voice": voice.plan,
    "web": web.plan,
}


def check(application: Application) -> None:
    """See that an application can be run, as far as the scenario says.

    Raises
    ------
    CellrateError
        If it cannot.
    """
    if application.kind == "iperf3":
        iperf3.check(application)
    if application.kind == "ping":
        ping.check(application)
    if application.kind.startswith("quic-"):
        quic.check(application)


def plan(application: Application, surroundings: Surroundings) -> Plan:
    """Plan an application of any kind."""
    return KINDS[application.kind](application, surroundings)
