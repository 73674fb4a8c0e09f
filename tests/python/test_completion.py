"""Proposals of shells where TAB is pressed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SEPARATOR = "\v"


def command(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cellrate", *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def proposed(folder: Path, line: str) -> set[str]:
    """Give the proposals for the last word of a line, asked as bash's function of argcomplete asks."""
    told, tell = os.pipe()
    ask = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    ask |= {"_ARGCOMPLETE_IFS": SEPARATOR, "COMP_LINE": line, "COMP_POINT": str(len(line.encode())), "COMP_TYPE": "9"}
    # It answers on descriptor 8, where the shell's function listens.
    done = subprocess.run(
        ["bash", "-c", f'exec "$0" -m cellrate 8>&{tell}', sys.executable],
        cwd=folder,
        env={**os.environ, "IFS": SEPARATOR, **ask},
        pass_fds=[tell],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(tell)
    with os.fdopen(told, "rb") as answer:
        words = answer.read().decode().split(SEPARATOR)
    assert done.stdout == ""
    return {word.strip() for word in words if word}


def test_commands_options_and_names_are_proposed(tmp_path: Path) -> None:
    assert {"run", "live", "--version"} <= proposed(tmp_path, "cellrate ")
    assert proposed(tmp_path, "cellrate va") == {"validate"}
    assert proposed(tmp_path, "cellrate live t") == {"throughput"}
    assert proposed(tmp_path, "cellrate run --capture-k") == {"--capture-kind"}
    assert proposed(tmp_path, "cellrate paper run u") == {"uili"}
    assert proposed(tmp_path, "cellrate live run live/reno-1") == {"live/reno-10", "live/reno-149"}


def test_values_are_proposed_behind_their_options(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert proposed(tmp_path, "cellrate run a.toml --capture-kind ") == {"cells", "pdus"}
    assert proposed(tmp_path, "cellrate advise --switches er") == {"erica"}
    # A value that may be anything may be a path.
    assert proposed(tmp_path, "cellrate run --out ") == {"results/"}
    # An option without a value is as if it were not there.
    assert proposed(tmp_path, "cellrate run --plot satell") == {"satellite"}


def test_files_stand_beside_ready_scenarios(tmp_path: Path) -> None:
    (tmp_path / "tcp.toml").touch()
    (tmp_path / "tcp.txt").touch()
    (tmp_path / "tcp").mkdir()
    assert proposed(tmp_path, "cellrate run tcp-o") == {"tcp-over-abr"}
    assert {"tcp-over-abr", "tcp.toml", "tcp/"} <= proposed(tmp_path, "cellrate run tcp")
    assert proposed(tmp_path, "cellrate run tcp.") == {"tcp.toml"}
    assert proposed(tmp_path, "cellrate fair live/reno-149") == {"live/reno-149"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_reads_what_it_is_given(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    code = command("completion", "--shell", shell)
    assert "cellrate" in code
    done = subprocess.run([shell, "-n"], input=code, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_completes_by_it(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("there is no fish")
    script = tmp_path / "completion.fish"
    script.write_text(command("completion", "--shell", "fish"))
    (tmp_path / "cellrate").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cellrate "$@"\n')
    (tmp_path / "cellrate").chmod(0o755)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"set -x PATH {tmp_path} $PATH; source {script}; complete -C 'cellrate va'"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.split()[0] == "validate", done.stderr
