"""Series of several runs in one figure: which lines there are, and what the legend says of them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import cellrate
from cellrate import NoSuchSeries, Result
from conftest import PAIR, swept


@pytest.fixture(scope="module")
def capc() -> Result:
    return cellrate.run(cellrate.Scenario.parse(PAIR), set={"defaults.switch.algorithm": {"type": "capc"}})


def legend(drawn: Figure, panel: int = 0) -> list[str]:
    found = drawn.axes[panel].get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def test_runs_have_a_line_each_under_their_names(result: Result, capc: Result) -> None:
    drawn = cellrate.plot({"ERICA": result, "CAPC": capc}, "utilization", entity="sw->b")
    assert legend(drawn) == ["ERICA", "CAPC"]
    assert drawn.axes[0].get_ylabel() == "sw->b\nutilization [%]"
    values = [np.asarray(line.get_ydata()).tolist() for line in drawn.axes[0].get_lines()[:2]]
    assert values[0] == [100 * value for value in result.series("utilization", port="sw->b").values]
    assert values[0] != values[1]


def test_lines_of_several_entities_say_which(result: Result) -> None:
    two_ways = cellrate.run(
        cellrate.Scenario.parse(PAIR + '\n[[probe]]\nrecord = ["queue"]\nof = ["sw->a"]\nevery = "1 ms"\n')
    )
    drawn = cellrate.plot({"one": result, "both": two_ways}, "queue")
    assert legend(drawn) == ["one: sw->b = both: sw->b", "both: sw->a"]
    assert drawn.axes[0].get_ylabel() == "queue [cells]"


def test_each_run_has_its_own_fair_share(result: Result, capc: Result) -> None:
    drawn = cellrate.plot({"ERICA": result, "CAPC": capc}, "acr")
    assert legend(drawn) == ["ERICA", "CAPC", "max-min of those that send"]
    dashed = [line for line in drawn.axes[0].get_lines() if line.get_linestyle() == "--"]
    levels = [float(np.asarray(line.get_ydata())[0]) for line in dashed if len(np.asarray(line.get_ydata()))]
    assert sorted(level / 155.52 for level in levels) == pytest.approx([0.9, 0.95])


def test_points_of_a_sweep_are_named_by_what_they_set() -> None:
    points = swept(("defaults.abr.nrm", "[8, 32]"), ("duration", '["10 ms", "20 ms"]'))
    drawn = cellrate.plot(points, "received", time=("5 ms", "1 s"))
    assert legend(drawn) == [f"nrm {nrm}, duration {duration}" for nrm in (8, 32) for duration in ("10 ms", "20 ms")]
    assert drawn.axes[0].get_xlim() == pytest.approx((0.005, 0.02))


def test_runs_that_nothing_tells_apart_have_numbers(result: Result) -> None:
    assert legend(cellrate.plot([result, result], "queue", entity="sw->b")) == ["run 1 = run 2"]


def test_a_single_run_is_drawn_as_by_itself(result: Result) -> None:
    alone = result.plot("acr", "queue")
    for given in (result, [result]):
        drawn = cellrate.plot(given, "acr", "queue")
        for panel in range(2):
            assert legend(drawn, panel) == legend(alone, panel)
            assert drawn.axes[panel].get_ylabel() == alone.axes[panel].get_ylabel()


def test_what_cannot_be_drawn_is_said(result: Result) -> None:
    with pytest.raises(ValueError, match="there are no results to draw"):
        cellrate.plot([])
    with pytest.raises(NoSuchSeries, match="no run has a series z; the series of these runs: acr of vc1, received of"):
        cellrate.plot([result], "acr", "z")
    with pytest.raises(NoSuchSeries, match="no run has a series acr of sw->b"):
        cellrate.plot([result], "acr", entity="sw->b")
    for folder in ("results/a", ["results/a"], {"a": "results/a"}):
        with pytest.raises(TypeError, match=r"a result is due, .* not 'results/a'"):
            cellrate.plot(folder)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="not 'results/a'"):
            cellrate.tidy(folder)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is nothing of a run"):
        cellrate.plot([result], "acr", time=(1.0, 2.0))
