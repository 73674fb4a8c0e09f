"""What bash proposes where TAB is pressed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from cellrate.command_line.app import app
from cellrate.command_line.completion import script

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def proposed(folder: Path, *words: str) -> set[str]:
    """What bash proposes for the last of the words."""
    line = " ".join(map(shlex.quote, ("cellrate", *words)))
    lines = [
        script(app.usages()),
        f"COMP_WORDS=({line})",
        f"COMP_CWORD={len(words)}",
        "_cellrate",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_commands_options_and_names_are_proposed(tmp_path: Path) -> None:
    assert {"run", "live", "--version"} <= proposed(tmp_path, "")
    assert proposed(tmp_path, "va") == {"validate"}
    assert proposed(tmp_path, "live", "t") == {"throughput"}
    assert proposed(tmp_path, "run", "--capture-k") == {"--capture-kind"}
    assert proposed(tmp_path, "paper", "run", "u") == {"uili"}
    assert proposed(tmp_path, "live", "run", "live/reno-1") == {"live/reno-10", "live/reno-149"}


def test_values_are_proposed_behind_their_options(tmp_path: Path) -> None:
    assert proposed(tmp_path, "run", "a.toml", "--capture-kind", "") == {"cells", "pdus"}
    assert proposed(tmp_path, "advise", "--switches", "=", "er") == {"erica"}
    # Of a value that may be anything, bash proposes files.
    assert proposed(tmp_path, "run", "--out", "") == set()
    # One that has no value is as if it were not there.
    assert proposed(tmp_path, "run", "--plot", "satell") == {"satellite"}


def test_files_stand_beside_ready_scenarios(tmp_path: Path) -> None:
    (tmp_path / "tcp.toml").touch()
    (tmp_path / "tcp.txt").touch()
    (tmp_path / "tcp").mkdir()
    assert proposed(tmp_path, "run", "tcp") == {"tcp-over-abr", "tcp.toml", "tcp"}
    assert proposed(tmp_path, "fair", "live/reno-149") == {"live/reno-149"}
