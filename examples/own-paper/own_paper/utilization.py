"""How much of a line is in use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers import Drawing, Experiment, Finding, Point, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTOR = 5
SESSIONS = {"one": 1, "two": 2, "ten": 10}
POINTS = {name: Point("line", {"vc.vc{i}.count": number}) for name, number in SESSIONS.items()}
POINTS["ten-far"] = Point("line", {"vc.vc{i}.count": 10, "defaults.link.length": "500 km"}, extra=True)
"""Runs by key: a scenario in scenarios/, and what is set in it."""


def findings(results: Results) -> Sequence[Finding]:
    """Measure each claim of published.toml, and say whether it holds: within one part in a hundred."""
    found = []
    for name, result in results.items():
        measured = result.series("utilization", port="sw->d").mean("700 ms", "800 ms")
        sessions = 10 if name == "ten-far" else SESSIONS[name]
        law = sessions * FACTOR / (1 + sessions * FACTOR)
        holds = abs(measured / law - 1) < 0.01
        # What the run itself says of rates that do not settle.
        swings = [row["swing"] for row in result.summary["unsettled"] if row["by"] == "run"]
        why = "" if holds or not swings else f"The rates do not settle: an ACR swings by {max(swings):.0%} of its mean."
        found.append(Finding(f"utilization.{name}", measured, holds, why))
    return found


def drawings(results: Results) -> Sequence[Drawing]:
    """Give the figures of the report."""
    return [Drawing("acr-of-ten", "ACR of ten sessions under Phantom, u = 5.", partial(acr, results))]


def acr(results: Results) -> Figure:
    """Draw the ACR of ten sessions."""
    return results["ten"].plot("acr")


EXPERIMENT = Experiment("utilization", "The utilization of a line", POINTS, findings, drawings)
