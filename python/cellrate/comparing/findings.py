"""Cards of an arena, together: what tables and pages are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cards import Card, Sketch
from .costs import Cost


@dataclass(frozen=True)
class Findings:
    """Findings of an arena: a card for each algorithm and scenario, and one over all scenarios for each algorithm."""

    version: str
    """The version of cellrate."""
    algorithms: Sequence[str]
    """As they were asked for."""
    scenarios: dict[str, str]
    """Purpose of each scenario, by name."""
    seeds: int
    """Seeds of each scenario that draws random numbers."""
    cards: Sequence[Card]
    """By scenario, and within it by algorithm."""
    overall: Sequence[Card]
    """By algorithm."""
    costs: Sequence[Cost]
    """By algorithm; empty where they were not asked for."""
    machine: str
    """The processor of which the costs are."""
    sketches: Sequence[Sketch]
    """The run with the first seed of each card."""

    def card(self, algorithm: str, scenario: str | None = None) -> Card:
        """Give the card of an algorithm: in a scenario, or over all of them.

        Raises
        ------
        KeyError
            If there is none.
        """
        for card in self.overall if scenario is None else self.cards:
            if card.algorithm == algorithm and card.scenario == scenario:
                return card
        raise KeyError(f"no card of {algorithm!r} in {scenario!r}")

    def content(self) -> dict[str, object]:
        """Give everything but the sketches for JSON; the same for the same build, but for the costs."""
        return {
            "version": self.version,
            "algorithms": list(self.algorithms),
            "scenarios": dict(self.scenarios),
            "seeds": self.seeds,
            "cards": [card.content() for card in self.cards],
            "overall": [card.content() for card in self.overall],
            "costs": {"machine": self.machine, "algorithms": [cost.content() for cost in self.costs]},
        }
