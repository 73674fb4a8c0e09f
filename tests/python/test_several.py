"""Studies of several scenarios, names without quotes, and several folders of results in one table or picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import cellrate
from cellrate.campaigns.manifest import Manifest
from cellrate.campaigns.sweep import Runs, Sweep
from cellrate.command_line.options import lists_of
from cellrate.errors import CellrateError, ScenarioError
from cellrate.plotting.sweeps.layout import Parameter, layout_of
from cellrate.sweeps.overview import Overview
from cellrate.sweeps.settings import labels_of, named
from conftest import PAIR, command

SHORT = PAIR.replace('"20 ms"', '"2 ms"')
OTHER = SHORT.replace('name = "pair"', 'name = "other"').replace('"155.52 Mbps"', '"51.84 Mbps"')

OWN = """
import cellrate


class Mine(cellrate.SwitchAlgorithm):
    def on_backward_rm(self, now, vc, queue):
        return 1e5
"""


def both() -> list[cellrate.Scenario]:
    return [cellrate.Scenario.parse(text, file=f"{number}.toml") for number, text in enumerate((SHORT, OTHER))]


def test_a_study_has_the_points_of_each_scenario_with_its_name() -> None:
    results = cellrate.sweep(both(), over={"defaults.abr.nrm": [8, 32]}, seeds=2)
    assert [list(result.settings.items()) for result in results] == [
        [("scenario", name), ("defaults.abr.nrm", nrm), ("seed", seed)]
        for name in ("pair", "other")
        for nrm in ("8", "32")
        for seed in ("7", "8")
    ]
    assert [result.run["scenario"] for result in results[::4]] == ["pair", "other"]
    alone = cellrate.sweep(both()[1], over={"defaults.abr.nrm": [8, 32]}, seeds=2)
    assert [one.run["hash"] for one in results[4:]] == [one.run["hash"] for one in alone]
    assert cellrate.tidy(results, "ports").column_names[:3] == ["scenario", "defaults.abr.nrm", "seed"]
    means = cellrate.tidy(results, "run", over_seeds=True).to_pylist()
    assert [(row["scenario"], row["defaults.abr.nrm"]) for row in means] == [
        (name, nrm) for name in ("pair", "other") for nrm in (8, 32)
    ]


def test_results_in_memory_show_their_table() -> None:
    results = cellrate.sweep(both())
    assert isinstance(results, Runs)
    assert repr(results) == "<Runs: pair, other: 2 points>"
    assert "<table" in results._repr_html_()
    assert "other" in results._repr_html_()


def test_names_tell_files_of_one_name_apart(tmp_path: Path) -> None:
    files = [tmp_path / folder / "net.toml" for folder in ("near", "far")]
    for file, text in zip(files, (SHORT, OTHER), strict=True):
        file.parent.mkdir()
        file.write_text(text.replace('"other"', '"pair"'))
    results = cellrate.sweep(files)
    assert [result.settings["scenario"] for result in results] == ["near/net.toml", "far/net.toml"]
    # The names of a study count in the rows of runs, too.
    assert cellrate.tidy(results, "run")["scenario"].to_pylist() == ["near/net.toml", "far/net.toml"]
    with pytest.raises(CellrateError, match=r"near/net.toml is given twice; give each scenario once"):
        cellrate.sweep([files[0], files[0]])
    variants = {"whole": cellrate.Scenario.load(files[0]), "10": cellrate.Scenario.load(files[0]).set({"seed": 9})}
    assert [result.settings["scenario"] for result in cellrate.sweep(variants)] == ["whole", "10"]
    assert cellrate.tidy(cellrate.sweep(variants), "ports")["scenario"].to_pylist()[-1] == "10"
    with pytest.raises(CellrateError, match="there is no scenario to run"):
        cellrate.sweep([])


def test_a_study_in_a_folder_grows_and_says_what_it_keeps(tmp_path: Path) -> None:
    out = tmp_path / "study"
    cellrate.sweep(both()[:1], over={"defaults.abr.nrm": [8, 32]}, out=out)
    assert "scenarios" not in json.loads((out / "campaign.json").read_text())
    before = {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    study = cellrate.sweep(both(), over={"defaults.abr.nrm": [8, 32]}, out=out)
    assert before < {file.stat().st_ino for file in out.glob("point-*/summary.json")}
    assert list(json.loads((out / "campaign.json").read_text())["scenarios"]) == ["pair", "other"]
    assert isinstance(study, Sweep)
    assert study.tidy("run")["scenario"].to_pylist() == ["pair", "pair", "other", "other"]
    again = cellrate.load_sweep(out)
    assert [one.settings for one in again] == [one.settings for one in study]
    with pytest.warns(RuntimeWarning, match="2 of the scenario 'pair', which is not asked for now"):
        cellrate.sweep({"other": both()[1], "third": both()[1].set({"seed": 3})}, out=out)


@pytest.mark.parametrize("scenarios", [[], "pair", {"pair": 3}])
def test_a_manifest_whose_scenarios_are_no_texts_is_refused(tmp_path: Path, scenarios: object) -> None:
    out = tmp_path / "study"
    cellrate.sweep(both(), out=out)
    content = json.loads((out / "campaign.json").read_text())
    (out / "campaign.json").write_text(json.dumps({**content, "scenarios": scenarios}))
    with pytest.raises(CellrateError, match=r"campaign\.json is not a manifest of a campaign: scenarios"):
        Manifest.read(out)


def test_scenarios_that_vary_different_keys_have_all_of_them_in_one_table() -> None:
    more = '\n[[sweep]]\nset = "defaults.abr.nrm"\nvalues = [8, 32]\n'
    results = cellrate.sweep([cellrate.Scenario.parse(SHORT + more, file="a.toml"), both()[1]])
    for order in (results, results[::-1]):
        rows = {row.settings for row in Overview.of(order).rows}
        assert rows == {("pair", "8"), ("pair", "32"), ("other", "as it is")}
    from cellrate.plotting.sweeps import figure

    assert figure(results) is not None
    # Networks have no mean in common.
    assert Overview.of(results, ["nrm"]).paths == ["scenario", "defaults.abr.nrm"]


def parameters(sizes: Mapping[str, int]) -> list[Parameter]:
    return [Parameter.of(path, path, [f"{path}{one}" for one in range(size)]) for path, size in sizes.items()]


@pytest.mark.parametrize(
    ("sizes", "axis", "lines", "columns"),
    [
        ({"scenario": 5}, "scenario", None, None),
        ({"scenario": 5, "nrm": 2}, "nrm", None, "scenario"),
        ({"scenario": 5, "nrm": 2, "rif": 3}, "rif", "nrm", "scenario"),
    ],
)
def test_each_scenario_has_its_panels(
    sizes: Mapping[str, int], axis: str, lines: str | None, columns: str | None
) -> None:
    layout = layout_of(parameters(sizes), 1)
    assert [None if one is None else one.path for one in (layout.axis, layout.lines, layout.columns)] == [
        axis, lines, columns,
    ]  # fmt: skip


def test_the_command_runs_several_scenarios_into_one_table(tmp_path: Path) -> None:
    for name, text in (("pair", SHORT), ("other", OTHER)):
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "own.py").write_text(OWN)
    swept = ["--sweep", 'defaults.switch.algorithm=[erica+, mine, {type="erica", interval="1 ms"}]']
    own = ["--algorithm", "mine=own.py:Mine"]
    ran = command("run", "pair.toml", "other.toml", *swept, *own, "--seeds", "2", "--out", "study", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("pair, other: 12 points\n")
    rows = [line.split()[:3] for line in ran.stdout.splitlines() if line.strip().startswith(("pair ", "other "))]
    kinds = ("erica+", "mine", "erica")
    assert rows == [[name, kind, "2"] for name in ("pair", "other") for kind in kinds]
    csv = command("show", "study", "--csv", cwd=tmp_path).stdout.splitlines()
    assert [line.split(",")[:2] for line in csv[1:3]] == [["pair", "erica+"], ["pair", "mine"]]
    by = command("show", "study", "--by", "algorithm", cwd=tmp_path).stdout
    assert [line.split()[:2] for line in by.splitlines() if " mine " in line] == [["pair", "mine"], ["other", "mine"]]
    for more in ([], ["--figure", "ports.max_queue", "--over", "algorithm"]):
        assert command("plot", "study", *more, "--out", "study.png", cwd=tmp_path).returncode == 0
    picked = command("run", "pair.toml", "other.toml", "--point", "scenario=other", cwd=tmp_path)
    assert picked.stdout.startswith("other  scenario = other\n")


def test_several_folders_are_one_table_and_one_picture(tmp_path: Path) -> None:
    for name, one in zip(("a", "b"), both(), strict=True):
        cellrate.sweep(one, over={"defaults.abr.nrm": [8, 32]}, out=tmp_path / name)
    shown = command("show", "a", "b", "--csv", cwd=tmp_path).stdout.splitlines()
    assert [line.split(",")[:2] for line in shown] == [
        ["result", "defaults.abr.nrm"], ["a", "8"], ["a", "32"], ["b", "8"], ["b", "32"],
    ]  # fmt: skip
    assert command("plot", "a", "b", "--out", "both.png", cwd=tmp_path).returncode == 0
    said = command("show", "a", "./a", cwd=tmp_path)
    assert said.returncode != 0
    assert "a is given twice; give each folder of results once" in said.stderr


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[100ms, 200 ms]", ["100ms", "200 ms"]),
        ("[erica+, phantom,]", ["erica+", "phantom"]),
        ('[8, 1/16, "1 s", 2 s]', [8, "1/16", "1 s", "2 s"]),
        ('[{ type = "a,b", x = [1, 2] }, plain]', [{"type": "a,b", "x": [1, 2]}, "plain"]),
        ("[]", []),
    ],
)
def test_a_list_needs_no_quotes(text: str, values: list[object]) -> None:
    assert lists_of([f"a.b={text}"]) == {"a.b": values}


@pytest.mark.parametrize("text", ["8", "[8", "[a,,b]", "[,]", "[a]]", '["a]', "[{a]", "[ ] ]"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="this is not a list; write a dotted path"):
        lists_of([f"a.b={text}"])


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (['{ type = "custom", name = "mine" }', '{ type = "erica" }'], ["mine", "erica"]),
        (
            [f'{{ type = "custom", name = "{one}", parameters = {{ k = {k} }} }}' for one, k in [("a", 1), ("a", 2)]],
            ["a, parameters.k 1", "a, parameters.k 2"],
        ),
    ],
)
def test_what_is_custom_goes_by_its_own_name(texts: Sequence[str], labels: Sequence[str]) -> None:
    assert list(labels_of(texts).values()) == labels


def test_many_scenarios_are_counted_in_a_heading() -> None:
    settings = [{"scenario": str(number)} for number in range(5)]
    assert named({"run": {"scenario": "first"}}, settings) == "5 scenarios: 5 points"
