"""Limits of what a scenario may take: in time, which a signal ends, and in memory, which is known before a run."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate import Scenario
from conftest import PAIR, command

HEAD = """name = "large"
duration = "1 us"
defaults.link = { rate = "149.76 Mbps", length = "10 km" }
host = [{ name = "s" }, { name = "d" }]
switch = [{ name = "sw" }]
link = [{ between = ["s", "sw"] }, { between = ["sw", "d"] }]
"""

SERIES = """name = "series"
duration = "400 us"
host = [{ name = "a" }, { name = "b" }]
link = [{ between = ["a", "b"], rate = "10 Mbps", length = "1 km" }]
vc = [{ name = "v", path = ["a", "b"] }]
probe = [{ record = ["acr"], every = "1 ps" }]
"""


@pytest.fixture(scope="module")
def large() -> str:
    """Give the text of a scenario that takes a second or two to read, and as long to check."""
    rows = (f'[[vc]]\nname = "v{i}"\npath = ["s", "sw", "d"]\nabr = {{ pcr = "1 kbps" }}\n' for i in range(100_000))
    return HEAD + "".join(rows)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def interrupted() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Give what sees that a signal ends some work, which comes once the process has worked for 0.1 s."""

    def see(work: Callable[[], object]) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        try:
            # Where nobody looks until the work is done, a KeyboardInterrupt comes afterwards.
            with pytest.raises(cellrate.Interrupted):
                work()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    before = signal.signal(signal.SIGVTALRM, _interrupt)
    yield see
    signal.signal(signal.SIGVTALRM, before)


def test_reading_a_large_file_is_interrupted(large: str, interrupted: Callable[[Callable[[], object]], None]) -> None:
    interrupted(lambda: Scenario.parse(large))


def test_checking_a_large_scenario_is_interrupted(
    large: str, interrupted: Callable[[Callable[[], object]], None]
) -> None:
    scenario = Scenario.parse(large)
    interrupted(scenario.check)
    interrupted(scenario.fair)
    # Nothing half done is left.
    scenario.check()


def _limited(octets: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with so much address space."""
    return subprocess.run(
        [sys.executable, "-m", "cellrate", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (octets, octets)),
    )


@pytest.mark.parametrize("name", ["validate", "run"])
def test_more_than_there_is_memory_for_is_known_before(name: str, tmp_path: Path) -> None:
    (tmp_path / "series.toml").write_text(SERIES)
    done = _limited(4 << 30, name, tmp_path / "series.toml")
    assert (done.returncode, done.stdout) == (1, "")
    said = "series.toml:6:10: probe: acr of v every 1 ps of 400 us has 400000001 values: the run takes"
    assert said in done.stderr
    assert "GB of memory at least. There are" in done.stderr
    assert "^" in done.stderr


def test_what_fits_runs_in_the_memory_that_it_was_said_to_take(tmp_path: Path) -> None:
    # A million values; with the interpreter and its libraries, and what the allocator reserves.
    (tmp_path / "series.toml").write_text(SERIES)
    fits = ("--set", "duration=1 us")
    assert _limited(4 << 30, "validate", tmp_path / "series.toml", *fits).returncode == 0
    done = _limited(4 << 30, "run", tmp_path / "series.toml", *fits, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(cellrate.load(tmp_path / "out").series("acr", vc="v")) == 1_000_000


# Below 1.7 GB what the allocator reserves at first, a gigabyte, is most of it.
@pytest.mark.parametrize("octets", [1_200_000_000, 1_550_000_000, 2_500_000_000])
def test_a_run_that_outgrows_its_memory_ends_with_an_error(octets: int, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(
        PAIR.replace('"20 ms"', '"100000 s"').replace('"1 ms"', '"change"').replace(', "utilization"', "")
    )
    done = _limited(octets, "run", tmp_path / "pair.toml", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "pair.toml:3:12: duration: the run has come to" in done.stderr
    assert "B of memory are left: too little to go on" in done.stderr
    assert sorted(tmp_path.iterdir()) == [tmp_path / "pair.toml"]


@pytest.mark.parametrize(
    ("vc", "said"),
    [
        (
            'name = "v", category = "ubr", traffic = { type = "constant", rate = "1 kbps" }',
            "a network of this size can be run for at most",
        ),
        (
            'name = "v{i}", count = 2',
            "port a->b: what its connections may send at their peak rates would take 185 days",
        ),
    ],
)
def test_a_check_refuses_what_a_run_would(vc: str, said: str) -> None:
    text = SERIES.replace("400 us", "8000000 s").replace('every = "1 ps"', 'every = "100 s"')
    scenario = Scenario.parse(text.replace('name = "v"', vc).replace('"acr"', '"received"'))
    for work in (scenario.check, lambda: cellrate.run(scenario)):
        with pytest.raises(cellrate.ScenarioError, match=said) as caught:
            work()
        assert caught.value.key == "duration"


def test_a_swept_key_is_not_set_beside_its_sweep(tmp_path: Path) -> None:
    text = SERIES.replace("1 ps", "1 us") + 'sweep = [{ set = "vc.v.abr.nrm", values = [8, 16] }]\n'
    scenario = Scenario.parse(text)
    with pytest.raises(cellrate.ScenarioError, match=r"vc\.v\.abr\.nrm is set, and a sweep of the scenario sets"):
        scenario.set({"vc.v.abr.nrm": 32})
    assert [point.scenario.set({"seed": 2}).seed for point in scenario.points()] == [2, 2]
    (tmp_path / "swept.toml").write_text(text)
    done = command("run", tmp_path / "swept.toml", "--set", "vc.v.abr.nrm=32")
    assert done.returncode == 2
    assert "Leave one of the two out" in done.stderr


FRAMES = """name = "frames"
duration = "1 ms"
host = [{ name = "a" }, { name = "b" }]
link = [{ between = ["a", "b"], rate = "10 Mbps", length = "1 km" }]

[[vc]]
name = "v"
path = ["a", "b"]
category = "vbr"
pcr = "1 Mbps"
traffic = { type = "frames", frames_per_second = 25, trace = { file = "TRACE" } }
"""


def test_traces_elsewhere_need_the_folder_to_be_allowed(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    (other / "film").write_text("100\n200\n")
    (other / "longer").write_text("1\n2\n3\n")
    file = own / "frames.toml"
    file.write_text(FRAMES.replace("TRACE", str(other / "film")))
    with pytest.raises(cellrate.ScenarioError, match=r"is not in the folder of the scenario.*--allow-files FOLDER"):
        Scenario.load(file)
    scenario = Scenario.load(file, allow_files=[other])
    # What is set later may name files there, too, and nowhere else.
    longer = scenario.set({"vc.v.traffic.trace": {"file": str(other / "longer")}})
    assert len(longer.to_dict()["vc"][0]["traffic"]["trace"]["sizes"]) == 3
    with pytest.raises(cellrate.ScenarioError, match="is not in the folder of the scenario"):
        scenario.set({"vc.v.traffic.trace": {"file": "/etc/passwd"}})
    with pytest.raises(TypeError, match="allow_files is a list of folders"):
        Scenario.load(file, allow_files=str(other))
    for name in ("validate", "run"):
        assert command(name, file).returncode == 2
        assert command(name, file, "--allow-files", other).returncode == 0
