"""The small projects of examples/: every command of their READMEs, in a copy of their folders."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="not a clone")


def commands(readme: Path) -> list[str]:
    """Give the indented commands, continued lines as one."""
    block = "\n".join(line[4:] for line in readme.read_text().splitlines() if line.startswith("    "))
    return re.sub(r" \\\n\s*", " ", block).splitlines()


LIVE = pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/net/tun").exists(), reason="live runs need root")


ON_ONE_PROCESSOR = "import os; os.cpu_count = lambda: 1; from cellrate.command_line.main import main; main()"
"""The command, which runs points one after the other there: to start processes for them takes longer."""


@pytest.mark.parametrize("name", ["own-algorithm", "own-traffic", "own-paper", pytest.param("told-rate", marks=LIVE)])
def test_commands_of_the_readme_run(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("results", "__pycache__", ".*"))
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool, words in (("cellrate", f"-c '{ON_ONE_PROCESSOR}'"), ("python", "")):
        (tools / tool).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (tools / tool).chmod(0o755)
    told = commands(folder / "README.md")
    assert told
    for command in told:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert any((folder / "results").iterdir())


def test_each_has_its_row() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert rows == sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
