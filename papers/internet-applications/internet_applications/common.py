"""Helpers that the experiments share: settings, seeds, rates between the switches, means with their intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers import mark
from cellrate.papers.experiment import Finding, Results, Tried, Value
from cellrate.papers.statistics import Estimate, estimate
from cellrate.results import Result, Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

TO_MBPS = 384e-6
"""From cells/s to Mbps of payload, 48 octets a cell: the paper's Mbps (README)."""
CELL_S = 38.4e-6
"""A cell on the line between the switches [s]."""
said = partial(mark, Path(__file__).parents[1])
"""A printed figure as a mark in a plot (`cellrate.papers.mark`)."""


def line(mbps: float) -> str:
    """Write a rate of payload [Mbps] as one of the line, 53 of 48 octets."""
    return f"{mbps * 53 / 48:.6f} Mbps"


HOST_LINE = line(10)
"""Between hosts and switches, as in the scenarios: the one bandwidth that figure 1 prints."""
SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the runs of a case; a quick run has the first two."""
QUICK_SEEDS = 2
BEGIN_S, END_S = 10.0, 20.0
"""When the background is there, but that each transfer begins up to a second later."""
BOTH_S = 11.0
"""From when on both transfers are there."""
FTP_GOODPUT_SHARE = 9140 * 8 / (192 * 384)
"""Octets of the user in the payload of a segment's cells: 9140 in 192 cells; 0.992."""

ALONE: Mapping[str, object] = {"vc.ftp{i}.traffic": '{ type = "none" }'}
"""Without background."""


def ubr(*probes: int) -> dict[str, object]:
    """Make all connections UBR, which send as fast as their lines.

    The probes with these numbers, which record ACR, record losses instead.
    """
    instead = {f"probe.{probe}.record": '["drops"]' for probe in probes}
    return {"defaults.vc.category": "ubr", "defaults.vc.pcr": HOST_LINE, **instead}


def starts(seed: int, begin_s: float = BEGIN_S) -> dict[str, object]:
    """Begin each FTP transfer within a second of `begin_s`: two people do not press a key at once."""
    drawn = random.Random(seed)
    instants = [f'"{1000 * begin_s + 1000 * drawn.random():.3f} ms"' for _ in range(2)]
    return {"seed": seed, "vc.ftp{i}.traffic.start": f"[{', '.join(instants)}]"}


def of_case(results: Results, case: str) -> list[Result]:
    """Give the runs of a case, by seed."""
    return [results[f"{case}, {seed}"] for seed in SEEDS if f"{case}, {seed}" in results]


def over(runs: Iterable[Result], figure: Callable[[Result], float]) -> Estimate:
    """Estimate a figure over runs."""
    return estimate([figure(run) for run in runs])


def shown(value: Estimate, digits: int = 2, unit: str = "") -> str:
    """Write a mean and half of its 95 % interval: "6.12 ± 0.01 Mbps"."""
    text = f"{value.mean:,.{digits}f}"
    if not math.isnan(value.half_width):
        text += f" ± {value.half_width:,.{digits}f}"
    return f"{text} {unit}" if unit else text


def near(value: float, said: float, share: float) -> bool:
    """Whether a measured value is within `share` of the published one."""
    return abs(value / said - 1) <= share


def judged(
    id: str,
    measured: Value,
    holds: bool | None = None,
    why: str = "",
    *,
    values: Sequence[float] = (),
    rows: Mapping[str, Tried] | None = None,
    seeds: int | None = None,
) -> Finding:
    """Give a finding; one that is not as said for no reason known here says as much."""
    reason = why or ("Not explained." if holds is False or values else "")
    return Finding(id, measured, holds, reason, values, rows or {}, seeds)


def rate(received: Series) -> Series:
    """Turn cells received since the start into a rate per interval [cells/s]."""
    counts = np.concatenate(([0.0], received.values))
    values: NDArray[np.float64] = np.diff(counts) / (received.interval_s or 1.0)
    return Series("rate", received.entity, "cells/s", received.interval_s, received.times_s, values, received.end_s)


def line_rate(result: Result, vc: str, begin_s: float, end_s: float) -> float:
    """Give the rate of a VC's data cells at the receiver between two instants [Mbps, 48 octets a cell]."""
    received = result.series("received", vc=vc)
    return (received.at(end_s) - received.at(begin_s)) * TO_MBPS / (end_s - begin_s)


def ftp_rate(result: Result, begin_s: float = BOTH_S, end_s: float = END_S) -> float:
    """Give the throughput of both FTP transfers together, as FTP sees it [Mbps].

    Segments that were spoiled or sent again are none: section 4.1 has throughput fall with what TCP sends again. How
    much of a transfer's cells became octets of the user is known of the whole run.
    """
    return sum(line_rate(result, vc, begin_s, end_s) * payload_share(result, vc) for vc in ("ftp1", "ftp2"))


def payload_share(result: Result, vc: str) -> float:
    """Give the octets that a VC's application got over those of the data cells that arrived; 0 if none did [0 to 1]."""
    cells = sum(row["data_delivered"] for row in result.summary["vcs"] if row["vc"] == vc)
    octets = sum(row["delivered_octets"] for row in result.summary["tcp"] if row["vc"] == vc)
    return float(octets / (48 * cells)) if cells else 0.0


def listed(values: Sequence[float], digits: int = 0) -> str:
    """Write values with commas between them."""
    return ", ".join(f"{value:,.{digits}f}" for value in values)
