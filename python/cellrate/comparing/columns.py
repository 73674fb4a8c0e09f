"""Columns of a table of cards: what each shows, by which figure it is sorted, and which end of it is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cards import Card

NONE = "-"
"""Where there is nothing to say."""

Show = Callable[[Card], str]


@dataclass(frozen=True)
class Column:
    """Column of a table of cards."""

    head: str
    """With its unit."""
    short: str
    """Where there is little room."""
    show: Show
    figure: Callable[[Card], float | None]
    """A number that sorts the column, the lesser the better; None where there is nothing to say."""
    key: str | None = None
    """Key of the card, where the column shows one."""
    judged: bool = True
    """Whether less is better indeed, so that the best and the worst are marked."""
    printed: bool = True
    """Whether it has room on a terminal."""

    def marks(self, cards: Sequence[Card]) -> list[str]:
        """Say of each card "best", "worst" or "".

        What cannot be told from the best, because it looks alike or the confidence intervals overlap, is marked as the
        best is, and so of the worst. Nothing is marked where all would be, or fewer than two have anything to say.
        """
        there = sorted((figure, place) for place, card in enumerate(cards) if (figure := self.figure(card)) is not None)
        marks = ["" for _ in cards]
        if not self.judged or len(there) < 2:
            return marks
        best, worst = cards[there[0][1]], cards[there[-1][1]]
        if self.alike(best, worst):
            return marks
        for _, place in there:
            like_best, like_worst = self.alike(best, cards[place]), self.alike(worst, cards[place])
            if like_best != like_worst:
                marks[place] = "best" if like_best else "worst"
        return marks

    def alike(self, one: Card, other: Card) -> bool:
        """Say whether two cards, which have something to say, look alike, or cannot be told apart by their seeds."""
        first, second = self.figure(one), self.figure(other)
        assert first is not None
        assert second is not None
        widths = [card.half_widths.get(self.key, 0.0) if self.key else 0.0 for card in (one, other)]
        looks_alike = first == second or self.show(one) == self.show(other)
        return looks_alike or (sum(widths) > 0.0 and abs(first - second) <= sum(widths))


def share(value: float) -> str:
    """Give a part of a whole in per cent."""
    return f"{100 * value:.1f} %"


def ms(value: float) -> str:
    """Give a time [s] in milliseconds, without the unit."""
    return f"{1e3 * value:,.0f}"


def _loss(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.2g} %"


def _cells(value: float) -> str:
    return f"{value:,.0f}"


def _ratio(value: float) -> str:
    return f"{value:.2f}"


def _column(
    head: str,
    short: str,
    key: str,
    text: Callable[[float], str],
    *,
    rising: bool = False,
    enough: float = math.inf,
    judged: bool = True,
    printed: bool = True,
) -> Column:
    """Give the column of a card's key; `rising` where more is better, up to `enough`."""

    def show(card: Card) -> str:
        value = getattr(card, key)
        if value is None:
            return NONE
        half_width = text(card.half_widths.get(key, 0.0))
        # An interval narrower than what is shown is not.
        return text(value) if half_width == text(0.0) else f"{text(value)} ± {half_width.removesuffix(' %')}"

    def figure(card: Card) -> float | None:
        value = getattr(card, key)
        return None if value is None else -min(value, enough) if rising else float(value)

    return Column(head, short, show, figure, key, judged, printed)


def _settled(card: Card) -> str:
    if not card.phases:
        return NONE
    told = f"{card.settled} of {card.phases}"
    return told if card.settling_s is None else f"{told} in {ms(card.settling_s)} ms"


def _settling(card: Card) -> float | None:
    """Give the parts that have not settled, and where they are as many the slower: an hour is more than any."""
    if not card.phases:
        return None
    return (1 - card.settled / card.phases) + (card.settling_s or 0.0) / 3600 / card.phases


COLUMNS = (
    _column("mean error", "error", "mean_error", share),
    _column("worst error", "worst", "worst_error", share),
    Column("settled", "settled", _settled, _settling),
    Column(
        "ports unsettled",
        "unsettled",
        lambda card: str(len(card.unsettled)),
        lambda card: float(len(card.unsettled)),
        # Of algorithms that hand out no rates nothing is said: that is not praise.
        judged=False,
    ),
    _column("long way", "long way", "beat_down", _ratio, rising=True, enough=1.0),
    _column("long trip", "long trip", "long_trip", _ratio, rising=True, enough=1.0),
    _column("cheat has", "cheat has", "cheat_share", _ratio),
    _column("mean queue [cells]", "mean queue", "mean_queue", _cells),
    _column("99 % [cells]", "99 %", "p99_queue", _cells, printed=False),
    _column("longest [cells]", "longest", "max_queue", _cells, printed=False),
    _column("utilization", "used", "utilization", share, rising=True),
    _column("loss", "loss", "loss", _loss),
    _column("cheat's loss", "cheat's", "cheat_loss", _loss, judged=False, printed=False),
    _column("response 99 % [ms]", "response", "response_s", ms),
    _column("slow-down", "slow-down", "slowdown", _ratio),
    _column("slow-down 99 %", "99 %", "p99_slowdown", _ratio, printed=False),
)
