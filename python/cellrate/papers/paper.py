"""Papers: experiments, their runs, and the report on them."""

from __future__ import annotations

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
from .experiment import Claim, Experiment, Finding, LiveHalf, Point
from .runs import campaign_for, run_points

if TYPE_CHECKING:
    from ..campaigns.executors import ExecutorChoice
    from .report import Report


def experiment_of(claim: str) -> str:
    """Name of the experiment that a claim belongs to: the first part of its id."""
    return claim.partition(".")[0]


def is_chosen(claim: str, ids: Sequence[str]) -> bool:
    """Whether a claim is one of `ids`, or its experiment is; every claim is if there are no ids."""
    return not ids or claim in ids or experiment_of(claim) in ids


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run."""

    name: str
    title: str
    folder: Path
    """README.md, published.toml and scenarios/."""
    experiments: Sequence[Experiment]
    live: Callable[[Path, Path, Callable[[float], object] | None, Sequence[str]], LiveHalf] | None = None
    """Runs the live half, given the folder of scenarios, one for runs that are done, whom to tell of progress, and the
    names of experiments and claims that it is for (all if there are none)."""

    @cached_property
    def published(self) -> dict[str, dict[str, Any]]:
        """Give published values by claim id: text (in our words), source, published, and kind if it is no claim."""
        return tomllib.loads((self.folder / "published.toml").read_text(encoding="utf-8"))

    def scenario(self, point: Point, *, quick: bool = False) -> Scenario:
        """Give the scenario of a run."""
        settings = {**point.set, **point.quick} if quick else point.set
        return Scenario.load(self.folder / "scenarios" / f"{point.scenario}.toml").set(settings)

    def claim(self, finding: Finding) -> Claim:
        """Put what was measured beside what is published."""
        said = self.published[finding.id]
        kind = said.get("kind", "claim")
        return Claim(
            id=finding.id,
            text=said["text"],
            source=said["source"],
            published=said.get("published"),
            measured=finding.measured,
            holds=finding.holds,
            why=finding.why,
            kind=kind,
            cause=finding.cause if kind == "claim" and finding.holds is False else None,
        )

    def only(self, ids: Sequence[str]) -> Paper:
        """Give the paper with the experiments that `ids` name, or whose claims they name.

        Raises
        ------
        CellrateError
            If an id is neither.
        """
        names = [experiment.name for experiment in self.experiments]
        for name in ids:
            if name not in names and name not in self.published:
                known = ", ".join(names)
                raise CellrateError(
                    f"{shown(name)} is not an experiment of paper {self.name} nor a claim; experiments are {known}, "
                    "and the ids of claims are in the report and in published.toml"
                )
        chosen = {name if name in names else experiment_of(name) for name in ids}
        return replace(self, experiments=tuple(one for one in self.experiments if one.name in chosen))

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
            Names of experiments and ids of claims: the report has these only, and only their experiments are run.

        Raises
        ------
        CellrateError
            If an id of `only` is unknown, or the folder holds anything but a report.
        RunError
            If the folder changed while the report was written, which is then beside it; otherwise as `cellrate.sweep`.
        """
        from .report import MARK, Begun, write_report

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
                made = {run.summary["run"]["hash"] for of in results.values() for run in of.values()}
                write_report(report, drawings, partial, runs=len(made), begun=begun, workers=workers)

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
        claims = [
            replace(self.claim(finding), live=measured.get(finding.id))
            for experiment in self.experiments
            for finding in experiment.findings(results[experiment.name])
            if is_chosen(finding.id, only)
        ]
        return Report(
            paper=self.name,
            title=self.title,
            version=_native.version(),
            quick=quick,
            claims=claims,
            experiments={experiment.name: experiment.title for experiment in self.experiments},
            only=tuple(only),
        )
