"""A small network that every test can run, two hosts, one switch, a few milliseconds, and the command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import cellrate
from cellrate.command_line.main import status

# A shell that puts its jobs in the background has them ignore SIGINT, nohup has them ignore SIGHUP, and what they start
# inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No test is to hang on how long an example takes: the first one may import libraries, on a machine that is at work.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

MARKS = {
    "slow": (
        r"test_(pages|examples|papers|paper_uili|runs_of_papers|slurm|clusters|campaigns|first_use|arena|side_by_side"
        r"|notebooks|trial|gfr)"
    ),
    "live": r"test_live_(run|shell|algorithms|watch|trust|tcp|edge)",
    "browser": r"test_(lab\w*|watch)",
    "notebook": r"test_notebooks",
}
"""Files of tests by what they need; `pytest -m "not (slow or live or browser or notebook)"` runs the rest.

Tests that go by the clock say so themselves.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, files in MARKS.items():
            if re.fullmatch(files, item.path.stem):
                item.add_marker(mark)
    # Long ones first where several processes share the files, so that none is left to one of them at the end.
    if os.environ.get("PYTEST_XDIST_WORKER"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session", autouse=True)
def one_processor() -> Iterator[None]:
    """Run points in the process of the test, unless it asks for several: to start those takes longer than most runs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "cpu_count", lambda: 1)
        yield


@pytest.fixture(autouse=True)
def modules_of_its_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forget what a test imported from its temporary folder: another test's file may have the same name."""
    place = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if place is not None:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(place)):
                del sys.modules[name]


@pytest.fixture(scope="module", autouse=True)
def browser_of_a_file() -> Iterator[None]:
    """End the browser in which the tests of a file have opened their pages."""
    yield
    if "lab_pages" in sys.modules:
        sys.modules["lab_pages"].CHROME.end()


PAIR = """# Two hosts and a switch.
name = "pair"
duration = "20 ms"
seed = 7

[defaults]
link = { rate = "155.52 Mbps", length = "1 km" }
switch.algorithm = { type = "erica" }

[[host]]
name = "a"

[[host]]
name = "b"

[[switch]]
name = "sw"

[[link]]
between = ["a", "sw"]

[[link]]
between = ["sw", "b"]

[[vc]]
name = "vc1"
path = ["a", "sw", "b"]

[[probe]]
record = ["acr"]
every = "change"

[[probe]]
record = ["received", "queue", "utilization"]
every = "1 ms"
"""

SWEEP = (
    PAIR
    + """
[[sweep]]
set = "defaults.abr.nrm"
values = [8, 32, 256]
"""
)


def command(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call the command in this process, in a folder if one is given; give its exit status and its two streams."""
    printed, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    words = list(map(str, arguments))
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complained),
    ):
        ended = status(words)
    said = [stream.buffer.getvalue().decode() for stream in (printed, complained)]
    return subprocess.CompletedProcess(words, ended, *said)


def output(*arguments: str | Path) -> Any:
    """Give what the command prints as JSON, and nothing beside it."""
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def command_process(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, in a process of its own, where a warning is an error."""
    call = [sys.executable, "-W", "error", "-m", "cellrate", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, cwd=cwd, check=False, timeout=120)


def swept(*sweeps: tuple[str, str], text: str = PAIR) -> Sequence[cellrate.Result]:
    """Run a scenario with sweeps, each a path and its values as TOML."""
    more = "".join(f'\n[[sweep]]\nset = "{path}"\nvalues = {values}\n' for path, values in sweeps)
    return cellrate.sweep(cellrate.Scenario.parse(text + more), workers=1)


@pytest.fixture
def pair_file(tmp_path: Path) -> Path:
    file = tmp_path / "pair.toml"
    file.write_text(PAIR)
    return file


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    return file


@pytest.fixture(scope="session")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(PAIR))
