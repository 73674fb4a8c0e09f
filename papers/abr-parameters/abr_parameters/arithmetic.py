"""Table 2, and what of the paper's own figures can be calculated again."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from cellrate.papers.experiment import Cell, Drawing, Experiment, Finding, Results, Table

from .common import CELL_BITS, near

SPEEDS = {"DS0": 64e3, "T1": 1.5e6, "OC-3": 155e6, "OC-24": 1.2e9}
"""Capacity as the table gives it [bit/s]."""
NRMS = (8, 32, 256)
TOLERANCE = 0.02
"""Tolerance of any printed figure that is calculated again: two or three digits, and a cell time of 2.7 us for
2.735."""
PUBLISHED = {
    "DS0": (0.5, 2.3, 18.4),
    "T1": (24e-3, 96e-3, 768e-3),
    "OC-3": (24e-6, 96e-6, 768e-6),
    "OC-24": (3e-6, 12e-6, 96e-6),
}
"""Table 2 [s], by Nrm."""


def inter_rm_time(nrm: int, bits_per_s: float) -> float:
    """Time between FRMs of a source that sends at line rate [s]: Nrm cells of 424 bits."""
    return nrm * CELL_BITS / bits_per_s


def in_units(seconds: float) -> str:
    """Write a time with three figures."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e12:.3g} ps"


def in_bits(bits_per_s: float) -> str:
    """Write a speed."""
    for factor, unit in ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")):
        if bits_per_s >= factor:
            return f"{bits_per_s / factor:g} {unit}"
    return f"{bits_per_s:g} bps"


def _column(name: str) -> Finding:
    computed = [inter_rm_time(nrm, SPEEDS[name]) for nrm in NRMS]
    off = [said / is_ for said, is_ in zip(PUBLISHED[name], computed, strict=True)]
    holds = all(near(factor, 1, TOLERANCE) for factor in off)
    cell = PUBLISHED[name][1] / 32
    why = {
        "DS0": "The column is about ten times too long: 424 bits at 64 kbps take 6.6 ms, so 8 cells take "
        "53 ms. Its rows do not even agree with each other: 2.3 s for 32 cells would be 0.58 s for 8, not 0.5 s.",
        "T1": "The column is about ten times too long, and contradicts the text above it, which has 8.60 "
        "ms for Nrm 32 at 1.55 Mbps: the same 32 cells of 424 bits.",
    }.get(
        name,
        f"The column is {100 * (off[1] - 1):.0f} % too long: it calculates with a cell time of {in_units(cell)}, where "
        f"424 bits take {in_units(CELL_BITS / SPEEDS[name])}.",
    )
    return Finding(f"arithmetic.table-2-{name.lower()}", ", ".join(map(in_units, computed)), holds, why)


def _findings(_: Results) -> Sequence[Finding]:
    oc3 = inter_rm_time(32, 155e6)
    t1 = inter_rm_time(32, 1.55e6)
    trm, frtt = 1e6 / 27 * 2.7e-6, 2 * 3 * 1000 * 5e-6
    in_flight = 0.55 * 365e3 / 32
    at_target = 0.55002 * 0.9 * 155.52e6 / CELL_BITS / 32
    return [
        *(_column(name) for name in SPEEDS),
        Finding(
            "arithmetic.text-inter-rm",
            f"{in_units(oc3)} and {in_units(t1)}",
            near(86.4e-6, oc3, TOLERANCE) and near(8.60e-3, t1, TOLERANCE),
            "Within 2 %: the text calculates with a cell time of 2.7 us.",
        ),
        Finding(
            "arithmetic.overhead",
            f"{100 / 32:.3g} % and {200 / 32:.3g} %",
            near(0.03, 1 / 32, 0.05) and near(0.06, 2 / 32, 0.05),
        ),
        Finding(
            "arithmetic.table-2-against-text",
            f"{in_units(inter_rm_time(32, 1.5e6))} at 1.5 Mbps",
            False,
            "The text is right (8.75 ms), the table is not. For OC-3 they differ too, 86.4 us in the text and 96 "
            "us in the table; 87.5 us is right.",
        ),
        Finding(
            "arithmetic.inter-cell-2400",
            in_units(CELL_BITS / 2.4e9),
            False,
            "0.42 ns is the time of one bit at 2.4 Gbps; a cell has 424.",
        ),
        Finding(
            "arithmetic.inter-cell-1.5",
            in_units(CELL_BITS / 1.5e6),
            False,
            "270 us is a hundred times the paper's cell time at 155 Mbps, so it belongs to 1.57 Mbps; at 1.5 Mbps "
            "it is 5 % more.",
        ),
        Finding(
            "arithmetic.crm-bound",
            f"{ceil(in_flight)} by the formula, {ceil(at_target)} at 0.9 x PCR",
            False,
            "550 ms x 365 cells/ms / 32 is 6273, not 6144 (which is 6 x 1024). 6144 is enough all the same in "
            "figure 10, where the source never sends above 0.9 x PCR.",
        ),
        Finding(
            "arithmetic.tcr-share",
            f"{10 / 365e3 * 100:.2g} %",
            False,
            "10 of 365,000 cells/s is 2.7 x 10^-5 as a fraction, and so 2.7 x 10^-3 %: the percent sign is a "
            "factor of 100 too much.",
        ),
        Finding(
            "arithmetic.trm-values",
            "100, 50, 25, 12.5, 6.25, 3.125, 1.5625, 0.78125 ms",
            False,
            "100 ms x 2^k for k from -7 to 0 gives neither 1 ms nor 10 ms, with which figure 6 was made.",
        ),
        Finding(
            "arithmetic.rif-default",
            "1 in table 1, 1/16 in sections 4.2.1 and 5.2.1",
            False,
            "The paper gives two defaults. Its runs use 1/16, and so do these.",
        ),
        Finding("arithmetic.trm-constant", f"{1e3 * trm:.1f} ms", values=[1e3 * trm]),
        Finding("arithmetic.frtt", f"{1e3 * frtt:.0f} ms", values=[1e3 * frtt]),
        Finding(
            "arithmetic.rdf-direction",
            ", ".join(f"{100 * (1 - 1 / power) ** 10:.0f} % (1/{power})" for power in (16, 64, 512)),
            False,
            "By the paper's own ACR x (1 - RDF) a smaller RDF leaves more of the rate at each mark: sources brake "
            "later, and more cells come to the full buffer. What a smaller RDF avoids is braking for too long, as "
            "marks of a round trip before still come.",
        ),
    ]


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="arithmetic",
    title="Table 2 and other arithmetic",
    points={},
    findings=_findings,
    drawings=_drawings,
    tables=(
        Table(
            "table-2",
            "Table 2: inter-RM time by speed and Nrm",
            ("Nrm", *(f"{name} ({in_bits(SPEEDS[name])})" for name in SPEEDS)),
            [
                [str(nrm), *(Cell(f"arithmetic.table-2-{name.lower()}", n) for name in SPEEDS)]
                for n, nrm in enumerate(NRMS)
            ],
        ),
    ),
)
"""Nothing is run."""
