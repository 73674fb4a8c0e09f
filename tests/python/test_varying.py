"""Sweeps asked for in Python and on the command line: the same points as `[[sweep]]` entries give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.sweeps.varying import varied
from conftest import PAIR, SWEEP

SCENARIO = cellrate.Scenario.parse(PAIR, file="pair.toml")

OVER: dict[str, Any] = {
    "defaults.abr.nrm": [8, 32],
    "defaults.link.length": ["10 km", "1000 km"],
    "defaults.switch.algorithm": ['{ type = "capc" }', {"type": "erica", "effective_number": True}],
    "defaults.abr.rif": [0.0625, "1/64", 3.0517578125e-5],
}

WRITTEN = (
    PAIR
    + """
[[sweep]]
set = "defaults.abr.nrm"
values = [8, 32]

[[sweep]]
set = "defaults.link.length"
values = ["10 km", "1000 km"]

[[sweep]]
set = "defaults.switch.algorithm"
values = [{ type = "capc" }, { type = "erica", effective_number = true }]

[[sweep]]
set = "defaults.abr.rif"
values = [0.0625, "1/64", 3.0517578125e-5]

[[sweep]]
set = "seed"
values = [7, 8, 9]
"""
)


def settings(scenario: cellrate.Scenario) -> list[dict[str, Any]]:
    return [point.set for point in scenario.points()]


def test_points_are_those_of_sweeps_in_the_file() -> None:
    asked = varied(SCENARIO, OVER, 3).points()
    written = cellrate.Scenario.parse(WRITTEN).points()
    assert [(point.set, point.scenario.hash) for point in asked] == [
        (point.set, point.scenario.hash) for point in written
    ]


def test_results_say_what_they_set_and_seeds_follow_that_of_the_scenario() -> None:
    results = cellrate.sweep(SCENARIO, over={"defaults.abr.nrm": [8, 32]}, seeds=2, workers=1)
    assert [result.set for result in results] == [
        {"defaults.abr.nrm": nrm, "seed": seed} for nrm in (8, 32) for seed in (7, 8)
    ]
    assert [result.summary["run"]["seed"] for result in results] == [7, 8, 7, 8]
    alone = cellrate.run(SCENARIO, set={"defaults.abr.nrm": 32, "seed": 8})
    assert alone.summary["run"]["hash"] == results[3].summary["run"]["hash"]
    assert [result.set["seed"] for result in cellrate.sweep(SCENARIO, seed=100, seeds=3, workers=1)] == [
        100,
        101,
        102,
    ]


def test_sweeps_of_the_scenario_vary_more_slowly() -> None:
    scenario = varied(cellrate.Scenario.parse(SWEEP), {"duration": ["1 ms", "2 ms"]}, None)
    assert settings(scenario)[:3] == [
        {"defaults.abr.nrm": 8, "duration": "1 ms"},
        {"defaults.abr.nrm": 8, "duration": "2 ms"},
        {"defaults.abr.nrm": 32, "duration": "1 ms"},
    ]


def test_values_may_be_any_that_settings_are() -> None:
    scenario = varied(SCENARIO, {"defaults.abr.nrm": np.array([8, 16]), "seed": range(3)}, None)
    assert settings(scenario)[-1] == {"defaults.abr.nrm": 16, "seed": 2}
    assert settings(varied(SCENARIO, {"name": ["inf", "8", "a b"]}, None)) == [
        {"name": "inf"},
        {"name": 8},
        {"name": "a b"},
    ]


def test_without_anything_to_vary_the_scenario_stays() -> None:
    assert varied(SCENARIO, None, None) is SCENARIO
    assert varied(SCENARIO, {}, None) is SCENARIO


@pytest.mark.parametrize(
    ("over", "seeds", "said"),
    [
        ({"defaults.abr.nrm": 8}, None, r"over defaults.abr.nrm: 8 is not a list of values; write one such as \[8, 32"),
        ({"defaults.abr.nrm": "[8, 16]"}, None, "is not a list of values"),
        ({"defaults.abr.nrm": []}, None, "over defaults.abr.nrm: the list is empty"),
        ({"defaults.abr.nrmm": [8]}, None, r'pair.toml with over:(?s:.*)Did you mean "nrm"\?'),
        ({"defaults.abr.nrm": ["many"]}, None, "pair.toml with over:42:11: .* a whole number is due here"),
        ({}, 0, "seeds is 0; it is the number of seeds, 1 or more"),
        ({}, 1.5, "seeds is 1.5; it is the number of seeds"),
        ({"seed": [1, 2]}, 3, "seeds is 3, but there is a sweep over seed already"),
        ({"seed": range(200), "defaults.abr.nrm": range(60)}, None, "more than 10000 combinations"),
    ],
)
def test_errors_name_the_keyword_and_what_there_may_be(over: dict[str, Any], seeds: Any, said: str) -> None:
    with pytest.raises(cellrate.CellrateError, match=said):
        cellrate.sweep(SCENARIO, over=over, seeds=seeds, workers=1)


def test_what_the_scenario_varies_itself_cannot_be_varied_again() -> None:
    with pytest.raises(cellrate.CellrateError, match=r"over defaults.abr.nrm: <text> sweeps over that itself"):
        varied(cellrate.Scenario.parse(SWEEP), {"defaults.abr.nrm": [8]}, None)


def test_a_value_of_no_kind_is_told_with_its_place() -> None:
    with pytest.raises(TypeError, match=r"defaults.abr.nrm\[1\] is set to None"):
        varied(SCENARIO, {"defaults.abr.nrm": [8, None]}, None)


def test_the_command_line_writes_what_a_sweep_of_the_file_writes(tmp_path: Path, pair_file: Path) -> None:
    asked = ["--sweep", "defaults.abr.nrm=[8, 32]", "--sweep", 'duration=["5 ms", "10 ms"]', "--seeds", "2"]
    assert status(["run", str(pair_file), *asked, "--out", str(tmp_path / "asked"), "--csv"]) == 0
    written = tmp_path / "written.toml"
    sweeps = {"defaults.abr.nrm": "[8, 32]", "duration": '["5 ms", "10 ms"]', "seed": "[7, 8]"}
    more = "".join(f'\n[[sweep]]\nset = "{path}"\nvalues = {values}\n' for path, values in sweeps.items())
    written.write_text(PAIR + more)
    assert status(["run", str(written), "--out", str(tmp_path / "written"), "--csv"]) == 0
    files = sorted(file.relative_to(tmp_path / "asked") for file in (tmp_path / "asked").rglob("*"))
    assert files == sorted(file.relative_to(tmp_path / "written") for file in (tmp_path / "written").rglob("*"))
    assert Path("point-008") in files

    def points(folder: str) -> list[Any]:
        found: list[Any] = json.loads((tmp_path / folder / "summary.json").read_text())["points"]
        return [{**point, "run": {**point["run"], "set_up_s": 0, "wall_s": 0, "cell_hops_per_s": 0}} for point in found]

    assert points("asked") == points("written")
    assert points("asked")[1]["set"] == {"defaults.abr.nrm": 8, "duration": "5 ms", "seed": 8}
    texts = [(tmp_path / of / "point-003" / "scenario.toml").read_text() for of in ("asked", "written")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sweep", "defaults.abr.nrm"], "--sweep defaults.abr.nrm: write a dotted path, = and a list of values"),
        (["--sweep", "defaults.abr.nrm=8"], "--sweep defaults.abr.nrm=8: this is not a list; write"),
        (["--sweep", "duration=[10 ms, 20 ms"], "such as defaults.abr.nrm=[8, 32] or duration=[1 s, 2 s]"),
        (["--sweep", "defaults.abr.nrm=[]"], "--sweep defaults.abr.nrm: the list is empty"),
        (
            ["--sweep", "defaults.abr.nrmm=[8]"],
            'with --sweep:41:7: sweep.1.set: there is no key "nrmm" in defaults.abr. Did you mean "nrm"?',
        ),
        (["--sweep", "seed=[8]", "--sweep", "seed=[9]"], "seed is swept over already"),
        (["--seeds", "0"], "--seeds is 0; it is the number of seeds, 1 or more"),
        (["--sweep", "seed=[8, 9]", "--seeds", "2"], "--seeds is 2, but there is a sweep over seed already"),
    ],
)
def test_errors_name_the_option(
    options: list[str], said: str, pair_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(pair_file), *options]) == 2
    assert said in capsys.readouterr().err
