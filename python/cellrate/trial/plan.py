"""When the two sources of a trial send what."""

from __future__ import annotations

from dataclasses import dataclass

from ..advice.advisor import PACKET_CELLS, mcr, nrm
from ..advice.situation import Situation

BURSTS = {"interactive": 12, "transaction": 10 * PACKET_CELLS}
"""Cells of one request: 512 octets of TCP, or ten packets of 9180 octets."""


@dataclass(frozen=True)
class Plan:
    """When what is sent."""

    what: str
    first: str
    second: str
    on_s: float
    off_s: float
    end_s: float
    grain_s: float
    requests_s: tuple[float, ...] = ()
    request_cells: int = 0
    rate: float = 0.0


def plan_of(s: Situation) -> Plan:
    """Make the plan that suits an application."""
    # Long enough for some averaging intervals and round trips in each phase, and for a hundred cells of a slow link.
    unit = max(2 * s.frtt_s if s.frtt_s < 0.1 else s.frtt_s, 0.05, 200 / s.line)
    unit = round(unit, 3)
    on, off, end = 4 * unit, 8 * unit, 12 * unit
    grain = max(1e-4, round(unit / 200, 4))
    greedy = '{ type = "greedy" }'
    transient = f"{{ start = {ms(on)}, end = {ms(off)} }}"
    if s.application in BURSTS:
        cells = min(BURSTS[s.application], max(1, int(s.line * unit / 4)))
        times = tuple(round((2 + i) * unit, 6) for i in range(9))
        listed = ", ".join(f"[{ms(t)}, {cells}]" for t in times)
        what = f"Source 1 sends all it may; source 2 requests of {cells} cells every {unit * 1e3:g} ms."
        return Plan(what, greedy, f'{{ type = "timed", cells = [{listed}] }}', on, off, end, grain, times, cells)
    if s.real_time:
        # What MCR is for: all but one cell in Nrm are data.
        rate = max(1.0, mcr(s).value * (1 - 1 / nrm(s).value))
        what = (
            f"Source 1 sends {rate:,.0f} cells/s of {s.application}; source 2 all it may, from {on:g} s to {off:g} s."
        )
        first = f'{{ type = "constant", rate = "{rate:.0f} cells/s" }}'
        return Plan(what, first, transient, on, off, end, grain, rate=rate)
    what = f"Both sources send all they may; source 2 only from {on:g} s to {off:g} s."
    return Plan(what, greedy, transient, on, off, end, grain)


def ms(seconds: float) -> str:
    """Write a time for a scenario file."""
    return f'"{seconds * 1e3:.6g} ms"'
