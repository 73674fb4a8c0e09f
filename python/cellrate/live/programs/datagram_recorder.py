"""Writes a line for each RTP packet that comes: datagram_recorder.py ADDRESS PORT jpeg|voice RESULT.

Times are the kernel's, from the arrival of the packet. Run as a file of its own: nothing of the package is imported.
"""

import json
import signal
import socket
import struct
import sys
from pathlib import Path

SO_TIMESTAMPNS = 35
RED_TYPE = 97


def jpeg(payload: bytes) -> dict[str, object]:
    """Where the piece stands in its frame."""
    return {"offset": int.from_bytes(payload[1:4], "big"), "octets": len(payload) - 8 - tables_octets(payload)}


def tables_octets(payload: bytes) -> int:
    """Octets of the quantization tables that the first piece of a frame has."""
    if payload[1:4] == b"\0\0\0" and payload[5] >= 128:
        return 4 + int.from_bytes(payload[10:12], "big")
    return 0


def voice(payload: bytes, kind: int) -> dict[str, object]:
    """Timestamp offsets of the older packets of which there is a copy inside (RFC 2198)."""
    copies = []
    at = 0
    while kind == RED_TYPE and at + 4 <= len(payload) and payload[at] & 0x80:
        head = int.from_bytes(payload[at : at + 4], "big")
        offset, octets = head >> 10 & 0x3FFF, head & 0x3FF
        if octets:
            copies.append(offset)
        at += 4
    return {"copies": copies, "octets": len(payload)}


def main() -> int:
    """Record until told to end."""
    address, port, form, result = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    into.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    into.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    into.bind((address, port))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Path(result).open("w", buffering=1) as file:
        print("listening", flush=True)
        while True:
            data, extra, _, _ = into.recvmsg(65_536, 64)
            seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
            if len(data) < 12 or data[0] >> 6 != 2:
                continue
            kind, sequence, stamp = struct.unpack_from(">xBHI", data)
            body = data[12:]
            told = jpeg(body) if form == "jpeg" else voice(body, kind & 0x7F)
            line = {
                "at_s": seconds + nanoseconds / 1e9,
                "sequence": sequence,
                "stamp": stamp,
                "marker": kind >> 7,
                **told,
            }
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    sys.exit(main())
