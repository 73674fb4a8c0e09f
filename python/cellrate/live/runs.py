"""Live runs from beginning to end: repeated, and written into a folder that appears whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from ..errors import CellrateError
from ..folders.atomic_folder import write_whole
from ..folders.owned import temporary
from ..folders.replaceable import RESULTS, check_apart, plain_name
from ..plugins.collection import NOTHING, Plugins
from ..results.writing import Complain, Undrawn, describe_undrawn, fill_result, warn, write_json
from ..scenario import Scenario, prepare
from ..sweeps.picking import Picked, one_point
from ..wireshark.capture import Capture
from .attempt import Look, applications
from .supervision import TEMPORARY, LiveRun, Progress, live_run
from .trust import check_commands

Watched = Callable[[str], AbstractContextManager[Progress | None]]
"""From a title to what shows how far something is."""


def run_and_write(
    file: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    point: Picked = None,
    record: Sequence[str] | None = None,
    out: Path | None,
    repeat: int,
    attempts: int,
    distributed: bool,
    elsewhere: Sequence[str],
    start_unix_ns: int | None,
    key: bytes | None,
    plots: bool,
    csv: bool,
    capture: Capture | None,
    watched: Watched,
    look: Look | None = None,
    plugins: Plugins = NOTHING,
    allow_commands: bool = False,
    complain: Complain = warn,
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
    if repeat > 1 and capture is not None:
        raise CellrateError(f"--repeat is {repeat}; with a capture it must be 1")
    scenario = prepare(file, set=set, seed=seed, record=record)
    chosen = one_point(scenario, point, "run them one by one").scenario
    name = chosen.name
    folder = out if out is not None else default_folder(chosen)
    check_apart(folder, None if capture is None else capture.folder)
    runs: list[LiveRun] = []
    undrawn: list[Undrawn] = []

    def fill(partial: Path) -> None:
        with temporary(TEMPORARY) as place:
            for number in range(1, repeat + 1):
                title = name if repeat == 1 else f"{name} {number}/{repeat}"
                files = place / f"run-{number}"
                files.mkdir()
                with watched(title) as progress:
                    runs.append(
                        live_run(
                            scenario,
                            point=point,
                            attempts=attempts,
                            folder=files,
                            distributed=distributed,
                            elsewhere=elsewhere,
                            start_unix_ns=start_unix_ns,
                            key=key,
                            capture=capture,
                            progress=progress,
                            look=look,
                            algorithms=plugins.algorithms,
                            policies=plugins.policies,
                            traffic=plugins.traffic,
                            allow_commands=allow_commands,
                            complain=complain,
                        )
                    )
            for number, run in enumerate(runs, start=1):
                into = partial if repeat == 1 else partial / f"run-{number:03d}"
                into.mkdir(exist_ok=True)
                without = _fill(run, place / f"run-{number}", into, csv=csv, plots=plots)
                undrawn.extend(
                    one if repeat == 1 else replace(one, picture=f"{into.name}/{one.picture}") for one in without
                )
        if repeat > 1:
            write_json(partial / RESULTS, {"runs": [run.result.summary for run in runs]})

    check_commands(chosen, applications(chosen), allowed=allow_commands)
    # Whether the folder can take results is looked at before anything runs.
    written = write_whole(folder, fill)
    for text in describe_undrawn(undrawn):
        complain(text)
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
