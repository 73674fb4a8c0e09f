"""Run a scenario, or every point of its sweep over several processes."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from . import _native
from .capturing import Capture
from .errors import CellrateError
from .results import Result
from .scenario import Scenario

Progress = Callable[[float], object]


def run(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    capture: Capture | str | Path | None = None,
    progress: Progress | None = None,
    threads: int = 1,
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
        links of 100 us or more can use several. A run with a capture has one.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    RunError
        If the run gave no result.
    Interrupted
        On Ctrl-C.
    """
    _check_threads(threads)
    prepared = prepare(scenario, set=set, seed=seed)
    points = prepared.points()
    if len(points) != 1:
        rest = "cellrate.sweep runs them all" if capture is None else "a capture is of one run"
        raise CellrateError(f"{prepared.file} sweeps over {len(points)} points; {rest}")
    if capture is not None and not isinstance(capture, Capture):
        capture = Capture(folder=Path(capture))
    return _run_point(points[0].scenario, points[0].set, progress, threads, capture)


def sweep(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run every point of a scenario's sweep, over several processes.

    Parameters
    ----------
    scenario, set, seed
        As for `run`.
    workers
        Number of processes; the number of processors by default. The results do not depend on it.
    progress
        Called with the share of points done [0 to 1].

    Returns
    -------
    list of Result
        In the order of the sweep; `Result.set` says which point.
    """
    points = [(point.scenario, point.set) for point in prepare(scenario, set=set, seed=seed).points()]
    for point, _ in points:
        point.check()
    return run_many(points, workers=workers, progress=progress)


def run_many(
    points: Iterable[tuple[Scenario, Mapping[str, str]]],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
    threads: int = 1,
) -> list[Result]:
    """Run scenarios side by side, each on so many threads.

    The results come in the order of `points`, each with its settings. With `keep`, each result is kept in that folder
    as soon as it is there, and a point whose result is kept there, from the same scenario and the same simulator, is
    not run again.
    """
    _check_threads(threads)
    todo = list(points)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    workers = min(workers if workers is not None else os.cpu_count() or 1, len(todo))
    if workers <= 1:
        results = []
        for done, (scenario, settings) in enumerate(todo):
            part = _part(progress, done, len(todo))
            results.append(_run_kept(scenario, settings, keep, part, threads))
        return results
    # Forking keeps scripts without an `if __name__ == "__main__"` working; the children run nothing but the simulator.
    import multiprocessing
    from concurrent.futures import Executor, ProcessPoolExecutor, as_completed

    executor: Executor = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"))
    with executor:
        futures = [executor.submit(_run_kept, scenario, settings, keep, None, threads) for scenario, settings in todo]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                if progress is not None:
                    progress(done / len(futures))
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def prepare(
    scenario: Scenario | str | Path, *, set: Mapping[str, object] | None = None, seed: int | None = None
) -> Scenario:
    """Load a scenario unless it is one, and apply settings and seed."""
    prepared = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    settings = dict(set or {})
    if seed is not None:
        settings["seed"] = seed
    return prepared.set(settings) if settings else prepared


def _check_threads(threads: int) -> None:
    if threads < 1:
        raise CellrateError(f"threads is {threads}; it must be at least 1")


def _run_point(
    scenario: Scenario,
    settings: Mapping[str, str],
    progress: Progress | None = None,
    threads: int = 1,
    capture: Capture | None = None,
) -> Result:
    begun = time.perf_counter()
    native = _native.run(scenario._native, progress, threads, None if capture is None else capture._native())
    return Result._from_native(native, scenario, dict(settings), time.perf_counter() - begun)


def _run_kept(
    scenario: Scenario,
    settings: Mapping[str, str],
    keep: Path | None,
    progress: Progress | None = None,
    threads: int = 1,
) -> Result:
    if keep is None:
        return _run_point(scenario, settings, progress, threads)
    # A module built anew may run the same scenario differently.
    built = Path(_native.__file__).stat().st_mtime_ns
    file = keep / f"{scenario.hash}-{built}.pickle"
    if file.exists():
        kept: Result = pickle.loads(file.read_bytes())
        kept.set = dict(settings)
        return kept
    result = _run_point(scenario, settings, progress, threads)
    partial = file.with_suffix(f".{os.getpid()}.partial")
    partial.write_bytes(pickle.dumps(result))
    partial.rename(file)
    return result


def _part(progress: Progress | None, done: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda fraction: progress((done + fraction) / total)
