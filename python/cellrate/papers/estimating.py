"""Time that the runs of a paper take here, by what its last report simulated and by how fast this machine is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ..running.points import run_many
from ..running.processes import number_of_workers
from ..scenario import Scenario
from .skeleton import SCENARIO

if TYPE_CHECKING:
    from .paper import Paper


@cache
def speed() -> float:
    """Measure how fast this machine simulates, on a short run [cell hops/s]."""
    ((result),) = run_many([(Scenario.parse(SCENARIO.format(name="speed")), {})], workers=1)
    return float(result.summary["run"]["cell_hops_per_s"])


def announcement(paper: Paper, *, quick: bool, workers: int | None) -> str:
    """Say how many runs there will be, and how long they take here, as far as an earlier report tells."""
    hashes: dict[str, set[str]] = {}
    for experiment in paper.experiments:
        points = [point for point in experiment.points.values() if not (quick and point.extra)]
        hashes[experiment.name] = {paper.scenario(point, quick=quick).hash for point in points}
    runs = len(set().union(*hashes.values()))
    if not runs:
        return f"{paper.name}: no runs."
    text = f"{paper.name}: {runs:,} run{'s' * (runs != 1)}"
    minutes = _minutes(paper, {name: len(own) for name, own in hashes.items()}, runs, workers)
    if minutes is None:
        return f"{text}. How long they take is not known yet."
    return f"{text}, {'less than a minute' if minutes < 1 else f'some {minutes:.0f} min'} here."


def _minutes(paper: Paper, runs: Mapping[str, int], distinct: int, workers: int | None) -> float | None:
    try:
        kept = json.loads((paper.folder / "counts.json").read_text(encoding="utf-8"))
        known = kept["by_experiment"]
        each = {name: hops / number for name, (number, hops) in known.items() if number}
        mean = sum(hops for _, hops in known.values()) / sum(number for number, _ in known.values())
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
        return None
    there = sum(runs.values())
    hops = sum(number * each.get(name, mean) for name, number in runs.items()) * distinct / there
    return float(hops / speed() / number_of_workers(workers, distinct) / 60)
