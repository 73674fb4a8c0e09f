"""The runs of a paper: a campaign that stays beside the report until the report is written."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..campaigns.executors import ExecutorChoice
from ..campaigns.running import sweep_into
from ..folders.locks import LOCK, Lock
from ..results import Result
from ..running.points import Point, Progress
from .kept import CAMPAIGN, KeptRuns


def kept_runs(out: Path) -> Path:
    """Where runs are kept until the report in `out` is written."""
    return out.with_name(out.name + ".runs")


@contextlib.contextmanager
def campaign_for(out: Path) -> Iterator[Path]:
    """Have the folder for the campaign of a report. It stays if this is left with an error, and goes otherwise.

    Where others could write to it, a temporary folder takes its place: a warning says that nothing is kept.

    Raises
    ------
    RunError
        If the folder cannot be made.
    """
    kept = KeptRuns(kept_runs(out))
    in_use = Lock(kept.folder / f"report{LOCK}")
    if not kept.open() or not _taken(kept, in_use):
        with tempfile.TemporaryDirectory(prefix="cellrate-runs-") as place:
            yield Path(place) / CAMPAIGN
        return
    try:
        yield kept.folder / CAMPAIGN
        # Another process that makes the same report may still read its series there; the last one removes them.
        if in_use.take():
            kept.discard()
    finally:
        in_use.give_back()


def _taken(kept: KeptRuns, in_use: Lock) -> bool:
    """Share the folder with others who make the same report; the last of them may just have removed it."""
    while True:
        try:
            return in_use.take(shared=True, wait=True)
        except FileNotFoundError:
            if not kept.open():
                return False


def run_points(
    points: Sequence[Point],
    campaign: Path,
    *,
    workers: int | None = None,
    executor: ExecutorChoice = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run the points of a paper, each scenario once, and give their results in the order of points.

    Series are read from the campaign's folder when they are asked for, so it has to stay as long.

    Raises
    ------
    CellrateError
        If no scheduler is there, or workers are of another build.
    RunError
        If workers are gone; the same call goes on.
    """
    if not points:
        return []
    # Experiments share runs.
    places: dict[str, int] = {}
    unique: list[Point] = []
    for scenario, settings in points:
        if scenario.hash not in places:
            places[scenario.hash] = len(unique)
            unique.append((scenario, settings))
    swept = sweep_into(
        campaign,
        unique,
        tables=False,
        workers=workers,
        executor=executor,
        progress=progress,
        complain=lambda _: None,
        name="--cluster",
    )
    results = []
    for scenario, settings in points:
        result = swept[places[scenario.hash]]
        result.settings = dict(settings)
        results.append(result)
    return results
