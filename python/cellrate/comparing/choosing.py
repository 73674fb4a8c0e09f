"""How to choose by the cards: for each thing that a network may need, the algorithms that do best, and their price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .cards import Card
from .columns import COLUMNS, Column
from .findings import Findings

ADVICE = (
    "Ask first which of these your network cannot do without, take the algorithm that leads there, and look where it "
    "stands lowest: that is its price. Where a run says of an algorithm that it cannot settle, it has parameters that "
    "are wrong for these round trips, and a change of them that would help is said with it; so its other figures may "
    "be better elsewhere. Means over scenarios count each scenario alike, which no network does: look at the scenario "
    "that is nearest to yours."
)
"""Advice that holds whatever the figures."""

NEEDS = (
    ("Equal shares on the whole", "mean error"),
    ("No connection far from its share", "worst error"),
    ("Rates that come to rest, and soon", "settled"),
    ("Short queues", "mean queue [cells]"),
    ("Few losses", "loss"),
    ("Full lines", "utilization"),
    ("Feedback that comes late", "long trip"),
    ("Transfers that end soon", "slow-down"),
    ("Sources that do not obey", "cheat has"),
)
"""Needs, each with the head of the column that tells who meets it."""

NAMED = 3
"""So many that are alike are named; more are counted."""


def choosing(arena: Findings) -> list[str]:
    """Give a sentence for each need that the scenarios ask about; none where a single algorithm takes part.

    Each has the best and those next to them by the cards over all scenarios, and the column where the best stands
    lowest, if that is in the lower half.
    """
    columns = {column.head: column for column in COLUMNS}
    found = []
    for need, head in NEEDS:
        column = columns[head]
        ranks = _ranks(column, arena.overall)
        if len(ranks) < 2:
            continue
        best, second = ranks[0], ranks[1]
        price = _price(best[0], head, columns, arena.overall) if len(best) == 1 else ""
        found.append(f"{need}, by {head}: {_named(column, best)}, then {_named(column, second)}{price}.")
    return found


def _ranks(column: Column, cards: Sequence[Card]) -> list[list[Card]]:
    """Give the cards by a column, best first; a rank has those that cannot be told from its first."""
    figures = [(figure, place) for place, card in enumerate(cards) if (figure := column.figure(card)) is not None]
    ranks: list[list[Card]] = []
    for _, place in sorted(figures):
        if ranks and column.alike(ranks[-1][0], cards[place]):
            ranks[-1].append(cards[place])
        else:
            ranks.append([cards[place]])
    return ranks


def _named(column: Column, rank: Sequence[Card]) -> str:
    *others, last = [card.algorithm for card in rank]
    told = f"{', '.join(others)} and {last}" if others else last
    if len(rank) > NAMED:
        told = f"{', '.join(card.algorithm for card in rank[:NAMED])} and {len(rank) - NAMED} more"
    figures = list(dict.fromkeys((column.show(rank[0]), column.show(rank[-1]))))
    return f"{told} ({' to '.join(figures)})"


def _price(card: Card, but: str, columns: Mapping[str, Column], cards: Sequence[Card]) -> str:
    """Say where an algorithm stands lowest, if that is in the lower half."""
    lowest, said = 0.5, ""
    for _, head in NEEDS:
        before = 0
        count = sum(1 for one in cards if columns[head].figure(one) is not None)
        for rank in _ranks(columns[head], cards):
            if head != but and card in rank and before > lowest * (count - 1):
                lowest = before / (count - 1)
                said = f"; its price: place {before + 1} of {count} by {head} ({columns[head].show(card)})"
            before += len(rank)
    return said
