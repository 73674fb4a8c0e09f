"""Plugins of others that end in what is no exception, throw where they are looked at, or never end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cellrate
from cellrate.plugin_classes import contained
from conftest import command

MODULE = """
import sys
from cellrate import Burst, SwitchAlgorithm, TrafficSource, UiliPolicy

class Long(SwitchAlgorithm):
    interval = 1e-6
    def on_interval_end(self, load):
        pass

class Short(Long):
    interval = 1e-12

class Figures(SwitchAlgorithm):
    def figures(self):
        raise RuntimeError("no figures")

class Attributes(SwitchAlgorithm):
    def __getattribute__(self, name):
        if name.startswith("on_"):
            raise RuntimeError("looked at " + name)
        return object.__getattribute__(self, name)

class PolicyAttributes(UiliPolicy):
    def __getattribute__(self, name):
        if name.startswith("on_"):
            raise RuntimeError("looked at " + name)
        return object.__getattribute__(self, name)

def leaving(error):
    class Algorithm(SwitchAlgorithm):
        def on_backward_rm(self, now, vc, queue):
            raise error
    class Connecting(SwitchAlgorithm):
        def on_connect(self, vc, pcr, mcr, weight):
            raise error
    class Making(SwitchAlgorithm):
        def __init__(self, port):
            raise error
    class Policy(UiliPolicy):
        def on_backward_rm(self, brm):
            raise error
    class Traffic(TrafficSource):
        def next_burst(self, now, acr, queue):
            raise error
    return Algorithm, Connecting, Making, Policy, Traffic

BareAlgorithm, BareConnecting, BareMaking, BarePolicy, BareTraffic = leaving(BaseException("bare"))
GeneratorAlgorithm, GeneratorConnecting, GeneratorMaking, GeneratorPolicy, GeneratorTraffic = leaving(GeneratorExit())
KeyboardAlgorithm, KeyboardConnecting, KeyboardMaking, KeyboardPolicy, KeyboardTraffic = leaving(KeyboardInterrupt())
SystemAlgorithm, SystemConnecting, SystemMaking, SystemPolicy, SystemTraffic = leaving(SystemExit(0))
"""

SCENARIO = """
name = "bad"
duration = "{duration}"
host = [{{ name = "s" }}, {{ name = "d" }}]
switch = [{{ name = "sw" }}]
link = [{{ between = ["s", "sw"] }}, {{ between = ["sw", "d"] }}]
[defaults]
link = {{ rate = "155.52 Mbps", length = "10 km" }}
{defaults}
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
{vc}
"""

KINDS = {
    "algorithm": ('switch.algorithm = { type = "custom", name = "mine", figures = ["a"] }', ""),
    "policy": ('abr.uili = { type = "custom", name = "mine" }', ""),
    "traffic": ("", 'traffic = { type = "custom", name = "mine" }'),
}


def written(folder: Path, kind: str, *, duration: str = "5 ms", traffic: str = "") -> tuple[Path, Path]:
    defaults, vc = KINDS[kind]
    text = SCENARIO.format(duration=duration, defaults=defaults, vc=vc or traffic)
    (folder / "bad.toml").write_text(text)
    (folder / "bad.py").write_text(MODULE)
    return folder / "bad.toml", folder / "bad.py"


@pytest.mark.parametrize("error", ["BaseException: bare", "GeneratorExit", "KeyboardInterrupt", "SystemExit: 0"])
@pytest.mark.parametrize("place", ["Algorithm", "Connecting", "Making", "Policy", "Traffic"])
def test_what_is_no_exception_ends_a_run_and_names_the_plugin(tmp_path: Path, error: str, place: str) -> None:
    kind = {"Policy": "policy", "Traffic": "traffic"}.get(place, "algorithm")
    scenario, module = written(tmp_path, kind)
    prefix = error.partition("Exc")[0].partition("Exit")[0].partition("Interrupt")[0].replace("Base", "Bare")
    done = command("run", scenario, f"--{kind}", f"mine={module}:{prefix}{place}")
    assert done.returncode == 1
    assert f"a plugin in Python left the run with {error}" in done.stderr
    assert "Traceback" not in done.stderr
    named = {"Algorithm": "port sw->d", "Connecting": "port sw->d", "Making": '"mine" of port'}
    assert named.get(place, "vc") in done.stderr


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("Figures", "algorithm", "in figures"),
        ("Attributes", "algorithm", 'when the algorithm "mine" of port'),
        ("PolicyAttributes", "policy", 'when the policy "mine" of connection vc was made'),
    ],
)
def test_what_throws_where_it_is_looked_at_is_told_with_its_place(
    tmp_path: Path, name: str, kind: str, said: str
) -> None:
    scenario, module = written(tmp_path, kind)
    with scenario.open("a") as opened:
        opened.write('\n[[probe]]\nrecord = ["a"]\nevery = "1 ms"\n' if name == "Figures" else "")
    done = command("run", scenario, f"--{kind}", f"mine={module}:{name}")
    assert done.returncode == 1
    assert said in done.stderr
    assert "RuntimeError" in done.stderr
    assert "Traceback" not in done.stderr


def test_intervals_are_bounded_as_those_of_built_in_algorithms(tmp_path: Path) -> None:
    scenario, module = written(tmp_path, "algorithm")
    done = command("run", scenario, "--algorithm", f"mine={module}:Short")
    assert done.returncode == 2
    assert 'the interval of the algorithm "mine" of port sw->s is' in done.stderr
    least = done.stderr.partition("at least ")[2].split(";")[0].strip()
    built_in = command("validate", scenario, "--set", 'defaults.switch.algorithm={type="erica", interval="1 ps"}')
    assert f"at least {least}" in built_in.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_heard_where_very_many_intervals_end(tmp_path: Path, number: signal.Signals) -> None:
    cells = 'traffic = { type = "timed", cells = [["1 ms", 5], ["9990 s", 5]] }'
    scenario, module = written(tmp_path, "algorithm", duration="10000 s", traffic=cells)
    (tmp_path / "bad.py").write_text(MODULE.replace("pass", 'open("begun", "w").close()', 1))
    program = Path(sys.executable).parent / "cellrate"
    words: list[str | Path] = [program, "run", scenario, "--algorithm", f"mine={module}:Long"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        while not (tmp_path / "begun").exists():
            assert run.poll() is None
            time.sleep(0.05)
        run.send_signal(number)
        # Ten thousand million intervals would take hours.
        _, said = run.communicate(timeout=120)
    assert run.returncode == (1 if number == signal.SIGINT else 143)
    assert ("interrupted" if number == signal.SIGINT else "terminated") in said


def test_what_a_handler_of_the_caller_raises_stays_what_it_is() -> None:
    class Own(BaseException):
        pass

    def handler(_number: int, _frame: object) -> None:
        raise Own

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Own) as caught:
            signal.raise_signal(signal.SIGUSR1)
        assert contained(caught.value) is caught.value
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(Own) as caught:
        raise Own
    assert isinstance(contained(caught.value), cellrate.RunError)
