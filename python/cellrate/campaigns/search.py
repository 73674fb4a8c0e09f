"""The largest or smallest value of a parameter for which criteria on results hold: bisection, kept as a campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..running.points import Point
from ..scenario import Scenario
from ..sweeps.figures import Criterion
from ..sweeps.replications import SEED
from .ranges import Range
from .sweep import Sweep

LOOKED_AT = 7
"""Values over the range that are tried first: they tell whether what holds has one border or several."""

TOLERANCE = 0.01
"""Share of the range that may lie between what holds and what does not."""

Run = Callable[[Sequence[Point]], Sweep]


@dataclass(frozen=True)
class Answer:
    """Answer of a search."""

    path: str
    value: str | None
    """The largest, or smallest, value that was tried and holds; None if none does."""
    beyond: str | None
    """The nearest value on the other side, which was tried and does not hold; None at the end of the range."""
    monotonic: bool
    """Whether what was tried has one border between what holds and what does not."""
    tried: dict[str, bool]
    """By value, in rising order."""
    figures: dict[str, list[float]]
    """By value, what each criterion is of: the value that is nearest to failing, or fails most, over seeds too, in the
    unit of results."""

    def __str__(self) -> str:
        if self.value is None:
            return f"For no value of {self.path} that was tried ({', '.join(self.tried)}) do the criteria hold."
        end = "it is the end of the range" if self.beyond is None else f"{self.beyond} does not hold"
        text = f"{self.path} = {self.value}; {end}."
        if not self.monotonic:
            held = ", ".join(f"{value} {'holds' if holds else 'does not'}" for value, holds in self.tried.items())
            text += f" What holds has several borders, of which this is the last one: {held}."
        return text


def search(
    scenario: Scenario,
    over: Range,
    criteria: Sequence[Criterion],
    run: Run,
    *,
    seeds: int = 1,
    smallest: bool = False,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Find the largest value of a parameter, or the smallest, for which criteria hold with every seed.

    Parameters
    ----------
    scenario
        Without a sweep.
    over
        The parameter and its range.
    criteria
        What has to hold, all together.
    run
        Runs points into the campaign, whose folder keeps those that are there.
    seeds
        Seeds of each value.
    smallest
        Whether the smallest value is looked for.
    tolerance
        Share of the range that may lie between the answer and what does not hold.
    """
    held: dict[float, bool] = {}
    worst: dict[float, list[float]] = {}
    points: list[Point] = []

    def look(shares: Sequence[float]) -> None:
        begin = len(points)
        for share in shares:
            for turn in range(seeds):
                settings = {over.path: over.at(share)} | ({SEED: str(scenario.seed + turn)} if seeds > 1 else {})
                points.append((scenario.set(settings), settings))
        results = run(points)[begin:]
        for number, share in enumerate(shares):
            some = results[number * seeds : (number + 1) * seeds]
            held[share] = all(criterion.holds(one.summary) for one in some for criterion in criteria)
            worst[share] = [criterion.worst_of([one.summary for one in some]) for criterion in criteria]

    look(over.spread(LOOKED_AT))
    while (border := _border(held, smallest=smallest)) is not None:
        middle = over.middle(min(border), max(border), tolerance)
        if middle is None:
            break
        look([middle])
    shares = sorted(held)
    turns = sum(held[first] != held[second] for first, second in pairwise(shares))
    tried = {over.at(share): held[share] for share in shares}
    figures = {over.at(share): worst[share] for share in shares}
    holding = [share for share in shares if held[share]]
    if not holding:
        return Answer(over.path, None, None, True, tried, figures)
    best = holding[0] if smallest else holding[-1]
    border = _border(held, smallest=smallest)
    # One border, on the side that was asked for.
    monotonic = turns == 0 or (turns == 1 and border is not None)
    return Answer(over.path, over.at(best), None if border is None else over.at(border[1]), monotonic, tried, figures)


def _border(held: dict[float, bool], *, smallest: bool) -> tuple[float, float] | None:
    """Give the outermost share that holds, and its neighbour outside that does not; None where there is none."""
    shares = sorted(held, reverse=smallest)
    holding = [share for share in shares if held[share]]
    if not holding or holding[-1] == shares[-1]:
        return None
    return holding[-1], shares[shares.index(holding[-1]) + 1]
