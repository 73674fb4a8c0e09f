"""An advised set tuned by simulation: values near the guidelines' and far from them, on the scenario of the trial.

A set takes the place of the advised one only if it is no worse than that and than the defaults in any figure that the
application needs, nor in cells lost, and better in one. So what is kept is never below either of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..advice.advised import AdvisedSet
from ..advice.advisor import tuned_to
from ..campaigns.ranges import ADTF_STEP_S, Range
from ..campaigns.running import sweep_into
from ..campaigns.tune import BATCH, optuna_of, suggested
from ..errors import CellrateError
from ..quantities import TIME, read, read_ratio
from ..results import Result
from ..running.points import Point, Progress
from ..scenario import Scenario
from .comparison import SYMBOLS, Comparison
from .figures import figures_of, is_worse
from .plan import plan_of
from .scenario import scenario_text

if TYPE_CHECKING:
    from ..campaigns.executors import ExecutorChoice

Figures = Mapping[str, tuple[float | None, bool, bool]]

VARIED = ("rif=1/32768..1", "rdf=1/32768..1", "nrm=2..256", "cdf=0..1")
"""Variations where nothing is said: all that can be signalled of these."""

LOST = "cells lost"
NOTHING = 1e12
"""Stands for a figure that is not there, such as the time of a request that never ends, in what Optuna is told."""


@dataclass(frozen=True)
class TunedSet:
    """Result of tuning an advised set."""

    kept: AdvisedSet
    """The set with the best values found; the one that it began with where nothing was better."""
    changed: Mapping[str, str]
    """By key, the values that differ from where it began; empty where nothing was better."""
    figures: Mapping[str, tuple[float | None, float | None, float | None]]
    """By name, of the defaults, of the advised set, and of the one that is kept."""
    needed: Sequence[str]
    """The names of figures that the application needs."""
    trials: int

    @property
    def verdict(self) -> str:
        """Give a sentence."""
        if not self.changed:
            return f"None of {self.trials} sets is better on what the application needs; the advised one stays."
        said = ", ".join(f"{SYMBOLS[key]} = {value}" for key, value in self.changed.items())
        return f"Best of {self.trials} sets: {said}."

    def content(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        names = ("default", "advised", "tuned")
        rows = [
            {"name": name, "needed": name in self.needed, **dict(zip(names, values, strict=True))}
            for name, values in self.figures.items()
        ]
        return {"trials": self.trials, "changed": dict(self.changed), "figures": rows, "verdict": self.verdict}


def ranges_of(texts: Sequence[str]) -> list[Range]:
    """Read varied keys, KEY=LOW..HIGH, each one of those advised.

    Raises
    ------
    CellrateError
        If a key is none that can be tuned, or given twice, or a value cannot be signalled.
    """
    known = ("rif", "rdf", "cdf", "nrm", "trm", "adtf", "tbe")
    found: dict[str, Range] = {}
    for text in texts:
        key = text.partition("=")[0].strip().removeprefix("defaults.abr.").lower()
        if key not in known:
            raise CellrateError(f"--vary {text}: keys that can be tuned are {', '.join(known)}")
        if key in found:
            raise CellrateError(f"--vary {text}: {key} is given twice")
        found[key] = Range.read(f"defaults.abr.{key}={text.partition('=')[2]}")
    return list(found.values())


def tune(
    comparison: Comparison,
    folder: Path,
    *,
    vary: Sequence[str] = VARIED,
    trials: int = 40,
    workers: int | None = None,
    executor: ExecutorChoice = None,
    progress: Progress | None = None,
) -> TunedSet:
    """Look for values that do better than those of a trial; the same call goes on with what is in `folder`.

    Parameters
    ----------
    comparison
        The trial: what it kept is where this begins.
    folder
        Keeps the runs, as a campaign.
    vary
        KEY=LOW..HIGH of rif, rdf, cdf, nrm, trm, adtf and tbe.
    trials
        How many sets are run.
    workers, executor, progress
        As for `cellrate.sweep`.

    Raises
    ------
    CellrateError
        If Optuna is not installed, or a range is none.
    """
    over = ranges_of(vary)
    if trials < 1:
        raise CellrateError(f"trials is {trials}; it must be at least 1")
    search = _Search(comparison)
    done = 0
    while done < trials:
        asked = search.ask(over, min(BATCH, trials - done))
        swept = sweep_into(
            folder,
            list(search.points.values()),
            workers=workers,
            executor=executor,
            # What is there of trials to come is kept beside, and found again when they are asked for.
            complain=lambda _: None,
            name="--cluster",
        )
        search.tell(asked, swept)
        done += len(asked)
        if progress is not None:
            progress(done / trials)
    return search.found(trials)


class _Search:
    """The sets that Optuna asks for, with the best of them."""

    def __init__(self, comparison: Comparison) -> None:
        self.kept = comparison.kept
        self.base = Scenario.parse(scenario_text(self.kept), file="advised")
        self.plan = plan_of(self.kept.situation)
        self.default, self.advised = (self.figures(result) for result in comparison.results)
        self.needed = [name for name, (_, _, needs) in self.advised.items() if needs]
        optuna = optuna_of()
        sampler = optuna.samplers.TPESampler(seed=1, constant_liar=True)
        directions = ["maximize" if self.advised[name][1] else "minimize" for name in self.needed]
        self.study = optuna.create_study(directions=directions, sampler=sampler)
        self.points: dict[str, Point] = {}
        """By hash of the scenario."""
        self.best, self.best_score, self.changed = self.advised, 0.0, dict[str, str]()

    def figures(self, result: Result) -> Figures:
        return figures_of(result, self.kept.situation, self.plan)

    def ask(self, over: Sequence[Range], count: int) -> list[tuple[Any, str]]:
        """Ask for sets, each a trial of Optuna with the hash of its scenario, and add their points."""
        asked = []
        for trial in [self.study.ask() for _ in range(count)]:
            settings = {one.path: suggested(trial, one) for one in over}
            scenario = self.base.set(settings)
            self.points.setdefault(scenario.hash, (scenario, settings))
            asked.append((trial, scenario.hash))
        return asked

    def tell(self, asked: Sequence[tuple[Any, str]], swept: Sequence[Result]) -> None:
        """Tell Optuna what the sets gave, and keep the best."""
        places = {found: place for place, found in enumerate(self.points)}
        for trial, found in asked:
            figures = self.figures(swept[places[found]])
            self.study.tell(trial, [_told(figures[name]) for name in self.needed])
            score = _score(figures, self.advised, self.default)
            if score > self.best_score:
                self.best, self.best_score = figures, score
                self.changed = {path.rpartition(".")[2]: value for path, value in self.points[found][1].items()}

    def found(self, trials: int) -> TunedSet:
        was, values = self.kept, {SYMBOLS[key]: _number(key, value) for key, value in self.changed.items()}
        kept = tuned_to(was, values)
        changed = {key: value for key, value in self.changed.items() if kept[SYMBOLS[key]] != was[SYMBOLS[key]]}
        rows = {name: (self.default[name][0], self.advised[name][0], self.best[name][0]) for name in self.advised}
        return TunedSet(kept, changed, rows, self.needed, trials)


def _told(figure: tuple[float | None, bool, bool]) -> float:
    value, larger_is_better, _ = figure
    return value if value is not None else (-NOTHING if larger_is_better else NOTHING)


def _score(figures: Figures, advised: Figures, default: Figures) -> float:
    """Give how much better a set is than the advised one, in shares of figures; 0 where it may not take its place."""
    gain, better = 0.0, False
    for name, (value, larger_is_better, needs) in figures.items():
        if not (needs or name == LOST):
            continue
        before = advised[name][0]
        if _is_below(value, before, larger=larger_is_better) or is_worse(
            value, default[name][0], larger_is_better=larger_is_better
        ):
            return 0.0
        if needs:
            better = better or is_worse(before, value, larger_is_better=larger_is_better)
            if value is not None and before is not None:
                gain += min(1.0, abs(value - before) / max(abs(before), abs(value), 1e-12))
            elif value is not None:
                gain += 1.0
    return gain if better else 0.0


def _is_below(value: float | None, than: float | None, *, larger: bool) -> bool:
    """Whether a figure is worse by anything at all: what is kept must not be, however small the difference."""
    if value is None or than is None:
        return value is None and than is not None
    return value < than if larger else value > than


def _number(key: str, text: str) -> float:
    """Give a value in the unit of advice."""
    if key in ("trm", "adtf"):
        seconds = read(text, TIME)
        return round(seconds / ADTF_STEP_S) * ADTF_STEP_S if key == "adtf" else seconds
    if key == "tbe":
        return float(text.partition(" ")[0])
    return read_ratio(text)
