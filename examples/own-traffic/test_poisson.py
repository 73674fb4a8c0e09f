"""The mean wait is that of M/D/1: load / (2 (1 - load)) cell times (F. Pollaczek, 1930; A. Khinchine, 1932)."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from poisson import Poisson

import cellrate

LINE = Path(__file__).with_name("line.toml")
CELL_TIME = 424 / 4.24e6


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_cells_wait_as_long_as_the_formula_says(load: float) -> None:
    rate = load / CELL_TIME / 20
    scenario = cellrate.Scenario.load(LINE).set({"vc.vc{i}.traffic.parameters.rate": rate})
    result = cellrate.run(scenario, traffic={"poisson": Poisson})
    delays = [row["mean_delay_s"] for row in result.summary["vcs"] if row["data_delivered"]]
    waits = statistics.fmean(delays) / CELL_TIME - 1
    assert waits == pytest.approx(load / (2 * (1 - load)), rel=0.05)
