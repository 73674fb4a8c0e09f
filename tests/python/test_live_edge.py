"""Adapters that tell Linux's TCP of their rate or queue by the ACKs that pass them, beside plain ABR and UBR.

Skipped, with the reason, where hosts cannot be had.
"""

from __future__ import annotations

import shutil

import pytest

import cellrate
from cellrate.errors import CellrateError
from cellrate.live import doctor, live_run
from cellrate.live.process import search_path

_FOUND = doctor.findings()
pytestmark = [
    pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND)),
    pytest.mark.skipif(
        shutil.which("iperf3", path=search_path()) is None,
        reason="not installed: iperf3; cellrate doctor says how to get it",
    ),
]

NAMES = ("plain", "window", "held-acks", "ubr")
ROUND_TRIP_CELLS = 0.044 * 8e6 / 424
"""Cells that the line carries in the time that windows are for."""
MARK = 100
"""Cells from which on ACKs are held."""
SHORTER = {
    "duration": "8 s",
    "application.load{i}.end": "7.5 s",
    "vc.other{i}.traffic.start": "3 s",
    "vc.other{i}.traffic.end": "6 s",
}


@pytest.mark.clock
def test_an_edge_that_goes_by_acks_keeps_the_adapter_short_and_the_line_full() -> None:
    run = live_run(cellrate.Scenario.load("live/tcp-edge").set(SHORTER), attempts=2)
    goodput = {vc: float(run.application(f"load{n}")["result"]["goodput_bps"]) for n, vc in enumerate(NAMES, 1)}
    # From 2 s on: at first ACR is PCR, and windows are those that TCP begins with.
    queue = {}
    for vc in NAMES:
        series = run.result.series("source_queue", vc=vc)
        queue[vc] = float(series.values[(series.times_s > 2) & (series.times_s < 7)].max())
    # Two windows of 65,535 octets and more wait in the adapter, but for what is on its way.
    assert queue["plain"] > 2 * 65_535 / 48 - ROUND_TRIP_CELLS
    # ACR is halved at 3 s: windows that have been written before are twice as large as they should be.
    assert queue["window"] < ROUND_TRIP_CELLS < queue["plain"] / 2
    # Each of the two connections answers an ACK with some segments of 32 cells.
    assert queue["held-acks"] < 5 * MARK
    for vc in ("window", "held-acks"):
        assert goodput[vc] > 0.75 * goodput["plain"], goodput
    hosts = {row["host"]: row for row in run.result.summary["hosts"]}
    assert hosts["s2"]["windows_written"] > 100 > hosts["s2"]["acks_held"] == 0
    assert hosts["s3"]["acks_held"] > 100 > hosts["s3"]["windows_written"] == 0
    assert all(hosts[host]["acks_held"] == hosts[host]["windows_written"] == 0 for host in ("s1", "s4", "d1", "d2"))


def test_a_window_of_acr_over_ubr_is_refused() -> None:
    scenario = cellrate.Scenario.load("live/tcp-edge").set(
        {"host.s4.live": '{ adapter_tcp = { acr_window = "1 ms" } }'}
    )
    with pytest.raises(
        CellrateError, match=r"host s4 has live.adapter_tcp.acr_window, which uses ACR, and ubr has none"
    ):
        live_run(scenario)
