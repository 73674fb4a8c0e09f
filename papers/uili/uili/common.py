"""Helpers that the experiments share: the policies as settings of a scenario, units, and sentences from numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cellrate.papers.experiment import Finding, Tried, Value

CELL_BITS = 424
"""A cell of 53 octets [bit]."""
TO_MBPS = CELL_BITS / 1e6
"""From cells/s to Mbps."""

POLICIES = ("none", "august-1995", "baseline", "count-based", "time-based", "joint", "switch-based")
"""In the order of figure 6, then the two that the paper describes and does not run."""

AUGUST = '{ type = "august-1995", tdf = 33554432 }'
"""TDF = TDFF / RDF x 2^19 per second with the paper's own TDFF = 1/8, RDF = 1/512: every trigger goes to ICR."""
MILD_AUGUST = '"august-1995"'
"""August 1995 with 512 for RDF, as a divisor: 128 per second."""


def settings(policy: str, headroom: str, tc: str | None = None) -> dict[str, object]:
    """Give what `policy` sets in a scenario.

    Parameters
    ----------
    policy
        One of `POLICIES`.
    headroom
        Of the count based policy, and the floor of the switch based one: a rate with its unit.
    tc
        Time constant of the time based policy, where it does not follow from FRTT and TBE.
    """
    uili = "defaults.abr.uili"
    match policy:
        case "august-1995":
            return {uili: AUGUST}
        case "count-based":
            return {uili: f'{{ type = "count-based", tdf = "1/8", headroom = "{headroom}" }}'}
        case "time-based" if tc is not None:
            return {uili: f'{{ type = "time-based", tc = "{tc}" }}'}
        case "switch-based":
            return {"defaults.switch.algorithm.aging": f'{{ floor = "{headroom}" }}'}
        case _:
            return {uili: f'"{policy}"'}


def listed(pairs: Iterable[tuple[object, float]], unit: str, digits: int = 1) -> str:
    """Write values with what they belong to: "11.0 (count-based), 11.1 (joint) Mbps"."""
    return ", ".join(f"{value:,.{digits}f} ({key})" for key, value in pairs) + f" {unit}"


def judged(
    name: str,
    measured: Value,
    holds: bool | None = None,
    why: str = "",
    values: Sequence[float] = (),
    rows: Mapping[str, Tried] | None = None,
) -> Finding:
    """Give a finding; one that is not as said for no reason known here says as much."""
    reason = why or ("Not explained." if holds is False or values else "")
    return Finding(name, measured, holds, reason, values, rows or {}, seeds=1)
