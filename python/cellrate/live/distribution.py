"""Live runs over several processes: the nodes that are elsewhere, in processes of this machine or on other machines.

The hosts and their applications stay together in one process; each switch has one of its own, `cellrate live node`,
and cells go between them in datagrams to the addresses of ``[live] nodes``. Nothing but the scenario, the instant of
the start and a key is shared: the clocks of several machines must agree to a fraction of the shortest link's delay.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import _native
from ..errors import CellrateError, RunError
from ..plugins.collection import NOTHING, Plugins
from ..results.writing import write_json
from ..scenario import Scenario
from .plugin_pipes import Reply, answer, give, pack_plugins, take_plugins

SCENARIO = "scenario.toml"
"""In the folder of the nodes of this machine."""

LEAD_S = 1.5
"""From the decision to the start of a run: what processes need to begin [s]."""

CLOSING_S = 5.0
"""How long after the end nodes may take to write their figures [s]."""


@dataclass(frozen=True)
class Distribution:
    """Which nodes run where, and when the network's time begins."""

    here: list[str]
    """The hosts, in the process that asks."""
    started: list[str]
    """Switches that get a process on this machine."""
    elsewhere: list[str]
    """Switches that others run."""
    start_unix_ns: int | None
    """The network's time zero [ns since the Unix epoch]; None until that is decided."""
    key: bytes
    """Secret of the run's processes, if it was given or made; empty if not (`run_nonce`)."""

    @classmethod
    def of(
        cls, scenario: Scenario, elsewhere: Sequence[str], start_unix_ns: int | None, key: bytes | None = None
    ) -> Distribution:
        """Distribute a scenario: hosts here, switches in processes of their own, but for those `elsewhere`.

        Without a key one is made, unless nodes are elsewhere, which would not know it.

        Raises
        ------
        CellrateError
            If a node has no address, or `elsewhere` names what is not a switch, or comes without a start.
        """
        nodes = _native.nodes(scenario._native)
        without = [name for name, _, address in nodes if address is None]
        if without:
            raise CellrateError(
                f"{scenario.file}: no address of {', '.join(without)}: a distributed run needs one of every node, "
                'such as [live] nodes = { sw1 = "127.0.0.1:6635", ... }'
            )
        switches = [name for name, is_host, _ in nodes if not is_host]
        wrong = [name for name in elsewhere if name not in switches]
        if wrong:
            raise CellrateError(f"{', '.join(wrong)}: no switch of that name; there are {', '.join(switches)}")
        if elsewhere and start_unix_ns is None:
            raise CellrateError("`elsewhere` needs `start_unix_ns` (--start), the same instant for all nodes")
        return cls(
            here=[name for name, is_host, _ in nodes if is_host],
            started=[name for name in switches if name not in elsewhere],
            elsewhere=list(elsewhere),
            start_unix_ns=start_unix_ns,
            key=key if key is not None else b"" if elsewhere else secrets.token_bytes(16),
        )

    def nonce(self, scenario: Scenario) -> int:
        """Give the nonce of the run, whose start has been decided."""
        assert self.start_unix_ns is not None
        return run_nonce(scenario, self.start_unix_ns, self.key)

    def decided(self) -> Distribution:
        """Give the same with a start: soon, where none was given."""
        if self.start_unix_ns is not None:
            return self
        return replace(self, start_unix_ns=time.time_ns() + int(LEAD_S * 1e9))


def run_nonce(scenario: Scenario, start_unix_ns: int, key: bytes) -> int:
    """Give the nonce that ends every datagram of a run [64 bits], by which others are told from it.

    It follows from what all processes of the run share: the scenario, the start and a key. Who knows all three can
    forge datagrams; without a key the start is all that a stranger with the scenario has to guess.
    """
    shared = b"\0".join([b"cellrate", scenario.hash.encode(), str(start_unix_ns).encode(), key])
    return int.from_bytes(hashlib.sha256(shared).digest()[:8])


@dataclass
class Node:
    """A node in a process of this machine."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]
    reply: Reply

    @property
    def figures(self) -> Path:
        """The file that it leaves."""
        return self.folder / f"{self.name}.json"

    def look(self) -> None:
        """See whether it has failed, and raise why."""
        if self.process.poll():
            raise self.failure()

    def failure(self) -> Exception:
        """Why there are no figures."""
        try:
            self.reply.result(CLOSING_S)
        except CellrateError as error:
            # It must be said whose failure it is; what something custom raised is raised again.
            return RunError(f"the process of {self.name}: {error}")
        except Exception as error:
            return error
        told = (self.folder / f"{self.name}.err").read_text(errors="replace").strip()
        return RunError(f"the process of {self.name} left no figures: {told[-1000:] or 'it said nothing'}")


def start_nodes(distribution: Distribution, scenario: Scenario, folder: Path, plugins: Plugins = NOTHING) -> list[Node]:
    """Start a process for each switch of this machine; `folder` keeps what they write."""
    (folder / SCENARIO).write_text(scenario.toml)
    # Not in the command, which any user of the machine can see.
    packed = distribution.key.hex().encode() + b"\n" + pack_plugins(plugins)
    nodes = []
    for name in distribution.started:
        reply = Reply()
        words = [sys.executable, "-m", "cellrate.live", "node"]
        words += [str(folder), name, str(distribution.start_unix_ns), str(reply.end)]
        try:
            with (folder / f"{name}.err").open("wb") as errors:
                process = subprocess.Popen(
                    words, stdin=subprocess.PIPE, stdout=errors, stderr=errors, pass_fds=[reply.end]
                )
        finally:
            reply.handed_over()
        give(process, packed)
        nodes.append(Node(name, folder, process, reply))
    return nodes


def gather(nodes: list[Node], summary: dict[str, Any]) -> None:
    """Wait for the figures of the nodes and put them beside the hosts' own.

    Raises
    ------
    RunError
        If a node left none; what it failed with, if it said so.
    """
    last = time.monotonic() + CLOSING_S
    summary["processes"] = []
    for node in nodes:
        try:
            node.process.wait(max(0.0, last - time.monotonic()))
        except subprocess.TimeoutExpired:
            node.process.kill()
        if not node.figures.exists():
            raise node.failure()
        figures = json.loads(node.figures.read_text())
        summary["ports"] += figures["ports"]
        summary["virtual_sources"] += figures["virtual_sources"]
        summary["policing"] += figures["policing"]
        summary["loopbacks"] += figures["loopbacks"]
        summary["links"] += figures["links"]
        summary["timing"]["passed"] &= figures["timing"]["passed"]
        summary["timing"]["failures"] += [f"{node.name}: {failure}" for failure in figures["timing"]["failures"]]
        summary["processes"].append({"node": node.name, **figures})
    failures = lost_on_the_way(summary["links"])
    summary["timing"]["failures"] += failures
    summary["timing"]["passed"] &= not failures


LOST_SHARE = 0.001
"""Share of the datagrams that one end of a link sent that may never have come to the other end."""

UNDER_WAY = 64
"""Datagrams that may be on their way when a run ends: what is sent in its last instants."""


def lost_on_the_way(links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Compare what one end of each link sent with what came to the other, where both ends are known.

    The receiving end cannot tell by itself that the last datagrams, or all, are missing.
    """
    by_label = {row["label"]: row for row in links}
    failures = []
    for row in links:
        # The labels of both ends differ in the last bit (docs/testbed.md).
        other = by_label.get(row["label"] ^ 1)
        if other is None:
            continue
        came = other["received"] + other["out_of_order"]
        lost = row["sent"] - row["send_errors"] - came
        nothing = came == 0 and row["sent"] > UNDER_WAY
        if nothing or lost > LOST_SHARE * row["sent"] + UNDER_WAY:
            failures.append(
                f"{row['link']}: of {row['sent']} datagrams {came} came to the other end; "
                f"the limit is {LOST_SHARE:.2%} and {UNDER_WAY} under way at the end"
            )
    return failures


def main(folder: Path, name: str, start_unix_ns: int, end: int) -> int:
    """Run a node of the scenario in `folder`, and leave its figures there, or say at `end` why there are none."""
    try:
        key, _, packed = sys.stdin.buffer.read().partition(b"\n")
        scenario = Scenario.parse((folder / SCENARIO).read_text(), file=SCENARIO)
        figures = folder / f"{name}.json"
        run_node(scenario, [name], start_unix_ns, figures, take_plugins(packed), bytes.fromhex(key.decode()))
    except Exception as error:
        answer(end, error)
        return 1
    return 0


def run_node(
    scenario: Scenario,
    names: list[str],
    start_unix_ns: int | None,
    figures: Path | None,
    plugins: Plugins = NOTHING,
    key: bytes = b"",
) -> dict[str, Any]:
    """Run nodes of a scenario in this process, cells in datagrams to the others; gives their figures.

    Datagrams are those of the run of this scenario, start and `key`; without a start, of any.

    Raises
    ------
    CellrateError
        If there is no such node, one that cells go to or come from has no address, or a host among them has
        applications, which need `cellrate live run`; if they ask for other algorithms, policies or traffic than are
        given.
    RunError, Interrupted
        As `cellrate.run`.
    """
    nodes = {name: is_host for name, is_host, _ in _native.nodes(scenario._native)}
    wrong = [name for name in names if name not in nodes]
    if wrong:
        raise CellrateError(f"{', '.join(wrong)}: no host or switch of that name; there are {', '.join(nodes)}")
    busy = {row[end] for row in json.loads(_native.applications(scenario._native)) for end in ("host", "peer")}
    with_applications = [name for name in names if name in busy]
    if with_applications:
        raise CellrateError(
            f"{', '.join(with_applications)}: hosts with applications run together, in "
            "`cellrate live run --distributed`"
        )
    plugins.check([scenario])
    nonce = None if start_unix_ns is None else run_nonce(scenario, start_unix_ns, key)
    native = _native.live_nodes(scenario._native, names, start_unix_ns, plugins=plugins.makers(), nonce=nonce)
    summary: dict[str, Any] = json.loads(native.summary)
    if figures is not None:
        partial = figures.with_suffix(".partial")
        write_json(partial, summary)
        partial.rename(figures)
    return summary
