"""Searches for the last value that holds, and tuning for objectives, within what TM 4.0 can signal."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

import cellrate
from cellrate import CellrateError
from cellrate.campaigns.ranges import Range
from cellrate.campaigns.search import search
from cellrate.campaigns.sweep import Sweep
from cellrate.command_line.main import status
from cellrate.running.points import Point
from cellrate.sweeps.figures import Criterion
from conftest import PAIR

SCENARIO = cellrate.Scenario.parse(PAIR)


def pretended(figure: Callable[[dict[str, str]], float]) -> Callable[[Sequence[Point]], Sweep]:
    """Give what runs points as if a result had one figure, which hangs on what was set."""

    def run(points: Sequence[Point]) -> Sweep:
        results = []
        for scenario, settings in points:
            row = {"port": "sw->b", "max_queue": figure(dict(settings))}
            results.append(cellrate.Result({"ports": [row]}, dict(settings), scenario.toml, "", {}))
        return cast(Sweep, results)

    return run


def nrm(settings: dict[str, str]) -> float:
    return float(settings["defaults.abr.nrm"])


@pytest.mark.parametrize(
    ("border", "largest", "beyond"), [(32, "32", "64"), (2, "2", "4"), (255, "128", "256"), (999, "256", None)]
)
def test_the_largest_value_that_holds_is_found_among_those_that_can_be_signalled(
    border: int, largest: str, beyond: str | None
) -> None:
    criteria = [Criterion.read(f"ports.max_queue <= {border}")]
    answer = search(SCENARIO, Range.read("defaults.abr.nrm=2..256"), criteria, pretended(nrm))
    assert (answer.value, answer.beyond, answer.monotonic) == (largest, beyond, True)


def test_the_smallest_is_found_too_and_none_is_said() -> None:
    over = Range.read("defaults.abr.nrm=2..256")
    answer = search(SCENARIO, over, [Criterion.read("ports.max_queue > 20")], pretended(nrm), smallest=True)
    assert (answer.value, answer.beyond) == ("32", "16")
    answer = search(SCENARIO, over, [Criterion.read("ports.max_queue > 999")], pretended(nrm))
    assert answer.value is None
    assert str(answer).startswith("For no value of defaults.abr.nrm that was tried (2, 4, ")


def test_a_rate_is_found_to_the_tolerance() -> None:
    over = Range.read("vc.vc1.pcr=10 Mbps..110 Mbps")
    rate = pretended(lambda settings: float(settings["vc.vc1.pcr"].removesuffix(" Mbps")))
    answer = search(SCENARIO, over, [Criterion.read("ports.max_queue < 33.3")], rate)
    assert answer.value is not None
    assert answer.beyond is not None
    low, high = (float(text.removesuffix(" Mbps")) for text in (answer.value, answer.beyond))
    assert low < 33.3 <= high
    assert high - low <= 1.0


def test_several_borders_are_told() -> None:
    held = {"4", "8", "64"}
    run = pretended(lambda settings: float(settings["defaults.abr.nrm"] in held))
    answer = search(SCENARIO, Range.read("defaults.abr.nrm=2..256"), [Criterion.read("ports.max_queue == 1")], run)
    assert (answer.value, answer.monotonic) == ("64", False)
    assert "What holds has several borders, of which this is the last one: 2 does not, 4 holds" in str(answer)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("defaults.abr.nrm", "write a dotted path, = and two values with .. between"),
        ("defaults.abr.nrm=3..256", "3 cannot be signalled .TM 4.0.; there are 2, 4, 8, 16, 32, 64, 128, 256"),
        ("defaults.abr.nrm=256..2", "the first value must be the lower one"),
        ("defaults.abr.rif=0.3..1", "0.3 cannot be signalled"),
        ("defaults.abr.adtf=1 ms..1 s", "ADTF is signalled from 10 ms to 10.23 s"),
        ("vc.vc1.pcr=1 Mbps..20 kbps", "write both values with the same unit"),
        ("vc.vc1.pcr=10 Mbps..1 Mbps", "the first value must be the lower one"),
    ],
)
def test_a_range_that_is_none_is_said(text: str, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        Range.read(text)


def test_ranges_have_what_can_be_signalled() -> None:
    assert Range.read("defaults.abr.rif=1/64..1").values == ["1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1"]
    assert Range.read("vc.v.abr.rdf=1/32768..1/16384").values == ["1/32768", "1/16384"]
    assert Range.read("defaults.abr.adtf=10 ms..30 ms").values == ["10 ms", "20 ms", "30 ms"]
    assert Range.read("defaults.abr.trm=50 ms..100 ms").values == ["50 ms", "100 ms"]
    assert [Range.read("defaults.abr.tbe=100 cells..1100 cells").at(share) for share in (0, 0.25, 1)] == [
        "100 cells", "350 cells", "1100 cells",
    ]  # fmt: skip


def test_the_command_searches_and_keeps_what_it_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    call = ["search", str(tmp_path / "pair.toml"), "--vary", "vc.vc1.abr.pcr=10 Mbps..90 Mbps", "--workers", "1"]
    call += ["--such-that", "vcs.throughput < 40 Mbps", "--out", str(tmp_path / "out"), "--json"]
    assert status(call) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["monotonic"]
    # Of 32 cells one is an RM cell: 40 Mbps of data are a PCR of 41.3 Mbps.
    assert 40 < float(found["value"].split()[0]) < 42.2
    assert len(cellrate.load_sweep(tmp_path / "out")) == len(found["tried"])
    before = {file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")}
    assert status(call) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert before == {file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")}


OTHER = PAIR.replace('name = "pair"', 'name = "other"')


def test_of_several_scenarios_a_value_holds_where_it_holds_in_each() -> None:
    scenarios = [SCENARIO, cellrate.Scenario.parse(OTHER, file="other.toml")]
    borders = {"pair": 128, "other": 32}

    def over_its_border(settings: dict[str, str]) -> float:
        return nrm(settings) - borders[settings["scenario"]]

    over, criteria = Range.read("defaults.abr.nrm=2..256"), [Criterion.read("ports.max_queue <= 0")]
    answer = search(scenarios, over, criteria, pretended(over_its_border))
    assert (answer.value, answer.beyond, answer.monotonic) == ("32", "64", True)
    assert str(answer) == "defaults.abr.nrm = 32; 64 does not hold in other."
    assert {name: tried.holds for name, tried in answer.scenarios["128"].items()} == {"pair": True, "other": False}
    # What is worst is told of each by itself, over its seeds.
    assert {name: tried.figures for name, tried in answer.scenarios["64"].items()} == {"pair": [-64], "other": [32]}
    with_seeds = search(scenarios, over, criteria, pretended(over_its_border), seeds=3)
    assert with_seeds == answer
    named = search(dict(zip("xy", scenarios, strict=True)), over, criteria, pretended(lambda settings: nrm(settings)))
    assert list(named.scenarios["2"]) == ["x", "y"]


def test_the_command_searches_in_several_and_shows_a_row_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "pair.toml", tmp_path / "other.toml"]
    for file, text in zip(files, (PAIR, OTHER.replace("155.52 Mbps", "77.76 Mbps")), strict=True):
        file.write_text(text)
    call = ["search", *map(str, files), "--vary", "vc.vc1.abr.pcr=10 Mbps..90 Mbps", "--workers", "1"]
    call += ["--such-that", "ports.utilization < 60 %", "--out", str(tmp_path / "out")]
    assert status(call) == 0
    told = capsys.readouterr().out
    assert "does not hold in other." in told
    rows = [line.split() for line in told.splitlines() if line.split()[2:3] in (["pair"], ["other"])]
    assert {row[2] for row in rows} == {"pair", "other"}
    assert len({row[0] for row in rows}) * 2 == len(rows)
    assert status([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["tried"]) * 2 == len(rows)
    held = {value: {name: one["holds"] for name, one in each.items()} for value, each in found["scenarios"].items()}
    assert held[found["value"]] == {"pair": True, "other": True}
    assert held[found["beyond"]] == {"pair": True, "other": False}
    study = cellrate.load_sweep(tmp_path / "out")
    assert {one.settings["scenario"] for one in study} == {"pair", "other"}


def test_a_key_that_one_scenario_lacks_is_said_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "pair.toml", tmp_path / "other.toml"]
    for file, text in zip(files, (PAIR, OTHER.replace('"vc1"', '"vc9"')), strict=True):
        file.write_text(text)
    call = ["search", *map(str, files), "--vary", "vc.vc1.abr.pcr=10 Mbps..90 Mbps"]
    assert status([*call, "--such-that", "ports.dropped == 0", "--out", str(tmp_path / "out")]) == 2
    assert "other cannot have vc.vc1.abr.pcr = 10 Mbps" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    call[0] = "tune"
    assert status([*call, "--objective", "max vcs.throughput"]) == 2
    assert "a scenario is tuned by itself" in capsys.readouterr().err


SLOW = PAIR.replace('"20 ms"', '"10 ms"')


def test_tuning_finds_what_is_better_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna")
    (tmp_path / "slow.toml").write_text(SLOW.replace("[defaults]", '[defaults]\nabr = { icr = "1 Mbps", nrm = 2 }'))
    call = ["tune", str(tmp_path / "slow.toml"), "--vary", "defaults.abr.nrm=2..256", "--trials", "8", "--seeds", "2"]
    call += ["--objective", "max total vcs.throughput", "--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    assert status(call) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["trials"], found["better"]) == (8, True)
    tuned = cellrate.Scenario.load(tmp_path / "out-tuned.toml")
    assert str(tuned.to_dict()["defaults"]["abr"]["nrm"]) == found["winner"]["settings"]["defaults.abr.nrm"] != "2"
    means = found["unseen_seeds"]
    assert means["winner"][0]["mean"] - means["scenario"][0]["mean"] == pytest.approx(means["difference"][0]["mean"])
    before = {file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")}
    assert status(call) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert before == {file.stat().st_ino for file in tmp_path.glob("out/point-*/summary.json")}


def test_of_objectives_that_conflict_a_trial_of_the_front_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna")
    (tmp_path / "slow.toml").write_text(SLOW.replace("[defaults]", '[defaults]\nabr = { icr = "1 Mbps", nrm = 8 }'))
    call = ["tune", str(tmp_path / "slow.toml"), "--vary", "defaults.abr.nrm=2..256", "--trials", "5", "--seeds", "1"]
    call += ["--objective", "max total vcs.throughput", "--objective", "min total vcs.throughput", "--workers", "1"]
    call += ["--out", str(tmp_path / "out"), "--json"]
    assert status(call) == 0
    found = json.loads(capsys.readouterr().out)
    front = [trial["settings"] for trial in found["front"]]
    # Each trial is on the front, the scenario as it is among them: nothing is better than it in both.
    assert {} in front
    assert not found["better"]
    # The largest Nrm, and so the most data, comes first.
    for number in (1, len(front)):
        assert status([*call, "--pick", str(number)]) == 0
        picked = json.loads(capsys.readouterr().out)
        assert picked["winner"]["settings"] == front[number - 1]
        tuned = cellrate.Scenario.load(tmp_path / "out-tuned.toml").to_dict()
        assert str(tuned["defaults"]["abr"]["nrm"]) == front[number - 1].get("defaults.abr.nrm", "8")
        assert picked["trades"] == (front[number - 1] != {})
    assert status([*call, "--pick", str(len(front) + 1)]) == 2
    assert f"there is no trial {len(front) + 1} to pick: the front has {len(front)}" in capsys.readouterr().err


def test_constraints_that_nothing_keeps_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    (tmp_path / "slow.toml").write_text(SLOW)
    call = ["tune", str(tmp_path / "slow.toml"), "--vary", "defaults.abr.nrm=2..4", "--trials", "3", "--seeds", "1"]
    call += ["--objective", "max vcs.throughput", "--subject-to", "ports.max_queue < 0", "--workers", "1"]
    assert status([*call, "--out", str(tmp_path / "out")]) == 1
    assert "none of 3 trials keeps the constraints" in capsys.readouterr().err


def test_a_search_shows_what_was_tried_when_nothing_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    call = ["search", str(tmp_path / "pair.toml"), "--vary", "vc.vc1.abr.pcr=10 Mbps..90 Mbps", "--workers", "1"]
    call += ["--such-that", "abr vcs.throughput >= 2 Gbps", "--such-that", "ports.max_queue <= 2000 cells"]
    assert status([*call, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().out
    assert "throughput" in told
    assert "total of ABR VCs" in told
    assert "For no value of vc.vc1.abr.pcr that was tried" in told
    (row,) = [line.split() for line in told.splitlines() if line.startswith(" 90 Mbps")]
    # 31 of 32 cells are data.
    assert 80 < float(row[2]) < 90
    assert row[-1] == "no"


def test_a_criterion_of_another_dimension_ends_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    call = ["search", str(tmp_path / "pair.toml"), "--vary", "vc.vc1.abr.pcr=10 Mbps..90 Mbps"]
    assert status([*call, "--such-that", "ports.max_queue <= 9 Mbps", "--out", str(tmp_path / "out")]) == 2
    assert "ports.max_queue: '9 Mbps' is not a number of cells" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
