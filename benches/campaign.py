"""Measure what a campaign costs beside its runs: locally, on a cluster of Dask on this machine, and how it scales.

`make bench-campaign` runs it with 10,000 points; `--points 200` is a quick look. A point is a run of half a
millisecond of two connections over two switches, so that little but the campaign is left; `--duration "500 ms"` of
network time makes it about 10 ms, as a study has, whose own times vary by more than a campaign adds. Times of the wall
mean something on a machine that does nothing else; processor times of this process and its workers, not of Dask's, are
given beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cellrate
from cellrate.campaigns.running import sweep_into
from cellrate.sweeps.varying import Points

SCENARIO = """name = "short"
duration = "5 ms"
defaults = { link = { rate = "155.52 Mbps", length = "1 km" }, switch = { algorithm = { type = "erica" } } }
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "s" }, { name = "t" }]
link = [{ between = ["a", "s"] }, { between = ["b", "s"] }, { between = ["s", "t"] }, { between = ["t", "c"] }]
vc = [{ name = "one", path = ["a", "s", "t", "c"] }, { name = "two", path = ["b", "s", "t", "c"] }]
"""
SERIES = '[[probe]]\nrecord = ["acr", "queue", "utilization", "z", "n", "fair_share"]\nevery = "1 ms"\n'
"""Six quantities and so six tables, each short: a study that keeps a few values of each run."""


def processor_s() -> float:
    """Give processor time of this process and of those that have ended [s]."""
    return sum(
        use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def measured(points: Points, folder: Path, **given: object) -> dict[str, float]:
    """Run points into a folder that is not there; give wall and processor time [s] and this process's memory [MB]."""
    begun, used = time.perf_counter(), processor_s()
    sweep_into(folder, points, **given)  # type: ignore[arg-type]
    found = {"wall_s": time.perf_counter() - begun, "processor_s": processor_s() - used}
    found["client_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def alone(points: Points, number: int) -> float:
    """Give what a run takes by itself, without a folder [s]: the least of three goes."""
    goes = []
    for _ in range(3):
        begun = time.perf_counter()
        for place in range(number):
            cellrate.run(points[place][0])
        goes.append((time.perf_counter() - begun) / number)
    return min(goes)


def on_dask(points: Points, folder: Path, place: Path) -> dict[str, float]:
    """Run points on a scheduler and two workers of this machine; memory of the workers [MB] too."""
    file = place / "scheduler.json"
    base = [sys.executable, "-m", "distributed.cli.dask_"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [*base[:2], base[2] + "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
    processes = [subprocess.Popen([*command, "--scheduler-file", str(file)], **quiet)]
    try:
        while not file.exists():
            time.sleep(0.05)
        for name in ("one", "two"):
            command = [*base[:2], base[2] + "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny"]
            command += ["--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(place / name)]
            processes.append(subprocess.Popen(command, **quiet))
        from distributed import Client

        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(2)
            found = measured(points, folder, executor=client)
        for number, process in enumerate(processes[1:]):
            status = Path(f"/proc/{process.pid}/status").read_text()
            found[f"worker_{number + 1}_mb"] = int(status.split("VmHWM:")[1].split()[0]) / 1024
        return found
    finally:
        for process in processes:
            process.kill()
            process.wait()


def query(folder: Path) -> dict[str, float]:
    """Give what it takes to ask for a mean over all points [s], by DuckDB and from Python, and the folder's size."""
    import duckdb

    begun = time.perf_counter()
    duckdb.sql(f"select port, avg(utilization) from '{folder}/ports.parquet' group by port").fetchall()
    asked = time.perf_counter() - begun
    begun = time.perf_counter()
    table = cellrate.load_sweep(folder).tidy("ports")
    read = time.perf_counter() - begun
    size = subprocess.run(["du", "-sm", str(folder)], capture_output=True, text=True, check=True).stdout.split()[0]
    return {"duckdb_s": asked, "load_and_tidy_s": read, "rows": table.num_rows, "folder_mb": float(size)}


def longer(place: Path) -> dict[str, float]:
    """Give how two workers scale where a point takes a tenth of a second, as most do: the best of three pairs."""
    scenario = cellrate.Scenario.parse(SCENARIO).set({"duration": "4 s"})
    points = Points(scenario, 80)
    pairs = [
        [measured(points, place / f"longer-{turn}-{workers}" / "out", workers=workers)["wall_s"] for workers in (1, 2)]
        for turn in range(3)
    ]
    return {"run_ms": 1e3 * alone(points, 4), "scaling_on_two_workers": max(one / two for one, two in pairs)}


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--only", choices=["one", "two", "dask"], help="one arm alone")
    parser.add_argument("--duration", default="5 ms", help="network time of a point")
    parser.add_argument("--series", action="store_true", help="six probes in each point")
    options = parser.parse_args()
    points = Points(
        cellrate.Scenario.parse(SCENARIO + (SERIES if options.series else "")).set({"duration": options.duration}),
        options.points,
    )
    run_s = alone(points, min(50, options.points))
    found: dict[str, object] = {"points": options.points, "run_ms": 1e3 * run_s, "processors": os.cpu_count()}
    place = Path(tempfile.mkdtemp(prefix="cellrate-bench-"))
    try:
        arms = {
            "one": lambda folder: measured(points, folder, workers=1),
            "two": lambda folder: measured(points, folder, workers=2),
            "dask": lambda folder: on_dask(points, folder, place),
        }
        for name, arm in arms.items():
            if options.only in (None, name):
                row = arm(place / name / "out")
                workers = 1 if name == "one" else 2
                row["overhead_ms_per_point"] = 1e3 * (row["wall_s"] * workers / options.points - run_s)
                row["processor_ms_per_point"] = 1e3 * row["processor_s"] / options.points
                found[name] = row
                found["query"] = query(place / name / "out")
        # Folders stay until the end: ext4 takes long to make files where it removed others within the last minute.
        if options.only is None:
            found["scaling_on_two_workers"] = found["one"]["wall_s"] / found["two"]["wall_s"]  # type: ignore[index]
            found["longer_runs"] = longer(place)
        print(json.dumps(found, indent=2))
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
