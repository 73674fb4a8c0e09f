"""Reading of `make bench-peers`: the table of what simulators print; the simulators themselves are not run here."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benches" / "peers" / "run.py"


@pytest.fixture(scope="module")
def peers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers_run", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def failure(peers: ModuleType, delivered: list[int], *, goodput: tuple[float, float] | None, again: int = 0) -> str:
    entry = peers.Entry("x", 10.0, ["x"], 53 if goodput is None else 552, goodput=goodput)
    entry.runs = [peers.Run(n, 1.0, 1.0, "1", again=again) for n in delivered]
    peers.check(entry)
    return entry.failure or ""


def test_units_that_should_not_be_there_or_are_missing_are_noticed(peers: ModuleType) -> None:
    # 15 * 21192 cells/s for 10 s less 15.0085 ms on the way and 16 us until the middle one starts: 317880 * 9.9849755.
    due = 3_174_024
    assert failure(peers, [due, due], goodput=None) == ""
    assert "were due" in failure(peers, [due + 300], goodput=None)
    assert "were due" in failure(peers, [due - 300], goodput=None)
    assert "runs differ" in failure(peers, [due, due + 1], goodput=None)


def test_segments_beyond_the_line_too_few_of_them_and_retransmissions_are_noticed(peers: ModuleType) -> None:
    # 149.76 Mbit/s are 33913.04 segments of 552 octets a second.
    assert failure(peers, [339_130], goodput=(0.95, 1.0)) == ""
    assert "the line carries 339130" in failure(peers, [339_140], goodput=(0.95, 1.0))
    assert "arrived" in failure(peers, [320_000], goodput=(0.95, 1.0))
    assert "3 were sent again" in failure(peers, [339_130], goodput=(0.95, 1.0), again=3)


def test_what_cannot_be_installed_is_left_out_with_its_reason(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peers, "PLACE", tmp_path / "peers")
    monkeypatch.setitem(peers.INSTALL, "ns-2", lambda: None)
    monkeypatch.setitem(
        peers.INSTALL, "ns-3", lambda: peers.call(sys.executable, "-c", "raise SystemExit('no network')")
    )
    missing = peers.install(["ns-2", "ns-3"])
    assert list(missing) == ["ns-3"]
    assert missing["ns-3"].endswith("no network")


def test_a_name_that_is_no_simulator_is_refused() -> None:
    done = subprocess.run([sys.executable, FILE, "opnet"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "no simulator opnet" in done.stderr
