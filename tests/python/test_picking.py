"""One point of a sweep: run, watched, captured and drawn by its number or by what it sets; and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.sweeps.picking import place_of
from cellrate.watching import watch
from cellrate.watching.site import FOLDER
from conftest import PAIR, SWEEP

SWEPT = cellrate.Scenario.parse(SWEEP)
BARE = PAIR.split("[[probe]]")[0]
LISTED = "  1: defaults.abr.nrm = 8\n  2: defaults.abr.nrm = 32\n  3: defaults.abr.nrm = 256"


def test_a_point_is_meant_by_its_number_or_by_values() -> None:
    for point in (2, {"defaults.abr.nrm": 32}, {"nrm": 32}, {"nrm": "32"}):
        result = cellrate.run(SWEPT, point=point)
        assert result.set == {"defaults.abr.nrm": 32}
        assert "defaults.abr.nrm = 32" in repr(result)
    # A scenario that does not sweep is its only point.
    assert cellrate.run(cellrate.Scenario.parse(PAIR), point=1).set == {}


@pytest.mark.parametrize("point", [0, 4, -1])
def test_a_number_out_of_range_lists_the_points(point: int) -> None:
    with pytest.raises(cellrate.CellrateError) as raised:
        cellrate.run(SWEPT, point=point)
    assert str(raised.value) == f"there is no point {point}: <text> has 3 points, counted from 1:\n{LISTED}"


def test_settings_that_mean_no_point_or_several_list_them() -> None:
    with pytest.raises(cellrate.CellrateError, match=r"no point of <text> sets nrm = 9; there are\n  1: defaults"):
        cellrate.run(SWEPT, point={"nrm": 9})
    with pytest.raises(cellrate.CellrateError, match=r"does not sweep over mcr; it sweeps over defaults.abr.nrm"):
        cellrate.run(SWEPT, point={"mcr": 9})
    grid = [{"a.x": x, "b.x": y} for x in ("1", "2") for y in ("1", "2")]
    with pytest.raises(cellrate.CellrateError, match=r"2 points of it set a.x = 2; say more, or give a number:\n  3: "):
        place_of(grid, {"a.x": 2}, "it")
    assert place_of(grid, {"a.x": 2, "b.x": 1}, "it") == 2
    with pytest.raises(TypeError, match="point is a number, or settings"):
        place_of(grid, True, "it")


def test_all_points_are_listed_where_one_is_due() -> None:
    for call in (cellrate.run, watch, cellrate.live.live_run):
        with pytest.raises(cellrate.CellrateError, match=r"--point N\) picks one of them:\n  1: defaults.abr.nrm = 8"):
            call(SWEPT)


@pytest.mark.skipif(not (FOLDER / "page.js").is_file(), reason="the page has not been built here: make lab")
def test_a_point_can_be_watched() -> None:
    result = watch(SWEPT, point=3, record="delay", wait=False, speed=1e9, on_ready=lambda _: None)
    assert result.set == {"defaults.abr.nrm": 256}
    assert ("delay", "vc1") in result.series_names
    plain = cellrate.run(SWEPT, point=3, record="delay")
    assert plain.summary["vcs"] == result.summary["vcs"]


def test_the_command_line_runs_captures_and_draws_a_point(
    sweep_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(sweep_file), "--capture", str(tmp_path / "cells")]) == 2
    assert LISTED in capsys.readouterr().err
    out = tmp_path / "one"
    words = ["run", str(sweep_file), "--point", "nrm=32", "--out", str(out), "--capture", str(tmp_path / "cells")]
    assert status(words) == 0
    assert "defaults.abr.nrm = 32" in capsys.readouterr().out
    assert cellrate.load(out).summary["run"]["hash"] == SWEPT.points()[1].scenario.hash
    assert any((tmp_path / "cells").iterdir())
    assert status(["run", str(sweep_file), "--seeds", "2", "--point", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["seed"] == 8
    assert status(["run", str(sweep_file), "--point", "three"]) == 2
    assert "--point three: write a number, or a path" in capsys.readouterr().err


def test_a_stored_sweep_is_drawn_as_small_multiples_or_a_point_of_it(
    sweep_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "swept"
    # Points of a sweep keep distributions of delays where delays are recorded.
    assert status(["run", str(sweep_file), "--record", "delay", "--out", str(out), "--workers", "1"]) == 0
    for number, more in enumerate(
        (["--probe", "acr"], ["--point", "2"], ["--delays"], ["--point", "nrm=8", "--delays"])
    ):
        picture = tmp_path / f"{number}.svg"
        assert status(["plot", str(out), *more, "--out", str(picture)]) == 0
        assert picture.is_file()
    capsys.readouterr()
    assert status(["plot", str(out), "--point", "4"]) == 2
    assert LISTED in capsys.readouterr().err
    assert status(["show", str(out), "--point", "3"]) == 0
    assert "defaults.abr.nrm = 256" in capsys.readouterr().out


def test_small_multiples_have_a_panel_for_each_point_and_the_same_axes() -> None:
    from cellrate.plotting.each_point import figure

    results = [cellrate.run(SWEPT, point=point) for point in (1, 2, 3)]
    drawn = figure(results, ["acr", "queue"])
    panels = [axes for axes in drawn.axes if axes.get_visible()]
    assert len(panels) == 6
    assert [axes.get_title() for axes in panels[:3]] == ["nrm 8", "nrm 32", "nrm 256"]
    assert len({axes.get_ylim() for axes in panels[:3]}) == len({axes.get_xlim() for axes in panels}) == 1
    with pytest.raises(cellrate.NoSuchSeries, match="no point has a series rtt; the series are acr of vc1"):
        figure(results, ["rtt"])


def test_what_is_recorded_too_is_what_the_scenario_does_not_record_itself() -> None:
    scenario = cellrate.Scenario.parse(PAIR)
    assert scenario.record("acr", "queue").hash == scenario.hash
    more = scenario.record("delay", "source_queue")
    names = cellrate.run(more).series_names
    assert names == [*cellrate.run(scenario).series_names, ("delay", "vc1"), ("source_queue", "vc1")]
    # Of one of two VCs it records ACR already, at every change.
    two = cellrate.Scenario.parse(
        BARE + '[[vc]]\nname = "vc2"\npath = ["b", "sw", "a"]\n'
        '[[probe]]\nrecord = ["acr"]\nof = ["vc1"]\nevery = "change"\n'
    )
    result = cellrate.run(two, record="acr")
    assert [(series.entity, series.interval_s) for series in result.all_series("acr")] == [
        ("vc1", None),
        ("vc2", 20e-6),
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cwnd", "record 'cwnd': nothing in the scenario has cwnd. Only directions with traffic of type \"tcp\""),
        ("acrr", "record 'acrr': .*\"acr\""),
    ],
)
def test_what_nothing_has_cannot_be_recorded(name: str, said: str) -> None:
    with pytest.raises(cellrate.ScenarioError, match=said):
        cellrate.run(cellrate.Scenario.parse(PAIR), record=[name])


def test_a_plot_of_a_scenario_without_probes_records_the_usual_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bare.toml"
    file.write_text(BARE)
    out = tmp_path / "out"
    assert status(["run", str(file), "--plot", "--out", str(out)]) == 0
    assert "records nothing, so that acr and queue" in capsys.readouterr().err
    assert {probe for probe, _ in cellrate.load(out).series_names} >= {"acr", "queue"}
    assert (out / "plot.png").is_file()
    assert status(["run", str(file), "--plot", "--record", "delay, max_delay", "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    assert [probe for probe, _ in cellrate.load(out).series_names] == ["delay", "max_delay"]
    assert status(["run", str(file), "--record", "acr,,queue"]) == 2
    assert "--record acr,,queue: write names with commas" in capsys.readouterr().err


def test_values_of_points_are_values() -> None:
    text = PAIR + (
        '\n[[sweep]]\nset = "defaults.switch.algorithm"\nvalues = ['
        '{ type = "erica", interval = "1 ms" }, { type = "capc" }]\n'
        '\n[[sweep]]\nset = "duration"\nvalues = ["1 ms"]\n'
    )
    points = cellrate.Scenario.parse(text).points()
    expected: dict[str, Any] = {
        "defaults.switch.algorithm": {"type": "erica", "interval": "1 ms"},
        "duration": "1 ms",
    }
    assert points[0].set == expected
    # They go in again as they are.
    assert cellrate.Scenario.parse(PAIR).set(points[1].set).hash == points[1].scenario.hash
