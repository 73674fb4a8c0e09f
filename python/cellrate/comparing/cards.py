"""Cards of an algorithm: fairness, settling, queues, utilization, loss, and how cards are taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..sweeps.replications import mean_of

MEANS = (
    "mean_error",
    "cheat_share",
    "mean_queue",
    "p99_queue",
    "max_queue",
    "utilization",
    "loss",
    "cheat_loss",
    "response_s",
    "slowdown",
    "p99_slowdown",
)
"""Figures of a card that are means over seeds; of them all but responses are means over scenarios too."""


@dataclass(frozen=True)
class Unsettled:
    """A port whose rates do not settle, as a result says (rows "unsettled" of docs/results.md)."""

    scenario: str
    port: str
    by: str
    """"rule" or "phase": known before the run; "run": shown by its last quarter."""
    said: str
    """As a run prints it."""


@dataclass(frozen=True)
class Card:
    """How an algorithm did: in one scenario, or over all of them.

    A share is what arrived of a connection over what it is due, its max-min fair rate, in the second half of a phase;
    its error is the distance from 1. Data cells are counted, and the due ones of them. Of several runs the mean error,
    queues, utilization, losses and slow-downs are means; of errors, settling and shares of long ways the worst is told.
    """

    algorithm: str
    scenario: str | None
    """None for all scenarios together."""
    runs: int
    """Runs that it is of; one where a scenario draws no random numbers, whatever the number of seeds."""
    mean_error: float | None
    """Mean over connections and phases; None where no phase can be judged."""
    worst_error: float | None
    phases: int
    """Phases in which rates can settle: of those that are judged all but those beside VBR."""
    settled: int
    """Phases in whose first half all rates came to stay within a tenth of their fair shares."""
    settling_s: float | None
    """The longest time from the beginning of such a phase until then [s]; None where none settled."""
    beat_down: float | None
    """Least share of the connections with the longest way; None where all ways are equally long."""
    long_trip: float | None
    """Least share of the connections with the longest round trip; None where none is twice that of another."""
    cheat_share: float | None
    """Share of the connections that misbehave, in the mean; None where all obey. One that obeyed would have 1."""
    mean_queue: float
    """Mean queue of the port where that is largest [cells]."""
    p99_queue: float
    """Queue that a probe has at most in 99 % of its instants, at the port where that is largest [cells]."""
    max_queue: float
    """The largest queue of any port [cells]."""
    utilization: float
    """Mean of the ports that hold connections back, over the whole run [0 to 1]."""
    loss: float
    """ABR cells lost over those sent, of connections that obey."""
    cheat_loss: float | None
    """Cells lost over those sent of connections that misbehave, with what policers discard; None where all obey."""
    response_s: float | None
    """99 % of the responses of clients took at most so long to be sent [s]; None without clients."""
    slowdown: float | None
    """Completion time of flows over that of their cells alone at PCR, in the mean; None without flows."""
    p99_slowdown: float | None
    """Slow-down that 99 % of the flows have at most; None without flows."""
    unsettled: tuple[Unsettled, ...] = ()
    """Ports whose rates do not settle: by the algorithm's own rule, or as the run says."""
    half_widths: Mapping[str, float] = field(default_factory=dict)
    """Half the width of the 95 % confidence interval over seeds (Student's t), by the key of a mean; of none that all
    seeds give alike, and none of a single seed."""

    def content(self) -> dict[str, Any]:
        """Give the card for JSON."""
        return asdict(self) | {"unsettled": [asdict(one) for one in self.unsettled]}


@dataclass(frozen=True)
class Sketch:
    """A run as lines: the least and the largest share at each instant, and the longest queue."""

    times_s: list[float]
    least: list[float | None]
    largest: list[float | None]
    queue: list[float]


@dataclass(frozen=True)
class Outcome:
    """A card, and the sketch of the run."""

    card: Card
    sketch: Sketch = field(compare=False)


def of_seeds(cards: Sequence[Card]) -> Card:
    """Give one card for the runs of an algorithm on a scenario that differ in their seeds."""
    one = _together(cards)
    return one if len(cards) == 1 else replace(one, half_widths=_half_widths(cards))


def of_scenarios(seeds: Sequence[Sequence[Card]]) -> Card:
    """Give the card over all scenarios: of each scenario the cards of its runs, a single one where nothing is random.

    A mean is that of the scenarios' means, so that each scenario counts alike. Its interval is over seeds: of the
    mean over scenarios with each of them.
    """
    one = replace(_together([of_seeds(cards) for cards in seeds]), scenario=None, half_widths={})
    most = max(len(cards) for cards in seeds)
    if most == 1:
        return one
    by_seed = [_together([cards[seed % len(cards)] for cards in seeds]) for seed in range(most)]
    return replace(one, half_widths=_half_widths(by_seed))


def _half_widths(cards: Sequence[Card]) -> dict[str, float]:
    found = {}
    for name in MEANS:
        values = [value for card in cards if (value := getattr(card, name)) is not None]
        if len(values) > 1 and (width := mean_of(values).half_width) is not None:
            found[name] = width
    return found


def _together(cards: Sequence[Card]) -> Card:
    def of(name: str) -> list[float]:
        return [value for card in cards if (value := getattr(card, name)) is not None]

    means: dict[str, Any] = {name: mean_of(values).mean if (values := of(name)) else None for name in MEANS}
    return Card(
        algorithm=cards[0].algorithm,
        scenario=cards[0].scenario,
        runs=sum(card.runs for card in cards),
        worst_error=max(of("worst_error"), default=None),
        phases=sum(card.phases for card in cards),
        settled=sum(card.settled for card in cards),
        settling_s=max(of("settling_s"), default=None),
        beat_down=min(of("beat_down"), default=None),
        long_trip=min(of("long_trip"), default=None),
        # The same port is told once, whatever the number of seeds.
        unsettled=tuple({(one.scenario, one.port, one.by): one for card in cards for one in card.unsettled}.values()),
        **means,
    )
