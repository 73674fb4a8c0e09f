"""Papers: experiments, their runs, and the report on them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import CellrateError, shown
from ..folders.atomic_folder import write_whole
from ..folders.replaceable import replaceable
from ..results import Result
from ..scenario import Scenario
from ..sweeps.replications import mean_of
from .experiment import Claim, Experiment, Finding, LiveHalf, Point, Tried
from .judging import (
    FIGURES,
    JUDGED,
    LEAST_SEEDS,
    NEAR,
    NEITHER,
    SPREAD,
    judge_figure,
    judge_hardly,
    judge_order,
    prediction,
    printed,
)
from .runs import campaign_for, run_points

if TYPE_CHECKING:
    from ..campaigns.executors import ExecutorChoice
    from .report import Report

COMES_OUT = {
    "open": "With a choice that the paper leaves open made another way it comes out:",
    "undecided": "Of several choices that the paper leaves open these have it, and which one was made is undecided:",
}
"""Words that a cause adds to the reason of a claim, before the ids of the rows."""


def experiment_of(claim: str) -> str:
    """Name of the experiment that a claim belongs to: the first part of its id."""
    return claim.partition(".")[0]


def _seeds(rule: str, found: Finding | Tried) -> int | None:
    """Give the number of seeds; the changes that `hardly` judges are no seeds."""
    return found.seeds or (len(found.values) if rule != "hardly" else 1) or None


def is_chosen(claim: str, ids: Sequence[str]) -> bool:
    """Whether the id of a claim is one of `ids`, or begins with one; every claim is if there are no ids."""
    return not ids or any(claim == id or claim.startswith(f"{id}.") for id in ids)


def _for_tables(experiment: Experiment, wanted: set[str]) -> Experiment:
    """Leave out the runs of tables that are not wanted, where nothing but tables is."""
    cells = {table.name: table.claims() for table in experiment.tables}
    own = {claim for claim in wanted if experiment_of(claim) == experiment.name}
    if not any(point.tables for point in experiment.points.values()) or own - set().union(*cells.values()):
        return experiment
    # What is in two tables is in runs that name both.
    tables = {name for name, inside in cells.items() if own & inside}
    points = {key: point for key, point in experiment.points.items() if tables & set(point.tables)}
    return replace(experiment, points=points)


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run."""

    name: str
    title: str
    folder: Path
    """README.md, published.toml and scenarios/."""
    experiments: Sequence[Experiment]
    says: str = ""
    """Claims of the paper, in two sentences."""
    live: Callable[[Path, Path, Callable[[float], object] | None, Sequence[str]], LiveHalf] | None = None
    """Runs the live half, given the folder of scenarios, one for runs that are done, whom to tell of progress, and the
    names of experiments and claims that it is for (all if there are none)."""

    @cached_property
    def published(self) -> dict[str, dict[str, Any]]:
        """Give published values by claim id: text (in our words), source, published, and kind if it is not a claim."""
        return tomllib.loads((self.folder / "published.toml").read_text(encoding="utf-8"))

    def scenario(self, point: Point, *, quick: bool = False) -> Scenario:
        """Give the scenario of a run."""
        settings = {**point.set, **point.quick} if quick else point.set
        return Scenario.load(self.folder / "scenarios" / f"{point.scenario}.toml").set(settings)

    def claim(self, finding: Finding, *, quick: bool = False) -> Claim:
        """Put what was measured beside what is published, and judge it.

        Raises
        ------
        ValueError
            If the finding is not what the claim's rule asks for, or a row of it is unknown or of other seeds.
        """
        said = self.published[finding.id]
        kind = said.get("kind", "claim")
        why = finding.why
        row: dict[str, Any] = {}
        if kind == "claim":
            rule = row["judged"] = said.get("judged")
            if rule not in JUDGED:
                raise CellrateError(
                    f"published.toml of {self.name}: judged of {finding.id} is {rule!r}; "
                    f"write one of {', '.join(JUDGED)}"
                )
            row["seeds"] = _seeds(rule, finding)
            verdict = self._verdict(finding.id, rule, finding)
            if rule in FIGURES and finding.values:
                figure = printed(said)
                mean = mean_of(finding.values).mean
                off = None if math.isnan(mean) else figure.off(mean)
                row |= {"unit": figure.unit, "mean": None if off is None else mean, "off": off}
                if len(finding.values) >= LEAST_SEEDS:
                    half = prediction(finding.values)[1]
                    row["spread"] = None if math.isnan(half) else half
            if verdict == NEITHER and not quick:
                row["cause"], row["rows"] = self._cause(rule, finding)
                if row["cause"] != "unexplained":
                    why = f"{why.strip()} {COMES_OUT[row['cause']]} {', '.join(row['rows'])}.".strip()
        else:
            verdict = {True: NEAR, False: NEITHER, None: None}[finding.holds] if kind != "erratum" else None
        if verdict == NEAR and finding.values:
            why = ""
        if verdict == SPREAD and not why:
            why = "One more run could be the published one."
        return Claim(
            id=finding.id,
            text=said["text"],
            source=said["source"],
            published=said.get("published"),
            measured=finding.measured,
            verdict=verdict,
            why=why or ("" if verdict in (NEAR, SPREAD) else "Not explained."),
            kind=kind,
            **row,
        )

    def _verdict(self, id: str, rule: str, found: Finding | Tried) -> str | None:
        if rule in FIGURES or rule in ("order", "hardly"):
            if found.holds is not None and not (rule == "order" and not found.values):
                raise ValueError(f"claim {id} is judged as {rule!r}, by values, and its finding says holds")
            if rule == "order" and found.holds is not None:
                return NEAR if found.holds else NEITHER
            if not found.values:
                return None
            if rule == "order":
                return judge_order(found.values)
            return (
                judge_hardly(found.values)
                if rule == "hardly"
                else judge_figure(rule, printed(self.published[id]), found.values)
            )
        return {True: NEAR, False: NEITHER, None: None}[found.holds]

    def _cause(self, rule: str, finding: Finding) -> tuple[str, list[str]]:
        """Find the cause by what other choices have: open needs one row that was tried, of the claim's own seeds."""
        seeds = _seeds(rule, finding)
        have = []
        for row, tried in finding.rows.items():
            if self.published.get(row, {}).get("kind") != "sensitivity":
                raise ValueError(f"claim {finding.id}: {row} is not a row of a choice that the paper leaves open")
            if _seeds(rule, tried) != seeds:
                raise ValueError(f"claim {finding.id}: {row} was not run with the claim's {seeds} seeds")
            if self._verdict(finding.id, rule, tried) in (NEAR, SPREAD):
                have.append(row)
        if not have:
            return "unexplained", []
        return "open" if len(finding.rows) == 1 else "undecided", have

    def wanted(self, ids: Sequence[str]) -> set[str]:
        """Give the ids of the claims that `ids` name: experiments, tables of the paper, claims, or how their ids begin.

        Raises
        ------
        CellrateError
            If there is nothing of that name.
        """
        tables = {table.name: table.claims() for one in self.experiments for table in one.tables}
        found: set[str] = set()
        for name in ids:
            begin = {id for id in self.published if is_chosen(id, [name])} | tables.get(name, set())
            if not begin:
                known = ", ".join(one.name for one in self.experiments)
                of_paper = f"; tables are {', '.join(tables)}" if tables else ""
                raise CellrateError(
                    f"{shown(name)} is not an experiment, table or claim of paper {self.name}; experiments are "
                    f"{known}{of_paper}; and the ids of claims are in the report and in published.toml"
                )
            found |= begin
        return found

    def without_tables(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Give the ids with those of its claims in place of the name of a table."""
        tables = {table.name: sorted(table.claims()) for one in self.experiments for table in one.tables}
        return tuple(claim for id in ids for claim in tables.get(id, [id]))

    def only(self, ids: Sequence[str]) -> Paper:
        """Give the paper with the experiments of the claims that `ids` name, and the runs that these need.

        Raises
        ------
        CellrateError
            If there is nothing of a name.
        """
        wanted = self.wanted(ids)
        names = {experiment_of(claim) for claim in wanted}

        chosen = [_for_tables(one, wanted) for one in self.experiments if one.name in names]
        return replace(self, experiments=tuple(chosen))

    def measure(
        self,
        *,
        quick: bool,
        workers: int | None,
        progress: Callable[[float], object] | None,
        executor: ExecutorChoice = None,
        campaign: Path,
    ) -> dict[str, dict[str, Result]]:
        """Run all experiments into the folder `campaign`: results by experiment and point.

        What is there already is not run again.
        """
        keys, todo = [], []
        for experiment in self.experiments:
            for key, point in experiment.points.items():
                if not (quick and point.extra):
                    keys.append((experiment.name, key))
                    settings = {path: str(value) for path, value in point.set.items()}
                    todo.append((self.scenario(point, quick=quick), settings))
        results: dict[str, dict[str, Result]] = {experiment.name: {} for experiment in self.experiments}
        done = run_points(todo, campaign, workers=workers, executor=executor, progress=progress)
        for (name, key), result in zip(keys, done, strict=True):
            results[name][key] = result
        return results

    def run(
        self,
        out: Path,
        *,
        quick: bool = False,
        workers: int | None = None,
        progress: Callable[[float], object] | None = None,
        live: LiveHalf | None = None,
        executor: ExecutorChoice = None,
        only: Sequence[str] = (),
    ) -> Report:
        """Run everything, check the claims, and write report.html, report.json and figures/ into `out`.

        Runs are a campaign in `out`.runs until the report is written: a command that was interrupted goes on there.

        Parameters
        ----------
        out
            The folder appears whole or not at all; an earlier report there is replaced.
        quick
            Leave out the runs that no claim of the paper itself needs.
        workers
            Number of processes; the number of processors by default. The report does not depend on it.
        progress
            Called with the share of runs done [0 to 1].
        live
            What the live half gave (`live`), for a column and figures of its own.
        executor
            Where runs go, as for `cellrate.sweep`: the address of a scheduler of Dask, for example. The report does not
            depend on it.
        only
            Names of experiments and tables, ids of claims or how they begin: the report has these only, and only what
            they need is run.

        Raises
        ------
        CellrateError
            If an id of `only` is unknown, or the folder holds anything but a report.
        RunError
            If the folder changed while the report was written, which is then beside it; otherwise as `cellrate.sweep`.
        """
        from .report import MARK
        from .writing import Begun, costs, write_report

        # Said now: the runs may take long.
        replaceable(out, MARK)
        chosen = self.only(only) if only else self
        begun = Begun()
        with campaign_for(out) as campaign:
            results = chosen.measure(
                quick=quick, workers=workers, progress=progress, executor=executor, campaign=campaign
            )
            report = chosen._report(results, quick=quick, live=live, only=only)
            drawings = {one.name: one.drawings(results[one.name]) for one in chosen.experiments}
            for name, drawn in (live.drawings if live is not None else {}).items():
                drawings[name] = [*drawings.get(name, ()), *drawn]

            def fill(partial: Path) -> None:
                known = costs(chosen.experiments, results)
                write_report(report, drawings, partial, known=known, begun=begun, workers=workers)

            write_whole(out, fill, mark=MARK)
        return report

    def _report(
        self,
        results: Mapping[str, Mapping[str, Result]],
        *,
        quick: bool,
        live: LiveHalf | None,
        only: Sequence[str],
    ) -> Report:
        from .report import Report

        measured = live.measured if live is not None else {}
        wanted = self.wanted(only) if only else None
        claims = [
            replace(self.claim(finding, quick=quick), live=measured.get(finding.id))
            for experiment in self.experiments
            for finding in experiment.findings(results[experiment.name])
            if wanted is None or finding.id in wanted
        ]
        return Report(
            paper=self.name,
            title=self.title,
            version=_native.version(),
            quick=quick,
            claims=claims,
            experiments={experiment.name: experiment.title for experiment in self.experiments},
            says=self.says,
            tables={experiment.name: experiment.tables for experiment in self.experiments},
            only=tuple(only),
        )
