"""Explanations of ACR as a person reads them: a table of its steps, and the last of them in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..quantities import CELL_BITS

if TYPE_CHECKING:
    from .explaining import Explanation, Passage, RateStep, ReturnedCell

EVENTS = {
    "brm": "a BRM came back",
    "idle": "an FRM left, more than ADTF after the one before",
    "missing_brms": "an FRM left, and CRM of them or more without a BRM",
    "unused": "an FRM left, and the use-it-or-lose-it policy found the rate unused",
    "set_up": "the connection began anew",
}
"""Events behind steps of ACR, by their names."""

_AT_FRM = {
    "idle": "rule 5: back to ICR",
    "missing_brms": "rule 6: down by CDF, not below MCR",
    "unused": "rule 13: down to what the policy says, not below MCR",
    "set_up": "rule 2: min(ICR, TBE/FRTT)",
}


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


def in_words(explanation: Explanation) -> Iterator[str]:
    """Give lines about the last step, and about the last that moved ACR, if that is another one."""
    if not explanation.steps:
        yield (
            f"Up to {_ms(explanation.at_s)} ms nothing has moved the ACR of {explanation.vc}: it is that of the "
            "beginning, min(ICR, TBE/FRTT) (rule 2)."
        )
        return
    last, moved = explanation.steps[-1], explanation.last_move
    yield from _step(last)
    if moved is None:
        yield "Nothing has moved ACR: it is that of the beginning, min(ICR, TBE/FRTT) (rule 2)."
    elif moved is not last:
        yield "The last step that moved ACR:"
        yield from _step(moved)


def _step(step: RateStep) -> Iterator[str]:
    yield f"{_ms(step.at_s)} ms: {EVENTS[step.event]}."
    if step.brm is not None:
        yield from _way(step.brm)
        yield from _obeyed(step, step.brm)
    else:
        yield f"  {_AT_FRM[step.event]}: {_from_to(step.before_cells_per_s, step.after_cells_per_s)}"


def _way(brm: ReturnedCell) -> Iterator[str]:
    """Say where the cell began, and what each switch wrote into it."""
    before = None
    for passage in brm.way:
        said = _began(passage, brm) if before is None else _written(before, passage)
        yield f"  {_ms(passage.at_s)} ms, {passage.port}: {said}"
        before = passage


def _began(passage: Passage, brm: ReturnedCell) -> str:
    if brm.bn:
        origin = f"{passage.node} originated it (BN = 1)"
    elif passage.control is None:
        origin = f"{passage.node} turned the FRM around"
    else:
        origin = f"{passage.node} sent it, where the control loop ends"
    bits = [name for name, is_set in (("CI", passage.ci), ("NI", passage.ni)) if is_set]
    told = [f"ER {_mbps(passage.er_cells_per_s)} Mbps", *(f"{bit} = 1" for bit in bits)]
    why = f"; {brm.efci_from} had marked the data before it (EFCI)" if brm.efci_from and passage.ci else ""
    return f"{origin}, with {', '.join(told)}{why}"


def _written(before: Passage, passage: Passage) -> str:
    by = passage.control or passage.node
    done = []
    if passage.er_cells_per_s != before.er_cells_per_s:
        done.append(f"lowered ER {_from_to(before.er_cells_per_s, passage.er_cells_per_s)}")
    done += [
        f"set {bit}"
        for bit, was, is_set in (("CI", before.ci, passage.ci), ("NI", before.ni, passage.ni))
        if is_set and not was
    ]
    return f"{by} {' and '.join(done)}" if done else f"{by} left it as it was"


def _obeyed(step: RateStep, brm: ReturnedCell) -> Iterator[str]:
    """Say what rules 8 and 9 made of ACR."""
    before, after = step.before_cells_per_s, step.after_cells_per_s
    indicated = before if step.indicated_cells_per_s is None else step.indicated_cells_per_s
    if not step.rules:
        yield f"  ACR stayed at {_mbps(before)} Mbps"
    if 8 in step.rules:
        why = "CI = 1, down by RDF" if brm.ci else "neither CI nor NI, up by RIF x PCR"
        yield f"  rule 8: {why}: {_from_to(before, indicated)}"
    if 9 in step.rules:
        floor = ", and not below MCR" if brm.er_cells_per_s < after == brm.mcr_cells_per_s else ""
        yield f"  rule 9: at most ER{floor}: {_from_to(indicated, after)}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.6f}"


def _mbps(cells_per_s: float) -> str:
    return f"{cells_per_s * CELL_BITS / 1e6:,.3f}"


def _from_to(before: float, after: float) -> str:
    return f"from {_mbps(before)} to {_mbps(after)} Mbps"
