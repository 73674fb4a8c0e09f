"""Switch algorithms in Python: they do what the same ones do that are built in, and say what is wrong with them."""

from __future__ import annotations

import math
import re
import signal
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.algorithms import Feedback, Load, Port, Running, SwitchAlgorithm
from cellrate.command_line.main import status
from test_watch import watched

GUIDE = Path(__file__).parents[2] / "docs/guides/algorithms.md"
TRANSIENT = cellrate.ready_scenarios()["two-source-transient"].read_text()
BUILT_IN = 'algorithm = { type = "erica", target_utilization = "90 %", interval = "5 ms" }'
CUSTOM = 'algorithm = { type = "custom", name = "mine", figures = ["z"] }'


def transient(algorithm: str) -> cellrate.Scenario:
    assert BUILT_IN in TRANSIENT
    return cellrate.Scenario.parse(TRANSIENT.replace(BUILT_IN, algorithm), file="transient.toml")


def same(one: cellrate.Result, other: cellrate.Result) -> None:
    for key in ("vcs", "ports"):
        assert one.summary[key] == other.summary[key]
    for probe, entity in other.series_names:
        given, expected = (result.series(probe, entity=entity) for result in (one, other))
        assert (given.times_s == expected.times_s).all()
        assert (given.values == expected.values).all()


def code(rate: float) -> float:
    """Give the largest rate that an RM cell can carry and that is not above this one [cells/s]."""
    if rate < 1.0:
        return 0.0
    exponent = min(int(math.log2(rate)), 31)
    return 2.0**exponent * (1.0 + min(int((rate / 2.0**exponent - 1.0) * 512.0), 511) / 512.0)


class Erica(SwitchAlgorithm):
    """ERICA with its defaults, written from docs/algorithms/erica.md."""

    interval = 5e-3

    def __init__(self, port: Port) -> None:
        self.link_rate = port.link_rate
        self.capacity = self.previous = self.current = 0.9 * port.link_rate
        self.z, self.active, self.intervals = 0.0, 0, 0
        self.ccr: dict[int, float] = {}
        self.answers: dict[int, tuple[int, float]] = {}

    def fair_share(self) -> float:
        return self.capacity / max(self.active, 1)

    def on_forward_rm(self, now: float, vc: int, ccr: float) -> None:
        self.ccr[vc] = ccr

    def on_interval_end(self, load: Load) -> None:
        self.capacity = max(0.0, 0.9 * self.link_rate - load.guaranteed_rate)
        self.active, self.z = load.active, load.abr_rate / self.capacity
        self.previous, self.current = self.current, self.fair_share()
        self.intervals += 1

    def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
        interval, er = self.answers.get(vc, (-1, 0.0))
        if interval == self.intervals:
            return er
        ccr, fair_share = self.ccr.get(vc, 0.0), self.fair_share()
        level = max(fair_share, ccr / self.z if self.z > 0.0 else math.inf if ccr > 0.0 else 0.0)
        if self.z <= 1.1:
            level = max(level, self.previous)
        self.current = max(self.current, level)
        er = code(min(fair_share if ccr < code(fair_share) else level, self.capacity))
        self.answers[vc] = self.intervals, er
        return er

    def figures(self) -> dict[str, float]:
        return {"z": self.z, "n": max(self.active, 1)}


class Aprc(SwitchAlgorithm):
    """APRC with a DQT of 200 cells and K = 40, written from docs/algorithms/aprc.md."""

    interval_cells = 40

    def __init__(self, port: Port, growth: int) -> None:
        self.growth, self.queue, self.grows = growth, 0, False
        self.macr: float | None = None
        self.ccr: dict[int, float] = {}

    def on_forward_rm(self, now: float, vc: int, ccr: float) -> None:
        self.ccr[vc] = ccr
        self.macr = ccr if self.macr is None else self.macr * (1 - 1 / 16) + ccr / 16

    def on_interval_end(self, load: Load) -> None:
        self.grows, self.queue = load.abr_queue - self.queue > self.growth, load.abr_queue

    def on_backward_rm(self, now: float, vc: int, queue: int) -> float | None:
        if self.macr is None:
            return None
        if queue > 200:
            return self.macr / 4
        claims_much = self.ccr.get(vc, 0.0) > self.macr * 7 / 8
        return self.macr * 15 / 16 if self.grows and queue > 0 and claims_much else None

    def figures(self) -> dict[str, float]:
        return {"macr": self.macr or 0.0}


class Silent(SwitchAlgorithm):
    """Does nothing, and has the figure that the scenario lists."""

    def figures(self) -> dict[str, float]:
        return {"z": 0.0}


def test_erica_in_python_gives_what_the_built_in_one_gives_to_the_last_cell() -> None:
    built_in = cellrate.run(transient(BUILT_IN))
    for threads in (1, 2):
        same(cellrate.run(transient(CUSTOM), algorithms={"mine": Erica}, threads=threads), built_in)
    assert max(built_in.series("acr", vc="vc1").values) > 2 * min(built_in.series("acr", vc="vc1").values)


@pytest.mark.parametrize("growth", [0, 3])
def test_aprc_in_python_gives_what_the_built_in_one_gives_to_the_last_cell(growth: int) -> None:
    keys = f'interval_cells = 40, high_threshold = "200 cells", growth_threshold = "{growth} cells"'
    settings = f'name = "mine", figures = ["macr"], parameters = {{ growth = {growth} }}'
    probe = '\n[[probe]]\nrecord = ["macr"]\nof = ["sw1->sw2"]\nevery = "1 ms"\n'
    built_in, own = (
        cellrate.Scenario.parse(transient(f"algorithm = {{ {algorithm} }}").toml + probe).set(
            {"defaults.abr.rif": "1/64"}
        )
        for algorithm in (f'type = "aprc", {keys}', f'type = "custom", {settings}')
    )
    expected = cellrate.run(built_in)
    same(cellrate.run(own, algorithms={"mine": Aprc}), expected)
    assert len(set(expected.series("macr").values)) > 100
    assert expected.port("sw1->sw2")["max_queue"] > 200


def test_ci_and_ni_can_be_set() -> None:
    class RelativeRate(Silent):
        def on_backward_rm(self, now: float, vc: int, queue: int) -> Feedback | None:
            return Feedback(ci=True, ni=True) if queue >= 100 else None

    built_in = cellrate.run(transient('algorithm = { type = "relative-rate", threshold = "100 cells" }'))
    same(cellrate.run(transient(CUSTOM), algorithms={"mine": RelativeRate}), built_in)
    assert built_in.port("sw1->sw2")["max_queue"] > 100


def guide() -> tuple[str, str, str]:
    """Give the parts of the guide: a class, how it is used in Python, a scenario that asks for it."""
    text = GUIDE.read_text()
    python, use = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (scenario,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    return python, use, scenario


def test_the_guide_s_example_gives_what_the_built_in_phantom_gives_to_the_last_cell() -> None:
    python, _, text = guide()
    names: dict[str, Any] = {}
    exec(python, names)
    asked = 'type = "custom", name = "phantom", figures = ["macr"], parameters = { factor = 5 }'
    assert asked in text
    # With ways of 100 km it swings instead of settling.
    for factor, length in ((5, "10 km"), (3, "10 km"), (5, "100 km")):
        own, same_one = (
            cellrate.Scenario.parse(scenario).set({"defaults.link.length": length})
            for scenario in (
                text.replace("factor = 5", f"factor = {factor}"),
                text.replace(asked, f'type = "phantom", utilization_factor = {factor}, alpha = "1/32"'),
            )
        )
        built_in = cellrate.run(same_one)
        same(cellrate.run(own, algorithms={"phantom": names["Phantom"]}), built_in)
        assert len(set(built_in.series("macr").values)) > 200


def test_the_guide_s_example_settles_where_its_formula_says(tmp_path: Path) -> None:
    python, use, scenario = guide()
    (tmp_path / "phantom.py").write_text(python)
    (tmp_path / "phantom.toml").write_text(scenario)
    names: dict[str, Any] = {"cellrate": cellrate}
    exec(python, names)
    exec(use.replace("phantom.toml", str(tmp_path / "phantom.toml")), names)
    result: cellrate.Result = names["result"]
    line = 149.76e6 / 424
    for t, sharers in ((0.149, 3), (0.299, 2)):
        rest = line / (1 + 5 * sharers)
        assert result.series("macr").at(t) == pytest.approx(rest, rel=0.01)
        assert result.series("acr", vc="vc1").at(t) == pytest.approx(5 * rest, rel=0.01)
        assert result.series("utilization").mean(t - 0.04, t) == pytest.approx(1 - rest / line, rel=0.01)
    out = tmp_path / "out"
    given = f"phantom={tmp_path / 'phantom.py'}:Phantom"
    assert status(["run", str(tmp_path / "phantom.toml"), "--algorithm", given, "--out", str(out)]) == 0
    assert (out / "series" / "macr.parquet").exists()


def test_what_an_interval_counts_adds_up_and_connections_have_numbers() -> None:
    loads: list[Load] = []
    connected: list[tuple[int, float]] = []
    ports: list[str] = []

    class Watching(Silent):
        interval_cells = 100
        counts_vcs = True

        def __init__(self, port: Port) -> None:
            ports.append(port.name)
            self.here = port.name == "sw1->sw2"

        def on_connect(self, vc: int, pcr: float, mcr: float, weight: float) -> None:
            if self.here:
                connected.append((vc, pcr))

        def on_interval_end(self, load: Load) -> None:
            if self.here:
                loads.append(load)

    result = cellrate.run(transient(CUSTOM), algorithms={"mine": Watching})
    assert sorted(ports) == ["sw1->s1", "sw1->s2", "sw1->sw2", "sw2->d1", "sw2->d2", "sw2->sw1"]
    assert [vc for vc, _ in connected] == [0, 1]
    assert connected[0][1] == pytest.approx(155.52e6 / 424)
    assert all(load.abr_cells == sum(load.vc_cells) and load.end > load.start for load in loads)
    assert all(load.active == sum(cells > 0 for cells in load.vc_cells) for load in loads)
    came = result.port("sw1->sw2")["transmitted"] + result.series("queue", port="sw1->sw2").values[-1]
    # The last interval has not ended, and the last sample is a millisecond before the end.
    assert sum(load.abr_cells for load in loads) == pytest.approx(came, abs=600)
    assert result.summary["run"]["algorithms"] == {"mine": f"{__name__}.{Watching.__qualname__}"}
    assert "algorithms" not in cellrate.run(transient(BUILT_IN)).summary["run"]


def test_it_sees_what_has_come_since_the_interval_began_if_it_wants_to() -> None:
    seen: list[tuple[float, Running]] = []
    loads: list[Load] = []

    class Seeing(SwitchAlgorithm):
        interval = 5e-3
        sees_running = True

        def __init__(self, port: Port) -> None:
            self.here = port.name == "sw1->sw2"

        def on_forward_rm(self, now: float, vc: int, ccr: float) -> None:
            if self.here:
                seen.append((now, self.running))

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            if self.here:
                seen.append((now, self.running))
            return 100_000.0

        def on_interval_end(self, load: Load) -> None:
            if self.here:
                loads.append(load)

    cellrate.run(transient(CUSTOM.replace(', figures = ["z"]', "")), algorithms={"mine": Seeing})
    assert len(seen) > 1000
    for load in loads:
        within = [running for now, running in seen if load.start <= now < load.end]
        assert all(running.start == load.start for running in within)
        counts = [running.abr_cells for running in within]
        assert counts == sorted(counts)
        assert all(0 <= running.own_cells <= running.abr_cells <= load.abr_cells for running in within)
        assert all(running.active <= load.active and running.guaranteed_cells == 0 for running in within)
        if load.active == 1 and within:
            # FRMs are every 32nd cell: the last of the interval is not further from its end.
            assert load.abr_cells - counts[-1] <= 32
            assert all(running.own_cells == running.abr_cells for running in within if running.own_cells)
    assert {load.active for load in loads} >= {1, 2}


def test_a_sweep_over_its_parameters_runs_in_several_processes() -> None:
    class Constant(SwitchAlgorithm):
        def __init__(self, port: Port, rate: float) -> None:
            self.rate = rate

        def on_backward_rm(self, now: float, vc: int, queue: int) -> Feedback:
            return Feedback(er=self.rate)

    algorithm = 'algorithm = { type = "custom", name = "constant", parameters = { rate = 1.0 } }'
    sweep = '\n[[sweep]]\nset = "defaults.switch.algorithm.parameters.rate"\nvalues = [1000, 2000.0]\n'
    scenario = cellrate.Scenario.parse(transient(algorithm).toml + sweep)
    results = cellrate.sweep(scenario, workers=2, algorithms={"constant": Constant})
    assert [result.vc("vc1")["final_acr"] for result in results] == [1000.0, 2000.0]


def test_a_page_shows_the_figures_of_one_as_the_run_records_them() -> None:
    probe = '\n[[probe]]\nrecord = ["z"]\nof = ["sw1->sw2"]\nevery = "10 ms"\n'
    result, events = watched(transient(CUSTOM).toml + probe, speed=math.inf, algorithms={"mine": Erica})
    same(result, cellrate.run(cellrate.Scenario.parse(transient(BUILT_IN).toml + probe)))
    head = events[0][1]
    place = result.series_names.index(("z", "sw1->sw2"))
    assert [line["series"] for panel in head["panels"] if panel["axis"] == "z" for line in panel["lines"]] == [place]
    seen = [more["series"][str(place)] for name, more in events if name == "more" and str(place) in more["series"]]
    z = result.series("z")
    assert [t for times, _ in seen for t in times] == z.times_s.tolist()
    assert [value for _, values in seen for value in values] == z.values.tolist()
    # Two sources overload the line before they settle at what ERICA aims at.
    assert z.max() > 1.1
    assert z.at("400 ms") == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("method", ["on_connect", "on_forward_rm", "on_backward_rm", "on_interval_end", "figures"])
def test_what_it_raises_ends_the_run_and_comes_out_as_it_is(method: str) -> None:
    def fail(*_: object) -> None:
        raise ArithmeticError(f"in {method}")

    failing = type("Failing", (Silent,), {method: fail, "interval": 1e-3})
    scenario = cellrate.Scenario.parse(
        transient(CUSTOM).toml + '\n[[probe]]\nrecord = ["z"]\nof = ["sw1->sw2"]\nevery = "10 ms"\n'
    )
    for run in (cellrate.run, lambda *args, **options: cellrate.watch(*args, **options, wait=False, speed=1000.0)):
        with pytest.raises(ArithmeticError, match=f"in {method}"):
            run(scenario, algorithms={"mine": failing})


def test_ctrl_c_in_one_ends_the_run() -> None:
    class Stopped(Silent):
        def on_forward_rm(self, now: float, vc: int, ccr: float) -> None:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(cellrate.Interrupted):
        cellrate.run(transient(CUSTOM), algorithms={"mine": Stopped})


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"on_backward_rm": lambda *_: "fast"},
            "Bad.on_backward_rm gave 'fast', which is neither a rate nor a Feedback",
        ),
        ({"on_backward_rm": lambda *_: math.nan}, "Bad.on_backward_rm gave an ER of nan cells/s; it must be 0 or more"),
        ({"on_backward_rm": lambda *_: Feedback(er=-1.0)}, "gave an ER of -1.0 cells/s"),
        ({"on_backward_rm": lambda *_: "1000"}, "Bad.on_backward_rm gave '1000', which is neither"),
        ({"on_backward_rm": lambda *_: Feedback(er=True)}, "which is neither a rate"),
        ({"interval": "5 ms"}, "Bad.interval is '5 ms'; it must be a time in seconds"),
        ({"interval": 0.0}, "Bad.interval is 0.0; it must be a time in seconds, above 0, or None"),
        ({"interval_cells": 1.5}, "Bad.interval_cells is 1.5; it must be a whole number"),
        ({"on_interval_end": lambda *_: None}, "Bad has on_interval_end, but no interval ends"),
        ({"figures": lambda _: {"y": 1.0}}, "the scenario lists the figure 'z' of Bad, whose figures.. gives y"),
    ],
)
def test_what_it_may_not_do_is_said(members: dict[str, Any], message: str) -> None:
    bad = type("Bad", (Silent,), members)
    scenario = cellrate.Scenario.parse(
        transient(CUSTOM).toml + '\n[[probe]]\nrecord = ["z"]\nof = ["sw1->sw2"]\nevery = "10 ms"\n'
    )
    with pytest.raises(cellrate.CellrateError, match=message):
        cellrate.run(scenario, algorithms={"mine": bad})


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"on_backwards_rm": 0, "on_forward_rm": 0},
            "Bad has a method on_backwards_rm, .* did you mean on_backward_rm",
        ),
        ({"onBackwardRm": 0}, "did you mean on_backward_rm?"),
        (
            {"on_brm": 0},
            "Bad does nothing: it has no on_connect or on_forward_rm or .* of its own",
        ),
        ({"on_forwardrm": 0, "on_backward_rm": 0}, "did you mean on_forward_rm?"),
        ({"on_interval": 0, "on_backward_rm": 0}, "did you mean on_interval_end?"),
        ({"on_conect": 0, "on_backward_rm": 0}, "did you mean on_connect?"),
        ({"figure": 0, "on_backward_rm": 0}, "did you mean figures?"),
        ({"interval": 5e-3}, "Bad does nothing"),
    ],
)
def test_a_method_that_nothing_calls_is_told_from_the_one_that_was_meant(members: dict[str, Any], message: str) -> None:
    bad = type("Bad", (SwitchAlgorithm,), {name: value or (lambda *_: None) for name, value in members.items()})
    scenario = transient(CUSTOM.replace(', figures = ["z"]', ""))
    with pytest.raises(cellrate.CellrateError, match=message):
        cellrate.run(scenario, algorithms={"mine": bad})


def test_helpers_have_the_names_that_they_like() -> None:
    class Helped(SwitchAlgorithm):
        # Near the names of methods that it has itself, or of none.
        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return self.on_backward_rm_of(vc)

        def on_backward_rm_of(self, vc: int) -> float:
            return self.fair_share() + self.connected() + self.forward() + self.interval_of()

        def fair_share(self) -> float:
            return 1000.0

        def connected(self) -> int:
            return 0

        def forward(self) -> int:
            return 0

        def interval_of(self) -> int:
            return 0

        def _on_forward_rms(self) -> None:
            raise AssertionError

    scenario = transient(CUSTOM.replace(', figures = ["z"]', ""))
    assert cellrate.run(scenario, algorithms={"mine": Helped}).vc("vc1")["final_acr"] == 1000.0


def test_a_method_may_be_an_object_s_own() -> None:
    def make(port: Port) -> SwitchAlgorithm:
        one = Silent(port)
        one.on_backward_rm = lambda now, vc, queue: 1000.0  # type: ignore[method-assign]
        return one

    assert cellrate.run(transient(CUSTOM), algorithms={"mine": make}).vc("vc1")["final_acr"] == 1000.0


def test_a_run_says_which_algorithm_it_lacks_which_it_cannot_use_and_what_is_none() -> None:
    with pytest.raises(cellrate.CellrateError, match='custom algorithm "mine", which the run was not given; give it'):
        cellrate.run(transient(CUSTOM))
    with pytest.raises(cellrate.CellrateError, match=r'no port has a custom algorithm called "other"; .* mine'):
        cellrate.run(transient(CUSTOM), algorithms={"mine": Silent, "other": Silent})
    no_algorithm: Any = lambda _port: object()  # noqa: E731
    with pytest.raises(cellrate.CellrateError, match=r"given was <object object "):
        cellrate.run(transient(CUSTOM), algorithms={"mine": no_algorithm})
    with pytest.raises(
        cellrate.CellrateError, match=r'port sw1->.* is handed the parameter "gain" .*; Silent takes none$'
    ):
        cellrate.run(
            transient('algorithm = { type = "custom", name = "mine", parameters = { gain = 1 } }'),
            algorithms={"mine": Silent},
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mine", "write NAME=FILE.py:CLASS"),
        ("mine=nowhere.py:Mine", "there is no file nowhere.py"),
        ("mine=no_such_module:Mine", "No module named 'no_such_module'"),
        ("mine=FILE:Missing", 'has no "Missing"; algorithms in it: Mine'),
    ],
)
def test_the_command_line_says_what_is_wrong_with_an_algorithm(
    given: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, file = tmp_path / "own.py", tmp_path / "t.toml"
    module.write_text("import cellrate\n\n\nclass Mine(cellrate.SwitchAlgorithm):\n    pass\n")
    file.write_text(transient(CUSTOM).toml)
    assert status(["run", str(file), "--algorithm", given.replace("FILE", str(module))]) == 2
    assert message in capsys.readouterr().err
    twice = ["--algorithm", f"mine={module}:Mine", "--algorithm", f"mine={module}:Mine"]
    assert status(["run", str(file), *twice]) == 2
    assert '--algorithm gives "mine" twice' in capsys.readouterr().err
