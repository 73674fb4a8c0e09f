"""The lines of figure 12 for processor sharing and for slow start: closed forms, calculated again."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Cell, Drawing, Experiment, Finding, Results, Table

from .common import sharing, slow_start

PACKETS_PER_S = 2.4e9 / 8000
"""The source's line in packets of 1,000 octets, which the drawn lines take without headers."""
LOAD = 0.9
SIZES = (10, 100, 1000, 10_000)


def _findings(_: Results) -> Sequence[Finding]:
    found = []
    for size in SIZES:
        for name, value in (
            ("sharing", sharing(size, PACKETS_PER_S, LOAD)),
            ("slow-start", slow_start(size, PACKETS_PER_S)),
        ):
            found.append(Finding(f"lines.{name}-{size}", f"{value:.3f} s", values=[value]))
    return found


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="lines",
    title="Lines of figure 12",
    points={},
    findings=_findings,
    drawings=_drawings,
    tables=(
        Table(
            "figure-12-lines",
            "Figure 12: the lines drawn beside the runs, at a load of 0.9 [s]",
            ("packets", "processor sharing", "slow start"),
            [[f"{size:,}", Cell(f"lines.sharing-{size}"), Cell(f"lines.slow-start-{size}")] for size in SIZES],
        ),
    ),
)
"""Nothing is run."""
