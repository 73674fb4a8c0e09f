"""A run as scripts ask for it: `cellrate.run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..algorithms import Algorithms
from ..errors import CellrateError
from ..plugins.collection import Plugins
from ..policies import Policies
from ..results import Result
from ..scenario import Scenario, prepare
from ..sweeps.picking import Picked, one_point
from ..traffic import Traffic
from ..wireshark.capture import Capture
from .points import How, Progress, check_threads, run_point


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
    otherwise = "cellrate.sweep runs them all" if capture is None else "a capture is of one run"
    chosen = one_point(prepared, point, otherwise)
    if capture is not None:
        if threads > 1:
            raise CellrateError(f"threads is {threads}; with a capture it must be 1")
        capture = capture if isinstance(capture, Capture) else Capture(folder=Path(capture))
        capture.check(chosen.scenario.duration_s)
    plugins = Plugins.of(algorithms, policies, traffic)
    plugins.check([chosen.scenario])
    return run_point(chosen.scenario, chosen.settings, How(threads, plugins), progress, capture)
