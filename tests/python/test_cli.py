"""The command: its exit status and its two streams, and what it is as a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import cellrate
from cellrate.campaigns.builds import build
from cellrate.recorded.table import print_numbers
from conftest import PAIR, SWEEP, command, command_process, output
from test_run import HALF_WRONG, LONG, PORT_KEYS, RUN_KEYS, VC_KEYS


def test_run_prints_a_table(pair_file: Path) -> None:
    done = command_process("run", pair_file)
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("pair", "vc1", "a->sw", "seed 7"):
        assert text in done.stdout


def test_run_says_for_how_many_threads_there_is_work(pair_file: Path) -> None:
    done = command("run", pair_file, "--threads", "2")
    assert done.returncode == 0
    assert "pair has work for 1 of 2 threads" in done.stderr
    assert "threads" not in command("run", "parking-lot", "--set", "duration=1 ms", "--threads", "2").stderr


def test_run_prints_json_with_the_documented_keys(pair_file: Path) -> None:
    printed = output("run", pair_file, "--json")
    assert set(printed) >= {"run", "vcs", "ports", "refused", "negotiated"}
    assert set(printed["run"]) >= RUN_KEYS
    assert set(printed["vcs"][0]) >= VC_KEYS
    assert set(printed["ports"][0]) >= PORT_KEYS


def test_set_and_seed_reach_the_run(pair_file: Path) -> None:
    printed = output("run", pair_file, "--set", "duration=5ms", "--set", "defaults.abr.nrm=8", "--seed", "3", "--json")
    assert (printed["run"]["duration_s"], printed["run"]["seed"]) == (0.005, 3)
    assert printed["run"]["hash"] != cellrate.Scenario.parse(PAIR).hash


def test_a_sweep_prints_its_points(sweep_file: Path) -> None:
    done = command_process("run", sweep_file, "--json", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    assert [point["set"] for point in printed["points"]] == [{"defaults.abr.nrm": n} for n in (8, 32, 256)]
    assert set(printed["points"][0]) >= {"set", "run", "vcs", "ports", "refused", "negotiated"}


def test_out_and_plot_write_a_folder(pair_file: Path, tmp_path: Path) -> None:
    output("run", pair_file, "--out", tmp_path / "out", "--plot", "--csv", "--json")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "summary.json", "scenario.toml", "series", "plot.png", "ports.csv", "vcs.csv",
        "shares.csv", "fairness.csv", "efficiency.csv",
        "delays.parquet", "delays.csv",
    }  # fmt: skip


def test_plot_without_out_goes_to_results(pair_file: Path, tmp_path: Path) -> None:
    done = command_process("run", pair_file, "--plot", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "results" / "pair" / "plot.png").is_file()


def test_a_ready_scenario_runs_by_its_name() -> None:
    printed = output("run", "two-source-transient", "--set", "duration=2ms", "--json")
    assert printed["run"]["scenario"] == "two-source-transient"


def test_list_has_a_purpose_for_each() -> None:
    rows = output("list", "--json")["scenarios"]
    assert {row["name"] for row in rows} == set(cellrate.ready_scenarios())
    assert all(row["purpose"] for row in rows)
    assert "two-source-transient" in command("list").stdout


def test_list_searches_and_is_a_line_each() -> None:
    lines = command("list").stdout.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(names) == sorted(cellrate.ready_scenarios())
    assert not any(line.startswith("   ") for line in lines)
    assert next(line for line in lines if line.endswith(":")).startswith("Networks")
    found = output("list", "Satellite ERICA", "--json")["scenarios"]
    assert found
    assert len(found) < 10
    assert all(word in f"{row['name']} {row['purpose']}".casefold() for row in found for word in ("satellite", "erica"))
    nothing = command("list", "no such words")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "no such words" in nothing.stderr


@pytest.mark.parametrize("point", [1, 4, 8])
def test_a_command_runs_one_point_of_a_study_again(sweep_file: Path, pair_file: Path, point: int) -> None:
    study = [str(sweep_file), str(pair_file), "--sweep", "defaults.abr.rif=[1/16, 1/64]", "--set", "duration=15ms"]
    points = output("run", *study, "--json")["points"]
    line = command("run", *study, "--command", str(point)).stdout
    words = shlex.split(line)
    assert words[:2] == ["cellrate", "run"]
    assert line.count("\n") == 1
    alone = output(*words[1:], "--json")
    expected = points[point - 1]
    assert alone["vcs"] == expected["vcs"]
    assert alone["ports"] == expected["ports"]
    seeds = command("run", str(pair_file), "--seeds", "3", "--seed", "7", "--command", "seed=8").stdout
    assert "--seed 8" in seeds
    assert output(*shlex.split(seeds)[1:], "--json")["run"]["seed"] == 8
    refused = command("run", str(pair_file), "--seeds", "2", "--command", "3")
    assert refused.returncode == 2
    assert "there is no point 3" in refused.stderr


def test_validate_says_that_it_is_sound(pair_file: Path) -> None:
    done = command("validate", pair_file)
    assert done.returncode == 0
    assert "is sound: pair, 1 run of 0.02 s" in done.stdout


def test_schema_is_json() -> None:
    assert output("schema")["properties"]["name"]


def test_fair_prints_rates(pair_file: Path) -> None:
    (flow,) = output("fair", pair_file, "--utilization", "0.5", "--json")["flows"]
    assert flow["rate"] == pytest.approx(183_396.2, abs=0.1)
    assert output("fair", pair_file, "--utilization", "50 %", "--json")["flows"] == [flow]
    # The switch's ERICA hands out 90 % of its line, the host all of its own.
    printed = command("fair", pair_file).stdout
    assert "sw->b" in printed
    assert "330,113.2" in printed


def test_fair_says_what_cbr_and_vbr_take_and_what_is_left_out_of_account() -> None:
    constant = command("fair", "cbr-and-abr").stdout
    assert "CBR and VBR go first, whenever they send: cbr 77.760 Mbps." in constant
    assert "Left out" not in constant
    varying = command("fair", "arena/vbr-background").stdout
    assert "Left out of account, as their rates vary: vbr. ABR has less by what these take." in varying
    (first, *_) = output("fair", "frame-discard", "--json")["points"]
    (bursts,) = first["before_abr"]
    assert (bursts["vc"], bursts["rate"]) == ("bursts", None)
    assert bursts["mean"] * 424 == pytest.approx(20e6, rel=0.01)
    assert "before_abr" not in output("fair", "greedy-15", "--json")


def test_fair_prints_the_rates_at_every_point_of_a_sweep(sweep_file: Path) -> None:
    sweep_file.write_text(
        PAIR + '[[sweep]]\nset = "defaults.link.rate"\nvalues = ["155.52 Mbps", "51.84 Mbps"]\n'
        '[[sweep]]\nset = "defaults.switch.algorithm"\nvalues = [{ type = "erica", target_utilization = 0.5 }]\n'
    )
    points = output("fair", sweep_file, "--json")["points"]
    assert [point["set"]["defaults.link.rate"] for point in points] == ["155.52 Mbps", "51.84 Mbps"]
    rates = [flow["rate"] for point in points for flow in point["flows"]]
    assert rates == pytest.approx([0.5 * line / 424 for line in (155.52e6, 51.84e6)])
    done = command("fair", sweep_file)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.split("defaults.link.rate = ")[1:]
    assert first.startswith("155.52 Mbps  defaults.switch.algorithm = { type")
    assert f"{rates[0]:,.1f}" in first
    assert f"{rates[1]:,.1f}" in second


def test_a_picture_of_a_sweep_says_of_which_point_it_is(sweep_file: Path, tmp_path: Path) -> None:
    done = command("draw", sweep_file, "--out", tmp_path / "drawn.png")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'drawn.png'}\n")
    assert (
        done.stderr
        == f"cellrate: {sweep_file} sweeps over 3 points; the picture is of the first: defaults.abr.nrm = 8\n"
    )


def test_validate_and_fair_say_which_point_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "half.toml").write_text(HALF_WRONG)
    for arguments in (("validate",), ("run",), ("fair",)):
        done = command(*arguments, tmp_path / "half.toml")
        assert (done.returncode, done.stdout) == (2, "")
        assert "At point 2 of the sweep: defaults.abr.nrm = 32, defaults.switch.algorithm = { type" in done.stderr


def test_papers_are_listed() -> None:
    assert output("paper", "list", "--json")["papers"][0]["name"] == "abr-parameters"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "nowhere.toml"), "nowhere.toml: it is neither a file nor"),
        (("validate", "nowhere.toml"), "nowhere.toml: it is neither a file nor"),
        (("run",), "FILE"),
        (("walk",), "walk"),
        (("run", "two-source-transient", "--set", "duration"), "--set duration: write a dotted path"),
        (("run", "two-source-transient", "--set", "duration=7"), "duration"),
        (("run", "two-source-transient", "--set", "defaults.abr.nrm=33"), "33"),
        (("run", "two-source-transient", "--seed", "many"), "many"),
        (("run", "two-source-transient", "--sed", "1"), "--sed"),
        (("fair", "two-source-transient", "--utilization", "2"), "above 0 and at most 1"),
        (("fair", "two-source-transient", "--utilization", "half"), "'half' is not a ratio; write one such as 90 %"),
        (("run", "two-source-transient", "--workers", "0"), "workers is 0; it must be at least 1"),
        (("wireshark", "--folder", "nowhere"), "--folder needs --install"),
        (("wireshark", "--folder", "nowhere", "--print"), "--folder needs --install"),
        (("paper", "run", "unheard-of"), "there is no paper"),
        (("paper", "run", "uili", "--only", "burst"), "not an experiment, table or claim of paper uili"),
        (("paper", "run", "uili", "--only", "bursts,"), "has an empty part"),
        (("paper", "readme", "uili", "--report", "nowhere"), "holds no report"),
        (("paper", "report", "nowhere"), "holds no report"),
    ],
)
def test_bad_input_is_status_2_and_a_paragraph(arguments: tuple[str, ...], said: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("cellrate: ")
    assert said.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_a_folder_of_somebody_else_is_status_2(pair_file: Path, tmp_path: Path) -> None:
    done = command("run", pair_file, "--out", tmp_path)
    assert done.returncode == 2
    assert "holds no results" in done.stderr


def test_a_folder_that_cannot_be_is_told_before_anything_runs(pair_file: Path) -> None:
    # A run of days of network time: it would not come to its end.
    long = ("--set", "duration=864000 s", "--set", "probe.2.every=60 min")
    done = command("run", pair_file, *long, "--out", "/proc/results/here")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no folder can be made at /proc/results/here" in done.stderr


def test_a_bad_file_is_told_with_line_and_caret(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(PAIR.replace('length = "1 km"', 'lenght = "1 km"'))
    done = command("validate", tmp_path / "bad.toml")
    assert done.returncode == 2
    assert "bad.toml:7:" in done.stderr
    assert "length" in done.stderr
    assert "^" in done.stderr


def _processor_s(process: int) -> float:
    """Time that the process has had of a processor [s]; an error when it is gone."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_interrupting_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    call = [sys.executable, "-m", "cellrate", "run", str(tmp_path / "long.toml"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # To start takes a tenth of a second of a processor, to run takes many.
        while _processor_s(process.pid) < 1.0:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    # A run that takes long on a machine that is at work says how far it has come.
    assert complaint.splitlines()[-1] == "cellrate: interrupted"
    assert not (tmp_path / "out").exists()


def _children(process: int) -> list[int]:
    """Give the processes that run points; another one removes semaphores, should all others be killed."""
    found = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return [child for child in found if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


def _is_gone(process: int) -> bool:
    """Whether it has ended, even if nobody has asked how."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


@pytest.fixture
def swept(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A sweep of hours, with the processes that run its points: three points for two, so that one is to come."""
    (tmp_path / "long.toml").write_text(LONG + SWEEP.removeprefix(PAIR))
    call = [sys.executable, "-m", "cellrate", "run", "long.toml", "--out", "out", "--workers", "2"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            while len(children := _children(process.pid)) < 2 or min(map(_processor_s, children)) < 0.5:
                assert process.poll() is None
                time.sleep(0.01)
            yield process, children
        finally:
            for one in (process.pid, *children):
                if not _is_gone(one):
                    os.kill(one, signal.SIGKILL)


@pytest.mark.parametrize(
    ("number", "exit_status", "said"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")]
)
def test_a_command_that_is_told_to_end_leaves_nothing(
    swept: tuple[subprocess.Popen[str], list[int]],
    tmp_path: Path,
    number: signal.Signals,
    exit_status: int,
    said: str,
) -> None:
    process, children = swept
    if number == signal.SIGHUP:
        # A terminal tells all of its processes, and perhaps twice.
        for one in [*children, process.pid]:
            os.kill(one, number)
    os.kill(process.pid, number)
    printed = process.communicate(timeout=60)
    assert (process.returncode, *printed) == (exit_status, "", f"cellrate: {said}\n")
    assert all(map(_is_gone, children))
    assert [entry.name for entry in tmp_path.iterdir()] == ["long.toml"]


def test_workers_end_with_a_command_that_is_killed(swept: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, children = swept
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    last = time.monotonic() + 60
    while not all(map(_is_gone, children)) and time.monotonic() < last:
        time.sleep(0.01)
    assert [child for child in children if not _is_gone(child)] == []


def test_a_worker_that_is_told_to_end_is_an_error_and_no_end_of_the_others_work(
    swept: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    process, children = swept
    os.kill(children[0], signal.SIGTERM)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert complaint.startswith("cellrate: a process of several that worked side by side was killed")
    assert all(map(_is_gone, children))
    assert [entry.name for entry in tmp_path.iterdir()] == ["long.toml"]


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    call = f"{sys.executable} -m cellrate schema | head -c 10"
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_version_is_that_of_the_package_with_its_build() -> None:
    assert command_process("--version").stdout.strip() == f"{cellrate.__version__}, build {build()}"


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("import cellrate", {"cellrate._native", "cellrate.errors", "dataclasses", "inspect"}),
        ("from cellrate.command_line.main import status; status(['--version'])", {"importlib.metadata", "platform"}),
        ("from cellrate.command_line.main import status; status(['list'])", {"cellrate.results", "pickle"}),
        (
            "from cellrate.command_line.main import status; status(['run', 'two-source-transient'])",
            {"cellrate.campaigns", "importlib.metadata", "cellrate.plotting"},
        ),
    ],
    ids=["import", "version", "list", "run"],
)
def test_what_is_not_used_is_not_imported(code: str, without: set[str]) -> None:
    # Each name is one that could be imported: a renamed module would else never be found.
    assert all(importlib.util.find_spec(name) is not None for name in without)
    end = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", f"{code}; {end}"], capture_output=True, text=True, check=True)
    assert without & set(json.loads(done.stderr)) == set()


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_starting_imports_nothing_slow(pair_file: Path, options: list[str]) -> None:
    code = (
        "import sys; from cellrate.command_line.main import status; "
        f"assert status(['run', {str(pair_file)!r}, *{options!r}]) == 0; "
        "slow = {'numpy', 'matplotlib', 'pyarrow', 'rich'} & set(sys.modules); "
        "print(sorted(slow), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_writing_results_imports_no_library_that_only_reads_or_draws_them(pair_file: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from cellrate.command_line.main import status; "
        f"assert status(['run', {str(pair_file)!r}, '--json', '--out', {str(tmp_path / 'out')!r}]) == 0; "
        "slow = {'matplotlib', 'numpy.ma', 'pandas', 'pyarrow.dataset', 'rich'} & set(sys.modules); "
        "print(sorted(slow), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_table_of_numbers_has_its_columns_under_their_headings(capsys: pytest.CaptureFixture[str]) -> None:
    print_numbers(["VC", "sent", "mean ACR\nMbps"], [["vc1", "1,234,567", "1.50"], ["a long name", "8", ""]])
    assert capsys.readouterr().out.split("\n") == [
        "                         mean ACR",
        " VC                sent      Mbps",
        " ────────────────────────────────",
        " vc1          1,234,567      1.50",
        " a long name          8",
        "",
        "",
    ]


def test_a_terminal_without_lines_has_hyphens(tmp_path: Path) -> None:
    (tmp_path / "named.toml").write_text(PAIR.replace('"pair"', '"größer"'))
    call = [sys.executable, "-m", "cellrate", "run", str(tmp_path / "named.toml")]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=ascii_only)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == r"gr\xf6\xdfer"
    assert set(lines[4]) == {" ", "-"}
    assert len(lines[4]) == len(lines[3])
