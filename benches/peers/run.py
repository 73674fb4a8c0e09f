#!/usr/bin/env python3
"""Other simulators beside cellrate, on one machine, in turn, in one go: `make bench-peers`.

    run.py [--json] [--rounds N] [--scale X] [NAME ...]

Installs what is missing (ns-3 and SimPy from PyPI into an environment below target/, ns-2 with apt-get where root runs
this, nexosim with cargo), runs every simulator on every workload that it has, round by round, checks that each carried
what the network carries, and prints the fastest run of each. README.md says how each was modelled.

Exit status: 0 everything was measured; 1 a simulator failed, or did not carry what it should; 2 wrong arguments; 3 a
simulator could not be installed, the others were measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "target" / "peers"
VENV_PYTHON = PLACE / "venv" / "bin" / "python"
NEXOSIM = PLACE / "nexosim" / "release" / "nexosim-peer"
CELLRATE = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "cellrate-bench"

HOPS = 3
LINE_BPS = 149.76e6
UNIT_OCTETS = 53
ALL_RATES = 317_880
"""Rates of the constant-rate sources together [cells/s]: 90 % of the line."""
SEGMENT_OCTETS = 512


@dataclass(frozen=True)
class Network:
    """W1's network with so many sources and links of that delay."""

    sources: int = 15
    delay_s: float = 5e-3
    network_s: dict[str, float] = field(
        default_factory=lambda: {"cellrate": 10.0, "ns-2": 10.0, "nexosim": 10.0, "ns-3": 1.0, "SimPy": 2.0}
    )
    """Network time of a run with constant rates [s], by simulator: so much that it takes seconds and less than a
    minute. Who is not named is left out."""

    @property
    def rates(self) -> list[float]:
        """Rates of the constant-rate sources [cells/s], no two of them equal."""
        count = self.sources
        step = 42_000 / (count * (count - 1))
        return [round(ALL_RATES / count + step * (i - (count - 1) / 2), 6) for i in range(count)]

    @property
    def starts_s(self) -> list[float]:
        """When each of them begins [s]."""
        return [2e-6 * (i + 1) for i in range(self.sources)]


NETWORKS = {
    "cbr": Network(),
    "cbr-10us": Network(delay_s=10e-6),
    "cbr-100": Network(sources=100),
    "cbr-1500": Network(sources=1500, network_s={"cellrate": 10.0, "ns-2": 5.0, "nexosim": 5.0, "SimPy": 2.0}),
    "tcp": Network(),
}
"""By workload."""


class MissingError(Exception):
    """A simulator that cannot be installed here; the text says why."""


@dataclass
class Run:
    """Output of a run, and its cost in time and memory."""

    delivered: int
    """Units, or segments, that arrived."""
    cpu_s: float
    """Processor time of the simulation alone, where the simulator can tell; else of its process, whose start is
    milliseconds."""
    wall_s: float
    version: str
    cell_hops: int | None = None
    again: int = 0


@dataclass
class Entry:
    """A simulator on a workload."""

    name: str
    network_s: float
    command: list[str]
    octets_on_line: int
    """Octets of a unit, or of a segment with all its headers."""
    network: Network = field(default_factory=Network)
    goodput: tuple[float, float] | None = None
    """Bounds of TCP's goodput: the share of what the line carries that has to arrive."""
    runs: list[Run] = field(default_factory=list)
    failure: str | None = None

    @property
    def best(self) -> Run:
        """The run that took the least processor time."""
        return min(self.runs, key=lambda run: run.cpu_s)

    @property
    def hops(self) -> int:
        """Transmissions of what arrived: units over three links; segments and an ACK for each over three links."""
        return self.best.delivered * HOPS * (1 if self.goodput is None else 2)


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="Other simulators beside cellrate; see benches/peers/README.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(INSTALL)}; all by default")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (3)")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="network time of each run, as a multiple of the usual (1)"
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in INSTALL]
    if unknown or options.rounds < 1 or not 0.05 <= options.scale <= 100:
        parser.error(f"no simulator {unknown[0]}" if unknown else "--rounds is 1 or more, --scale from 0.05 to 100")
    chosen = options.names or list(INSTALL)
    missing = install(["cellrate", *(name for name in chosen if name != "cellrate")])
    there = [name for name in INSTALL if name in ("cellrate", *chosen) and name not in missing]
    if "cellrate" in missing:
        say(f"cellrate cannot be built: {missing['cellrate']}")
        return 1
    workloads = {kind: entries(kind, there, options.scale) for kind in NETWORKS}
    for number in range(options.rounds):
        for kind, listed in workloads.items():
            for entry in listed:
                say(f"round {number + 1} of {options.rounds}: {kind}, {entry.name}")
                measure(entry)
    for listed in workloads.values():
        for entry in listed:
            check(entry)
    if options.json:
        print(json.dumps(content(workloads, missing), indent=2))
    else:
        print_tables(workloads, missing)
    failed = any(entry.failure for listed in workloads.values() for entry in listed)
    return 1 if failed else 3 if missing else 0


def say(text: str) -> None:
    """Tell what goes on."""
    print(f"bench-peers: {text}", file=sys.stderr, flush=True)


# Installing.


def call(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command silently.

    Raises
    ------
    MissingError
        With the end of what it said, if it fails.
    """
    try:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, check=False)
    except OSError as error:
        raise MissingError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise MissingError(f"{Path(command[0]).name} {command[1]}: {said[-1] if said else done.returncode}")


def install_cellrate() -> None:
    """Build the program that the workloads are run with."""
    call("cargo", "build", "--release", "--locked", "--quiet", "-p", "cellrate-bench", cwd=ROOT)


def install_python(package: str) -> None:
    """Put the packages of requirements.txt into an environment of their own."""
    if not VENV_PYTHON.exists():
        call(sys.executable, "-m", "venv", PLACE / "venv")
    wanted = next(line for line in (HERE / "requirements.txt").read_text().split() if line.startswith(f"{package}=="))
    call(VENV_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted)


def install_ns2() -> None:
    """Take the `ns` that is there, or Debian's package."""
    if shutil.which("ns") is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise MissingError("no command ns; as root: apt-get install ns2")
        call("apt-get", "install", "-qy", "--no-install-recommends", "ns2")


def install_nexosim() -> None:
    """Build the small crate beside this file, from its own lock."""
    manifest = HERE / "nexosim" / "Cargo.toml"
    target = PLACE / "nexosim"
    call("cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", manifest, "--target-dir", target)


INSTALL: dict[str, Callable[[], None]] = {
    "cellrate": install_cellrate,
    "ns-2": install_ns2,
    "nexosim": install_nexosim,
    "ns-3": lambda: install_python("ns3"),
    "SimPy": lambda: install_python("simpy"),
}
"""In the order of the tables."""


def install(names: list[str]) -> dict[str, str]:
    """Install what is named; give what could not be, with the reason."""
    PLACE.mkdir(parents=True, exist_ok=True)
    missing = {}
    for name in names:
        say(f"installing {name}")
        try:
            INSTALL[name]()
        except MissingError as error:
            missing[name] = str(error)
            say(f"{name} is left out: {error}")
    return missing


# Measuring.


def entries(kind: str, there: list[str], scale: float) -> list[Entry]:
    """Give the simulators on a workload."""
    python = str(VENV_PYTHON)
    network = NETWORKS[kind]
    what = [str(network.sources), f"{network.delay_s:g}"]
    listed = []

    def add(name: str, network_s: float, command: list[str], octets: int, goodput: tuple[float, float] | None) -> None:
        if name.split(",")[0] in there:
            listed.append(Entry(name, network_s * scale, command, octets, network, goodput))

    if kind != "tcp":
        commands = {
            "cellrate": [str(CELLRATE), "file", str(constant_rates(kind, network))],
            "ns-2": ["ns", "ns2.tcl", "cbr", "SECONDS", *what],
            "nexosim": [str(NEXOSIM), "SECONDS", *what],
            "ns-3": [python, "ns3_peer.py", "cbr", "SECONDS", *what],
            "SimPy": [python, "simpy_peer.py", "SECONDS", *what],
        }
        for name, network_s in network.network_s.items():
            add(name, network_s, commands[name], UNIT_OCTETS, None)
    else:
        # Segments with LLC/SNAP take 12 cells; the others have 40 octets of headers, ns-3 two of PPP besides. Slow
        # start takes some of a short run; ERICA leaves a tenth of the line.
        cells = 12 * UNIT_OCTETS
        add("cellrate, UBR", 10.0, [str(CELLRATE), "file", "tcp-ubr.toml"], cells, (0.95, 1.0))
        add("cellrate, ABR", 10.0, [str(CELLRATE), "file", "tcp-abr.toml"], cells, (0.85, 1.0))
        add("ns-2", 10.0, ["ns", "ns2.tcl", "tcp", "SECONDS", *what], 552, (0.95, 1.0))
        add("ns-3", 5.0, [python, "ns3_peer.py", "tcp", "SECONDS", *what], 554, (0.95, 1.0))
    return listed


def measure(entry: Entry) -> None:
    """Run once."""
    if entry.failure:
        return
    command = [f"{entry.network_s:g}" if word == "SECONDS" else word for word in entry.command]
    if command[1] == "file":
        command[2] = str(scaled(HERE / command[2], entry.network_s))
    begun, before = time.perf_counter(), children_s()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        out, complaint = process.communicate()
    wall_s, process_s = time.perf_counter() - begun, children_s() - before
    try:
        told: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        said = complaint.strip().splitlines()
        entry.failure = f"exit status {process.returncode}: {said[-1] if said else 'it said nothing'}"
        return
    delivered = told["delivered_octets"] // SEGMENT_OCTETS if told.get("delivered_octets") else told["delivered"]
    cpu_s = told.get("cpu_s", process_s)
    entry.runs.append(
        Run(delivered, cpu_s, told["wall_s"], told["version"], told.get("cell_hops"), told.get("again", 0))
    )
    say(f"    {wall_s:.1f} s")


def children_s() -> float:
    """Give the processor time of all processes that have been waited for [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def constant_rates(name: str, network: Network) -> Path:
    """Write a scenario of constant-rate sources; give its file."""
    delay, count = f"{network.delay_s * 1e6:g} us", network.sources
    text = [
        f'name = "peers-{name}"',
        'duration = "10 s"',
        f'[defaults.link]\nrate = "149.76 Mbps"\ndelay = "{delay}"',
        f'[[host]]\nname = "s{{i}}"\ncount = {count}',
        f'[[host]]\nname = "d{{i}}"\ncount = {count}',
        '[[switch]]\nname = "sw{i}"\ncount = 2',
        '[[link]]\nbetween = ["sw1", "sw2"]',
        f'[[link]]\nbetween = ["s{{i}}", "sw1"]\ncount = {count}',
        f'[[link]]\nbetween = ["sw2", "d{{i}}"]\ncount = {count}',
    ]
    for number, (rate, start_s) in enumerate(zip(network.rates, network.starts_s, strict=True), start=1):
        text.append(
            f'[[vc]]\nname = "vc{number}"\ncategory = "cbr"\npath = ["s{number}", "sw1", "sw2", "d{number}"]\n'
            f'traffic = {{ type = "constant", rate = "{rate:.6f} cells/s", start = "{start_s * 1e6:g} us" }}'
        )
    PLACE.mkdir(parents=True, exist_ok=True)
    file = PLACE / f"{name}-10s.toml"
    file.write_text("\n".join(text) + "\n")
    return file


def scaled(file: Path, network_s: float) -> Path:
    """Give a copy of a scenario that lasts `network_s`."""
    copy = PLACE / f"now-{file.name}"
    lines = file.read_text().splitlines()
    changed = [f'duration = "{network_s:g} s"' if line.startswith("duration = ") else line for line in lines]
    copy.write_text("\n".join(changed) + "\n")
    return copy


def check(entry: Entry) -> None:
    """Note a failure where what arrived is not what the network carries."""
    if entry.failure or not entry.runs:
        return
    delivered = [run.delivered for run in entry.runs]
    if len(set(delivered)) > 1:
        entry.failure = f"runs differ: {delivered} arrived"
    elif entry.goodput is None:
        network = entry.network
        transit_s = HOPS * (UNIT_OCTETS * 8 / LINE_BPS + network.delay_s)
        own = zip(network.rates, network.starts_s, strict=True)
        due = sum(rate * (entry.network_s - start - transit_s) for rate, start in own)
        # A cell more or less per source at either end, and what rounding an interval to ns changes in a second.
        if abs(delivered[0] - due) > 2 * network.sources + 5e-5 * due:
            entry.failure = f"{delivered[0]} units arrived, {due:.0f} were due"
    else:
        due = LINE_BPS / 8 / entry.octets_on_line * entry.network_s
        low, high = entry.goodput
        # Slow start and half a round trip weigh more in a shorter run.
        low = min(low, 1 - 0.5 / entry.network_s)
        if not low * due <= delivered[0] <= high * due or entry.best.again:
            again = entry.best.again
            entry.failure = f"{delivered[0]} segments arrived, {again} were sent again; the line carries {due:.0f}"


# Printing.


def content(workloads: dict[str, list[Entry]], missing: dict[str, str]) -> dict[str, Any]:
    """Give everything as plain values."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "missing": missing,
        "workloads": {kind: [row(entry, listed[0]) for entry in listed] for kind, listed in workloads.items()},
    }


def row(entry: Entry, first: Entry) -> dict[str, Any]:
    """Give a line of a table; ratios are of `first` to it."""
    if entry.failure or not entry.runs:
        return {"name": entry.name, "failure": entry.failure or "not run"}
    best = entry.best
    speed = entry.network_s / best.cpu_s
    comparable = not first.failure and bool(first.runs)
    return {
        "name": entry.name,
        "version": best.version,
        "network_s": entry.network_s,
        "delivered": best.delivered,
        "hops": entry.hops,
        "cell_hops": best.cell_hops,
        "cpu_s": best.cpu_s,
        "wall_s": best.wall_s,
        "hops_per_s": entry.hops / best.cpu_s,
        "network_s_per_s": speed,
        "cellrate_is_faster_by": first.network_s / first.best.cpu_s / speed if comparable else None,
    }


def machine() -> str:
    """Say what this runs on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}"


TITLES = {
    "cbr": "15 constant-rate sources, three hops of 149.76 Mbit/s and 5 ms, units of 53 octets",
    "cbr-10us": "The same over links of 10 us",
    "cbr-100": "100 sources, 5 ms",
    "cbr-1500": "1,500 sources, 5 ms",
    "tcp": "15 TCP transfers over the same links: segments of 512 octets, an ACK for each, nothing lost",
}


def print_tables(workloads: dict[str, list[Entry]], missing: dict[str, str]) -> None:
    """Print a Markdown table per workload, as docs/performance-peers.md holds them."""
    print(f"{time.strftime('%d %B %Y')}, {machine()}; processor time, the best of the rounds.")
    for kind, listed in workloads.items():
        print(f"\n{TITLES[kind]}:\n")
        print("| simulator | network s | M hops | M hops per s | network s per s | cellrate is faster by |")
        print("| --- | --- | --- | --- | --- | --- |")
        for entry in listed:
            values = row(entry, listed[0])
            if "failure" in values:
                print(f"| {entry.name} | {values['failure']} | | | | |")
                continue
            ratio = values["cellrate_is_faster_by"]
            cells = f" ({values['cell_hops'] / 1e6:.2f} of cells)" if kind == "tcp" and values["cell_hops"] else ""
            rate = f"{values['hops_per_s'] / 1e6:.2f}"
            if cells:
                rate += f" ({values['cell_hops'] / values['cpu_s'] / 1e6:.1f} of cells)"
            print(
                f"| {entry.name} {values['version']} | {entry.network_s:g} | {entry.hops / 1e6:.2f}{cells} | {rate} "
                f"| {values['network_s_per_s']:.2f} | {'-' if ratio is None else f'{ratio:.1f}'} |"
            )
    for name, reason in missing.items():
        print(f"\n{name} could not be installed: {reason}")


if __name__ == "__main__":
    sys.exit(main())
