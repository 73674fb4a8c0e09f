"""A page that shows a run while it goes on.

The run waits for the first browser that opens the page, and goes at a pace that the page can change: slow motion, as
fast as it goes, or not at all. What it records and what comes out is what `cellrate.run` gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .. import _native
from ..algorithms import Algorithms
from ..errors import CellrateError
from ..plugins.collection import Plugins
from ..policies import Policies
from ..recorded.groups import groups_of
from ..recorded.summaries import report
from ..results import Result
from ..scenario import Scenario, prepare
from ..seam import Recent
from ..sweeps.picking import Picked, one_point
from ..traffic import Traffic
from .board import Board
from .pace import Pace
from .server import Page

LOOKS = 1000
"""How often a run is looked at, about."""

SECONDS = 20.0
"""How long a run takes by default."""


def watch(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    point: Picked = None,
    record: Sequence[str] | str | None = None,
    speed: float | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
    on_ready: Callable[[str], object] | None = None,
    wait: bool = True,
) -> Result:
    """Run a scenario before the eyes of whoever opens a page, and give back what happened.

    The page is on this machine only, at 127.0.0.1, unless `host` says more. It shows the series that the scenario
    records, and keeps what it shows after the end. Ctrl-C ends the run.

    Parameters
    ----------
    scenario, set, seed, point, record, algorithms, policies, traffic
        As for `run`. A scenario that records nothing has ACR and queues recorded.
    speed
        Network time per time [s/s], above 0; so that the run takes 20 s when None. The page can change it.
    host
        Address of this machine that serves the page, "0.0.0.0" for all of them. The page's address has a secret part.
    port
        Where the page is; a free one when 0.
    on_ready
        Called with the address of the page as soon as it can be opened; without it the address is printed.
    wait
        Whether the run begins only when the page has been opened.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    CellrateError
        If it is a sweep and no point of it is given, there is nothing to record, it asks for other algorithms, policies
        or traffic than are given, the speed is out of range, or the port is taken.
    RunError
        If the run gave no result.
    Interrupted
        On Ctrl-C during the run.
    """
    prepared, _ = prepare(scenario, set=set, seed=seed, record=record).with_usual_probes()
    chosen = one_point(prepared, point, "a page shows one run")
    if speed is not None and not speed > 0.0:
        raise CellrateError(f"speed is {speed}; it must be above 0")
    shown = chosen.scenario
    plugins = Plugins.of(algorithms, policies, traffic)
    plugins.check([shown])
    series = shown._native.series()
    if not series:
        raise CellrateError(f"{prepared.file} records nothing to watch; add a [[probe]]")
    pace = Pace(shown.duration_s / SECONDS if speed is None else speed)
    board = Board(shown, series)
    with Page(board, pace, port, host) as page:
        if on_ready is not None:
            on_ready(page.address)
        else:
            print(f"The page is at {page.address}", flush=True)
        if wait:
            board.wait_for_viewer()
        result = _watched(shown, chosen.settings, plugins, board, pace)
        board.end(result, report(result.summary, groups_of(result.toml)))
        return result


def _watched(shown: Scenario, settings: Mapping[str, str], plugins: Plugins, board: Board, pace: Pace) -> Result:
    """Run at the pace of the page, which is told what is recorded."""
    pace.begin()
    begun = time.perf_counter()

    def look(now_s: float, recent: Recent) -> None:
        board.add(now_s, recent)
        pace.hold(now_s)

    every_ps = max(1, round(shown.duration_s * 1e12 / LOOKS))
    native = _native.run_watched(shown._native, every_ps, look, plugins.makers())
    worked = time.perf_counter() - begun - pace.held_s
    return Result._from_native(native, shown, dict(settings), worked, plugins)
