"""Live runs from beginning to end: repeated, and written into a folder that appears whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from ..errors import CellrateError
from ..folders.atomic_folder import write_whole
from ..folders.owned import temporary
from ..folders.replaceable import RESULTS, check_apart, plain_name
from ..results.writing import Undrawn, describe_undrawn, fill_result, write_json
from ..scenario import Scenario
from ..sweeps.picking import Picked, one_point
from .attempt import applications
from .supervision import TEMPORARY, LiveOptions, LiveRun, Progress, run_live
from .trust import check_commands

Watched = Callable[[str], AbstractContextManager[Progress | None]]
"""From a title to what shows how far something is."""


def run_and_write(
    scenario: Scenario,
    *,
    point: Picked = None,
    out: Path | None,
    repeat: int = 1,
    plots: bool,
    csv: bool,
    watched: Watched,
    options: LiveOptions,
) -> tuple[list[LiveRun], Path]:
    """Run a scenario `repeat` times and write the results; gives the runs and their folder.

    Plots that cannot be drawn are left out, and what there is no room for in a capture: `complain` is told.

    Raises
    ------
    CellrateError
        As `live_run`; if `repeat` is below 1, or with a capture above it; if the folder holds something else, or is to
        hold the capture, or has no name without `out`.
    RunError
        As `live_run`; if the folder has changed meanwhile.
    """
    if repeat < 1:
        raise CellrateError(f"--repeat is {repeat}; it must be at least 1")
    if repeat > 1 and options.capture is not None:
        raise CellrateError(f"--repeat is {repeat}; with a capture it must be 1")
    chosen = one_point(scenario, point, "run them one by one")
    name = chosen.scenario.name
    folder = out if out is not None else default_folder(chosen.scenario)
    check_apart(folder, None if options.capture is None else options.capture.folder)
    runs: list[LiveRun] = []
    undrawn: list[Undrawn] = []

    def fill(partial: Path) -> None:
        with temporary(TEMPORARY) as place:
            for number in range(1, repeat + 1):
                title = name if repeat == 1 else f"{name} {number}/{repeat}"
                files = place / f"run-{number}"
                files.mkdir()
                with watched(title) as progress:
                    runs.append(run_live(chosen, options, files, progress))
            for number, run in enumerate(runs, start=1):
                into = partial if repeat == 1 else partial / f"run-{number:03d}"
                into.mkdir(exist_ok=True)
                without = _fill(run, place / f"run-{number}", into, csv=csv, plots=plots)
                undrawn.extend(
                    one if repeat == 1 else replace(one, picture=f"{into.name}/{one.picture}") for one in without
                )
        if repeat > 1:
            write_json(partial / RESULTS, {"runs": [run.result.summary for run in runs]})

    check_commands(chosen.scenario, applications(chosen.scenario), allowed=options.allow_commands)
    # Whether the folder can take results is looked at before anything runs.
    written = write_whole(folder, fill)
    for text in describe_undrawn(undrawn):
        options.complain(text)
    return runs, written


def default_folder(scenario: Scenario) -> Path:
    """Give the folder for the results of a live run where none is given.

    Raises
    ------
    ScenarioError
        If the scenario's name can name none.
    """
    return Path("results") / "live" / plain_name(scenario.points()[0].scenario)


def _fill(run: LiveRun, files: Path, place: Path, *, csv: bool, plots: bool) -> list[Undrawn]:
    """The last attempt's figures at the top, and a folder for each attempt: its figures, and what programs wrote."""
    undrawn = fill_result(run.result, place, csv=csv, plots=plots)
    for number, result in enumerate(run.attempts, start=1):
        kept = place / f"attempt-{number}"
        if (files / kept.name).exists():
            shutil.move(str(files / kept.name), kept)
        kept.mkdir(exist_ok=True)
        write_json(kept / RESULTS, result.summary)
    return undrawn
