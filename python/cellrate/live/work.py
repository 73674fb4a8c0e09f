"""Live runs from beginning to end: repeated, and written into a folder that appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ..capturing import Capture
from ..custom import NOTHING, Custom
from ..errors import CellrateError
from ..running import prepare
from ..scenario import Scenario
from ..writing import MARK, fill_result, write_json, write_whole
from .attempt import Look
from .supervision import LiveRun, Progress, live_run

Watched = Callable[[str], AbstractContextManager[Progress | None]]
"""From a title to what shows how far something is."""


def run_and_write(
    file: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    out: Path | None,
    repeat: int,
    attempts: int,
    distributed: bool,
    elsewhere: Sequence[str],
    start_unix_ns: int | None,
    plots: bool,
    csv: bool,
    capture: Capture | None,
    watched: Watched,
    look: Look | None = None,
    custom: Custom = NOTHING,
) -> tuple[list[LiveRun], Path]:
    """Run a scenario `repeat` times and write the results; gives the runs and their folder.

    Raises
    ------
    CellrateError
        As `live_run`; if `repeat` is below 1, or with a capture above it; if the folder holds something else.
    """
    if repeat < 1:
        raise CellrateError(f"--repeat is {repeat}; it must be at least 1")
    if repeat > 1 and capture is not None:
        raise CellrateError(f"--repeat is {repeat}; a capture is of one run")
    scenario = prepare(file, set=set, seed=seed)
    name = scenario.points()[0].scenario.name
    folder = out if out is not None else Path("results") / "live" / name
    runs: list[LiveRun] = []

    def fill(partial: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="cellrate-") as temporary:
            for number in range(1, repeat + 1):
                title = name if repeat == 1 else f"{name} {number}/{repeat}"
                files = Path(temporary) / f"run-{number}"
                files.mkdir()
                with watched(title) as progress:
                    runs.append(
                        live_run(
                            scenario,
                            attempts=attempts,
                            folder=files,
                            distributed=distributed,
                            elsewhere=elsewhere,
                            start_unix_ns=start_unix_ns,
                            capture=capture,
                            progress=progress,
                            look=look,
                            algorithms=custom.algorithms,
                            policies=custom.policies,
                            traffic=custom.traffic,
                        )
                    )
            for number, run in enumerate(runs, start=1):
                place = partial if repeat == 1 else partial / f"run-{number:03d}"
                place.mkdir(exist_ok=True)
                _fill(run, Path(temporary) / f"run-{number}", place, csv=csv, plots=plots)
        if repeat > 1:
            write_json(partial / MARK, {"runs": [run.result.summary for run in runs]})

    # Whether the folder can take results is looked at before anything runs.
    written = write_whole(folder, fill)
    return runs, written


def _fill(run: LiveRun, files: Path, place: Path, *, csv: bool, plots: bool) -> None:
    """The last attempt's figures at the top, and a folder for each attempt: its figures, and what programs wrote."""
    fill_result(run.result, place, csv=csv, plots=plots)
    for number, result in enumerate(run.attempts, start=1):
        kept = place / f"attempt-{number}"
        if (files / kept.name).exists():
            shutil.move(str(files / kept.name), kept)
        kept.mkdir(exist_ok=True)
        write_json(kept / MARK, result.summary)
