"""Functions that scripts call: `cellrate.run` and `cellrate.sweep`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..algorithms import Algorithms
from ..errors import CellrateError
from ..plugins.collection import Plugins
from ..policies import Policies
from ..results import Result
from ..scenario import Scenario, prepare
from ..sweeps.picking import Picked, one_point
from ..sweeps.varying import Points, varied
from ..traffic import Traffic
from ..wireshark.capture import Capture
from .into_folders import sweep_into
from .points import How, Progress, check_threads, run_many, run_point
from .progress import reporting

if TYPE_CHECKING:
    from ..campaigns.executors import Given


def run(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    point: Picked = None,
    record: Sequence[str] | str | None = None,
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
    point
        Of a scenario that sweeps, the point to run: its number, counted from 1, or values that it alone has,
        {"defaults.abr.nrm": 8}.
    record
        Quantities to record beside those of the scenario's probes, such as ["acr", "queue", "delay"]
        (`Scenario.record`).
    capture
        Write the cells that leave ports for Wireshark: a `Capture`, or just its folder. `Result.captured` lists the
        files.
    progress
        Called with the share of network time done [0 to 1], a few times a second at most. What it raises ends the run.
    threads
        Threads to run it on, 1 or more; the result does not depend on it. Only networks whose switches are apart by
        links of 100 us or more, or less where few connections cross them, can use several. A run with a capture takes
        one.
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
        If the scenario is a sweep and no point of it is given, or it asks for other algorithms, policies or traffic
        than are given; with a capture, if there are several threads, or it begins when the run has ended.
    Interrupted
        On Ctrl-C.
    """
    check_threads(threads)
    prepared = prepare(scenario, set=set, seed=seed, record=record)
    chosen = one_point(
        prepared, point, "cellrate.sweep runs them all" if capture is None else "a capture is of one run"
    )
    if capture is not None and threads > 1:
        raise CellrateError(f"threads is {threads}; a run with a capture takes one")
    if capture is not None and not isinstance(capture, Capture):
        capture = Capture(folder=Path(capture))
    if capture is not None:
        capture.check(chosen.scenario.duration_s)
    plugins = Plugins.of(algorithms, policies, traffic)
    plugins.check([chosen.scenario])
    return run_point(chosen.scenario, chosen.settings, How(threads, plugins), progress, capture)


def sweep(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    record: Sequence[str] | str | None = None,
    over: Mapping[str, Iterable[object]] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
    out: str | Path | None = None,
    executor: Given = None,
    fresh: bool = False,
) -> Sequence[Result]:
    """Run every point of a scenario's sweep, over several processes or machines.

    Parameters
    ----------
    scenario, set, seed, record, algorithms, policies, traffic
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
        Called with the share of points done [0 to 1]; False for silence. By default a notebook shows a line that
        changes, and where a sweep takes long anything else prints a line now and then on stderr.
    out
        A folder that keeps each point as soon as it is done, and in the end tables of all (docs/guides/campaigns.md).
        The same call goes on after an interruption, with more `seeds` or values it adds points. Without it everything
        is in memory until the end.
    executor
        Where points run: None for processes of this machine, a client of Dask or the address of its scheduler, or any
        executor of `concurrent.futures`. Needs `out`. The results do not depend on it.
    fresh
        Run all points again, whatever `out` keeps of them.

    Returns
    -------
    list of Result, or Sweep
        In the order of the sweep; `Result.set` says which point. With `out` a `Sweep`, which reads results from there
        when they are asked for.

    Raises
    ------
    ScenarioError
        If a point cannot be run, or there is nothing at a path.
    CellrateError
        If there is nothing to vary over, or the scenario varies the same key itself.
    """
    points = Points(varied(prepare(scenario, set=set, seed=seed, record=record), over, None), seeds)
    plugins = Plugins.of(algorithms, policies, traffic)
    if out is None and (executor is not None or fresh):
        given = "executor" if executor is not None else "fresh"
        raise CellrateError(f"{given} needs out, a folder for the results")
    with reporting(points[0][0].name, len(points), progress) as reporter:
        if out is None:
            return run_many(points, workers=workers, progress=reporter, plugins=plugins)
        return sweep_into(
            Path(out), points, workers=workers, progress=reporter, plugins=plugins, executor=executor, fresh=fresh
        )
