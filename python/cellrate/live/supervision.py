"""Attempts at a live run, each in a process of its own that leaves nothing behind, repeated when out of time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import _native
from ..algorithms import Algorithms
from ..errors import CellrateError, LiveUnavailable, RunError
from ..folders.owned import as_usual, temporary
from ..plugins.collection import NOTHING, Plugins
from ..policies import Policies
from ..results import Result
from ..results.writing import Complain, warn
from ..scenario import Scenario, SweepPoint, prepare
from ..sweeps.picking import Picked, one_point
from ..traffic import Traffic
from ..wireshark.capture import Capture
from .applications import check
from .attempt import REQUEST, Look, applications
from .capture_staging import staged
from .distribution import Distribution
from .doctor import isolation_words
from .messages import Printed
from .plugin_pipes import Reply, give, pack_plugins
from .process import GRACE_S, search_path
from .trust import check_commands

Progress = Callable[[float], object]

TEMPORARY = "cellrate-live-"
"""How the names of temporary folders begin; those of killed processes are removed when the next run begins."""

KEPT_BESIDE_RESULTS = ("applications", "nodes")
"""Folders of an attempt that go into the results: what programs wrote."""


@dataclass(frozen=True)
class LiveRun:
    """A live run: its attempts, of which the last counts."""

    attempts: list[Result]
    """All of them, in order; each but the last was out of time."""

    @property
    def result(self) -> Result:
        """The last attempt."""
        return self.attempts[-1]

    @property
    def in_time(self) -> bool:
        """Whether the last attempt passed its verdict on timing."""
        return bool(self.result.summary["timing"]["passed"])

    @property
    def failed_applications(self) -> list[str]:
        """Names of the applications that failed in the last attempt."""
        return [row["application"] for row in self.result.summary["applications"] if row["failed"]]

    def application(self, name: str) -> dict[str, Any]:
        """Give the row of an application in the last attempt.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        for row in self.result.summary["applications"]:
            if row["application"] == name:
                found: dict[str, Any] = row
                return found
        raise KeyError(f"no application {name!r}")


def live_run(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    point: Picked = None,
    record: Sequence[str] | str | None = None,
    attempts: int = 3,
    folder: Path | None = None,
    distributed: bool = False,
    elsewhere: Sequence[str] = (),
    start_unix_ns: int | None = None,
    key: bytes | None = None,
    capture: Capture | str | Path | None = None,
    progress: Progress | None = None,
    look: Look | None = None,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
    allow_commands: bool = False,
    complain: Complain = warn,
) -> LiveRun:
    """Run a scenario with real hosts and real applications.

    Parameters
    ----------
    scenario, set, seed, point, record
        As for `cellrate.run`.
    attempts
        How often at most: a run that fails the verdict on its timing is repeated [1 or more].
    folder
        What programs write is left here, a folder for each attempt; it must be there. Nothing is left without it.
    distributed
        A process for each switch, with cells in datagrams between them.
    elsewhere
        With `distributed`: switches that run on other machines.
    start_unix_ns
        With `elsewhere`: when the network's time begins [ns since the Unix epoch]; such a run is not repeated.
    key
        With `elsewhere`: the secret that all processes of the run share. The nonce of the run's datagrams
        follows from it, from the scenario and from the start; without a key from these alone.
    capture
        As for `cellrate.run`: the last attempt's, of the ports of the process that has the hosts. Its files get no more
        than nine tenths of the free room where they go.
    progress
        Called with the share of network time done [0 to 1], from 0 again for each attempt.
    look
        Called some 20 times a second with the network's time [s] and what series have recorded since: the place of each
        in `Result.series_names`, instants [ps] and values. Such a run is not repeated, nor distributed.
    algorithms, policies, traffic
        As for `cellrate.run`, by the wall clock: what they take is time in which cells wait. They are copied into the
        processes of the run (cloudpickle), so nothing that they do is seen by the classes here.
    allow_commands
        Whether applications of kind "command" may run if the scenario was not loaded from a file of the running user's
        own, which nobody else can write to.
    complain
        Told what the capture lacks, where there was no room for it; a warning by default.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    CellrateError
        If what is asked for does not go together, or there are commands that are not allowed.
    LiveUnavailable
        If this machine or user cannot have hosts.
    RunError
        If the run gave no result, or there can be no capture where it is to go.
    """
    prepared = prepare(scenario, set=set, seed=seed, record=record)
    if capture is not None and not isinstance(capture, Capture):
        capture = Capture(folder=Path(capture))
    options = LiveOptions(
        attempts=attempts,
        distributed=distributed,
        elsewhere=elsewhere,
        start_unix_ns=start_unix_ns,
        key=key,
        capture=capture,
        look=look,
        plugins=Plugins.of(algorithms, policies, traffic),
        allow_commands=allow_commands,
        complain=complain,
    )
    return run_live(one_point(prepared, point, "run them one by one"), options, folder, progress)


@dataclass(frozen=True)
class LiveOptions:
    """Options of a live run beside its scenario, as `live_run` has them."""

    attempts: int = 3
    distributed: bool = False
    elsewhere: Sequence[str] = ()
    start_unix_ns: int | None = None
    key: bytes | None = None
    capture: Capture | None = None
    look: Look | None = None
    plugins: Plugins = NOTHING
    allow_commands: bool = False
    complain: Complain = warn

    def check(self, scenario: Scenario) -> None:
        """Refuse what does not go together, or not with the scenario, before anything runs (`live_run`)."""
        if self.look is not None and self.distributed:
            raise CellrateError("a distributed run cannot be watched: its series are in several processes")
        for name in ("elsewhere", "start_unix_ns", "key"):
            if getattr(self, name) and not self.distributed:
                raise CellrateError(f"`{name}` needs distributed=True (--distributed)")
        if self.attempts < 1:
            raise CellrateError(f"attempts is {self.attempts}; it must be at least 1")
        scenario.check()
        told = applications(scenario)
        for application in told:
            check(application)
        check_commands(scenario, told, allowed=self.allow_commands)
        nodes = None
        if self.distributed:
            distributed = Distribution.of(scenario, self.elsewhere, self.start_unix_ns)
            nodes = distributed.here + distributed.started
        self.plugins.check([scenario])
        _native.check_plugins(scenario._native, [(kind, name) for kind, name, _ in self.plugins.all()], nodes)
        if self.capture is not None:
            self.capture.check(scenario.duration_s)

    def distribution(self) -> dict[str, object] | None:
        """Give what an attempt is told of its nodes."""
        if not self.distributed:
            return None
        shared = None if self.key is None else self.key.hex()
        return {"elsewhere": list(self.elsewhere), "start_unix_ns": self.start_unix_ns, "key": shared}


def run_live(
    point: SweepPoint, options: LiveOptions, folder: Path | None = None, progress: Progress | None = None
) -> LiveRun:
    """Run a scenario with real hosts and real applications (`live_run`)."""
    options.check(point.scenario)
    is_repeated = not options.elsewhere and options.look is None
    done: list[Result] = []
    with staged(options.capture) as stage:
        for number in range(1, (options.attempts if is_repeated else 1) + 1):
            made = None if stage is None else stage.capture()
            with temporary(TEMPORARY) as place:
                done.append(attempt(point, place, options, made, progress))
                done[-1].summary["run"]["attempt"] = number
                if folder is not None:
                    keep(place, folder / f"attempt-{number}")
            if done[-1].summary["timing"]["passed"]:
                break
        if stage is not None and made is not None:
            done[-1].captured = stage.hand_over(made, done[-1].captured, options.complain)
    return LiveRun(done)


def attempt(
    point: SweepPoint, folder: Path, options: LiveOptions, capture: Capture | None, progress: Progress | None
) -> Result:
    """Run once, in a process namespace of its own, with `folder` for what it writes but for a capture.

    Whatever happens to this process, nothing of the attempt outlives it (`doctor.isolation_words`).

    Raises
    ------
    LiveUnavailable, RunError
        As `live_run`.
    """
    packed = pack_plugins(options.plugins)
    printed, reply = Printed(), Reply()
    request = {
        "toml": point.scenario.toml,
        "file": point.scenario.file,
        "set": dict(point.settings),
        "distribution": options.distribution(),
        "watched": options.look is not None,
        "printed": printed.end,
        "reply": reply.end,
        "capture": None if capture is None else {**asdict(capture), "folder": str(capture.folder)},
    }
    (folder / REQUEST).write_text(json.dumps(request))
    log = folder / "attempt.err"
    try:
        process = _started(folder, log, [printed.end, reply.end])
    finally:
        printed.handed_over()
        printed.start()
        reply.handed_over()
    try:
        give(process, packed)
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if isinstance(told, list) and options.look is not None:
                import numpy as np

                now_s, recent = told
                options.look(
                    now_s, [(place, np.array(ps, np.uint64), np.array(values)) for place, ps, values in recent]
                )
            elif progress is not None:
                progress(told)
        status = process.wait()
    finally:
        # With the first process of the namespace the kernel ends all others.
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        printed.join(GRACE_S)
    result: Result | None = reply.result(GRACE_S)
    if result is not None:
        return result
    told = (log.read_text(errors="replace") + printed.last).strip()
    if "unshare" in told and "Operation not permitted" in told:
        raise LiveUnavailable(f"{told}. `cellrate doctor` says what is missing.")
    raise RunError(_without_result(status, told))


def _without_result(status: int, told: str) -> str:
    """Say how an attempt has ended that gave no result, by the status of `unshare` and what all have said."""
    lines = told.splitlines()
    of_programs = [line for line in lines if not (line.startswith("unshare:") and "sigprocmask" in line)]
    if of_programs != lines:
        # unshare ends itself by the signal that has ended its child. Of SIGKILL it cannot, and complains of that.
        status = -signal.SIGKILL
    ended = f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
    short = ", as the kernel does where memory is short," if status == -signal.SIGKILL else ""
    said = "\n".join(of_programs).strip()[-2000:]
    return f"the attempt {ended}{short} and without a result: {said or 'it said nothing'}"


def _started(folder: Path, log: Path, ends: Sequence[int]) -> subprocess.Popen[str]:
    """Start the process of an attempt, which inherits the ends of pipes that are its own."""
    words = [*isolation_words(), sys.executable, "-m", "cellrate.live", "attempt", str(folder)]
    package = str(Path(__file__).resolve().parent.parent.parent)
    paths = [package, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    try:
        with log.open("wb") as errors:
            return subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=ends,
                start_new_session=True,
                text=True,
                env={**os.environ, "PATH": search_path(), "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )
    except OSError as error:
        raise LiveUnavailable(
            f"{words[0]} cannot be started: {error.strerror}. `cellrate doctor` says what is missing."
        ) from None


def keep(attempt_folder: Path, folder: Path) -> None:
    """Move what programs wrote to where the results will be."""
    folder.mkdir(parents=True)
    for name in KEPT_BESIDE_RESULTS:
        if (attempt_folder / name).exists():
            shutil.move(str(attempt_folder / name), folder / name)
            as_usual(folder / name)
