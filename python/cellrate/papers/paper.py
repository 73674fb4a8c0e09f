"""What a paper is: experiments, their runs, and the report on them."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..results import Result
from ..results.folders import replaceable
from ..results.whole import write_whole
from ..running.points import run_many
from ..scenario import Scenario
from .experiment import Claim, Experiment, Finding, Point
from .kept import KeptRuns

if TYPE_CHECKING:
    from ..campaigns.executors import Given
    from .report import Report


def kept_runs(out: Path) -> Path:
    """Where runs are kept until the report in `out` is written."""
    return out.with_name(out.name + ".runs")


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run."""

    name: str
    title: str
    folder: Path
    """README.md, published.toml and scenarios/."""
    experiments: Sequence[Experiment]
    live: Callable[[Path, Path, Callable[[float], object] | None], Mapping[str, str]] | None = None
    """Runs the live half, given the folder of scenarios, one for runs that are done, and whom to tell of progress:
    what was measured, by the id of the claim."""

    @cached_property
    def published(self) -> dict[str, dict[str, Any]]:
        """What the paper says, by claim id: text (in our words), source, published, and kind if it is no claim."""
        return tomllib.loads((self.folder / "published.toml").read_text())

    def scenario(self, point: Point, *, quick: bool = False) -> Scenario:
        """Give the scenario of a run."""
        settings = {**point.set, **point.quick} if quick else point.set
        return Scenario.load(self.folder / "scenarios" / f"{point.scenario}.toml").set(settings)

    def claim(self, finding: Finding) -> Claim:
        """Put what was measured beside what is published."""
        said = self.published[finding.id]
        return Claim(
            id=finding.id,
            text=said["text"],
            source=said["source"],
            published=said.get("published"),
            measured=finding.measured,
            holds=finding.holds,
            why=finding.why,
            kind=said.get("kind", "claim"),
        )

    def measure(
        self,
        *,
        quick: bool,
        workers: int | None,
        progress: Callable[[float], object] | None,
        keep: KeptRuns | None = None,
        executor: Given = None,
        campaign: Path | None = None,
    ) -> dict[str, dict[str, Result]]:
        """Run all experiments: results by experiment and point. What is in `keep` already is not run again.

        With an `executor`, a cluster, runs are kept in the folder `campaign` instead.
        """
        keys, todo = [], []
        for experiment in self.experiments:
            for key, point in experiment.points.items():
                if not (quick and point.extra):
                    keys.append((experiment.name, key))
                    settings = {path: str(value) for path, value in point.set.items()}
                    todo.append((self.scenario(point, quick=quick), settings))
        results: dict[str, dict[str, Result]] = {experiment.name: {} for experiment in self.experiments}
        if executor is not None and campaign is not None:
            from .elsewhere import run_elsewhere

            done = run_elsewhere(todo, campaign, executor, progress)
        else:
            done = run_many(todo, workers=workers, progress=progress, keep=keep)
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
        live: Mapping[str, str] | None = None,
        executor: Given = None,
    ) -> Report:
        """Run everything, check the claims, and write report.html, report.json and figures/ into `out`.

        Runs that are done are kept in `out`.runs until the report is written: a run that was interrupted goes on there.

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
            What the live half gave (`live`), for a column of its own.
        executor
            Where runs go, as for `cellrate.sweep`: the address of a scheduler of Dask, for example. They are kept in
            `out`.campaign then. The report does not depend on it.

        Raises
        ------
        CellrateError
            If the folder holds anything but a report.
        RunError
            If the folder changed while the report was written, which is then beside it; otherwise as `run_many`.
        """
        from .report import MARK, Report, write_report

        # Said now: the runs may take long.
        replaceable(out, MARK)
        begun = time.perf_counter()
        elsewhere = out.with_name(out.name + ".campaign")
        keep = KeptRuns(kept_runs(out))
        # On a cluster runs are kept in the campaign's folder.
        usable = executor is None and keep.open()
        results = self.measure(
            quick=quick,
            workers=workers,
            progress=progress,
            keep=keep if usable else None,
            executor=executor,
            campaign=elsewhere,
        )
        claims = [
            self.claim(finding)
            for experiment in self.experiments
            for finding in experiment.findings(results[experiment.name])
        ]
        claims = [replace(claim, live=(live or {}).get(claim.id)) for claim in claims]
        drawings = {experiment.name: experiment.drawings(results[experiment.name]) for experiment in self.experiments}
        report = Report(
            paper=self.name,
            title=self.title,
            version=__version__,
            quick=quick,
            claims=claims,
            experiments={experiment.name: experiment.title for experiment in self.experiments},
        )

        def fill(partial: Path) -> None:
            runs = sum(map(len, results.values()))
            write_report(report, drawings, partial, runs=runs, begun=begun, workers=workers)

        write_whole(out, fill, mark=MARK)
        if executor is None:
            keep.discard()
        else:
            from .elsewhere import discard_campaign

            discard_campaign(elsewhere)
        return report
