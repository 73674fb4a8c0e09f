"""Experiences of somebody who uses the package for the first time."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.scenario import ready_scenarios
from conftest import command, command_process

ROOT = Path(__file__).resolve().parents[2]

RAISES = """\
import sys
import cellrate

class Mine(cellrate.SwitchAlgorithm):
    def on_backward_rm(self, now, vc, queue):
        print("printed")
        if now > 0.002:
            {what}
"""

WITH_MINE = """\
name = "mine"
duration = "10 ms"
defaults.link = { rate = "149.76 Mbps", length = "1 km" }
defaults.switch.algorithm = { type = "custom", name = "mine" }
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "sw" }]
link = [{ between = ["a", "sw"] }, { between = ["sw", "b"] }]
vc = [{ name = "v", path = ["a", "sw", "b"] }]
"""


def test_interrupted_is_not_swallowed_by_except_exception() -> None:
    assert not issubclass(cellrate.Interrupted, Exception)
    assert issubclass(cellrate.Interrupted, KeyboardInterrupt)


def test_public_names_are_there_after_import_and_in_dir() -> None:
    code = "import cellrate; assert {'live', 'trial', 'advise', 'Port'} <= set(dir(cellrate)); cellrate.live.live_run"
    subprocess.run([sys.executable, "-c", code], check=True)
    for name in cellrate.__all__:
        assert getattr(cellrate, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'wach'"):
        _ = cellrate.wach  # type: ignore[attr-defined]


def test_a_series_is_an_array_of_its_values_and_nobody_changes_it() -> None:
    series = cellrate.run("two-source-transient", set={"duration": "5 ms"}).series("queue", port="sw1->sw2")
    assert np.array_equal(np.asarray(series), series.values)
    assert len(series) == len(series.values)
    with pytest.raises(ValueError, match="read-only"):
        series.values[0] = 1.0


def test_usage_errors_hint_at_the_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", "--sed", "3"]) == 2
    assert "(cellrate run --help says what there is.)" in capsys.readouterr().err
    assert status(["live", "fly"]) == 2
    assert "(cellrate live --help says" in capsys.readouterr().err


def test_short_options_and_help_of_a_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert status(["-V"]) == 0
    assert capsys.readouterr().out.startswith(f"{cellrate.__version__}, build ")
    assert status(["help", "live", "run"]) == 0
    assert "usage: cellrate live run" in capsys.readouterr().out
    assert status(["run", "two-source-transient", "--set", "duration=1ms", "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "summary.json").is_file()


def test_a_ready_scenario_becomes_a_file_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert status(["new", str(file), "--from", "parking-lot"]) == 0
    assert cellrate.Scenario.load(file).hash == cellrate.Scenario.load("parking-lot").hash
    assert status(["new", str(file), "--from", "parking-lot"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert status(["new", str(tmp_path / "other.toml"), "--from", "nothing"]) == 2
    assert status(["new", str(tmp_path / "other.toml")]) == 2
    assert "--from is missing" in capsys.readouterr().err
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.parametrize(
    "name", ["parking-lot", "arena/parking-lot", *(n for n in ready_scenarios() if n.startswith("live/"))]
)
def test_the_command_that_is_recommended_for_a_new_file_runs_it(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    assert status(["new", str(file), "--from", name]) == 0
    recommended = "cellrate live run" if has_programs(file) else "cellrate run"
    assert f"; `{recommended} {file}` runs it" in capsys.readouterr().out


def test_ready_scenarios_with_real_programs_are_those_for_live_runs() -> None:
    # The command that is recommended depends on the name alone.
    assert {n for n, file in ready_scenarios().items() if has_programs(file)} == {
        name for name in ready_scenarios() if name.startswith("live/")
    }


def has_programs(file: Path) -> bool:
    """Say whether real programs run on hosts, which a simulation refuses."""
    text = file.read_text()
    return "[[application]]" in text or "application = [" in text


def test_what_is_neither_a_file_nor_a_ready_scenario_is_said_to_be_neither(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", "nosuch"]) == 2
    assert "nosuch: it is neither a file nor the name of a ready scenario." in capsys.readouterr().err


def test_what_ones_own_algorithm_raises_says_when_and_where_in_ones_own_lines(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WITH_MINE)
    (tmp_path / "mine.py").write_text(RAISES.format(what='raise ZeroDivisionError("nothing left")'))
    done = command_process("run", tmp_path / "mine.toml", "--algorithm", f"mine={tmp_path / 'mine.py'}:Mine", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ZeroDivisionError: nothing left" in done.stderr
    assert "mine.py" in done.stderr
    assert "at network time 0.002" in done.stderr
    assert "port sw->b, connection number 0 there" in done.stderr
    assert "cellrate/running" not in done.stderr
    assert "printed" in done.stderr


def test_an_exit_in_ones_own_algorithm_is_a_run_that_failed(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WITH_MINE)
    (tmp_path / "mine.py").write_text(RAISES.format(what="sys.exit(0)"))
    done = command_process("run", tmp_path / "mine.toml", "--algorithm", f"mine={tmp_path / 'mine.py'}:Mine", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "SystemExit" in done.stderr
    assert "port sw->b" in done.stderr


OWN = {
    "algorithm": (
        "class Mine(cellrate.SwitchAlgorithm):\n    def on_backward_rm(self, now, vc, queue):",
        "None",
        "port sw->b",
    ),
    "policy": ("class Mine(cellrate.UiliPolicy):\n    def on_forward_rm(self, frm):", "frm.acr", "the policy of v"),
    "traffic": (
        "class Mine(cellrate.TrafficSource):\n    def next_burst(self, now, acr, queue):",
        "cellrate.Burst(at=now + 5e-4, cells=10)",
        "the traffic of v",
    ),
}
"""By kind: what a method of one begins with, what it gives, and how its place is told."""

MAKES = "class Mine(cellrate.{}):\n    def __init__(self, place):"


def own(kind: str, tmp_path: Path, what: str, *, making: bool = False) -> list[str]:
    """Write a scenario and a class of one's own that prints and does something, and give the command's words."""
    begin, gives, _ = OWN[kind]
    if making:
        begin = MAKES.format(begin.partition("(cellrate.")[2].partition(")")[0])
        gives = "None"
    body = f'        print("printed")\n        {what}\n        return {gives}\n'
    (tmp_path / "mine.py").write_text(f"import sys\nimport cellrate\n\n{begin}\n{body}")
    text = WITH_MINE
    if kind != "algorithm":
        key = {"policy": "abr.uili", "traffic": "traffic"}[kind]
        text = text.replace('{ type = "custom", name = "mine" }', '{ type = "erica" }')
        text = text.replace('"a", "sw", "b"]', f'"a", "sw", "b"], {key} = {{ type = "custom", name = "mine" }}')
    (tmp_path / "mine.toml").write_text(text)
    return ["run", "mine.toml", f"--{kind}", "mine=mine.py:Mine", "--json"]


@pytest.mark.parametrize("kind", OWN)
def test_what_prints_in_own_classes_leaves_json_alone_in_workers_too(kind: str, tmp_path: Path) -> None:
    words = own(kind, tmp_path, "pass")
    for more in ([], ["--sweep", "seed=[1, 2]", "--workers", "2"]):
        done = command_process(*words, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout).get("points", [1])) == 1 + bool(more)
        assert "printed" in done.stderr


@pytest.mark.parametrize("kind", OWN)
def test_what_own_classes_raise_is_told_with_their_lines_from_workers_too(kind: str, tmp_path: Path) -> None:
    words = own(kind, tmp_path, 'raise ZeroDivisionError("nothing left")')
    for more in ([], ["--sweep", "seed=[1, 2]", "--workers", "2"], ["--sweep", "seed=[1, 2]", "--out", "out"]):
        done = command_process(*words, *more, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert f'File "{tmp_path / "mine.py"}", line 7, in ' in done.stderr
        assert 'raise ZeroDivisionError("nothing left")' in done.stderr
        assert "ZeroDivisionError: nothing left\nat network time 0" in done.stderr
        assert OWN[kind][2] in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("File ") == 1
        if more:
            assert "of the sweep: seed = " in done.stderr


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("what", ["1 / 0", "sys.exit(0)"])
def test_what_fails_when_it_is_made_is_told_as_well(kind: str, what: str, tmp_path: Path) -> None:
    done = command(*own(kind, tmp_path, what, making=True), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert ("ZeroDivisionError" if "/" in what else "SystemExit") in done.stderr
    assert "was made" in done.stderr


@pytest.mark.parametrize(
    ("text", "told", "exit_status"),
    [
        ('print("x")\nimport nothing_there', "No module named 'nothing_there'\nwhen --algorithm read mine.py", 1),
        ("def (", "mine.py is not Python that can be read", 2),
        ("import sys; sys.exit(0)", "mine.py left with SystemExit: 0", 2),
    ],
)
def test_a_file_that_cannot_be_read_is_told(text: str, told: str, exit_status: int, tmp_path: Path) -> None:
    words = own("algorithm", tmp_path, "pass")
    (tmp_path / "mine.py").write_text(text)
    done = command(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (exit_status, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_permission_is_told_from_a_missing_module(monkeypatch: pytest.MonkeyPatch) -> None:
    from cellrate.live import doctor

    def failing(number: int) -> Callable[..., int]:
        def fail(*_: object) -> int:
            raise OSError(number, os.strerror(number))

        return fail

    told = {}
    for number in (errno.ENOENT, errno.ENODEV, errno.EACCES, errno.EPERM):
        with monkeypatch.context() as patched:
            patched.setattr(os, "open", failing(number))
            found = doctor._tun_device()
        assert not found.present
        told[number] = f"{found.detail}: {found.remedy}"
    assert "no such file: as root: modprobe tun" in told[errno.ENOENT]
    assert "No such device: the kernel lacks the module" in told[errno.ENODEV]
    assert "Permission denied: be root" in told[errno.EACCES]
    assert "modprobe" not in told[errno.EACCES] + told[errno.EPERM]
    assert "--device /dev/net/tun" in told[errno.EPERM]


def test_what_is_missing_to_build_is_named_at_once(tmp_path: Path) -> None:
    """An old cargo and rustc, an old Python and no C compiler, each in a line, before anything is done."""
    for name, says in (("cargo", "cargo 1.65.0"), ("rustc", "rustc 1.63.0 (Debian)"), ("python3", "Python 3.9.2")):
        (tmp_path / name).write_text(f'#!/bin/sh\ntest "$1" = --version && echo "{says}" && exit\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    for name in ("sh", "id", "sed", "sort", "head", "printf", "test", "echo"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    call = ["sh", str(ROOT / "tools" / "prerequisites.sh"), "python3", "1.90"]
    done = subprocess.run(call, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for told in (
        "cargo 1.90 or later, not 1.65.0",
        "rustc 1.90 or later, not 1.63.0",
        "Python 3.11 or later, not Python",
    ):
        assert told in done.stderr
    for target in ("demo", "test", "test-rust", "lab", "bench"):
        # A make above this one would have it tell the folder first.
        call = ["make", "--no-print-directory", "-n", target]
        asked = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "prerequisites.sh" in asked.stdout.splitlines()[0], target


def test_a_build_without_scenarios_names_the_folder(tmp_path: Path) -> None:
    """The build script copies what it needs, and says what is missing; the crate itself is not built here."""
    script = tmp_path / "build"
    subprocess.run(["rustc", "--edition", "2024", "-o", script, ROOT / "crates/cellrate-py/build.rs"], check=True)
    (crate := tmp_path / "crates" / "cellrate-py").mkdir(parents=True)
    for folder in ("scenarios", "papers"):
        env = {**os.environ, "CARGO_MANIFEST_DIR": str(crate), "OUT_DIR": str(tmp_path / "out")}
        done = subprocess.run([script], env=env, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert f"cellrate-py/../../{folder}" in done.stderr
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file.toml").write_text("")
    assert subprocess.run([script], env=env, capture_output=True, check=False).returncode == 0
    assert (tmp_path / "out" / "data" / "papers" / "file.toml").is_file()


def test_a_source_distribution_has_what_is_compiled_and_what_its_build_copies(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    needed = {ROOT / "Cargo.lock", ROOT / "pyproject.toml"}
    for folder in ("scenarios", "papers"):
        needed |= {path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    # Cargo lists beside the module of which files it was compiled. Its build script names those of folders above, too.
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    listed = (ROOT / target).glob("*/libcellrate_native.d")
    words = shlex.split(max(listed, key=lambda path: path.stat().st_mtime).read_text())
    compiled = {Path(word) for word in words if Path(word).is_relative_to(ROOT / "crates")}
    assert ROOT / "crates" / "cellrate-sim" / "src" / "lib.rs" in compiled
    different = [
        path
        for path in sorted(needed | compiled)
        if not (copy := unpacked / path.relative_to(ROOT)).is_file() or copy.read_bytes() != path.read_bytes()
    ]
    assert different == []
    # Outside the repository it is a workspace of its own, whose lock file is whole.
    call = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(call, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    packages = {package["name"] for package in json.loads(done.stdout)["packages"]}
    assert packages >= {"cellrate-py", "cellrate-sim", "pyo3"}


def test_a_wheel_is_installed_and_runs_where_nothing_else_is(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "clean"], check=True)
    # Of the module as the Makefile compiled it for this interpreter; nothing is compiled once more.
    maturin = Path(sys.executable).with_name("maturin")
    call: list[str | Path] = [maturin, "build", "--locked", "--quiet", "--compatibility", "linux"]
    if Path(sys.prefix, "stamps", "built").exists():
        call += ["--release"]
    call += ["--interpreter", sys.executable, "--out", tmp_path]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    clean = tmp_path / "clean" / "bin"
    ways: list[list[str | Path]] = [[clean / "pip", "install", "--quiet", "--no-compile", wheel]]
    # uv is the sooner of the two, and goes by none of pip's settings, such as an index of one's own.
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        ways.insert(0, [uv, "pip", "install", "--quiet", "--python", clean / "python", wheel])
    for call in ways:
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    run: list[str | Path] = [clean / "cellrate", "run", "two-source-transient", "--json"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["hash"] == cellrate.Scenario.load("two-source-transient").hash
