"""Delays of cells: in time by the probes `delay` and `max_delay`, and as distributions in results and pictures."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import cellrate
from conftest import PAIR

CONTENDED = (
    PAIR
    + """
[[host]]
name = "c"

[[link]]
between = ["c", "sw"]

[[vc]]
name = "vc2"
path = ["c", "sw", "b"]
"""
)


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(CONTENDED), record=["delay", "max_delay"])


def test_probes_have_mean_and_largest_of_each_interval(result: cellrate.Result) -> None:
    for vc in ("vc1", "vc2"):
        row, received = result.vc(vc), result.series("received", vc=vc)
        mean, largest = result.series("delay", vc=vc), result.series("max_delay", vc=vc)
        # No probe says an interval, and the run takes 20 ms.
        assert (mean.interval_s, mean.unit, len(mean)) == (20e-6, "s", 1000)
        assert np.isnan(mean.values[0])
        assert np.isnan(largest.values[0])
        arrived = ~np.isnan(mean.values)
        assert np.all(largest.values[arrived] >= mean.values[arrived])
        assert mean.min() >= 10e-6
        assert received.values[-1] > 0
        assert largest.max() == row["max_delay_s"]
        assert mean.mean(0, 0.02) == pytest.approx(np.nanmean(mean.values))


def test_a_mean_of_intervals_is_that_of_all_cells() -> None:
    # Both at the same instants: each mean weighs as many cells as came.
    text = CONTENDED + '\n[[probe]]\nrecord = ["delay"]\nevery = "1 ms"\n'
    found = cellrate.run(cellrate.Scenario.parse(text))
    for vc in ("vc1", "vc2"):
        cells = np.diff(found.series("received", vc=vc).values)
        delays = found.series("delay", vc=vc).values[1:]
        came = cells > 0
        mean = float(np.sum(cells[came] * delays[came]) / np.sum(cells[came]))
        # The last millisecond is not in the series.
        assert mean == pytest.approx(found.vc(vc)["mean_delay_s"], rel=0.05)


def test_a_distribution_is_exact_at_its_steps_and_knows_its_resolution(result: cellrate.Result) -> None:
    assert set(result.delays) == {"vc1", "vc2"}
    for vc, delays in result.delays.items():
        row = result.vc(vc)
        assert int(delays.cells[-1]) == row["data_delivered"]
        assert delays.delays_s[-1] == delays.quantile(1.0) == row["max_delay_s"]
        assert delays.quantile(0.99) == pytest.approx(row["p99_delay_s"], rel=1 / 64)
        assert np.all(np.diff(delays.delays_s) > 0)
        assert np.all(np.diff(delays.cells.astype(np.int64)) > 0)
        assert delays.share(delays.delays_s[0]) == delays.shares[0]
        assert (delays.share("1 ns"), delays.share(1.0)) == (0.0, 1.0)
        with pytest.raises(ValueError, match="read-only"):
            delays.cells[0] = 0
    with pytest.raises(ValueError, match=r"share is 1.5; it must be from 0 to 1"):
        delays.quantile(1.5)


def test_a_distribution_is_of_the_time_that_is_measured() -> None:
    found = cellrate.run(cellrate.Scenario.parse(CONTENDED).set({"warm_up": "10 ms"}))
    assert int(found.delays["vc1"].cells[-1]) == found.vc("vc1")["data_delivered"]
    assert found.delays["vc1"].quantile(1.0) == found.vc("vc1")["max_delay_s"]


def test_distributions_cross_processes_and_folders(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", csv=True)
    for other in (cellrate.load(folder), pickle.loads(pickle.dumps(result))):
        assert list(other.delays) == list(result.delays)
        for vc, delays in other.delays.items():
            assert np.array_equal(delays.delays_s, result.delays[vc].delays_s)
            assert np.array_equal(delays.cells, result.delays[vc].cells)
    assert (folder / "delays.csv").read_text().startswith('"vc","delay_s","cells"')
    # The folder is one of cellrate's still, and is replaced.
    (folder / "delays.png").write_bytes(b"of an earlier version")
    result.write(folder, plots=False)
    assert not (folder / "delays.png").exists()


def test_a_run_without_series_has_its_delays_as_its_picture(tmp_path: Path) -> None:
    without = cellrate.run(cellrate.Scenario.parse(PAIR[: PAIR.index("[[probe]]")]))
    folder = without.write(tmp_path / "out")
    assert [path.name for path in folder.glob("*.png")] == ["delays.png"]
    assert not list(folder.glob("*.svg"))


def test_a_folder_with_the_delays_of_another_run_is_an_error(result: cellrate.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "one", plots=False)
    other = cellrate.run(cellrate.Scenario.parse(PAIR)).write(tmp_path / "other", plots=False)
    (other / "delays.parquet").write_bytes((folder / "delays.parquet").read_bytes())
    with pytest.raises(cellrate.CellrateError, match=r"delays.parquet is of another run than .*summary.json"):
        cellrate.load(other).delays  # noqa: B018
    # Results of earlier versions have none.
    (other / "delays.parquet").unlink()
    assert cellrate.load(other).delays == {}


def test_distributions_are_rows_of_tables(result: cellrate.Result) -> None:
    table = cellrate.tidy({"one": result}, "delays")
    assert table.column_names == ["result", "vc", "delay_s", "cells", "share"]
    assert table.num_rows == sum(map(len, result.delays.values()))


def test_distributions_are_drawn_each_with_its_line(result: cellrate.Result) -> None:
    (axes,) = result.plot_delays().axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["vc1", "vc2"]
    assert [line.get_ydata()[-1] for line in axes.lines] == [100.0, 100.0]  # type: ignore[index]
    with pytest.raises(cellrate.CellrateError, match=r"vc7 has no distribution of delays: .* are vc1, vc2"):
        result.plot_delays("vc7")


def test_delays_have_no_changes_to_record() -> None:
    text = PAIR + '\n[[probe]]\nrecord = ["delay"]\nevery = "change"\n'
    with pytest.raises(cellrate.ScenarioError, match="delay is of all cells since the last value and has no changes"):
        cellrate.run(cellrate.Scenario.parse(text))
