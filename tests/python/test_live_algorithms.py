"""Switch algorithms in Python at the switches of live runs: the same class does the same as in a simulation."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import cellrate
from cellrate.algorithms import Port, SwitchAlgorithm
from cellrate.command_line.main import status
from cellrate.live import doctor, live_run
from cellrate.live.distribution import run_node
from cellrate.plugins.collection import Plugins
from test_algorithms import Erica
from test_live_run import application, free_ports, scenario

_FOUND = doctor.findings()
needs_hosts = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))

AGREEMENT = Path(__file__).parents[2] / "scenarios/agreement/erica.toml"
BUILT_IN = 'algorithm = { type = "erica", target_utilization = "90 %", interval = "10 ms" }'
PROBE = '\n[[probe]]\nrecord = ["answers"]\nof = ["sw->b"]\nevery = "50 ms"\n'
SENDING = 'import socket; socket.socket(2, 2).sendto(b"x" * 5000, ("{peer}", 9))'
DATAGRAM = application("datagram", f'{{ type = "command", words = {json.dumps([sys.executable, "-c", SENDING])} }}')


class Slower(Erica):
    """With the interval of the scenario."""

    interval = 10e-3


class Counting(SwitchAlgorithm):
    """Leaves everything as it is, and says how many BRMs there were."""

    def __init__(self, port: Port) -> None:
        self.answers = 0

    def on_backward_rm(self, now: float, vc: int, queue: int) -> None:
        self.answers += 1

    def figures(self) -> dict[str, float]:
        return {"answers": self.answers}


class OutOfOrderError(ArithmeticError):
    """An exception that an algorithm of ours may raise."""


class Failing(Counting):
    """Raises at the first BRM."""

    def on_backward_rm(self, now: float, vc: int, queue: int) -> None:
        raise OutOfOrderError("the third law")


class Talkative(Counting):
    """Says what happens, by every way there is to stdout and stderr."""

    def on_backward_rm(self, now: float, vc: int, queue: int) -> None:
        self.answers += 1
        if self.answers == 1:
            print("first", self.answers)
            print("[0.5]")
            os.write(1, b"second\n")
            os.write(2, b"third\n")
            print("fourth", file=sys.stderr)


def custom(text: str, figures: str = "") -> str:
    erica = 'algorithm = { type = "erica", target_utilization = "95 %" }'
    assert erica in text
    return text.replace(erica, f'algorithm = {{ type = "custom", name = "mine"{figures} }}')


def pair(duration: str, *more: str) -> cellrate.Scenario:
    figures = ', figures = ["answers"]'
    return cellrate.Scenario.parse(custom(scenario(duration, DATAGRAM, *more, PROBE), figures), file="pair.toml")


@pytest.mark.clock
def test_it_does_by_the_clock_what_it_does_in_a_simulation() -> None:
    text = AGREEMENT.read_text()
    assert BUILT_IN in text
    text = text.replace(BUILT_IN, 'algorithm = { type = "custom", name = "mine" }').replace("2400 ms", "900 ms")
    own = cellrate.Scenario.parse(text, file="own.toml")
    simulated = cellrate.run(own, algorithms={"mine": Slower}).summary
    names = [name for name, *_ in cellrate._native.nodes(own._native)]
    live = run_node(own, names, None, None, Plugins({"mine": Slower}))
    for key in ("sent", "delivered", "forward_rm_sent", "backward_rm_received", "final_acr"):
        assert [row[key] for row in live["vcs"]] == [row[key] for row in simulated["vcs"]], key
    for key in ("transmitted", "max_queue"):
        assert [row[key] for row in live["ports"]] == [row[key] for row in simulated["ports"]], key
    assert simulated["vcs"][0]["backward_rm_received"] > 50


@needs_hosts
def test_a_live_run_has_it_at_its_switches() -> None:
    run = live_run(pair("1 s"), attempts=1, allow_commands=True, algorithms={"mine": Counting})
    assert run.failed_applications == []
    summary = run.result.summary
    assert summary["run"]["algorithms"] == {"mine": "test_live_algorithms.Counting"}
    answers = run.result.series("answers")
    received = run.result.vc("vc")["backward_rm_received"]
    # Those that are on their way from the switch have been answered.
    assert 0 < received <= answers.values[-1] <= received + 2


@pytest.mark.clock
@needs_hosts
def test_a_switch_in_a_process_of_its_own_has_it_too(tmp_path: Path) -> None:
    a, b, sw = (f"127.0.0.1:{port}" for port in free_ports(3))
    nodes = f'\n[live]\nnodes = {{ a = "{a}", b = "{b}", sw = "{sw}" }}\n'
    run = live_run(
        pair("1 s", nodes),
        attempts=1,
        allow_commands=True,
        distributed=True,
        algorithms={"mine": Counting},
        folder=tmp_path,
    )
    assert run.result.vc("vc")["backward_rm_received"] > 0
    done = [0.0]
    failing = {"mine": Failing}
    with pytest.raises(OutOfOrderError, match="the third law"):
        live_run(
            pair("20 s", nodes),
            attempts=1,
            allow_commands=True,
            distributed=True,
            algorithms=failing,
            progress=done.append,
        )
    assert max(done) < 0.9, "it does not go on to the end"


@needs_hosts
def test_what_it_raises_ends_the_run_and_is_raised_here() -> None:
    with pytest.raises(OutOfOrderError, match="the third law") as caught:
        live_run(pair("20 s"), attempts=1, allow_commands=True, algorithms={"mine": Failing})
    assert any("in on_backward_rm" in note for note in caught.value.__notes__)
    parameters = {"defaults.switch.algorithm.parameters": "{ gain = 1 }"}
    with pytest.raises(cellrate.CellrateError, match='is handed the parameter "gain" by the scenario; Counting takes'):
        live_run(pair("20 s"), allow_commands=True, set=parameters, attempts=1, algorithms={"mine": Counting})


@needs_hosts
def test_what_it_prints_is_shown_and_is_not_taken_for_news(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[float] = []
    run = live_run(pair("1 s"), attempts=1, allow_commands=True, algorithms={"mine": Talkative}, progress=done.append)
    assert run.failed_applications == []
    assert len(done) > 5, "the news go on"
    assert done == sorted(done)
    shown = capsys.readouterr()
    assert shown.out == ""
    for _ in "sw->a", "sw->b":
        assert "first 1\n[0.5]\nsecond\nthird\nfourth\n" in shown.err


@needs_hosts
def test_the_command_line_takes_it_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, module = tmp_path / "pair.toml", tmp_path / "own_file.py"
    file.write_text(pair("500 ms").toml)
    module.write_text(
        "import cellrate\n\nSHARE = 0.25\n\n\nclass Quarter(cellrate.SwitchAlgorithm):\n"
        "    def __init__(self, port):\n        self.rate, self.answers = SHARE * port.link_rate, 0\n\n"
        "    def on_backward_rm(self, now, vc, queue):\n        self.answers += 1\n        return self.rate\n\n"
        "    def figures(self):\n        return {'answers': self.answers}\n"
    )
    words = [
        "live",
        "run",
        str(file),
        "--algorithm",
        f"mine={module}:Quarter",
        "--json",
        "--attempts",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    assert status(words) in (0, 1), "in time, or not"
    summary = json.loads(capsys.readouterr().out)
    assert summary["run"]["algorithms"] == {"mine": "own_file.Quarter"}
    assert summary["vcs"][0]["final_acr"] == pytest.approx(0.25 * 10e6 / 424, rel=1 / 512)


def test_an_algorithm_that_is_missing_is_said_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        cellrate.CellrateError, match='port sw->a has the custom algorithm "mine", which the run was not'
    ):
        live_run(pair("1 s"), allow_commands=True)
    with pytest.raises(cellrate.CellrateError, match='no port has a custom algorithm called "other"'):
        live_run(pair("1 s"), allow_commands=True, algorithms={"mine": Counting, "other": Counting})
    # Who runs a switch elsewhere has its algorithm there.
    nodes = '\n[live]\nnodes = { a = "127.0.0.1:1", b = "127.0.0.1:2", sw = "127.0.0.1:3" }\n'
    native = pair("1 s", nodes)._native
    cellrate._native.check_plugins(native, [], ["a", "b"])
    with pytest.raises(cellrate.CellrateError, match="port sw->a has"):
        cellrate._native.check_plugins(native, [], ["a", "sw"])
    with pytest.raises(cellrate.CellrateError, match='"mine", which the run was not given'):
        run_node(pair("1 s", nodes), ["sw"], None, None)
