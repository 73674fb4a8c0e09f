"""Traffic by name against closed forms, and `cellrate hurst` on what many heavy-tailed sources send."""

from __future__ import annotations

import numpy as np
import pytest

import cellrate
from cellrate import hurst

ONE = """
name = "one"
duration = "10 s"
host = [{ name = "s" }, { name = "d" }]
switch = [{ name = "sw" }]
link = [{ between = ["s", "sw"], rate = "424 Mbps" }, { between = ["sw", "d"], rate = "42.4 Mbps" }]
defaults.link.delay = "1 us"
probe = [{ record = ["received"], every = "10 ms" }]
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
category = "vbr"
pcr = "424 Mbps"
"""


def one(traffic: str, duration: str = "10 s") -> cellrate.Result:
    """Run a source over a line of one cell in 10 us."""
    return cellrate.run(cellrate.Scenario.parse(f"{ONE}traffic = {traffic}\n").set({"duration": duration}))


def counts(result: cellrate.Result, vc: str) -> np.ndarray:
    """Give the cells that came in each 10 ms."""
    return np.diff(result.series("received", vc=vc).values)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_poisson_cells_wait_as_in_m_d_1(load: float) -> None:
    result = one(f'{{ type = "poisson", rate = "{load * 1e5} cells/s" }}', "20 s")
    # The access line spaces cells 1 us apart, which takes next to nothing off the wait of rho/(2(1 - rho)) cell times.
    fixed = 2e-6 + 1e-6 + 10e-6
    wait = result.vc("vc")["mean_delay_s"] - fixed
    assert wait == pytest.approx(load / (2 * (1 - load)) * 10e-6, rel=0.06)


@pytest.mark.parametrize(
    ("traffic", "mean", "within"),
    [
        ('{ type = "mmpp", rates = ["30000 cells/s", "15000 cells/s"], stays = ["5 ms", "10 ms"] }', 20_000, 0.02),
        ('{ type = "voice", count = 100, rate = "1000 cells/s", spurt = 2.5, silence = "10 ms" }', 20_000, 0.02),
        (
            '{ type = "minisources", count = 50, rate = "1000 cells/s", on = { exponential = "20 ms" }, '
            'off = { exponential = "30 ms" } }',
            # The first cell comes at the very start: 1/(1 - exp(-1/20)) in a period of 20 ms.
            50 * 20.504 / 0.05,
            0.02,
        ),
    ],
)
def test_mean_rates_are_those_of_the_closed_forms(traffic: str, mean: float, within: float) -> None:
    result = one(traffic)
    assert counts(result, "vc").mean() * 100 == pytest.approx(mean, rel=within)


def test_many_pareto_sources_are_long_range_dependent_and_exponential_ones_are_not() -> None:
    result = cellrate.run(cellrate.Scenario.load("long-range-dependence").set({"duration": "120 s"}))
    found = {}
    for vc in ("poisson", "exponential", "pareto"):
        # Counts of 100 ms: five times as long as the periods of the sources.
        values = counts(result, vc)
        values = values[: len(values) // 10 * 10].reshape(-1, 10).sum(axis=1)
        by_method = {estimate.method: estimate.hurst for estimate in hurst.estimates(values)}
        found[vc] = by_method["Whittle, fractional Gaussian noise"]
    assert found["pareto"] == pytest.approx(0.8, abs=0.12)
    assert found["poisson"] == pytest.approx(0.5, abs=0.1)
    assert found["exponential"] == pytest.approx(0.5, abs=0.12)
