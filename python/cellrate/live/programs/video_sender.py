"""Sends frames of Motion JPEG over RTP (RFC 2435) at their instants: video_sender.py OPTIONS, a JSON object.

Frame k of the clip, which repeats, is due k / frame_rate after the start. With `acr_share` the sender asks the adapter
for its ACR before each frame, and leaves frames out so that those it sends need no more than that share of it.
Run as a file of its own: nothing of the package is imported.
"""

import json
import math
import signal
import socket
import struct
import sys
import time
from pathlib import Path

CELL_BITS = 424
AAL5_OVER_IP_OCTETS = 16  # LLC/SNAP and the trailer
CLOCK = 90_000
NO_RATE_BPS = 1.0


class Jpeg:
    """A JPEG frame as RFC 2435 cuts it up."""

    def __init__(self, data: bytes) -> None:
        self.tables = b""
        at = 2
        while True:
            marker, length = struct.unpack_from(">HH", data, at)
            body = data[at + 4 : at + 2 + length]
            if marker == 0xFFDB:
                while body:
                    if body[0] >> 4:
                        raise ValueError("16-bit quantization tables")
                    self.tables += body[1:65]
                    body = body[65:]
            elif marker == 0xFFC0:
                self.height, self.width = struct.unpack_from(">HH", body, 1)
                self.kind = 1 if body[7] == 0x22 else 0
            elif marker == 0xFFDA:
                self.scan = data[at + 2 + length : -2]
                return
            at += 2 + length

    def payloads(self, room: int) -> list[bytes]:
        """RTP payloads of at most `room` octets each."""
        made = []
        at = 0
        while at < len(self.scan):
            head = struct.pack(">BBHBBBB", 0, at >> 16, at & 0xFFFF, self.kind, 255, self.width // 8, self.height // 8)
            if at == 0:
                head += struct.pack(">BBH", 0, 0, len(self.tables)) + self.tables
            piece = self.scan[at : at + room - len(head)]
            made.append(head + piece)
            at += len(piece)
        return made


def frames(data: bytes) -> list[bytes]:
    """Cut a clip at the starts of its pictures."""
    found = []
    at = data.find(b"\xff\xd8\xff")
    while at >= 0:
        after = data.find(b"\xff\xd9", at) + 2
        following = data.find(b"\xff\xd8\xff", after)
        found.append(data[at : following if following >= 0 else len(data)].rstrip(b"\x00"))
        at = following
    return found


def offered_bps(adapters: str, route: list[str]) -> float:
    """ACR that the adapter offers, on the line [bit/s]."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.connect(adapters)
        asked.sendall((" ".join(["acr", *route]) + "\n").encode())
        return float(asked.makefile().readline().split()[0]) * CELL_BITS


def main() -> int:
    """Send until the end, or until told to end."""
    options = json.loads(sys.argv[1])
    with Path(options["clip"]).open("rb") as file:
        clip = [Jpeg(frame).payloads(options["payload_octets"]) for frame in frames(file.read())]
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind((options["from"], 0))
    # The edge queue is the adapter's; the socket must not be a second one that is shorter.
    out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    begun = time.monotonic()
    sequence = 0
    may_send_at = 0.0
    with Path(options["result"]).open("w", buffering=1) as result:
        for number in range(math.ceil(options["seconds"] * options["frame_rate"])):
            if number % options["send_every"]:
                continue
            due = number / options["frame_rate"]
            wait = begun + due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            payloads = clip[number % len(clip)]
            told: dict[str, object] = {}
            if options["acr_share"] is not None:
                bps = offered_bps(options["adapters"], options["route"])
                told["acr_bps"] = bps
                # Half a frame's time of grace: due times are on a grid.
                if due + 0.5 / options["frame_rate"] < may_send_at:
                    continue
                packets = (len(payload) + 12 + 8 + 20 for payload in payloads)
                bits = sum(math.ceil((octets + AAL5_OVER_IP_OCTETS) / 48) * CELL_BITS for octets in packets)
                share = max(options["acr_share"] * bps, NO_RATE_BPS)
                may_send_at = max(due, may_send_at) + bits / share
            stamp = int(due * CLOCK)
            for index, payload in enumerate(payloads):
                last = index == len(payloads) - 1
                head = struct.pack(">BBHII", 0x80, 26 | (0x80 if last else 0), sequence & 0xFFFF, stamp, 1)
                try:
                    out.sendto(head + payload, (options["to"], options["port"]))
                except OSError as error:
                    told["error"] = str(error)
                sequence += 1
            octets = sum(map(len, payloads))
            result.write(json.dumps({"frame": number, "at_s": due, "octets": octets, **told}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
