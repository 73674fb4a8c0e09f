"""Run a scenario, or every point of its sweep over several processes."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _native
from ..algorithms import Algorithms
from ..errors import CellrateError, at_point
from ..extensions.custom import NOTHING, Custom
from ..policies import Policies
from ..results import Result
from ..scenario import Scenario
from ..sweeps.varying import varied
from ..traffic import Traffic
from ..wireshark.capture import Capture
from .processes import Outcome, end_if_stopped, number_of_workers, side_by_side

if TYPE_CHECKING:
    from ..results.writing import Undrawn

Progress = Callable[[float], object]
Point = tuple[Scenario, Mapping[str, str]]
"""What to run, and the settings that say which point of a sweep it is."""


def run(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    capture: Capture | str | Path | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
) -> Result:
    """Run a scenario and give back what happened.

    The interpreter is free meanwhile: other threads go on, and Ctrl-C ends the run.

    Parameters
    ----------
    scenario
        A `Scenario`, a file, or the name of a ready scenario.
    set
        Values to change first, by dotted path (`Scenario.set`).
    seed
        Seed of all randomness, instead of the scenario's own.
    capture
        Write the cells that leave ports for Wireshark: a `Capture`, or just its folder. `Result.captured` lists the
        files.
    progress
        Called with the share of network time done [0 to 1], a few times a second at most. What it raises ends the run.
    threads
        Threads to run it on, 1 or more; the result does not depend on it. Only networks whose switches are apart by
        links of 100 us or more can use several. A run with a capture takes one.
    algorithms, policies, traffic
        The custom algorithms, policies and traffic of the scenario by its names for them, each a class derived from
        `SwitchAlgorithm`, `UiliPolicy` or `TrafficSource`, or whatever else makes one. What they raise ends the run and
        is raised here.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    RunError
        If the run gave no result.
    CellrateError
        If the scenario is a sweep, or asks for other algorithms, policies or traffic than are given; with a capture, if
        there are several threads.
    Interrupted
        On Ctrl-C.
    """
    _check_threads(threads)
    prepared = prepare(scenario, set=set, seed=seed)
    points = prepared.points()
    if len(points) != 1:
        rest = "cellrate.sweep runs them all" if capture is None else "a capture is of one run"
        raise CellrateError(f"{prepared.file} sweeps over {len(points)} points; {rest}")
    if capture is not None and threads > 1:
        raise CellrateError(f"threads is {threads}; a run with a capture takes one")
    if capture is not None and not isinstance(capture, Capture):
        capture = Capture(folder=Path(capture))
    custom = Custom.of(algorithms, policies, traffic)
    custom.check([points[0].scenario])
    return _run_point(points[0].scenario, points[0].set, How(threads, custom), progress, capture)


def sweep(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    over: Mapping[str, Iterable[object]] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
) -> list[Result]:
    """Run every point of a scenario's sweep, over several processes.

    Parameters
    ----------
    scenario, set, seed, algorithms, policies, traffic
        As for `run`.
    over
        Further keys to vary, from dotted path to a list of values, as if each were a `[[sweep]]` entry behind those of
        the scenario: {"defaults.abr.nrm": [8, 32, 256], "defaults.link.length": ["10 km", "1000 km"]}. Every
        combination is run, the last key varying fastest.
    seeds
        Run each point so many times, with that many seeds: the scenario's own or `seed`, and those that follow it. Of
        a scenario that says nothing of seeds these are 1, 2, 3 and so on. They vary fastest.
    workers
        Number of processes; the number of processors by default. The results do not depend on it.
    progress
        Called with the share of points done [0 to 1].

    Returns
    -------
    list of Result
        In the order of the sweep; `Result.set` says which point.

    Raises
    ------
    ScenarioError
        If a point cannot be run, or there is nothing at a path.
    CellrateError
        If there is nothing to vary over, or the scenario varies the same key itself.
    """
    prepared = varied(prepare(scenario, set=set, seed=seed), over, seeds)
    points = [(point.scenario, point.set) for point in prepared.checked_points()]
    custom = Custom.of(algorithms, policies, traffic)
    return run_many(points, workers=workers, progress=progress, custom=custom)


def run_into(
    folder: Path | None,
    run: Callable[[], Result],
    *,
    csv: bool = False,
    plots: bool = False,
    complain: Callable[[str], object] | None = None,
) -> Result:
    """Do a run whose result goes into a folder, which appears whole or not at all. Without a folder nothing is written.

    A plot that cannot be drawn is left out: `complain` is told, or a warning is given.

    Raises
    ------
    CellrateError
        If the folder holds something else, or cannot be made; said before anything runs.
    RunError
        If it has changed meanwhile; the result is then beside it.
    """
    if folder is None:
        return run()
    from ..results.writing import fill_result, told, warn, write_whole

    results: list[Result] = []
    undrawn: list[Undrawn] = []

    def fill(into: Path) -> None:
        results.append(run())
        undrawn.extend(fill_result(results[0], into, csv=csv, plots=plots))

    write_whole(folder, fill)
    for text in told(undrawn):
        (complain or warn)(text)
    return results[0]


def sweep_into(
    folder: Path | None,
    points: Iterable[Point],
    *,
    csv: bool = False,
    plots: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    custom: Custom = NOTHING,
    complain: Callable[[str], object] | None = None,
) -> list[Result]:
    """Run the points of a sweep into a folder, which appears whole or not at all: summary.json, and a folder per point.

    With `csv` the rows of all points are there as tables, with `plots` over what was varied as a picture.

    A point is written by the process that ran it: of two processes neither waits while the other's results are written,
    and series stay where they are. The results given back are without them. Without a folder nothing is written.
    Pictures that cannot be drawn are left out: `complain` is told, or a warning is given.

    Raises
    ------
    CellrateError, RunError
        As `run_into`.
    """
    if folder is None:
        return run_each(points, _without_series, workers=workers, progress=progress, threads=threads, custom=custom)
    from ..results.writing import fill_summary, told, warn, write_whole

    results: list[Result] = []
    undrawn: list[Undrawn] = []

    def fill(into: Path) -> None:
        write = partial(_write_point, into, csv=csv, plots=plots)
        for result, not_drawn in run_each(
            points, write, workers=workers, progress=progress, threads=threads, custom=custom
        ):
            results.append(result)
            undrawn.extend(not_drawn)
        undrawn.extend(fill_summary(results, into, csv=csv, plots=plots))

    write_whole(folder, fill)
    for text in told(undrawn):
        (complain or warn)(text)
    return results


def run_many(
    points: Iterable[Point],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
    threads: int = 1,
    custom: Custom = NOTHING,
) -> list[Result]:
    """Run scenarios side by side, each on so many threads.

    The results come in the order of `points`, each with its settings. With `keep`, each result is kept in that folder
    as soon as it is there, and a point whose result is kept there, from the same scenario and the same simulator, is
    not run again. With anything `custom` nothing is kept.
    """
    return run_each(points, _whole, workers=workers, progress=progress, keep=keep, threads=threads, custom=custom)


def run_each(
    points: Iterable[Point],
    finish: Callable[[int, Result], Outcome],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
    threads: int = 1,
    custom: Custom = NOTHING,
) -> list[Outcome]:
    """Run scenarios side by side, and give what `finish` makes of each result, in the order of `points`.

    `finish` gets the place of the point, counted from 0, and its result, in the process that ran it: only what it gives
    back crosses over. The rest is as for `run_many`.

    Raises
    ------
    RunError
        If one of the processes was killed; otherwise what a run or `finish` raised.
    """
    _check_threads(threads)
    todo = list(points)
    custom.check([scenario for scenario, _ in todo])
    how = How(threads, custom)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    if number_of_workers(workers, len(todo)) <= 1:
        return [
            _run_and_finish(finish, place, point, keep, how, _part(progress, place, len(todo)))
            for place, point in enumerate(todo)
        ]
    # The longest first, as far as network time tells: the last to end should not have been the last to begin.
    order = sorted(range(len(todo)), key=lambda place: -todo[place][0].duration_s)
    calls = [partial(_run_and_finish, finish, place, todo[place], keep, how, end_if_stopped) for place in order]
    outcomes = dict(zip(order, side_by_side(calls, workers=workers, progress=progress), strict=True))
    return [outcomes[place] for place in range(len(todo))]


def prepare(
    scenario: Scenario | str | Path, *, set: Mapping[str, object] | None = None, seed: int | None = None
) -> Scenario:
    """Load a scenario unless it is one, and apply settings and seed."""
    settings = dict(set or {})
    if seed is not None:
        settings["seed"] = seed
    if not isinstance(scenario, Scenario):
        return Scenario.load(scenario, set=settings)
    return scenario.set(settings) if settings else scenario


def _check_threads(threads: int) -> None:
    if threads < 1:
        raise CellrateError(f"threads is {threads}; it must be at least 1")


@dataclass(frozen=True)
class How:
    """What a run is given beside its scenario."""

    threads: int = 1
    custom: Custom = NOTHING


def _run_point(
    scenario: Scenario,
    settings: Mapping[str, str],
    how: How,
    progress: Progress | None = None,
    capture: Capture | None = None,
) -> Result:
    begun = time.perf_counter()
    native = _native.run(
        scenario._native,
        progress,
        how.threads,
        None if capture is None else capture._native(),
        how.custom.makers(),
    )
    wall_s = time.perf_counter() - begun
    return Result._from_native(native, scenario, dict(settings), wall_s, how.custom)


def _run_kept(
    scenario: Scenario, settings: Mapping[str, str], keep: Path | None, how: How, progress: Progress | None = None
) -> Result:
    # What is not built in may do today what it did not do yesterday.
    if keep is None or how.custom:
        return _run_point(scenario, settings, how, progress)
    # A module built anew may run the same scenario differently.
    built = Path(_native.__file__).stat().st_mtime_ns
    file = keep / f"{scenario.hash}-{built}.pickle"
    if file.exists():
        kept: Result = pickle.loads(file.read_bytes())
        kept.set = dict(settings)
        return kept
    result = _run_point(scenario, settings, how, progress)
    partial = file.with_suffix(f".{os.getpid()}.partial")
    partial.write_bytes(pickle.dumps(result))
    partial.rename(file)
    return result


def _run_and_finish(
    finish: Callable[[int, Result], Outcome],
    place: int,
    point: Point,
    keep: Path | None,
    how: How,
    progress: Progress | None = None,
) -> Outcome:
    scenario, settings = point
    with at_point(place, settings):
        result = _run_kept(scenario, settings, keep, how, progress)
    return finish(place, result)


def _whole(_place: int, result: Result) -> Result:
    return result


def _without_series(_place: int, result: Result) -> Result:
    return Result(result.summary, result.set, result.toml, result.purpose, {}, result.captured)


def _write_point(folder: Path, place: int, result: Result, *, csv: bool, plots: bool) -> tuple[Result, list[Undrawn]]:
    from ..results.writing import fill_point

    undrawn = fill_point(folder, place, result, csv=csv, plots=plots)
    return _without_series(place, result), undrawn


def _part(progress: Progress | None, done: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda fraction: progress((done + fraction) / total)
