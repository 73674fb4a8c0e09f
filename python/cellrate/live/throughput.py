"""How many cells a second the engine carries, where no line limits it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import CellrateError, LiveUnavailable

SMALLEST_PACKET_OCTETS = 29
"""An IPv4 packet with an octet of data behind eight of UDP."""
LARGEST_PACKET_OCTETS = 9180
"""The MTU of RFC 2225."""


@dataclass(frozen=True)
class Throughput:
    """Result of one measurement."""

    devices: str
    """Between what: "memory", devices without cost, or "tun", those of two hosts."""
    packet_octets: int
    cells: int
    """Cells of packets that were delivered."""
    wall_s: float
    cells_per_s: float
    """By the wall clock."""
    cpu_ns_per_cell: float
    """Processor time of the engine's thread, its system calls included [ns]."""


def measure(*, seconds: float = 2.0, packet_octets: int = 1500, tun: bool = True) -> Throughput:
    """Carry packets through two adapters, two host ports and a switch port with ERICA, over lines that never limit.

    A process of its own does it, with precedence over other sessions where the user may have it.

    Parameters
    ----------
    seconds
        For how long [above 0].
    packet_octets
        Length of each IP packet [29 to 9180].
    tun
        Between the TUN devices of two hosts, whose kernels then work on another core; without, between devices in
        memory.

    Raises
    ------
    CellrateError
        For a parameter out of range.
    LiveUnavailable
        If this machine or user cannot have hosts.
    """
    if not seconds > 0:
        raise CellrateError(f"seconds is {seconds}; it must be above 0")
    if not SMALLEST_PACKET_OCTETS <= packet_octets <= LARGEST_PACKET_OCTETS:
        raise CellrateError(
            f"packet_octets is {packet_octets}; it must be from {SMALLEST_PACKET_OCTETS} to {LARGEST_PACKET_OCTETS}"
        )
    words = [sys.executable, "-m", "cellrate.live.throughput", str(seconds), str(packet_octets), str(int(tun))]
    package = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(words, capture_output=True, text=True, check=False, start_new_session=True, cwd=package)
    if done.returncode != 0:
        raise LiveUnavailable(done.stderr.strip().rpartition("\n")[2])
    told = json.loads(done.stdout)
    return Throughput(
        devices="tun" if tun else "memory",
        packet_octets=packet_octets,
        cells=told["cells"],
        wall_s=told["wall_s"],
        cells_per_s=told["cells_per_s"],
        cpu_ns_per_cell=told["cpu_ns_per_cell"],
    )


def main() -> int:
    """Measure in this process."""
    from .. import _native
    from .attempt import ENGINE_NICENESS, prefer, prefer_session

    seconds, packet_octets, tun = sys.argv[1:]
    prefer_session(ENGINE_NICENESS)
    prefer(ENGINE_NICENESS)
    try:
        print(_native.live_throughput(float(seconds), int(packet_octets), tun == "1"))
    except CellrateError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
