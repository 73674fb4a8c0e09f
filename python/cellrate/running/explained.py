"""Explanations of ACR as a person reads them: a table of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..quantities import CELL_BITS

if TYPE_CHECKING:
    from .explaining import Explanation


def table(explanation: Explanation) -> tuple[list[str], list[list[str]]]:
    """Give head and rows of a table: a step in each row."""
    head = ["at ms", "event", "rules", "ACR before\nMbps", "ACR after\nMbps", "ER\nMbps", "CI", "NI"]
    rows = []
    for step in explanation.steps:
        brm = step.brm
        rows.append(
            [
                _ms(step.at_s),
                step.event.replace("_", " "),
                " ".join(map(str, step.rules)) or "-",
                _mbps(step.before_cells_per_s),
                _mbps(step.after_cells_per_s),
                *(["", "", ""] if brm is None else [_mbps(brm.er_cells_per_s), str(int(brm.ci)), str(int(brm.ni))]),
            ]
        )
    return head, rows


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.6f}"


def _mbps(cells_per_s: float) -> str:
    return f"{cells_per_s * CELL_BITS / 1e6:,.3f}"
