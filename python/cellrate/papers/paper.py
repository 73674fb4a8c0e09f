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
from ..scenario import Scenario
from .experiment import Claim, Experiment, Finding, Point
from .runs import campaign_for, run_points

if TYPE_CHECKING:
    from ..campaigns.executors import Given
    from .report import Report


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
        executor: Given = None,
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
        live: Mapping[str, str] | None = None,
        executor: Given = None,
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
            What the live half gave (`live`), for a column of its own.
        executor
            Where runs go, as for `cellrate.sweep`: the address of a scheduler of Dask, for example. The report does not
            depend on it.

        Raises
        ------
        CellrateError
            If the folder holds anything but a report.
        RunError
            If the folder changed while the report was written, which is then beside it; otherwise as `cellrate.sweep`.
        """
        from .report import MARK, write_report

        # Said now: the runs may take long.
        replaceable(out, MARK)
        begun = time.perf_counter()
        with campaign_for(out) as campaign:
            results = self.measure(
                quick=quick, workers=workers, progress=progress, executor=executor, campaign=campaign
            )
            report = self._report(results, quick=quick, live=live or {})
            drawings = {one.name: one.drawings(results[one.name]) for one in self.experiments}

            def fill(partial: Path) -> None:
                runs = sum(map(len, results.values()))
                write_report(report, drawings, partial, runs=runs, begun=begun, workers=workers)

            write_whole(out, fill, mark=MARK)
        return report

    def _report(self, results: Mapping[str, Mapping[str, Result]], *, quick: bool, live: Mapping[str, str]) -> Report:
        from .report import Report

        claims = [
            replace(self.claim(finding), live=live.get(finding.id))
            for experiment in self.experiments
            for finding in experiment.findings(results[experiment.name])
        ]
        return Report(
            paper=self.name,
            title=self.title,
            version=__version__,
            quick=quick,
            claims=claims,
            experiments={experiment.name: experiment.title for experiment in self.experiments},
        )
