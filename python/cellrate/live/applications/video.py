"""Motion JPEG over RTP: frames from ffmpeg, sent at their instants, counted at the receiver, played out of a buffer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...errors import RunError
from ..playout import play, whole_frames
from ..process import Program, Ready, Running, search_path
from .planned import Application, Plan, Surroundings, program_words

FIRST_PORT = 5300
CLIP_FRAMES = 48
"""Frames of the clip, which repeats."""
TRIAL_FRAMES = 12
"""Frames by which the size of the picture is found."""
GUESS_OCTETS_PER_PIXEL = 0.2
QUALITY = "5"
"""Quality of JPEG, as ffmpeg counts: 2 is best, 31 worst."""
TOLERANCE = 0.1
"""How far the clip's mean rate may be from what was asked."""
OVER_PAYLOAD_OCTETS = 20 + 8 + 12
"""Headers of IP, UDP and RTP in each packet."""


def plan(application: Application, around: Surroundings) -> Plan:
    """The sender on the host, the receiver on the peer."""
    settings = application.settings
    port = FIRST_PORT + 2 * around.number
    clip = around.folder / "clip.mjpeg"
    sent = around.folder / "sent.jsonl"
    arrived = around.folder / "arrived.jsonl"

    def prepare() -> None:
        make_clip(clip, settings["rate_bps"], settings["frame_rate"])

    receiver = Program(
        "receiver",
        around.peer,
        program_words("datagram_recorder", around.peer.address, port, "jpeg", arrived),
        ready=Ready(pattern="listening"),
    )
    options: dict[str, Any] = {
        "clip": str(clip),
        "from": around.host.address,
        "to": around.peer.address,
        "port": port,
        "frame_rate": settings["frame_rate"],
        "send_every": settings["send_every"],
        "payload_octets": around.mtu_octets - OVER_PAYLOAD_OCTETS,
        "seconds": application.end_s - application.start_s,
        "result": str(sent),
        "acr_share": settings["acr_share"],
        "adapters": str(around.adapters),
        "route": [around.host.name, around.peer.name],
    }
    sender = Program("sender", around.host, program_words("video_sender", json.dumps(options)))

    def read(_: Mapping[str, Running]) -> dict[str, Any]:
        return summary(sent, arrived, settings)

    return Plan([receiver], [sender], prepare, read, needs=["ffmpeg"], scratch=[clip])


def summary(sent: Path, arrived: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize the fate of the frames.

    Parameters
    ----------
    sent
        A line for each frame: `frame`, `at_s`, `octets`, and with rate following `acr`.
    arrived
        A line for each packet, as `datagram_recorder` writes them.
    settings
        Of the application.
    """
    frames_sent = [json.loads(line) for line in sent.read_text().splitlines()]
    packets = [json.loads(line) for line in arrived.read_text().splitlines()]
    frames, broken = whole_frames(packets)
    outcome = play(
        frames,
        buffer_octets=settings["buffer_octets"],
        prebuffer_s=settings["prebuffer_s"],
        wait=settings["wait"],
    )
    count = len(frames_sent)
    span = frames_sent[-1]["at_s"] - frames_sent[0]["at_s"] if count > 1 else 0.0
    octets = sum(frame["octets"] for frame in frames_sent)
    lost_in_network = count - len(frames)
    return {
        "frames_sent": count,
        "frames_whole": len(frames),
        "frames_broken": broken,
        "frames_lost_in_network": lost_in_network,
        "frames_lost_to_overflow": outcome.overflowed,
        "frames_late": outcome.late,
        "frames_played": outcome.played,
        "loss_ratio": (count - outcome.played) / count if count else None,
        "stalls": outcome.stalls,
        "stalled_s": outcome.stalled_s,
        "max_buffer_octets": outcome.max_buffer_octets,
        "mean_frame_octets": octets / count if count else None,
        "sent_frame_rate": (count - 1) / span if span else None,
        "sent_bps": octets * 8 * (count - 1) / count / span if span else None,
        "frames": frames_sent,
        "arrivals": [asdict(frame) for frame in frames],
    }


def make_clip(file: Path, rate_bps: int, frame_rate: float) -> None:
    """Make a clip of JPEG frames with this mean rate, as RFC 2435 can carry them: 4:2:0, the standard's Huffman tables.

    Raises
    ------
    RunError
        If ffmpeg cannot.
    """
    target = rate_bps / 8 / frame_rate
    octets_per_pixel = GUESS_OCTETS_PER_PIXEL
    # Quality and content stay the same, so that the length of frames goes with the size of the picture.
    for trial in range(4):
        width, height = _picture(target / octets_per_pixel)
        last = trial == 3
        made = _encode(file, frame_rate, width, height, CLIP_FRAMES if last else TRIAL_FRAMES)
        octets_per_pixel = made / (width * height)
    if abs(made / target - 1) > TOLERANCE:
        raise RunError(
            f"ffmpeg makes frames of {made:.0f} octets where {target:.0f} are due: choose another rate or frame_rate"
        )


def _picture(pixels: float) -> tuple[int, int]:
    """Give the picture whose number of pixels is nearest, of 16 x 16 blocks, 5:4 to 16:9 or about."""
    pairs = [(w, h) for w in range(48, 2033, 16) for h in range(32, 1153, 16) if 1.2 <= w / h <= 1.8]
    return min(pairs, key=lambda pair: abs(pair[0] * pair[1] - pixels))


def _encode(file: Path, frame_rate: float, width: int, height: int, frames: int) -> float:
    """Encode a clip; gives the mean length of a frame [octets]."""
    source = f"testsrc2=size={width}x{height}:rate={frame_rate:g},noise=alls=20:allf=t:all_seed=1"
    done = subprocess.run(
        [
            *["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i"],
            source,
            *f"-frames:v {frames} -pix_fmt yuvj420p -c:v mjpeg -q:v {QUALITY}".split(),
            *["-huffman", "default", "-force_duplicated_matrix", "1", "-bitexact", "-f", "mjpeg"],
            str(file),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"PATH": search_path()},
        check=False,
    )
    if done.returncode:
        raise RunError(f"ffmpeg cannot make the clip: {done.stderr.decode(errors='replace').strip()[-400:]}")
    return file.stat().st_size / frames
