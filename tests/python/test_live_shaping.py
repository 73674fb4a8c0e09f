"""A source that shapes to SCR and MBS, live: packets of a real host leave its adapter as the closed form says.

Skipped, with the reason, where hosts cannot be had.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import cellrate
from cellrate.captures.arrivals import read_capture
from cellrate.live import doctor, live_run
from cellrate.wireshark.capture import Capture

_FOUND = doctor.findings()
pytestmark = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))

PCR, SCR, MBS = 10e6 / 424, 1e6 / 424, 120
"""Peak and sustainable rate [cells/s], and maximum burst size [cells]."""
PACKETS, CELLS_OF_ONE = 12, 28
"""UDP packets that come at once, and the cells of each: 1300 + 28 + 8 (LLC/SNAP) + 8 (trailer) = 28 * 48 octets."""

BURST = f"""
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({PACKETS}):
    own.sendto(bytes(1300), (sys.argv[1], 5000))
"""

UBR = 'category = "ubr"'
SHAPED_UBR = UBR + '\nshaping = { scr = "1 Mbps", mbs = 120 }'
# ACR stays at ICR but for the 17 cells/s that two dozen BRMs bring.
ABR = 'abr = { pcr = "10 Mbps", icr = "1 Mbps", rif = "1/32768", mbs = 120 }'

NETWORK = """
name = "live-shaping"
duration = "1500 ms"
host = [{{ name = "a" }}, {{ name = "b" }}]
switch = [{{ name = "sw" }}]
link = [{{ between = ["a", "sw"] }}, {{ between = ["sw", "b"] }}]
[defaults]
link = {{ rate = "10 Mbps", delay = "1 ms" }}
[[vc]]
name = "vc"
path = ["a", "sw", "b"]
{keys}
traffic = {{ type = "none" }}
[[application]]
name = "burst"
host = "a"
peer = "b"
kind = {{ type = "command", words = {words} }}
start = "200 ms"
"""


def departures(keys: str, folder: Path) -> NDArray[np.float64]:
    """Give when cells [s], RM cells among them, leave for host b: host a sends all packets at once."""
    words = json.dumps([sys.executable, "-c", BURST, "{peer}"])
    scenario = cellrate.Scenario.parse(NETWORK.format(keys=keys, words=words))
    capture = Capture(folder=folder, ports=["sw->b"], pdus=False)
    run = live_run(scenario, attempts=1, allow_commands=True, capture=capture)
    assert run.failed_applications == []
    return np.asarray(read_capture(folder / "cells.pcapng").times_ns * 1e-9, dtype=np.float64)


@pytest.mark.parametrize(("keys", "accuracy"), [(SHAPED_UBR, 2e-5), (ABR, 2e-3)])
def test_a_burst_leaves_at_the_peak_up_to_mbs_and_then_at_scr(keys: str, accuracy: float, tmp_path: Path) -> None:
    """Cell k leaves k / PCR after the first, and from MBS on k / SCR - BT, BT = (MBS - 1)(1/SCR - 1/PCR)."""
    found = departures(keys, tmp_path)
    # All that the host sends keeps to the contract, what is beside the burst, too: two buckets without CDVT.
    burst_tolerance = (MBS - 1) * (1 / SCR - 1 / PCR)
    for interval, tolerance in ((1 / PCR, 0.0), (1 / SCR, burst_tolerance + accuracy)):
        level, last = 0.0, float(found[0])
        for at in map(float, found):
            level = max(0.0, level - (at - last))
            assert level <= tolerance + 1e-6
            level, last = level + interval, at
    # The longest run of cells without a gap above 1 / SCR is the burst; k counts from its first cell.
    gaps = np.flatnonzero(np.diff(found) > 1.01 / SCR) + 1
    edges = [0, *gaps.tolist(), len(found)]
    first, last_one = max(itertools.pairwise(edges), key=lambda edge: edge[1] - edge[0])
    burst = found[first:last_one] - found[first]
    assert len(burst) >= PACKETS * CELLS_OF_ONE
    k = np.arange(len(burst))
    by_form = np.maximum(k / PCR, k / SCR - burst_tolerance)
    assert burst == pytest.approx(by_form, abs=accuracy)


def test_without_shaping_all_leaves_at_the_peak(tmp_path: Path) -> None:
    found = departures(UBR, tmp_path)
    assert np.diff(found).max(initial=0.0, where=np.diff(found) < 1 / SCR / 2) < 1.1 / PCR
    assert found[-1] - found[0] < 0.5 * len(found) / SCR
