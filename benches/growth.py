"""Measure how checking a scenario, and the start of a run, grow with the number of written-out connections.

`make bench-growth` runs it with 1,000, 10,000 and 100,000 of them; `--sizes 100,1000` is a quick look, and `--most 1.5`
ends with status 1 where something grows by more than that over linear growth. Each connection has two hosts, two links
and a probe of its own, all written out, at one of as many switches as there are hundreds. What is measured are
processes of their own: their processor time, which other work on the machine changes little, and the most memory that
they held, each less what a scenario of one connection takes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MODULE = [sys.executable, "-m", "cellrate"]
RUN = "import cellrate, sys; cellrate.run(sys.argv[1], set={'duration': '1 us'})"
STEPS = {"validate": [*MODULE, "validate"], "first event": [sys.executable, "-c", RUN]}
# What takes less than this shows how a process started, not how it grew [s].
SHORTEST = 0.05
HEAD = """name = "written out"
duration = "10 ms"
defaults = { link = { rate = "155.52 Mbps", length = "1 km" }, switch = { algorithm = { type = "erica" } } }
"""
ENTRY = """[[host]]
name = "a{0}"
[[host]]
name = "b{0}"
[[link]]
between = ["a{0}", "s{1}"]
[[link]]
between = ["s{1}", "b{0}"]
[[vc]]
name = "vc{0}"
path = ["a{0}", "s{1}", "b{0}"]
[[probe]]
record = ["acr"]
of = ["vc{0}"]
every = "1 ms"
"""


def scenario(connections: int) -> Iterator[str]:
    """Give the text of a scenario, part by part."""
    yield HEAD
    for switch in range(connections // 100 + 1):
        yield f'[[switch]]\nname = "s{switch}"\n'
    for number in range(connections):
        yield ENTRY.format(number, number // 100)


def used(command: list[str]) -> tuple[float, float]:
    """Run a process; give the processor time [s] and the most memory [MB] that it took."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, 1)])
    os.close(nowhere)
    _, status, use = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def measured(folder: Path, connections: int) -> dict[str, tuple[float, float]]:
    """Measure every step with a scenario of so many connections."""
    file = folder / f"{connections}.toml"
    with file.open("w") as out:
        out.writelines(scenario(connections))
    return {step: used([*command, str(file)]) for step, command in STEPS.items()}


def main() -> int:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of connections, with commas between")
    parser.add_argument("--most", type=float, help="the largest growth over linear growth that is no failure")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    rows: list[dict[str, object]] = []
    most = 0.0
    with tempfile.TemporaryDirectory(prefix="cellrate-bench-") as folder:
        least = measured(Path(folder), 1)
        before: dict[str, tuple[int, float, float]] = {}
        for size in sizes:
            for step, (processor, memory) in measured(Path(folder), size).items():
                own = (processor - least[step][0], memory - least[step][1])
                row: dict[str, object] = {"step": step, "connections": size, "processor_s": own[0], "memory_mb": own[1]}
                if step in before and before[step][1] >= SHORTEST:
                    smaller, *earlier = before[step]
                    ratios = [now * smaller / size / then for now, then in zip(own, earlier, strict=True)]
                    row["processor_over_linear"], row["memory_over_linear"] = ratios
                    most = max(most, *ratios)
                before[step] = (size, *own)
                rows.append(row)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print("| step | connections | processor time [s] | memory [MB] | time over linear | memory over linear |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for row in sorted(rows, key=lambda row: list(STEPS).index(str(row["step"]))):
            over = [row.get(f"{what}_over_linear") for what in ("processor", "memory")]
            ratio = " | ".join("" if value is None else f"{value:.2f}" for value in over)
            figures = f"{row['processor_s']:.2f} | {row['memory_mb']:.0f}"
            print(f"| {row['step']} | {row['connections']:,} | {figures} | {ratio} |")
    return 1 if options.most is not None and most > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
