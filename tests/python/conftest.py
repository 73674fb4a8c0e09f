"""A small network that every test can run: two hosts, one switch, a few milliseconds."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import hypothesis
import pytest

import cellrate

# A shell that puts its jobs in the background has them ignore SIGINT, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test is to hang on how long an example takes: the first one may import libraries, on a machine that is at work.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

MARKS = {
    "slow": r"test_(pages|examples|papers|runs_of_papers|slurm|clusters|campaigns|first_use|arena)",
    "live": r"test_(live_\w+|internet_applications)",
    "browser": r"test_(lab\w*|watch)",
    "notebook": r"test_notebooks",
}
"""Files of tests by what they need; `pytest -m "not (slow or live or browser or notebook)"` runs the rest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, files in MARKS.items():
            if re.fullmatch(files, item.path.stem):
                item.add_marker(mark)
    # Long ones first where several processes share the tests, so that none is left to one of them at the end.
    if os.environ.get("PYTEST_XDIST_WORKER"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def modules_of_its_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forget what a test imported from its temporary folder: another test's file may have the same name."""
    place = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if place is not None:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(place)):
                del sys.modules[name]


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
