"""Policies and traffic in Python: they do what the same ones do that are built in, and say what is wrong with them."""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate import Burst, SendingEnd, TrafficSource, UiliPolicy
from cellrate.command_line.main import status
from cellrate.live.distribution import run_node
from cellrate.plugins.collection import Plugins
from cellrate.policies import BackwardRm, ForwardRm

GUIDE = Path(__file__).parents[2] / "docs/guides/sources.md"
ON_OFF = '{ type = "on-off", rate = "40 Mbps", on = "5 ms", off = "20 ms" }'
BURSTY = '{ type = "custom", name = "bursty", parameters = { period = 0.025 } }'
MINE = '{ type = "custom", name = "mine" }'


def network(traffic: str = ON_OFF, uili: str = '"none"', *more: str) -> cellrate.Scenario:
    return cellrate.Scenario.parse(
        f"""
name = "sources"
duration = "400 ms"
host = [{{ name = "h{{i}}", count = 2 }}, {{ name = "d" }}]
switch = [{{ name = "sw" }}]
link = [{{ between = ["h{{i}}", "sw"], count = 2 }}, {{ between = ["sw", "d"] }}]
[defaults]
link = {{ rate = "50 Mbps", length = "50 km" }}
switch.algorithm = {{ type = "erica" }}
abr = {{ icr = "2 Mbps", nrm = 8 }}
[[vc]]
name = "own"
path = ["h1", "sw", "d"]
traffic = {traffic}
abr.uili = {uili}
[[vc]]
name = "other"
path = ["h2", "sw", "d"]
[[probe]]
record = ["acr"]
every = "change"
[[probe]]
record = ["source_queue"]
of = ["own"]
every = "300 us"
{"".join(more)}""",
        file="sources.toml",
    )


def same(one: cellrate.Result, other: cellrate.Result) -> None:
    for key in ("vcs", "ports"):
        assert one.summary[key] == other.summary[key]
    assert one.series_names == other.series_names
    for probe, entity in other.series_names:
        given, expected = (result.series(probe, entity=entity) for result in (one, other))
        assert (given.times_s == expected.times_s).all()
        assert (given.values == expected.values).all()


class Joint(UiliPolicy):
    """The joint source based policy, written from docs/algorithms/uili.md."""

    def __init__(self, end: SendingEnd, tdf: float = 1 / 16) -> None:
        self.tdf, self.armed = tdf, False

    def on_forward_rm(self, frm: ForwardRm) -> float | None:
        floor = frm.source_rate + frm.icr
        if frm.acr <= floor:
            return None
        self.armed = True
        return max(floor, frm.acr * (1 - self.tdf))

    def on_backward_rm(self, brm: BackwardRm) -> bool:
        follows, self.armed = not self.armed, False
        return follows


class Bursty(TrafficSource):
    """40 Mb/s for the first 5 ms of every period."""

    def __init__(self, end: SendingEnd, period: float) -> None:
        self.period, self.number = period, -1

    def next_burst(self, now: float, acr: float, queue: int) -> Burst:
        self.number += 1
        rate = 40e6 / 424
        return Burst(at=self.number * self.period, cells=math.ceil(5e-3 * rate), rate=rate)


@pytest.mark.parametrize("tdf", [1 / 16, 1 / 2])
def test_the_joint_policy_in_python_gives_what_the_built_in_one_gives_to_the_last_cell(tdf: float) -> None:
    built_in = cellrate.run(network(uili=f'{{ type = "joint", tdf = {tdf} }}'))
    given = network(uili=f'{{ type = "custom", name = "joint", parameters = {{ tdf = {tdf} }} }}')
    for threads in (1, 2):
        same(cellrate.run(given, policies={"joint": Joint}, threads=threads), built_in)
    assert built_in.vc("own")["uili_decreases"] > 10
    assert built_in.vc("own") != cellrate.run(network()).vc("own")


def test_bursts_in_python_give_what_built_in_ones_give_to_the_last_cell() -> None:
    built_in = cellrate.run(network())
    for threads in (1, 2):
        same(cellrate.run(network(BURSTY), traffic={"bursty": Bursty}, threads=threads), built_in)
    assert max(built_in.series("source_queue").values) > 100


def test_traffic_without_feedback_does_the_same_and_is_told_its_peak_rate() -> None:
    told: list[tuple[float, float, int]] = []

    class Telling(Bursty):
        def next_burst(self, now: float, acr: float, queue: int) -> Burst:
            told.append((now, acr, queue))
            return super().next_burst(now, acr, queue)

    def vbr(traffic: str) -> cellrate.Scenario:
        more = (
            f'\n[[vc]]\nname = "vbr"\ncategory = "vbr"\npcr = "30 Mbps"\n'
            f'path = ["h1", "sw", "d"]\ntraffic = {traffic}\n'
        )
        return network(ON_OFF, '"none"', more)

    given = cellrate.run(vbr(BURSTY), traffic={"bursty": Telling})
    same(given, cellrate.run(vbr(ON_OFF)))
    # Sixteen periods, and in each 5 ms at 40 Mb/s: 472 cells. They leave at 30 Mb/s, so that some wait meanwhile.
    row = given.vc("vbr")
    assert (row["category"], row["data_sent"], row["data_delivered"], row["mean_acr"]) == ("vbr", 7552, 7552, None)
    assert len(told) == 1 + 16
    assert {acr for _, acr, _ in told} == {30e6 / 424}
    assert [queue for _, _, queue in told] == [0] + [pytest.approx(472 / 4, abs=2)] * 16
    assert [now for now, _, _ in told[1:]] == pytest.approx([n * 25e-3 + 471 / (40e6 / 424) for n in range(16)])


def test_traffic_is_told_acr_and_how_many_cells_wait() -> None:
    told: list[tuple[float, float, int]] = []

    class Asking(TrafficSource):
        def next_burst(self, now: float, acr: float, queue: int) -> Burst:
            told.append((now, acr, queue))
            return Burst(at=now + 7e-3, cells=200)

    result = cellrate.run(network('{ type = "custom", name = "asking" }'), traffic={"asking": Asking})
    acr, waiting = result.series("acr", vc="own"), result.series("source_queue")
    assert (told[0][0], told[0][2]) == (0.0, 0)
    assert len(told) == 1 + 400 // 7
    assert len({rate for _, rate, _ in told}) > 5
    for now, rate, queue in told[1:]:
        # The burst comes before ACR changes at its instant.
        assert rate == acr.at(now - 1e-12)
        assert queue >= 200
        after = waiting.at(math.ceil(now / 300e-6) * 300e-6 + 1e-9)
        assert queue - 300e-6 * 50e6 / 424 - 1 <= after <= queue


def test_a_seed_is_another_one_for_each_direction_and_with_each_seed_of_the_scenario() -> None:
    seen: dict[str, SendingEnd] = {}

    class Random(TrafficSource):
        def __init__(self, end: SendingEnd) -> None:
            seen[end.name] = end
            self.random = random.Random(end.seed)

        def next_burst(self, now: float, acr: float, queue: int) -> Burst:
            return Burst(at=now + self.random.expovariate(200.0) + 1e-6, cells=self.random.randint(1, 200))

    scenario = network('{ type = "custom", name = "random" }').set({"vc.own.bidirectional": True})
    results = [cellrate.run(scenario, seed=seed, traffic={"random": Random}) for seed in (1, 1, 2)]
    same(results[0], results[1])
    assert results[0].vc("own")["sent"] != results[2].vc("own")["sent"]
    assert set(seen) == {"own", "own (back)"}
    one, other = seen.values()
    assert one.seed != other.seed
    assert (one.pcr, one.mcr, one.icr) == (50e6 / 424, 0.0, 2e6 / 424)


def test_they_do_by_the_clock_what_they_do_in_a_simulation() -> None:
    class Asking(TrafficSource):
        def next_burst(self, now: float, acr: float, queue: int) -> Burst:
            return Burst(at=now + 7e-3, cells=max(1, int(acr * 10e-3) - queue), rate=1e5)

    given = network('{ type = "custom", name = "asking" }', '{ type = "custom", name = "joint" }')
    custom = Plugins({}, {"joint": Joint}, {"asking": Asking})
    simulated = cellrate.run(given, policies=custom.policies, traffic=custom.traffic).summary
    names = [name for name, *_ in cellrate._native.nodes(given._native)]
    live = run_node(given, names, None, None, custom)
    for key in ("sent", "delivered", "forward_rm_sent", "backward_rm_received", "final_acr", "uili_decreases"):
        assert [row[key] for row in live["vcs"]] == [row[key] for row in simulated["vcs"]], key
    assert simulated["vcs"][0]["uili_decreases"] > 5


def guide() -> tuple[str, str, str]:
    text = GUIDE.read_text()
    blocks = {language: re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) for language in ("python", "toml")}
    python, use = blocks["python"]
    (scenario,) = blocks["toml"]
    return python, use, scenario


def test_the_guide_s_example_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python, use, scenario = guide()
    (tmp_path / "own.py").write_text(python)
    (tmp_path / "own.toml").write_text(scenario)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own", raising=False)
    names: dict[str, Any] = {"cellrate": cellrate}
    exec(use, names)
    result: cellrate.Result = names["result"]

    def rate(vc: str, *between: float) -> float:
        return result.series("source_rate", vc=vc).mean(*between) * 424e-6

    measured = rate("camera", 0.2, 1.0), rate("camera", 1.2, 2.0), rate("bulk", 1.2, 2.0)
    assert [round(value, 1) for value in measured] == [8.1, 4.3, 14.8]
    without = cellrate.run("own.toml", set={"vc.camera.abr.uili": "none"}, traffic={"camera": names["Camera"]})
    assert [run.port("sw->d")["max_queue"] for run in (result, without)] == [135, 264]
    assert result.vc("camera")["uili_decreases"] > 0
    # The command line as it stands there.
    (line,) = re.findall(r"^    cellrate (run own\.toml .*) --plot$", GUIDE.read_text(), re.MULTILINE)
    assert status([*line.split(), "--out", "out"]) == 0
    assert (tmp_path / "out/series/source_rate.parquet").exists()


def test_a_run_says_what_it_was_given() -> None:
    given = network(BURSTY, '{ type = "custom", name = "joint" }')
    run = cellrate.run(given, policies={"joint": Joint}, traffic={"bursty": Bursty}).summary["run"]
    assert run["policies"] == {"joint": "test_sources.Joint"}
    assert run["traffic"] == {"bursty": "test_sources.Bursty"}
    assert "algorithms" not in run


def test_a_sweep_and_a_page_take_them() -> None:
    sweep = '\n[[sweep]]\nset = "vc.own.traffic.parameters.period"\nvalues = [0.025, 0.05]\n'
    points = cellrate.sweep(network(BURSTY, '"none"', sweep), workers=2, traffic={"bursty": Bursty})
    assert [round(point.vc("own")["data_sent"] / 472) for point in points] == [16, 8]
    joint = network(BURSTY, '{ type = "custom", name = "joint" }')
    both: dict[str, Any] = {"policies": {"joint": Joint}, "traffic": {"bursty": Bursty}}
    same(cellrate.watch(joint, speed=1000.0, wait=False, **both), cellrate.run(joint, **both))


def run_with(kind: str, made: Callable[..., object], **options: Any) -> cellrate.Result:
    """Run with one of a kind."""
    if kind == "policy":
        return cellrate.run(network(uili=MINE), policies={"mine": made}, **options)  # type: ignore[dict-item]
    return cellrate.run(network(MINE), traffic={"mine": made}, **options)  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("kind", "base", "method"),
    [
        ("policy", UiliPolicy, "on_forward_rm"),
        ("policy", UiliPolicy, "on_backward_rm"),
        ("policy", UiliPolicy, "__init__"),
        ("traffic", TrafficSource, "next_burst"),
        ("traffic", TrafficSource, "__init__"),
    ],
)
def test_what_it_raises_ends_the_run_and_comes_out_as_it_is(kind: str, base: type, method: str) -> None:
    def fail(*_: object) -> None:
        raise ArithmeticError(f"in {method}")

    with pytest.raises(ArithmeticError, match=f"in {method}"):
        run_with(kind, type("Failing", (base,), {method: fail}))


@pytest.mark.parametrize(
    ("kind", "members", "message"),
    [
        (
            "policy",
            {"on_forward_rm": lambda *_: "slow"},
            "Bad.on_forward_rm gave 'slow'; it must be a rate of 0 cells/s",
        ),
        (
            "policy",
            {"on_forward_rm": lambda *_: -1.0},
            "Bad.on_forward_rm gave -1.0; it must be a rate of 0 cells/s or",
        ),
        ("policy", {"on_forward_rm": lambda *_: math.nan}, "Bad.on_forward_rm gave nan"),
        ("policy", {"on_backward_rm": lambda *_: None}, "Bad.on_backward_rm gave None; it must be True or False"),
        ("traffic", {"next_burst": lambda *_: 7}, "Bad.next_burst gave 7, which is neither a Burst nor None"),
        ("traffic", {"next_burst": lambda *_: Burst(-1.0, 1)}, "a burst at -1.0 s; it must begin 0 s or later"),
        ("traffic", {"next_burst": lambda *_: Burst(0.0, 1)}, "a burst at 0.0 s; it must begin after 0.0 s, where"),
        ("traffic", {"next_burst": lambda *_: Burst(math.inf, 1)}, "a burst at inf s"),
        ("traffic", {"next_burst": lambda *_: Burst(0.0, 0)}, "a burst of 0 cells; a burst has from 1 to 2.32 - 1"),
        ("traffic", {"next_burst": lambda *_: Burst(0.0, 1.5)}, "a burst of 1.5 cells"),  # type: ignore[arg-type]
        ("traffic", {"next_burst": lambda *_: Burst(0.0, 5, 0.0)}, "at a rate of 0.0 cells/s; it must be above 0"),
    ],
)
def test_what_it_may_not_do_is_said(kind: str, members: dict[str, Any], message: str) -> None:
    base = UiliPolicy if kind == "policy" else TrafficSource
    with pytest.raises(cellrate.CellrateError, match=message):
        run_with(kind, type("Bad", (base,), members))


@pytest.mark.parametrize(
    ("kind", "method", "message"),
    [
        (
            "policy",
            "on_backwards_rm",
            "Bad has a method on_backwards_rm, which nothing calls; did you mean on_backward_",
        ),
        ("policy", "lower", "Bad does nothing: it has no on_forward_rm or on_backward_rm of its own"),
        ("traffic", "next_bursts", "Bad has a method next_bursts, which nothing calls; did you mean next_burst?"),
        (
            "traffic",
            "more",
            "Bad does nothing: it has no next_burst of its own, and a cellrate.TrafficSource is asked for",
        ),
    ],
)
def test_a_method_that_nothing_calls_is_told_from_the_one_that_was_meant(kind: str, method: str, message: str) -> None:
    base = UiliPolicy if kind == "policy" else TrafficSource
    with pytest.raises(cellrate.CellrateError, match=message):
        run_with(kind, type("Bad", (base,), {method: lambda *_: None}))


def test_a_run_says_what_it_lacks_what_it_cannot_use_and_what_is_none() -> None:
    given = network(MINE, MINE)
    with pytest.raises(cellrate.CellrateError, match=r'connection own has the custom policy "mine", .*--policy mine='):
        cellrate.run(given)
    with pytest.raises(cellrate.CellrateError, match=r'own has the custom traffic "mine", .*traffic=\{"mine": ...\}'):
        cellrate.run(given, policies={"mine": UiliPolicy})
    with pytest.raises(cellrate.CellrateError, match=r'no source has a custom policy called "other"; .* mine$'):
        cellrate.run(given, policies={"mine": UiliPolicy, "other": UiliPolicy}, traffic={"mine": TrafficSource})
    with pytest.raises(cellrate.CellrateError, match=r'no connection has custom traffic called "x"; .* none$'):
        cellrate.run(network(), traffic={"x": TrafficSource})
    with pytest.raises(
        cellrate.CellrateError, match=r'the policy "mine" of connection own is to be a cellrate.UiliPolicy; .*<object'
    ):
        run_with("policy", lambda _end: object())
    with pytest.raises(
        cellrate.CellrateError, match=r'the traffic "mine" of connection own is to be a cellrate.TrafficSource; .*<obj'
    ):
        run_with("traffic", lambda _end: object())
    with pytest.raises(
        cellrate.CellrateError,
        match=r'"mine" of connection own .* cellrate.UiliPolicy; the class Bursty does not derive from it$',
    ):
        run_with("policy", Bursty)


def test_parameters_that_a_class_does_not_take_or_lacks_are_said() -> None:
    handed = r'the traffic "bursty" of connection own is handed the parameter "period" by the scenario; '
    with pytest.raises(cellrate.CellrateError, match=handed + "TrafficSource takes none$"):
        cellrate.run(network(BURSTY), traffic={"bursty": TrafficSource})
    two = BURSTY.replace("0.025", '0.025, most = "3"')
    with pytest.raises(cellrate.CellrateError, match=r'is handed the parameter "most" .*; Bursty takes period$'):
        cellrate.run(network(two), traffic={"bursty": Bursty})
    with pytest.raises(
        cellrate.CellrateError, match=r'not handed the parameter "period", which Bursty needs; write par'
    ):
        cellrate.run(network('{ type = "custom", name = "bursty" }'), traffic={"bursty": Bursty})

    class Whatever(Bursty):
        def __init__(self, end: SendingEnd, **parameters: float) -> None:
            super().__init__(end, parameters["period"])

    with pytest.raises(KeyError, match="period"):
        cellrate.run(network('{ type = "custom", name = "bursty" }'), traffic={"bursty": Whatever})
    same(cellrate.run(network(BURSTY), traffic={"bursty": Whatever}), cellrate.run(network()))


def test_the_bases_do_nothing() -> None:
    silent = run_with("traffic", TrafficSource)
    assert [row["vc"] for row in silent.summary["vcs"] if row["data_sent"]] == ["other"]
    same(run_with("policy", UiliPolicy), cellrate.run(network()))


@pytest.mark.parametrize("kind", ["policy", "traffic"])
def test_the_command_line_takes_one_and_says_what_is_wrong_with_it(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, method = ("UiliPolicy", "on_backward_rm") if kind == "policy" else ("TrafficSource", "next_burst")
    (tmp_path / "ours.py").write_text(
        f"import cellrate\n\n\nclass Mine(cellrate.{base}):\n    def {method}(self, *told):\n"
        f"        return super().{method}(*told)\n"
    )
    file = tmp_path / "t.toml"
    file.write_text(network(uili=MINE).toml if kind == "policy" else network(MINE).toml)
    plural = "policies" if kind == "policy" else "traffic"
    option = f"--{kind}"
    assert status(["run", str(file), option, f"mine={tmp_path / 'ours.py'}:Mine", "--json"]) == 0
    assert f'"{plural}"' in capsys.readouterr().out
    assert status(["run", str(file), option, f"mine={tmp_path / 'ours.py'}:Missing"]) == 2
    assert f'has no "Missing"; {plural} in it: Mine' in capsys.readouterr().err
    assert status(["run", str(file), option, "mine"]) == 2
    assert f"{option} mine: write NAME=FILE.py:CLASS" in capsys.readouterr().err
