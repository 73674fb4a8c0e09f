"""ABR's heirs: round trips that algorithms are told, and what a port comes to that has one rate for all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.algorithms import Load, Port, SwitchAlgorithm
from cellrate.command_line.main import status

NETWORK = """
name = "heirs"
duration = "400 ms"
host = [{ name = "a" }, { name = "b" }, { name = "far" }, { name = "d" }]
link = [
    { between = ["a", "sw1"] }, { between = ["b", "sw1"] }, { between = ["sw1", "sw2"] }, { between = ["sw2", "d"] },
    { between = ["far", "sw1"], length = "1000 km" },
]
[defaults]
link = { rate = "40 Mbps", length = "100 km" }
switch.algorithm = ALGORITHM
[[switch]]
name = "sw1"
[[switch]]
name = "sw2"
"""
CUSTOM = '{ type = "custom", name = "mine" }'


def vc(name: str, host: str, keys: str = "") -> str:
    return f'[[vc]]\nname = "{name}"\npath = ["{host}", "sw1", "sw2", "d"]\n{keys}\n'


def scenario(algorithm: str, *vcs: str) -> cellrate.Scenario:
    return cellrate.Scenario.parse(NETWORK.replace("ALGORITHM", algorithm) + "".join(vcs), file="heirs.toml")


@pytest.mark.parametrize("counts", [True, False])
def test_an_algorithm_is_told_the_round_trips_of_the_connections_from_which_cells_came(counts: bool) -> None:
    loads: list[Load] = []

    class Watching(SwitchAlgorithm):
        interval = 5e-3
        counts_vcs = counts

        def __init__(self, port: Port) -> None:
            self.here = port.name == "sw1->sw2"

        def on_interval_end(self, load: Load) -> None:
            if self.here:
                loads.append(load)

    late = 'traffic = { type = "greedy", start = "200 ms" }'
    cellrate.run(scenario(CUSTOM, vc("near", "a"), vc("late", "far", late)), algorithms={"mine": Watching})
    if not counts:
        assert {(load.round_trip, load.longest_round_trip) for load in loads} == {(None, None)}
        return
    # 300 km of 5 us each, there and back: 3 ms; with 1,200 km in place of them 12 ms.
    near, far = 3e-3, 12e-3
    alone = [load for load in loads if load.end < 0.2]
    assert alone
    assert all(load.longest_round_trip == pytest.approx(near) for load in alone if load.abr_cells)
    both = [load for load in loads if all(load.vc_cells)]
    assert both
    for load in both:
        cells = load.vc_cells
        mean = (cells[0] * near + cells[1] * far) / sum(cells)
        assert load.round_trip == pytest.approx(mean)
        assert load.longest_round_trip == pytest.approx(far)


@pytest.mark.parametrize("algorithm", ["rcp", "fecn", "capc"])
def test_one_rate_for_all_comes_to_generalized_max_min(algorithm: str) -> None:
    vcs = [vc("x", "a", 'abr = { mcr = "20 Mbps" }'), vc("y", "b"), vc("z", "b", 'abr = { mcr = "2 Mbps" }')]
    asked = scenario(f'{{ type = "{algorithm}" }}', *vcs)
    due = {share.vc: share.rate for share in asked.fair(gmm=True)}
    other = {share.vc: share.rate for share in asked.fair()}
    result = cellrate.run(asked.record("acr"))
    for name, rate in due.items():
        series = result.series("acr", entity=name)
        settled = series.values[series.times_s > 0.3].mean()
        assert settled == pytest.approx(rate, rel=0.05), name
    assert other["y"] < 0.7 * due["y"]  # The other criterion is far from it.


def test_flows_under_rcp_take_as_long_as_under_processor_sharing() -> None:
    result = cellrate.run(cellrate.Scenario.load("rcp-flows"))
    line, round_trip_s = 288_461.0, 0.1
    load = result.port("sw1->sw2")["utilization"]
    assert 0.48 < load < 0.52
    checked = 0
    for row in result.summary["completions"]:
        # Ten cells of a packet of 472 octets, an RM cell first and before every 32nd.
        cells = row["mean_octets"] / 47.2 * 32 / 31 + 1 if row["count"] else 0.0
        sharing_s = 1.5 * round_trip_s + cells / (line * (1 - load))
        if row["count"] >= 100:
            assert row["mean_time_s"] == pytest.approx(sharing_s, rel=0.03), row
            checked += 1
    assert checked >= 3


def test_the_command_has_both_criteria(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "heirs.toml"
    text = scenario('{ type = "rcp" }', vc("x", "a", 'abr = { mcr = "20 Mbps" }'), vc("y", "b")).toml
    file.write_text(text)

    def rates(*options: str) -> list[float]:
        assert status(["fair", str(file), "--json", *options]) == 0
        return [flow["rate"] for flow in json.loads(capsys.readouterr().out)["flows"]]

    plus, larger = rates(), rates("--gmm")
    assert plus[0] - plus[1] == pytest.approx(20e6 / 424)
    assert larger[0] == pytest.approx(20e6 / 424)
    assert sum(larger) == pytest.approx(sum(plus), rel=1e-6)
