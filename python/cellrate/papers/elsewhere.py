"""The runs of a paper on a cluster, as a campaign that is there until the report is written."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ..campaigns.executors import Given
from ..results import Result
from ..running.into_folders import sweep_into
from ..running.points import Point, Progress


def run_elsewhere(points: Sequence[Point], folder: Path, executor: Given, progress: Progress | None) -> list[Result]:
    """Run points on a cluster, each scenario once, and give their results in the order of points.

    Their series are read from the campaign in `folder` when they are asked for, so it has to stay as long.

    Raises
    ------
    CellrateError
        If no scheduler is there, or workers are of another build.
    RunError
        If workers are gone; the same call goes on.
    """
    # Experiments share runs.
    places: dict[str, int] = {}
    unique: list[Point] = []
    for scenario, settings in points:
        if scenario.hash not in places:
            places[scenario.hash] = len(unique)
            unique.append((scenario, settings))
    swept = sweep_into(folder, unique, executor=executor, progress=progress, complain=lambda _: None, name="--cluster")
    results = []
    for scenario, settings in points:
        result = swept[places[scenario.hash]]
        result.set = dict(settings)
        results.append(result)
    return results


def discard_campaign(folder: Path) -> None:
    """Remove the campaign of a report that is written."""
    shutil.rmtree(folder)
