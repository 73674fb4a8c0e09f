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
from ..campaigns.sweeping import sweep_into
from ..campaigns.tune import BATCH, optuna_of, suggested
from ..errors import CellrateError
from ..quantities import TIME, read, read_ratio
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
    optuna = optuna_of()
    situation = comparison.kept.situation
    plan = plan_of(situation)
    base = Scenario.parse(scenario_text(comparison.kept), file="advised")
    default, advised = (figures_of(result, situation, plan) for result in comparison.results)
    needed = [name for name, (_, _, needs) in advised.items() if needs]
    sampler = optuna.samplers.TPESampler(seed=1, constant_liar=True)
    directions = ["maximize" if advised[name][1] else "minimize" for name in needed]
    study = optuna.create_study(directions=directions, sampler=sampler)
    points: dict[str, Point] = {}
    best, best_score, changed = advised, 0.0, dict[str, str]()
    done = 0
    while done < trials:
        asked = [study.ask() for _ in range(min(BATCH, trials - done))]
        wanted = []
        for trial in asked:
            settings = {one.path: suggested(trial, one) for one in over}
            scenario = base.set(settings)
            points.setdefault(scenario.hash, (scenario, settings))
            wanted.append((scenario.hash, settings))
        swept = sweep_into(
            folder,
            list(points.values()),
            workers=workers,
            executor=executor,
            # What is there of trials to come is kept beside, and found again when they are asked for.
            complain=lambda _: None,
            name="--cluster",
        )
        places = {found: place for place, found in enumerate(points)}
        for trial, (found, settings) in zip(asked, wanted, strict=True):
            figures = figures_of(swept[places[found]], situation, plan)
            study.tell(trial, [_told(figures[name]) for name in needed])
            score = _score(figures, advised, default)
            if score > best_score:
                best, best_score = figures, score
                changed = {path.rpartition(".")[2]: value for path, value in settings.items()}
        done += len(asked)
        if progress is not None:
            progress(done / trials)
    kept = tuned_to(comparison.kept, {SYMBOLS[key]: _number(key, value) for key, value in changed.items()})
    differing = {key: value for key, value in changed.items() if kept[SYMBOLS[key]] != comparison.kept[SYMBOLS[key]]}
    rows = {name: (default[name][0], advised[name][0], best[name][0]) for name in advised}
    return TunedSet(kept, differing, rows, needed, trials)


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
