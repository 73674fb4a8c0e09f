"""Consequences of the paper's figures by calculation."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Experiment, Finding, Results

from .figures import WIDE_PCRS

CELL_BITS = 424
SLOT_S = CELL_BITS / 150e6
"""A cell at 150 Mbps [s]."""
KM_S = 5e-6
"""Light in fibre [s/km], as scenarios count it."""


def feedback_interval(rate_bps: float, nrm: int = 32) -> float:
    """Give the time between RM cells of a source that sends at `rate_bps` [s]."""
    return nrm * CELL_BITS / rate_bps


def icr_is_pcr(tbe_cells: int, frtt_s: float, pcr_bps: float) -> bool:
    """Whether the paper's rule has a source begin at PCR: TBE / FRTT >= PCR."""
    return tbe_cells / frtt_s >= pcr_bps / CELL_BITS


def _findings(_: Results) -> Sequence[Finding]:
    fast, slow = feedback_interval(100e6) * 1e6, feedback_interval(1e6) * 1e3
    on, off = 20_000 * SLOT_S * 1e3, 10_000 * SLOT_S * 1e3
    round_trip = 2 * 30 * KM_S
    wide = 2 * 300 * KM_S
    allowed = {rate: icr_is_pcr(500, wide, rate * 1e6) for rate in WIDE_PCRS}
    times = {rate: 10 * rate / 150 for rate in WIDE_PCRS}
    return [
        Finding("arithmetic.feedback-fast", f"{fast:.1f} us", values=[fast]),
        Finding("arithmetic.feedback-slow", f"{slow:.2f} ms", values=[slow]),
        Finding("arithmetic.periods", f"{on:.1f} and {off:.1f} ms", round(off) == 28 and abs(on - 56) < 1),
        Finding(
            "arithmetic.round-trip",
            f"{round_trip * 1e3:.2f} ms",
            False,
            "30 km one way take 0.15 ms at 5 us per km: that is half of the round trip.",
        ),
        Finding(
            "arithmetic.loop",
            f"{2 * 10 * KM_S * 1e6:.0f} us",
            False,
            "10 km take 50 us one way, and a loop goes there and back. It is less than the 136 us between two RM cells "
            "all the same, which is what the paper needs.",
        ),
        Finding(
            "arithmetic.icr",
            ", ".join(f"{'PCR' if ok else 'MCR'} ({rate})" for rate, ok in allowed.items()),
            all(allowed.values()),
            "500 cells in a round trip of 3 ms are 70.7 Mbps, below PCR 75 to 125: by the rule of section 2 these "
            "begin at MCR, table 2 has ICR = PCR. The runs follow the rule, which matters until the first feedback.",
        ),
        Finding(
            "arithmetic.overload",
            ", ".join(f"{value:.2f} ({rate})" for rate, value in times.items()),
            None,
            "The PCRs of figure 5 are not stated. More than 8 times asks for more than 120 Mbps: the 100 Mbps of "
            "figure 2 are not enough, and 125 Mbps is run beside them.",
        ),
    ]


EXPERIMENT = Experiment(
    name="arithmetic",
    title="Arithmetic",
    points={},
    findings=_findings,
    drawings=lambda results: [],
)
"""No runs."""
