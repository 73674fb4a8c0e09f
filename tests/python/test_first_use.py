"""What somebody meets who uses the package for the first time."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate.command_line.main import status
from test_cli import command

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
    assert capsys.readouterr().out.strip() == cellrate.__version__
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


def test_what_ones_own_algorithm_raises_says_when_and_where_in_ones_own_lines(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WITH_MINE)
    (tmp_path / "mine.py").write_text(RAISES.format(what='raise ZeroDivisionError("nothing left")'))
    done = command("run", tmp_path / "mine.toml", "--algorithm", f"mine={tmp_path / 'mine.py'}:Mine", "--json")
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
    done = command("run", tmp_path / "mine.toml", "--algorithm", f"mine={tmp_path / 'mine.py'}:Mine", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "SystemExit" in done.stderr
    assert "port sw->b" in done.stderr


def test_a_source_distribution_has_what_its_build_copies(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for folder in ("scenarios", "papers"):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        missing = {path.relative_to(ROOT).as_posix() for path in files} - names
        assert not missing
