"""`cellrate advise`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from . import asking
from .app import app
from .options import Cluster, Json, Workers
from .output import print_json, progress_bar, tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..advice.advised import AdvisedSet
    from ..trial.comparison import Comparison
    from ..trial.tuning import TunedSet


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Options of tuning what was advised."""

    tune: Annotated[
        bool,
        Parameter(help="After that, look for values that do better in simulation, by Optuna: cellrate[tune]."),
    ] = False
    vary: Annotated[
        list[str] | None,
        Parameter(
            help="What to tune: KEY=LOW..HIGH of rif, rdf, cdf, nrm, trm, adtf or tbe; rif, rdf, nrm and cdf, all that "
            "can be signalled, by default. May be given again."
        ),
    ] = None
    trials: Annotated[int | None, Parameter(help="Sets that are tried with --tune (40).")] = None
    out: Annotated[
        Path | None, Parameter(help="Folder that keeps the runs of --tune (results/advise), to go on with.")
    ] = None
    cluster: Cluster = None

    def check(self) -> None:
        """Refuse options that do not go together, before anything is asked."""
        from ..trial.tuning import ranges_of

        given = [name for name in ("vary", "trials", "out", "cluster") if getattr(self, name) is not None]
        if given and not self.tune:
            raise CellrateError(f"--{given[0]} needs --tune")
        if self.trials is not None and self.trials < 1:
            raise CellrateError(f"--trials is {self.trials}; it must be at least 1")
        ranges_of(self.vary or [])


@app.command("advise")
def advise(
    *,
    answers: asking.Answers,
    json: Json = False,
    write: Annotated[Path | None, Parameter(help="Leave the set as a scenario in this file.")] = None,
    simulate: Annotated[
        bool, Parameter(help="Run the set against the defaults, show both, and take back what does worse.")
    ] = False,
    tuning: Tuning,
    workers: Workers = None,
) -> int:
    """Advise ABR parameters for a connection, each with its reason; asks for what is missing on a terminal."""
    from ..advice.advisor import advise as give
    from ..running.processes import number_of_workers
    from ..trial import check_writable, write_scenario

    number_of_workers(workers, 1)
    tuning.check()
    if write is not None:
        check_writable(write)
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not json
    advised = give(asking.situation(answers, interactive=interactive))
    comparison = tuned = None
    if simulate or tuning.tune:
        comparison, tuned = _simulated(advised, tuning, workers, quiet=json)
        advised = comparison.kept if tuned is None else tuned.kept
    if write is not None:
        write_scenario(advised, write)
    if json:
        found = {"simulation": comparison and comparison.content()} | ({"tuning": tuned.content()} if tuned else {})
        print_json(advised.content() | found)
        return 0
    from ..advice.table import print_advice
    from ..terminal import Console
    from ..trial.table import print_comparison, print_tuned

    console = Console()
    print_advice(console, advised)
    if comparison is not None:
        print_comparison(console, comparison)
    if tuned is not None:
        print_tuned(console, tuned)
    if write is not None:
        tell(f"The scenario is in {write}")
    return 0


def _simulated(
    advised: AdvisedSet, tuning: Tuning, workers: int | None, *, quiet: bool
) -> tuple[Comparison, TunedSet | None]:
    """Run a set against the defaults, and tune it where that is asked for."""
    from ..trial import compare, tune
    from ..trial.tuning import VARIED

    with progress_bar("advise", quiet=quiet) as progress:
        comparison = compare(advised, workers=workers, progress=progress)
    if not tuning.tune:
        return comparison, None
    with progress_bar("advise, tuning", quiet=quiet) as progress:
        return comparison, tune(
            comparison,
            tuning.out or Path("results") / "advise",
            vary=tuning.vary or VARIED,
            trials=tuning.trials or 40,
            workers=workers,
            executor=tuning.cluster,
            progress=progress,
        )
