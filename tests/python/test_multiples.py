"""Pictures of one figure of a campaign: over a key, as a map, as distributions, and the front of a tuning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate import CellrateError
from cellrate.campaigns.front import front
from cellrate.campaigns.tune import Trial, Tuned
from cellrate.command_line.main import status
from cellrate.plotting import multiples
from cellrate.sweeps.figures import Figure, Objective
from conftest import PAIR


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    scenario = cellrate.Scenario.parse(PAIR.replace('"20 ms"', '"5 ms"'))
    over: dict[str, list[object]] = {
        "defaults.abr.nrm": [32, 8],
        "defaults.abr.rif": ["1/16", "1/4"],
        "defaults.link.length": ["1 km", "10 km"],
    }
    cellrate.sweep(scenario, over=over, seeds=2, out=folder / "out", workers=1, progress=False)
    return folder / "out"


def test_a_map_has_the_mean_of_each_pair_of_values_in_its_cell(swept: Path) -> None:
    results = cellrate.load_sweep(swept)
    drawn = multiples.heat(results, "total vcs.throughput", ["nrm", "rif"], ["length"])
    panels = [axes for axes in drawn.axes if axes.get_images()]
    assert [axes.get_title() for axes in panels] == ["length = 1 km", "length = 10 km"]
    # Values stand by size, whatever their order in the sweep.
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["8", "32"]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["1/16", "1/4"]
    wanted = [
        sum(row["throughput_bps"] for row in result.summary["vcs"]) / 1e6
        for result in results
        if (result.set["defaults.abr.nrm"], result.set["defaults.abr.rif"], result.set["defaults.link.length"])
        == (8, "1/4", "10 km")
    ]
    assert np.asarray(panels[1].get_images()[0].get_array())[1, 0] == pytest.approx(np.mean(wanted))
    assert drawn.axes[-1].get_ylabel() == "throughput, total of VCs [Mbps]"


def test_a_distribution_has_every_connection_of_every_point(swept: Path) -> None:
    results = cellrate.load_sweep(swept)
    drawn = multiples.distribution(results, "vcs.p99_delay", "nrm", ["rif", "length"])
    assert len(drawn.axes) == 4
    values = [row["p99_delay_s"] * 1e3 for result in results for row in result.summary["vcs"] if row["data_sent"]]
    held = sum(np.asarray(line.get_xdata()).size - 1 for axes in drawn.axes for line in axes.get_lines())
    assert held == len(values)
    assert "p99 delay, each VC [ms]" in drawn.get_supxlabel()


def test_a_figure_over_a_key_has_panels_for_two_more(swept: Path) -> None:
    drawn = multiples.over(cellrate.load_sweep(swept), "ports.max_queue", "nrm", ["rif", "length"])
    assert [axes.get_title() for axes in drawn.axes] == [
        f"rif = {rif}, length = {length}" for length in ("1 km", "10 km") for rif in ("1/16", "1/4")
    ]
    assert drawn.get_supylabel() == "max queue, largest of ports [cells]"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--heat", "rif,nrm"], "--figure needs one of --over, --heat and --distribution"),
        (["--figure", "vcs.throughput"], "--figure needs one of"),
        (["--figure", "vcs.throughput", "--heat", "rif"], "a map has two keys, not 1"),
        (["--figure", "vcs.throughput", "--over", "icr"], "icr names none of the keys that were varied"),
        (["--figure", "vcs.throughput", "--over", "rif", "--by", "rif"], "a key is given twice"),
        (["--figure", "vcs.nothing", "--over", "rif"], "rows of vcs have no nothing"),
        (["--figure", "vcs.throughput", "--over", "rif", "--entity", "vc1"], "--entity is for series"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    swept: Path, given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(swept), *given]) == 2
    assert said in capsys.readouterr().err


def test_the_command_draws_each_kind(swept: Path, tmp_path: Path) -> None:
    for kind in (["--heat", "rif,nrm"], ["--over", "rif", "--by", "nrm"], ["--distribution", "length"]):
        picture = tmp_path / f"{kind[0].strip('-')}.png"
        assert status(["plot", str(swept), "--figure", "vcs.throughput", *kind, "--out", str(picture)]) == 0
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_figure_is_shown_in_the_unit_of_people() -> None:
    summary = {"vcs": [{"vc": "a", "data_sent": 1, "throughput_bps": 2e6, "p99_delay_s": 0.5}]}
    shown = Figure.read("mean vcs.p99_delay")
    assert (shown.said(shown.values(summary)[""]), shown.axis) == ("500.000", "p99 delay, mean of VCs [ms]")
    with pytest.raises(CellrateError, match="is not a figure"):
        Figure.read("some of vcs.throughput")


def test_the_front_has_a_panel_for_each_two_objectives() -> None:
    trials = [Trial({"a.rif": f"1/{4**n}"}, [n * 1e6, -n, n % 2], float(n == 3)) for n in range(4)]
    tuned = Tuned(trials[:2], trials[0], None, 4, None, tried=trials)
    objectives = [
        Objective.read(text) for text in ("max vcs.throughput", "min ports.max_queue", "max least vcs.mean_acr")
    ]
    drawn = front(tuned, objectives, "title")
    x, y, z = "throughput, total of VCs [Mbps]", "max queue, largest of ports [cells]", "mean ACR, least of VCs [Mbps]"
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in drawn.axes] == [(x, y), (x, z), (y, z)]
    tried = [line for line in drawn.axes[0].get_lines() if line.get_label() == "tried"]
    # In the unit of the axis.
    assert sorted(np.asarray(tried[0].get_xdata()).tolist()) == [0.0, 1.0, 2.0]


def test_categories_are_points_that_no_line_joins() -> None:
    scenario = cellrate.Scenario.parse(PAIR.replace('"20 ms"', '"2 ms"'))
    kinds = ["erica", "capc"]
    results = cellrate.sweep(scenario, over={"defaults.switch.algorithm": kinds, "defaults.abr.nrm": [8, 32]})
    for key, style in (("algorithm", "None"), ("nrm", "-")):
        drawn = multiples.over(results, "ports.max_queue", key)
        means = [line for line in drawn.axes[0].get_lines() if line.get_marker() == "o"]
        assert [line.get_linestyle() for line in means] == [style]
    labels = multiples.heat(results, "ports.max_queue", ["algorithm", "nrm"]).axes[0].get_xticklabels()
    assert [(label.get_text(), label.get_rotation()) for label in labels] == [("erica", 30), ("capc", 30)]


def test_panels_of_a_study_are_called_by_their_scenarios_and_its_picture_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    short = PAIR.replace('"20 ms"', '"2 ms"')
    for name in ("pair", "other"):
        Path(f"{name}.toml").write_text(short.replace('"pair"', f'"{name}"'))
    over = "defaults.abr.nrm=[8, 32]"
    assert status(["run", "pair.toml", "other.toml", "--sweep", over, "--out", "study", "--workers", "1"]) == 0
    assert status(["plot", "study", "--figure", "ports.max_queue", "--over", "nrm", "--out", "study.svg"]) == 0
    text = Path("study.svg").read_text()
    assert "<!-- other -->" in text
    assert "<!-- scenario = other -->" not in text
    capsys.readouterr()
    assert status(["plot", "study"]) == 0
    assert "Plot: study.png" in capsys.readouterr().out
    assert not Path("pair.png").exists()
