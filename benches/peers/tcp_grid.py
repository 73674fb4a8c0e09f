"""TCP at every window, on ns-2 and ns-3: measures what cellrate's grid is held against.

Usage: python3 benches/peers/tcp_grid.py [ns-2] [ns-3]; both by default. Writes crates/cellrate-sim/tests/references/tcp-grid.csv,
in which a simulator that is not named, or cannot be installed, keeps the values that it has. `cargo test -p cellrate-sim
--test networks tcp_grid` compares; `cargo test -p cellrate-sim --test networks tcp_grid -- --ignored --nocapture` prints the table of
docs/transport.md.

The network is a sender, 100 Mbit/s and 1 ms, a drop-tail buffer, 10 Mbit/s and 20 ms, a receiver; one transfer without end, 60 s.
Segments take 1696 octets on the line and ACKs 53 (ns-3: 42), as 1460 octets of payload and an ACK do in cells of AAL5. Windows
are 16 kB to 1.5 MB in segments of 1460 octets; a minimum RTO of 1 s, a delayed ACK of at most 200 ms, no limited transmit.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

from run import HERE, ROOT, VENV_PYTHON, MissingError, install_ns2, install_python, say

RECORDS = ROOT / "crates" / "cellrate-sim" / "tests" / "references" / "tcp-grid.csv"
VARIANTS = {"ns-2": ["tahoe", "reno", "newreno", "sack"], "ns-3": ["newreno", "sack"]}
WINDOWS = [11, 22, 45, 90, 179, 359, 718, 1077]
BUFFERS = [10, 20, 50, 100, 200]
SECONDS = 60
HEADER = """\
# TCP through a drop-tail buffer on ns-2 {ns2} and ns-3 {ns3}; written by benches/peers/tcp_grid.py.
# window and buffer [segments], delayed ACKs (1: on); segments acknowledged or delivered in 60 s, sent again, and time-outs of
# each simulator. Empty: ns-3 has no such variant, or was not run on the case.
"""

Case = tuple[str, int, int, int]
Values = tuple[str, str, str]


def main() -> int:
    """Measure what is named, and write the records."""
    names = sys.argv[1:] or list(VARIANTS)
    if unknown := [name for name in names if name not in VARIANTS]:
        say(f"no simulator {unknown[0]}; there are ns-2 and ns-3")
        return 2
    records, versions = read()
    status = 0
    for name in names:
        cases = [case for case in records if case[0] in VARIANTS[name]]
        try:
            results = ns2(cases) if name == "ns-2" else ns3(cases)
        except MissingError as error:
            say(f"{name} is left out: {error}")
            status = 3
            continue
        for case, told in zip(cases, results, strict=True):
            versions[name] = told["version"]
            records[case][name] = (str(told["delivered"]), str(told["again"]), str(told["timeouts"]))
    write(records, versions)
    return status


def read() -> tuple[dict[Case, dict[str, Values]], dict[str, str]]:
    """Give what was recorded before, by case and simulator, and their versions."""
    cases = product(VARIANTS["ns-2"], (0, 1), WINDOWS, BUFFERS)
    records: dict[Case, dict[str, Values]] = {
        (variant, window, buffer, delayed): {} for variant, delayed, window, buffer in cases
    }
    versions = {"ns-2": "unknown", "ns-3": "unknown"}
    if RECORDS.exists():
        lines = RECORDS.read_text().splitlines()
        words = lines[0].replace(";", "").split()
        versions = {name: words[words.index(name) + 1] for name in VARIANTS}
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            case = (row["variant"], int(row["window"]), int(row["buffer"]), int(row["delayed"]))
            for name, key in (("ns-2", "ns2"), ("ns-3", "ns3")):
                values = (row[key], row[f"{key}_again"], row[f"{key}_timeouts"])
                if case in records and values[0]:
                    records[case][name] = values
    return records, versions


def write(records: dict[Case, dict[str, Values]], versions: dict[str, str]) -> None:
    """Write everything that is known."""
    columns = ["variant", "window", "buffer", "delayed"]
    columns += [f"{key}{what}" for key in ("ns2", "ns3") for what in ("", "_again", "_timeouts")]
    rows = [
        ",".join([*map(str, case), *values.get("ns-2", ("", "", "")), *values.get("ns-3", ("", "", ""))])
        for case, values in records.items()
    ]
    header = HEADER.format(ns2=versions["ns-2"], ns3=versions["ns-3"])
    RECORDS.write_text(header + "\n".join([",".join(columns), *rows]) + "\n")


def ns2(cases: list[Case]) -> list[dict[str, object]]:
    """Run all cases of a variant side by side in one simulation."""
    install_ns2()
    results = []
    for variant in VARIANTS["ns-2"]:
        words = [str(word) for case in cases if case[0] == variant for word in case]
        say(f"ns-2: {variant}, {len(words) // 4} cases")
        command = ["ns", str(HERE / "tcp_grid.tcl"), str(SECONDS), *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        results += [json.loads(line) for line in done.stdout.splitlines()]
    return results


def ns3(cases: list[Case]) -> list[dict[str, object]]:
    """Run one case after the other; the library is compiled once."""
    install_python("ns3")
    say(f"ns-3: {len(cases)} cases")
    lines = "".join(" ".join([*map(str, case), str(SECONDS)]) + "\n" for case in cases)
    command = [str(VENV_PYTHON), str(HERE / "tcp_grid_ns3.py")]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
