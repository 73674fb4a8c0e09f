"""Sweeps as scripts ask for them: `cellrate.sweep`, in memory or into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..algorithms import Algorithms
from ..errors import CellrateError
from ..plugins.collection import Plugins
from ..policies import Policies
from ..results import Result
from ..running.points import Progress, run_many
from ..running.progress import reporting
from ..scenario import Scenario, prepare
from ..sweeps.naming import all_in_full, lists_in_full, own_names
from ..sweeps.several import points_of
from ..traffic import Traffic
from .sweep import Runs

if TYPE_CHECKING:
    from .executors import ExecutorChoice


def sweep(
    scenario: Scenario | str | Path | Sequence[Scenario | str | Path] | Mapping[str, Scenario | str | Path],
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
    executor: ExecutorChoice = None,
    fresh: bool = False,
) -> Sequence[Result]:
    """Run every point of a scenario's sweep, or of those of several scenarios, over several processes or machines.

    Parameters
    ----------
    scenario
        As for `run`. A list of several makes one study of them: each point has the key "scenario" among its settings,
        with the scenario's name. A dict gives them names: {"short": ..., "long": ...}.
    set, seed, record, algorithms, policies, traffic
        As for `run`, for every scenario. In `set` and `over` an algorithm may be told by its bare name, a built-in one
        or one of `algorithms`: {"defaults.switch.algorithm": ["erica+", "phantom", "mine"]}; policies and traffic
        of one's own as well.
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
    Runs, or Sweep
        In the order of the sweep; `Result.set` says which point. Without `out` a list of `Result` that shows its table
        in a notebook; with `out` a `Sweep`, which reads results from there when they are asked for.

    Raises
    ------
    ScenarioError
        If a point cannot be run, or there is nothing at a path.
    CellrateError
        If there is nothing to vary over, or the scenario varies the same key itself.
    """
    plugins = Plugins.of(algorithms, policies, traffic)
    own = own_names(plugins.all())
    set = all_in_full(set, own) if isinstance(set, Mapping) else set
    over = lists_in_full(over, own) if isinstance(over, Mapping) else over

    def prepared(one: Scenario | str | Path) -> Scenario:
        return prepare(one, set=set, seed=seed, record=record)

    if isinstance(scenario, Mapping):
        points = points_of({name: prepared(one) for name, one in scenario.items()}, over, seeds)
    else:
        several = [scenario] if isinstance(scenario, Scenario | str | Path) else scenario
        points = points_of([prepared(one) for one in several], over, seeds)
    if out is None and (executor is not None or fresh):
        given = "executor" if executor is not None else "fresh"
        raise CellrateError(f"{given} needs out, a folder for the results")
    from .running import sweep_into

    with reporting(points[0][0].name, len(points), progress) as reporter:
        if out is None:
            return Runs(run_many(points, workers=workers, progress=reporter, plugins=plugins))
        return sweep_into(
            Path(out), points, workers=workers, progress=reporter, plugins=plugins, executor=executor, fresh=fresh
        )
