"""Page of a live run, which keeps to the clock and cannot be held up: otherwise that of a watched simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .. import _native
from ..algorithms import Algorithms
from ..errors import CellrateError
from ..plugins.collection import Plugins
from ..policies import Policies
from ..recorded.groups import groups_of
from ..scenario import Scenario, prepare
from ..sweeps.picking import Picked, one_point
from ..traffic import Traffic
from ..watching.board import Board
from ..watching.server import Page
from .applications import check
from .attempt import applications
from .supervision import LiveOptions, LiveRun, run_live
from .table import live_report
from .trust import check_commands


def live_watch(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    point: Picked = None,
    record: Sequence[str] | str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    folder: Path | None = None,
    on_ready: Callable[[str], object] | None = None,
    wait: bool = True,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
    allow_commands: bool = False,
) -> LiveRun:
    """Run a scenario live before the eyes of whoever opens a page, and give back what happened.

    Parameters
    ----------
    scenario, set, seed, point, record, folder, algorithms, policies, traffic, allow_commands
        As for `live_run`; the run is in one process, and not repeated.
    host, port, on_ready, wait
        As for `cellrate.watch`.

    Raises
    ------
    ScenarioError, CellrateError, LiveUnavailable, RunError
        As `live_run` and `cellrate.watch`.
    """
    prepared, _ = prepare(scenario, set=set, seed=seed, record=record).with_usual_probes()
    chosen = one_point(prepared, point, "a page shows one run")
    check_commands(chosen.scenario, applications(chosen.scenario), allowed=allow_commands)
    with page_of(prepared, point, host=host, port=port, on_ready=on_ready, wait=wait) as board:
        options = LiveOptions(
            look=board.add, plugins=Plugins.of(algorithms, policies, traffic), allow_commands=allow_commands
        )
        run = run_live(chosen, options, folder)
        board.end(run.result, live_report(run.result.summary, groups_of(run.result.toml)))
        return run


@contextmanager
def page_of(
    scenario: Scenario,
    point: Picked = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], object] | None = None,
    wait: bool = True,
) -> Iterator[Board]:
    """Have a page for a live run of a scenario, or of a point of its sweep, as long as this is entered.

    What is told of series goes to `Board.add`, the result to `Board.end`. The rest is as for `watch`.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run live.
    CellrateError
        If it is a sweep and no point of it is given, nothing is recorded, an application has no time, or the port is
        taken.
    """
    chosen = one_point(scenario, point, "a page shows one run").scenario
    series = _native.live_series(chosen._native)
    if not series:
        raise CellrateError(f"{scenario.file} records nothing to watch; add a [[probe]]")
    for application in applications(chosen):
        check(application)
    board = Board(chosen, series, live=True)
    with Page(board, None, port, host) as page:
        if on_ready is not None:
            on_ready(page.address)
        if wait:
            board.wait_for_viewer()
        yield board
