"""Parameters tuned for objectives, by Optuna: every trial is a few points of a campaign.

Optuna's sampler has a seed and is told of trials in their order, so that the same command asks for the same
trials: those that are in the campaign are read from there. Nothing else is stored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import CellrateError
from ..running.points import Point
from ..scenario import Scenario
from ..sweeps.figures import Criterion, Objective
from ..sweeps.replications import SEED, Mean, mean_of
from .ranges import Range
from .sweep import Sweep

Run = Callable[[Sequence[Point]], Sweep]

BATCH = 4
"""Trials that are asked for at once, so that several workers have something to do, however many there are."""

AGAIN = 3
"""Times as many seeds have the trials that are the best, since the best of many is partly luck."""


@dataclass
class Trial:
    """Values of the parameters, and what they gave."""

    settings: dict[str, str]
    values: list[float]
    """Values of the objectives, means over the seeds."""
    violation: float
    """By how much constraints fail, the most over seeds; 0 where all hold."""


@dataclass(frozen=True)
class Against:
    """The winner beside the scenario as it is, on seeds that no trial has seen."""

    winner: list[Mean]
    scenario: list[Mean]
    difference: list[Mean]
    """Winner minus scenario, seed by seed."""
    violation: float
    """Violation of the bounds by the winner, on these seeds."""


@dataclass(frozen=True)
class Tuned:
    """Result of a study."""

    front: list[Trial]
    """Trials that nothing else beats in every objective, with more seeds than other trials."""
    winner: Trial | None
    """The trial that was picked; else the best one, or the one nearest to the best of each objective (the knee of the
    front). None where none keeps the constraints."""
    against: Against | None
    trials: int
    scenario: Scenario | None
    """The scenario with the winner's values."""
    better: bool = False
    """Whether the winner is better than the scenario as it is, on the new seeds, in one objective and worse in none."""
    tried: list[Trial] = field(default_factory=list)
    """All trials."""
    trades: bool = False
    """Whether the winner is better than the scenario as it is in one objective and worse in another, on the new seeds,
    and keeps the constraints there."""


@dataclass
class Study:
    """A tuning of parameters.

    Parameters
    ----------
    scenario
        Without a sweep; its own values are the first trial.
    over
        The parameters and their ranges. What TM 4.0 cannot signal is not in them.
    objectives
        What is to be as large or as small as can be.
    criteria
        What has to hold.
    run
        Runs points into the campaign, whose folder keeps those that are there.
    seeds
        Seeds of each trial.
    trials
        How many.
    first
        Further settings to begin with, such as an advised set.
    """

    scenario: Scenario
    over: Sequence[Range]
    objectives: Sequence[Objective]
    criteria: Sequence[Criterion]
    run: Run
    seeds: int = 3
    trials: int = 60
    first: Sequence[Mapping[str, str]] = ()
    pick: int | None = None
    """Number of the trial of the front that is to be the winner, counted from 1; by default the knee."""
    _points: list[Point] = field(default_factory=list)
    _places: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)

    def do(self) -> Tuned:
        """Run the trials, the best of them with more seeds, and the winner on seeds that no trial has seen.

        Raises
        ------
        CellrateError
            If Optuna is not installed; if nothing in results has a figure of an objective or a constraint.
        """
        optuna = optuna_of()
        directions = ["maximize" if one.largest else "minimize" for one in self.objectives]

        def constraints(trial: Any) -> Sequence[float]:
            return list(trial.user_attrs.get("violations", [0.0]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(seed=1, constant_liar=True, constraints_func=constraints)
            study = optuna.create_study(directions=directions, sampler=sampler)
            found = self._trials(optuna, study)
        front = _front([trial for trial in found if not trial.violation], self.objectives)
        # Held against the others once more with more seeds.
        again = self._tried([trial.settings for trial in front], range(AGAIN * self.seeds))
        front = _front([trial for trial in again if not trial.violation], self.objectives)
        if not front:
            return Tuned([], None, None, len(found), None, tried=found)
        if self.pick is not None and not 1 <= self.pick <= len(front):
            raise CellrateError(
                f"there is no trial {self.pick} to pick: the front has {len(front)}, counted from 1 as they are listed"
            )
        winner = _nearest(front, self.objectives) if self.pick is None else front[self.pick - 1]
        against = self._against(winner)
        tuned = self.scenario.set(winner.settings)
        better, trades = _is_better(against, self.objectives), _trades(against, self.objectives)
        return Tuned(front, winner, against, len(found), tuned, better, found, trades)

    def _trials(self, optuna: Any, study: Any) -> list[Trial]:
        found: list[Trial] = []
        # What the scenario says, and what else is to be begun with.
        known = self._tried([{}, *map(dict, self.first)], range(self.seeds))
        found += known
        while len(found) < self.trials:
            asked = [study.ask() for _ in range(min(BATCH, self.trials - len(found)))]
            settings = [{one.path: suggested(trial, one) for one in self.over} for trial in asked]
            for trial, result in zip(asked, self._tried(settings, range(self.seeds)), strict=True):
                trial.set_user_attr("violations", [result.violation])
                study.tell(trial, result.values)
                found.append(result)
        return found

    def _tried(self, settings: Sequence[Mapping[str, str]], turns: Sequence[int]) -> list[Trial]:
        """Run settings with seeds, those that are not there yet, and give what they gave."""
        keys = []
        for one in settings:
            for turn in turns:
                given = {**one, SEED: str(self.scenario.seed + turn)}
                scenario = self.scenario.set(given)
                # The same values may be asked for twice, or be those of the scenario.
                key = tuple(
                    sorted({**_values_of(scenario, [over.path for over in self.over]), SEED: given[SEED]}.items())
                )
                keys.append(key)
                if key not in self._places:
                    self._places[key] = len(self._points)
                    self._points.append(
                        (scenario, {**dict.fromkeys((over.path for over in self.over), ""), **dict(key)})
                    )
        swept = self.run(self._points)
        trials = []
        for number, one in enumerate(settings):
            mine = keys[number * len(turns) : (number + 1) * len(turns)]
            summaries = [swept[self._places[key]].summary for key in mine]
            values = [mean_of([objective.value(some) for some in summaries]).mean for objective in self.objectives]
            violation = max((max(rule.margin(some) for some in summaries) for rule in self.criteria), default=0.0)
            trials.append(Trial(dict(one), values, violation))
        return trials

    def _against(self, winner: Trial) -> Against:
        turns = range(AGAIN * self.seeds, 2 * AGAIN * self.seeds)
        self._tried([winner.settings, {}], turns)
        swept = self.run(self._points)
        samples: list[list[list[float]]] = []
        summaries = []
        for settings in (winner.settings, {}):
            some = []
            for turn in turns:
                scenario = self.scenario.set({**settings, SEED: str(self.scenario.seed + turn)})
                values = {
                    **_values_of(scenario, [over.path for over in self.over]),
                    SEED: str(self.scenario.seed + turn),
                }
                some.append(swept[self._places[tuple(sorted(values.items()))]].summary)
            samples.append([[one.value(summary) for summary in some] for one in self.objectives])
            summaries.append(some)
        difference = [
            mean_of([one - other for one, other in zip(won, was, strict=True)])
            for won, was in zip(*samples, strict=True)
        ]
        violation = max((rule.margin(some) for rule in self.criteria for some in summaries[0]), default=0.0)
        return Against(
            [mean_of(one) for one in samples[0]], [mean_of(one) for one in samples[1]], difference, violation
        )


def suggested(trial: Any, over: Range) -> str:
    """Give the value of a range that a trial of Optuna asks for."""
    if over.values is not None:
        place: int = trial.suggest_int(over.path, 0, len(over.values) - 1)
        return over.values[place]
    if over.whole:
        steps = round(over.high - over.low)
        return over.at(trial.suggest_int(over.path, 0, steps) / steps)
    return over.at(trial.suggest_float(over.path, 0.0, 1.0))


def _values_of(scenario: Scenario, paths: Sequence[str]) -> dict[str, str]:
    """Give what a scenario says at paths, as text; "default" where it says nothing."""
    found = {}
    document = scenario.to_dict()
    for path in paths:
        value: Any = document
        for part in path.split("."):
            if isinstance(value, list):
                value = next((item for item in value if isinstance(item, dict) and item.get("name") == part), None)
            else:
                value = value.get(part) if isinstance(value, dict) else None
        found[path] = "default" if value is None else str(value)
    return found


def _front(trials: Sequence[Trial], objectives: Sequence[Objective]) -> list[Trial]:
    """Give the trials that no other one beats: as good in all objectives, and better in one."""
    signs = [1.0 if one.largest else -1.0 for one in objectives]

    def scored(trial: Trial) -> list[float]:
        return [sign * value for sign, value in zip(signs, trial.values, strict=True)]

    front: list[Trial] = []
    for trial in trials:
        mine = scored(trial)
        others = [scored(other) for other in trials if other is not trial]
        beaten = any(all(b >= a for a, b in zip(mine, other, strict=True)) and other != mine for other in others)
        if not beaten and not any(scored(one) == mine for one in front):
            front.append(trial)
    return sorted(front, key=scored, reverse=True)


def _nearest(front: Sequence[Trial], objectives: Sequence[Objective]) -> Trial:
    """Give the trial that is nearest to the best of each objective, in shares of what the front spans."""
    spans = []
    for place, one in enumerate(objectives):
        values = [trial.values[place] for trial in front]
        best, worst = (max(values), min(values)) if one.largest else (min(values), max(values))
        spans.append((best, abs(best - worst) or 1.0))
    return min(
        front,
        key=lambda trial: math.hypot(
            *((value - best) / span for value, (best, span) in zip(trial.values, spans, strict=True))
        ),
    )


def _is_better(against: Against, objectives: Sequence[Objective]) -> bool:
    better, worse = _sides(against, objectives)
    return better and not worse and not against.violation


def _trades(against: Against, objectives: Sequence[Objective]) -> bool:
    better, worse = _sides(against, objectives)
    return better and worse and not against.violation


def _sides(against: Against, objectives: Sequence[Objective]) -> tuple[bool, bool]:
    """Say whether the winner is better in an objective, and worse in one, by more than half a confidence interval."""
    signs = [1.0 if one.largest else -1.0 for one in objectives]
    gains = [sign * mean.mean for sign, mean in zip(signs, against.difference, strict=True)]
    pairs = list(zip(gains, [mean.half_width or 0.0 for mean in against.difference], strict=True))
    return any(gain > half for gain, half in pairs), any(gain < -half for gain, half in pairs)


def optuna_of() -> Any:
    """Give the module of Optuna, silent, and without warnings of what it calls experimental.

    Raises
    ------
    CellrateError
        If it is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise CellrateError("tuning needs Optuna, which is not installed; pip install 'cellrate[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
