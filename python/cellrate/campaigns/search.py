"""The largest or smallest value of a parameter for which criteria on results hold: bisection, kept as a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ..errors import CellrateError
from ..running.points import Point
from ..scenario import Scenario
from ..sweeps.figures import Criterion
from ..sweeps.replications import SEED
from ..sweeps.settings import SCENARIO
from ..sweeps.several import by_name
from .ranges import Range
from .sweep import Sweep

LOOKED_AT = 7
"""Values over the range that are tried first: they tell whether what holds has one border or several."""

TOLERANCE = 0.01
"""Share of the range that may lie between what holds and what does not."""

Run = Callable[[Sequence[Point]], Sweep]


@dataclass(frozen=True)
class Tried:
    """A value as it was tried in one scenario."""

    holds: bool
    """Whether all criteria hold with every seed."""
    figures: list[float]
    """The value of each criterion that is nearest to failing, or fails most, over seeds too, in the unit of results."""


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
    """By value, in rising order: whether it holds in every scenario."""
    scenarios: dict[str, dict[str, Tried]] = field(default_factory=dict)
    """By value and name of the scenario; one scenario alone has the name ""."""

    def __str__(self) -> str:
        if self.value is None:
            return f"For no value of {self.path} that was tried ({', '.join(self.tried)}) do the criteria hold."
        end = "it is the end of the range" if self.beyond is None else f"{self.beyond} does not hold{self._where()}"
        text = f"{self.path} = {self.value}; {end}."
        if not self.monotonic:
            held = ", ".join(f"{value} {'holds' if holds else 'does not'}" for value, holds in self.tried.items())
            text += f" What holds has several borders, of which this is the last one: {held}."
        return text

    def _where(self) -> str:
        """Say in which scenarios the value beyond does not hold, of several."""
        tried = self.scenarios.get(self.beyond or "", {})
        return f" in {', '.join(name for name, one in tried.items() if not one.holds)}" if len(tried) > 1 else ""


def search(
    scenario: Scenario | Sequence[Scenario] | Mapping[str, Scenario],
    over: Range,
    criteria: Sequence[Criterion],
    run: Run,
    *,
    seeds: int = 1,
    smallest: bool = False,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Find the largest or smallest value of a parameter for which criteria hold in every scenario with every seed.

    Parameters
    ----------
    scenario
        Without a sweep. Several are told apart by the key "scenario" of their points.
    over
        The parameter and its range; every scenario has it.
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

    Raises
    ------
    CellrateError
        If one of several scenarios does not take the parameter's values, or two are the same; otherwise what a run
        raises.
    """
    scenarios = by_name([scenario] if isinstance(scenario, Scenario) else scenario)
    for name, one in scenarios.items():
        _check(name, one, over)
    looking = _Looking(scenarios, over, criteria, run, seeds)
    looking.at(over.spread(LOOKED_AT))
    while (border := _border(looking.held, smallest=smallest)) is not None:
        middle = over.middle(min(border), max(border), tolerance)
        if middle is None:
            break
        looking.at([middle])
    return _answer(over, looking, smallest=smallest)


@dataclass
class _Looking:
    """Values that have been tried, by their shares of the range."""

    scenarios: Mapping[str, Scenario]
    over: Range
    criteria: Sequence[Criterion]
    run: Run
    seeds: int
    points: list[Point] = field(default_factory=list)
    found: dict[float, dict[str, Tried]] = field(default_factory=dict)

    @property
    def held(self) -> dict[float, bool]:
        """Whether each share holds in every scenario."""
        return {share: all(one.holds for one in tried.values()) for share, tried in self.found.items()}

    def at(self, shares: Sequence[float]) -> None:
        """Try values of the parameter."""
        begin = len(self.points)
        for share in shares:
            value = self.over.at(share)
            for name, one in self.scenarios.items():
                for turn in range(self.seeds):
                    settings = {self.over.path: value} | ({SEED: str(one.seed + turn)} if self.seeds > 1 else {})
                    self.points.append((one.set(settings), ({SCENARIO: name} if name else {}) | settings))
        results = iter(self.run(self.points)[begin:])
        for share in shares:
            self.found[share] = {}
            for name in self.scenarios:
                some = [result.summary for result in islice(results, self.seeds)]
                holds = all(criterion.holds(summary) for summary in some for criterion in self.criteria)
                self.found[share][name] = Tried(holds, [criterion.worst_of(some) for criterion in self.criteria])


def _answer(over: Range, looking: _Looking, *, smallest: bool) -> Answer:
    held = looking.held
    shares = sorted(held)
    turns = sum(held[first] != held[second] for first, second in pairwise(shares))
    tried = {over.at(share): held[share] for share in shares}
    each = {over.at(share): looking.found[share] for share in shares}
    holding = [share for share in shares if held[share]]
    if not holding:
        return Answer(over.path, None, None, True, tried, each)
    best = holding[0] if smallest else holding[-1]
    border = _border(held, smallest=smallest)
    # One border, on the side that was asked for.
    monotonic = turns == 0 or (turns == 1 and border is not None)
    return Answer(over.path, over.at(best), None if border is None else over.at(border[1]), monotonic, tried, each)


def _check(name: str, scenario: Scenario, over: Range) -> None:
    """Refuse a range whose ends a scenario does not take, with its name where there are several."""
    for share in over.spread(2):
        try:
            scenario.set({over.path: over.at(share)})
        except CellrateError as error:
            if not name:
                raise
            raise CellrateError(f"{name} cannot have {over.path} = {over.at(share)}: {error}") from error


def _border(held: dict[float, bool], *, smallest: bool) -> tuple[float, float] | None:
    """Give the outermost share that holds, and its neighbour outside that does not; None where there is none."""
    shares = sorted(held, reverse=smallest)
    holding = [share for share in shares if held[share]]
    if not holding or holding[-1] == shares[-1]:
        return None
    return holding[-1], shares[shares.index(holding[-1]) + 1]
