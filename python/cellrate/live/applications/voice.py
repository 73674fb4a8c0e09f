"""G.711 over RTP, sent by GStreamer; redundancy after RFC 2198, if wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..playout import hear
from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings, program_words

FIRST_PORT = 5600


def plan(application: Application, around: Surroundings) -> Plan:
    """The sender on the host, the receiver on the peer."""
    settings = application.settings
    port = FIRST_PORT + 2 * around.number
    arrived = around.folder / "arrived.jsonl"
    receiver = Program(
        "receiver",
        around.peer,
        program_words("datagram_recorder", around.peer.address, port, "voice", arrived),
        ready=Ready(pattern="listening"),
    )
    samples = round(settings["packet_s"] * 8000)
    packet_ns = round(settings["packet_s"] * 1e9)
    pipeline = (
        f"audiotestsrc is-live=true samplesperbuffer={samples} ! audio/x-raw,rate=8000,channels=1 ! mulawenc ! "
        f"rtppcmupay pt=0 min-ptime={packet_ns} max-ptime={packet_ns} ! "
    )
    if settings["redundancy"]:
        pipeline += f"rtpredenc pt=97 distance={settings['redundancy']} allow-no-red-blocks=false ! "
    pipeline += f"udpsink host={around.peer.address} port={port} bind-address={around.host.address} sync=true"
    sender = Program("sender", around.host, ["gst-launch-1.0", "-q", *pipeline.split()])

    def read(_: Mapping[str, Running]) -> dict[str, Any]:
        packets = [json.loads(line) for line in arrived.read_text().splitlines()]
        return hear(packets, packet_s=settings["packet_s"], playout_delay_s=settings["playout_delay_s"])

    return Plan([receiver], [sender], result=read, needs=["gst-launch-1.0"])
