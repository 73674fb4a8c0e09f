"""Parts of a run in which the same connections send, with what each is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..scenario import Scenario

KNOWN = ("greedy", "limited", "constant", "on-off")
"""Traffic of which it is known before a run when it begins and ends."""

STEADY_GUARANTEED = ("greedy", "limited", "constant")
"""CBR and VBR traffic whose rate is known before a run."""


@dataclass(frozen=True)
class Phase:
    """A part of a run in which the same connections send."""

    begin_s: float
    end_s: float
    shares: Mapping[str, float]
    """Max-min fair rate of each connection that sends and obeys [cells/s]; none where one sends by its own rhythm."""
    cheats: Mapping[str, float]
    """Rate that each connection that misbehaves is due, as if it obeyed [cells/s]."""
    bottlenecks: tuple[str, ...]
    """Ports at which a connection is held back; none while flows of a size come and go."""

    @property
    def half_s(self) -> float:
        """From here on rates should have settled [s]."""
        return (self.begin_s + self.end_s) / 2


def phases_of(scenario: Scenario, rates: Mapping[str, float], target: float | None) -> list[Phase]:
    """Give the phases of a scenario, each taken as if its ABR connections were greedy.

    Parameters
    ----------
    scenario
        With the algorithm.
    rates
        Mean rate of each CBR and VBR connection whose rate varies [cells/s], as `varying` names them.
    target
        Share of each line that is handed out [above 0 to 1]; None for what its algorithm does.
    """
    standing_in: dict[str, object] = {}
    by_own_rhythm: set[str] = set()
    cheating = misbehaving(scenario)
    for name, entry, traffic in _entries(scenario):
        kind = traffic.get("type", "greedy")
        if entry.get("category", "abr") != "abr":
            continue
        if kind != "greedy":
            by_own_rhythm.update(_members(name, entry))
        if kind not in KNOWN:
            # Those who begin one after the other make no phases of the time until all have.
            span = {"end": traffic["end"]} if "end" in traffic else {}
            standing_in[f"vc.{name}.traffic"] = {"type": "on-off", "rate": "1 Mbps", "on": "1 s", "off": "1 s", **span}
    for name, rate in rates.items():
        standing_in[f"vc.{name}.traffic"] = {"type": "constant", "rate": f"{rate!r} cells/s"}
    steady = scenario.set(standing_in) if standing_in else scenario
    meant, full = (steady.fair_over_time(utilization=share) for share in (target, 1.0))
    ends_s = [at_s for at_s, _ in meant[1:]] + [scenario.duration_s]
    found = []
    for (begin_s, rows), (_, lines), end_s in zip(meant, full, ends_s, strict=True):
        judged = not any(row.vc in by_own_rhythm for row in rows)
        due = {row.vc: row.rate for row in rows if not row.backward} if judged else {}
        shares = {vc: rate for vc, rate in due.items() if vc not in cheating}
        cheats = {vc: rate for vc, rate in due.items() if vc in cheating}
        # Of clients and servers it is not known which way they need the line.
        held = dict.fromkeys(
            row.bottleneck for row in lines if row.bottleneck is not None and row.vc not in by_own_rhythm
        )
        found.append(Phase(begin_s, end_s, shares, cheats, tuple(held)))
    return found


def misbehaving(scenario: Scenario) -> set[str]:
    """Give the names of the ABR connections that do not obey."""
    return {
        member
        for name, entry, _ in _entries(scenario)
        if entry.get("misbehaves", "off") != "off"
        for member in _members(name, entry)
    }


def varying(scenario: Scenario) -> list[str]:
    """Give the names of the CBR and VBR connections whose rate is not known before a run."""
    return [
        member
        for name, entry, traffic in _entries(scenario)
        if entry.get("category", "abr") in ("cbr", "vbr") and traffic.get("type") not in STEADY_GUARANTEED
        for member in _members(name, entry)
    ]


def _entries(scenario: Scenario) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Give each entry of a connection: name as written, the entry, its traffic."""
    for entry in scenario.to_dict().get("vc", []):
        yield entry["name"], entry, entry.get("traffic", {})


def _members(name: str, entry: Mapping[str, Any]) -> list[str]:
    return [name.replace("{i}", str(number)) for number in range(1, int(entry.get("count", 1)) + 1)]
