"""One attempt at a live run, in a process of its own: hosts, applications, the engine, the record.

``python -m cellrate.live attempt FOLDER`` reads FOLDER/request.json, and what is not built in from stdin; the result,
or what it failed with, goes through a pipe to the process that started it (`plugin_pipes`).
It is the first process of a process namespace (`supervision`): when it ends, however it ends, everything that it
started ends with it, and with its file descriptors the network namespaces and their devices are gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .. import _native
from ..errors import RunError
from ..plugins.collection import NOTHING, Plugins
from ..results import Result
from ..scenario import Scenario
from ..wireshark.capture import Capture
from . import adapters, kernel_record, names, privileges
from .applications import Application, Plan, Surroundings, plan
from .applications.series import series_of
from .distribution import Distribution, Node, gather, start_nodes
from .messages import news_apart
from .plugin_pipes import answer, take_plugins
from .process import GRACE_S, Program, Running, await_ready, search_path, start

if TYPE_CHECKING:
    from ..seam import Recent

RECORD_BEFORE_END_S = 0.2
"""When sockets are looked at: so long before the end, while connections stand."""

NICENESS = -10
"""Niceness of everything in a run, where the user may have it: what else the machine does should not show in the
figures."""

ENGINE_NICENESS = -15
"""Niceness of the engine, before the applications."""

REQUEST = "request.json"


@dataclass
class Job:
    """An application and what has been started for it."""

    application: Application
    folder: Path
    plan: Plan
    background: list[Running] = field(default_factory=list)
    foreground: list[Running] = field(default_factory=list)
    identity: privileges.Identity = field(init=False)
    """As whom its programs run."""
    complaint: str | None = None
    """Why it could not be started."""

    def __post_init__(self) -> None:
        programs = self.plan.background + self.plan.foreground
        self.identity = privileges.identity_for([program.words for program in programs], search_path(), self.folder)

    def check_own(self) -> None:
        """See that the program that the scenario names is there.

        Raises
        ------
        RunError
            If it is not.
        """
        own = self.plan.own
        if own is None or shutil.which(own, path=search_path()) is not None:
            return
        if isinstance(own, str):
            why = f"there is no program {own} on PATH; a path is seen from the scenario's folder"
        elif own.is_file():
            why = f"{own} may not be executed; chmod +x would allow it"
        else:
            why = f"there is no program {own}; a path is seen from the scenario's folder"
        raise RunError(f'application "{self.application.name}": {why}')

    def started(self) -> list[Running]:
        """Everything that runs or ran."""
        return self.background + self.foreground


Look = Callable[[float, "Recent"], object]
"""Told the network's time [s] and what each series has recorded."""


class Attempt:
    """Parts of an attempt, and the order in which it happens."""

    def __init__(
        self,
        scenario: Scenario,
        settings: dict[str, str],
        folder: Path,
        distribution: Distribution | None = None,
        capture: Capture | None = None,
        plugins: Plugins = NOTHING,
    ) -> None:
        self.plugins = plugins
        self.distribution = distribution
        self.scenario = scenario
        self.settings = settings
        self.folder = folder
        self.hosts = {host.name: host for host in _native.make_hosts(scenario._native)}
        self.engine = Engine(scenario, list(self.hosts.values()), capture, plugins)
        self.jobs = [self._job(number, told) for number, told in enumerate(applications(scenario))]
        self.sockets: dict[str, str] = {}
        tools = names.prepare(folder, list(self.hosts.values()))
        self.variables = {
            "PATH": os.pathsep.join([str(tools), search_path()]),
            adapters.ENVIRONMENT: str(folder / "adapters.sock"),
        }

    def run(self, progress: Callable[[float], object], look: Look | None = None) -> Result:
        """Run everything and give the result; `progress` and `look` are told how far it is, some 20 times a second.

        Raises
        ------
        RunError
            If a server does not come up, or the engine fails.
        """
        missing = {
            need for job in self.jobs for need in job.plan.needs if shutil.which(need, path=search_path()) is None
        }
        if missing:
            raise RunError(f"not installed: {', '.join(sorted(missing))}; `cellrate doctor` says how to get it")
        for job in self.jobs:
            job.check_own()
        for job in self.jobs:
            job.plan.prepare()
            privileges.hand_over(job.folder, job.identity)
        with adapters.served(self.folder / "adapters.sock", self.engine.offer):
            try:
                for job in self.jobs:
                    for program in job.plan.background:
                        running = self._start(program, job)
                        job.background.append(running)
                        await_ready(running)
                nodes = self._start_nodes()

                def heard(fraction: float) -> None:
                    for node in nodes:
                        node.look()
                    progress(fraction)

                self.engine.start(heard, self.distribution, look)
                self._follow_the_schedule()
                result = self.engine.result(self.settings)
                gather(nodes, result.summary)
            finally:
                self._stop_all()
        for job in self.jobs:
            privileges.take_back(job.folder, job.identity)
        result.summary["applications"] = [self._row(job) for job in self.jobs]
        result.add_series(series_of(result.summary))
        for job in self.jobs:
            for path in job.plan.scratch:
                remove(path)
        result.summary["run"]["niceness"] = os.getpriority(os.PRIO_PROCESS, 0)
        result.summary["run"]["session_niceness"] = session_niceness()
        result.summary["kernels"] = [
            {
                "host": host.name,
                "address": host.address,
                "device": kernel_record.device(host),
                "settings": kernel_record.settings(host),
                "routes": kernel_record.routes(host),
                "sockets": self.sockets.get(host.name, ""),
            }
            for host in self.hosts.values()
        ]
        return result

    def _start_nodes(self) -> list[Node]:
        """Start the nodes that have processes of their own; servers take their time to be ready, so it begins here."""
        if self.distribution is None:
            return []
        self.distribution = self.distribution.decided()
        folder = self.folder / "nodes"
        folder.mkdir()
        return start_nodes(self.distribution, self.scenario, folder, self.plugins)

    def _job(self, number: int, application: Application) -> Job:
        folder = self.folder / "applications" / application.name
        folder.mkdir(parents=True)
        for above in (self.folder, folder.parent):
            above.chmod(0o711)
        host = self.hosts[application.host]
        peer = self.hosts[application.peer] if application.peer is not None else host
        around = Surroundings(
            number=number,
            host=host,
            peer=peer,
            folder=folder,
            scenario_folder=Path(self.scenario.file).parent.absolute(),
            adapters=self.folder / "adapters.sock",
            mtu_octets=min(host.mtu, peer.mtu),
            run_end_s=self.scenario.duration_s,
        )
        return Job(application, folder, plan(application, around))

    def _follow_the_schedule(self) -> None:
        """Start and stop applications at their instants, until the network's time is over."""
        end_s = self.scenario.duration_s
        steps: list[tuple[float, Callable[[], None]]] = [(end_s - RECORD_BEFORE_END_S, self._look_at_sockets)]
        for job in self.jobs:
            steps.append((job.application.start_s, partial(self._begin, job)))
            if job.application.end_s < end_s:
                steps.append((job.application.end_s, partial(stop, job.foreground)))
        for instant, step in sorted(steps, key=lambda one: one[0]):
            if not self.engine.wait_until(instant):
                break
            step()
        self.engine.wait()

    def _begin(self, job: Job) -> None:
        for program in job.plan.foreground:
            job.foreground.append(self._start(program, job))

    def _start(self, program: Program, job: Job) -> Running:
        return start(program, job.folder, job.identity, self.variables)

    def _look_at_sockets(self) -> None:
        self.sockets = {host.name: kernel_record.sockets(host) for host in self.hosts.values()}

    def _stop_all(self) -> None:
        """End clients first, all at once, then what they talked to."""
        for which in ("foreground", "background"):
            running = [one for job in self.jobs for one in getattr(job, which)]
            stop(running)
            last = time.monotonic() + GRACE_S
            for one in running:
                one.wait(last)

    def _row(self, job: Job) -> dict[str, Any]:
        application = job.application
        main = next(iter(job.foreground or job.background), None)
        complaints = [
            f"{one.program.title} ended with status {one.exit_status}: {one.last_words()}"
            for one in job.started()
            if one.failed
        ]
        result: dict[str, Any] = {}
        try:
            result = job.plan.result({one.program.title: one for one in job.started()})
        except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError) as error:
            complaints.append(f"no result can be read: {type(error).__name__}: {error}")
        if "error" in result:
            complaints.append(str(result["error"]))
        ended = None
        if main is not None:
            ended = "killed" if main.killed else "stopped" if main.stopped else "by itself"
        return {
            "application": application.name,
            "kind": application.kind,
            "host": application.host,
            "peer": application.peer,
            "start_s": application.start_s,
            "end_s": application.end_s,
            "user": None if main is None else job.identity.phrase(),
            "ended": ended,
            "exit_status": None if main is None else main.exit_status,
            "failed": bool(complaints),
            "complaints": complaints,
            "result": result,
        }


class Engine:
    """The network, which runs in a thread and says how far it is."""

    def __init__(
        self,
        scenario: Scenario,
        hosts: list[_native.Host],
        capture: Capture | None = None,
        plugins: Plugins = NOTHING,
        *,
        changes_links: bool = False,
    ) -> None:
        self._scenario = scenario
        self._plugins = plugins
        self._capture = None if capture is None else capture._native()
        self._network = _native.LiveNetwork(scenario._native, hosts, changes_links)
        self._duration_s = scenario.duration_s
        self._origin: float | None = None
        self._begun = threading.Event()
        self._done = threading.Event()
        self._outcome: _native.RunResult | None = None
        self._error: BaseException | None = None
        self._wall_s = 0.0
        self._thread: threading.Thread | None = None

    def start(
        self, progress: Callable[[float], object], distribution: Distribution | None, look: Look | None = None
    ) -> None:
        """Begin the network's time."""

        def heard(fraction: float) -> None:
            # Before a start that was agreed on the share is 0.
            if self._origin is None and (fraction > 0 or distribution is None):
                self._origin = time.monotonic() - fraction * self._duration_s
                self._begun.set()
            progress(fraction)

        def body() -> None:
            prefer(ENGINE_NICENESS)
            begun = time.perf_counter()
            try:
                here, start = (None, None) if distribution is None else (distribution.here, distribution.start_unix_ns)
                nonce = None if distribution is None else distribution.nonce(self._scenario)
                makers = self._plugins.makers()
                self._outcome = self._network.run(heard, here, start, self._capture, look, makers, nonce)
            except BaseException as error:
                self._error = error
            self._wall_s = time.perf_counter() - begun
            self._done.set()
            self._begun.set()

        self._thread = threading.Thread(target=body, name="engine", daemon=True)
        self._thread.start()
        self._begun.wait()

    def wait_until(self, instant_s: float) -> bool:
        """Wait until the network's time is `instant_s` [s]; False if it ends before."""
        if self._origin is None:
            return False
        return not self._done.wait(max(0.0, self._origin + instant_s - time.monotonic()))

    def wait(self) -> None:
        """Wait until the network's time is over."""
        self._done.wait()

    @property
    def error(self) -> BaseException | None:
        """Reason why the network has ended before its time; None while it runs, and after a good end."""
        return self._error

    def offer(self, host: str, peer: str) -> tuple[float, float]:
        """ACR and PCR on the way from one host to another [cells/s]."""
        return self._network.offer(host, peer)

    @property
    def network(self) -> _native.LiveNetwork:
        """The network itself."""
        return self._network

    def result(self, settings: dict[str, str]) -> Result:
        """Give the figures of the network.

        Raises
        ------
        Exception
            Whatever the engine, or something custom, raised.
        """
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return Result._from_native(self._outcome, self._scenario, settings, self._wall_s, self._plugins)


def applications(scenario: Scenario) -> list[Application]:
    """Give the applications of a scenario."""
    rows: list[dict[str, Any]] = json.loads(_native.applications(scenario._native))
    return [Application(**row) for row in rows]


def prefer(niceness: int) -> None:
    """Ask for the calling thread's precedence over other programs, and that of all it starts; root may have it."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def prefer_session(niceness: int) -> None:
    """Prefer all of this session in the same way.

    Where the kernel schedules sessions as groups (sched_autogroup_enabled), the precedence of a thread counts
    within its session only.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(niceness))


def session_niceness() -> int | None:
    """The precedence of this session among others; None where the kernel does not schedule sessions as groups."""
    try:
        words = Path("/proc/self/autogroup").read_text().split()
    except OSError:
        return None
    return int(words[-1]) if words else None


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        # Folders that may not be written to cannot be emptied.
        path.chmod(0o755)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def stop(running: list[Running]) -> None:
    """Tell programs to end."""
    for one in running:
        one.stop()


def main(folder: Path) -> int:
    """Do what the request says; what was stdout in the beginning tells how far it is."""
    request = json.loads((folder / REQUEST).read_text())
    packed = sys.stdin.buffer.read()
    os.set_inheritable(request["reply"], False)
    told_at = news_apart(request["printed"])
    prefer_session(NICENESS)
    prefer(NICENESS)
    scenario = Scenario.parse(request["toml"], file=request["file"])

    told = request["distribution"]
    distribution = None
    if told is not None:
        key = None if told["key"] is None else bytes.fromhex(told["key"])
        distribution = Distribution.of(scenario, told["elsewhere"], told["start_unix_ns"], key)

    captured = request["capture"]
    capture = None if captured is None else Capture(**{**captured, "folder": Path(captured["folder"])})

    # What is told is written by a thread of its own, so that the network does not wait for who reads it.
    news: queue.SimpleQueue[tuple[float, Recent | None] | None] = queue.SimpleQueue()
    teller = threading.Thread(target=_tell, args=(news, told_at), name="teller")
    teller.start()

    def progress(fraction: float) -> None:
        news.put((fraction, None))

    def look(now_s: float, recent: Recent) -> None:
        news.put((now_s, recent))

    outcome: Result | Exception
    try:
        attempt = Attempt(scenario, request["set"], folder, distribution, capture, take_plugins(packed))
        outcome = attempt.run(progress, look if request["watched"] else None)
    except OSError as error:
        outcome = RunError(str(error))
    except Exception as error:
        outcome = error
    finally:
        news.put(None)
        teller.join()
    answer(request["reply"], outcome)
    return int(isinstance(outcome, Exception))


def _tell(news: queue.SimpleQueue[tuple[float, Recent | None] | None], told_at: TextIO) -> None:
    """Write lines of JSON: a share of the time, or the time and what series have recorded."""
    while (one := news.get()) is not None:
        number, recent = one
        if recent is None:
            line = f"{number:.4f}"
        else:
            parts = [[place, times_ps.tolist(), values.tolist()] for place, times_ps, values in recent]
            line = json.dumps([number, parts])
        print(line, file=told_at, flush=True)
