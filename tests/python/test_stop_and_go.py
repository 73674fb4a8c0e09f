"""The small parts of paper stop-and-go: statistics, claims on made-up runs, table 1 through the command."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from cellrate.papers import estimate, jain, load_paper
from cellrate.running.points import run_many
from conftest import command
from stop_and_go.arithmetic import feedback_interval, icr_is_pcr
from stop_and_go.curves import begins
from stop_and_go.figures import (
    FIGURE_5,
    THREE,
    WIDE,
    background_lost,
    best_of_50,
    efficient,
    fairness,
    largest_fall,
    limited_by_25,
    no_loss,
    proportion,
    smoother,
    useful,
)
from stop_and_go.measures import Measured, Sample, fair_share
from stop_and_go.sensitivity import CONSTANT, unfair

RUN = Measured(
    goodput=(10.0, 20.0, 30.0),
    efficiency=(1.0, 0.9, 0.8),
    waste=0.1,
    lost=0,
    background_lost=0,
    retransmitted=0,
    timeouts=0,
    fast_retransmits=0,
    background=50.0,
)


def test_an_interval_is_that_of_students_t() -> None:
    # Of 1, 2, 3: mean 2, standard deviation 1, t(2) = 4.303, over the root of 3.
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half_width == pytest.approx(2.484, abs=1e-3)
    assert math.isnan(estimate([5.0]).half_width)
    with pytest.raises(ValueError, match="no replications"):
        estimate([])


def test_jains_index_is_1_for_equal_shares_and_1_over_n_for_one_that_has_all() -> None:
    assert jain([4.0, 4.0, 4.0]) == pytest.approx(1.0)
    assert jain([9.0, 0.0, 0.0]) == pytest.approx(1 / 3)
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / 42)


def test_the_fair_share_is_of_what_background_leaves_and_a_user_can_have() -> None:
    # 150 Mbps x 11,680 of 13,568 bit x 31 of 32 cells, a third of it: 41.70 Mbps.
    assert fair_share(0, 3) == pytest.approx(41.70, abs=0.01)
    assert fair_share(150, 10) == 0.0


def test_a_sample_estimates_over_its_runs() -> None:
    sample = Sample((RUN, replace(RUN, goodput=(12.0, 20.0, 28.0), lost=3)))
    assert sample.goodput(0).mean == 11.0
    assert sample.total.mean == 60.0
    assert sample.efficiency.mean == pytest.approx(0.9)
    assert sample.count(lambda run: run.lost) == 3


def test_goodput_in_proportion_to_pcr_is_told_from_equal_goodput() -> None:
    sample = Sample((RUN,))
    assert proportion(sample, (25, 50, 75)) == pytest.approx(1.0)
    assert proportion(sample, (75, 50, 25)) < 0.75


def test_a_single_lost_cell_is_named_with_its_place() -> None:
    clean, spoilt = Sample((RUN, RUN)), Sample((RUN, replace(RUN, lost=1)))
    assert no_loss("equal.no-loss", {"PCR 50": {10: clean, 25: clean}}, "why").holds is True
    found = no_loss("equal.no-loss", {"PCR 50": {10: clean, 25: spoilt}}, "why")
    assert (found.holds, found.why) == (False, "why")
    assert found.measured == "1 (PCR 50 at 25 Mbps); none at the other 1 points"


def test_fairness_holds_above_095_only() -> None:
    equal = Sample((replace(RUN, goodput=(20.0, 20.0, 20.0)),))
    assert fairness("equal.fair", {"PCR 50": {10: equal}}).holds is True
    assert fairness("equal.fair", {"PCR 50": {10: equal, 25: Sample((RUN,))}}).holds is False


def test_the_steepest_fall_is_per_15_mbps() -> None:
    def at(efficiency: float) -> Sample:
        return Sample((replace(RUN, efficiency=(efficiency,)),))

    assert largest_fall({10: at(1.0), 25: at(0.98), 35: at(0.96)}) == pytest.approx(0.03)


def test_feedback_comes_every_32_cells() -> None:
    assert feedback_interval(100e6) == pytest.approx(135.68e-6)
    assert feedback_interval(1e6) == pytest.approx(13.568e-3)


def test_icr_is_pcr_up_to_tbe_over_frtt() -> None:
    # 500 cells in 3 ms are 70.67 Mbps.
    assert icr_is_pcr(500, 3e-3, 70e6)
    assert not icr_is_pcr(500, 3e-3, 71e6)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("defaults.abr.rif=1/16", "rif is 1/16"),
        ("defaults.abr.rdf=0.5", "rdf is 0.5"),
        ("defaults.abr.cdf=0", "cdf is 0"),
        ("defaults.abr.nrm=16", "nrm is 16"),
        ("defaults.abr.icr=10 Mbps", "icr is 10 Mbps"),
    ],
)
def test_the_command_refuses_what_is_not_in_table_1(setting: str, said: str) -> None:
    scenario: Path = load_paper("stop-and-go").folder / "scenarios" / "bottleneck.toml"
    done = command("run", scenario, "--set", setting)
    assert done.returncode != 0
    assert said in done.stderr
    assert "stop-and-go" in done.stderr
    assert "table 1" in done.stderr


def test_vbr_of_figure_5_begins_as_if_it_had_run_for_long() -> None:
    drawn = [begins(seed) for seed in range(1, 401)]
    instants = [float(instant.removesuffix(" ms")) for starts in drawn for instant in starts]
    # A tenth is on; of the others half begins within the median of the off period, 76.32 ms x ln 2.
    assert sum(instant == 0 for instant in instants) / 4000 == pytest.approx(0.1, abs=0.02)
    assert sum(0 < instant < 52.9 for instant in instants) / 4000 == pytest.approx(0.45, abs=0.03)
    assert begins(1) == begins(1) != begins(2)
    scenario = tomllib.loads((load_paper("stop-and-go").folder / "scenarios" / "wide.toml").read_text())
    (vbr,) = [vc for vc in scenario["vc"] if vc["name"] == "vbr{i}"]
    assert vbr["traffic"]["start"] == begins(1)


def test_ten_pcrs_of_the_last_plot_of_figure_5_are_more_than_8_times_the_link() -> None:
    (rate,) = (int(word) for word in WIDE[-1].name.split() if word.isdigit())
    assert 10 * rate > 8 * 150
    assert WIDE[-1].settings["defaults.abr.pcr"] == f"{rate} Mbps"


def test_efficiency_is_judged_by_its_mean_over_the_loads() -> None:
    high, low = (Sample((replace(RUN, efficiency=(value,)),)) for value in (1.0, 0.82))
    assert efficient("equal.efficient", {"PCR 50 Mbps": {10: high, 25: low}}).holds is True
    found = efficient("equal.efficient", {"PCR 50 Mbps": {10: high, 25: low, 40: low, 55: low}})
    assert (found.holds, found.measured) == (False, "0.865, at least 0.820 (PCR 50 Mbps)")


def test_pcr_25_is_held_against_the_fair_share_from_75_mbps_on() -> None:
    # At a load of 70 the PCR itself is the limit; at 85 the fair share is 18.07 Mbps a connection.
    assert limited_by_25({70: 66.0, 85: 50.0}).holds is True
    assert limited_by_25({70: 66.0, 85: 53.0}).holds is False


def test_pcr_50_is_best_only_outside_the_intervals() -> None:
    def curve(*goodputs: float) -> dict[int, Sample]:
        return {10: Sample(tuple(replace(RUN, goodput=(value,), efficiency=(0.5,)) for value in goodputs))}

    assert useful(curve(10.0, 20.0)).mean == pytest.approx(7.5)
    others = {f"PCR {rate} Mbps": curve(10.0, 10.2, 10.4) for rate in (25, 75, 100)}
    assert best_of_50({**others, "PCR 50 Mbps": curve(10.2, 10.4, 10.6)}).holds is False
    assert best_of_50({**others, "PCR 50 Mbps": curve(20.0, 20.2, 20.4)}).holds is True


def test_vbr_is_to_lose_cells_in_most_runs_above_60_mbps_and_not_in_most_below() -> None:
    def curve(lost: dict[int, int]) -> dict[int, Sample]:
        runs = {load: (RUN,) * (5 - n) + (replace(RUN, background_lost=9),) * n for load, n in lost.items()}
        return {load: Sample(of_load) for load, of_load in runs.items()}

    def holds(lost: dict[int, int], minute: dict[int, int]) -> tuple[bool | None, bool | None]:
        claim, row = background_lost(curve(lost), curve(minute))
        assert claim.rows["wide.minute"].holds == row.holds
        return claim.holds, row.holds

    assert holds({50: 0, 60: 2, 70: 3, 85: 5}, {60: 3, 70: 5}) == (True, False)
    assert holds({50: 0, 60: 0, 70: 2, 85: 5}, {60: 1, 70: 5}) == (False, True)


def test_claims_are_of_one_configuration() -> None:
    paper = load_paper("stop-and-go")
    for experiment in paper.experiments:
        for name, point in experiment.points.items():
            # Windows of 65,535 octets and runs of a minute are rows.
            other = point.set.get("vc.vc{i}.traffic.window", "8192 octets") != "8192 octets" or "duration" in point.set
            assert (
                not other
                or name.startswith(("quiet", "VBR alone, 60 s", "window-", "UBR 64", "Stop & Go 64"))
                or ("windows of 65,535 octets" in name)
            ), name


def test_the_order_of_two_curves_is_that_of_the_same_seeds() -> None:
    def at(*efficiencies: float) -> Sample:
        return Sample(tuple(replace(RUN, efficiency=(value,)) for value in efficiencies))

    ten, three = {10: at(1.0, 1.0), 25: at(0.99, 0.97)}, {10: at(1.0, 1.0), 25: at(0.96, 0.98)}
    assert smoother(ten, three) == pytest.approx([0.03, -0.01])
    # Both curves have all seeds.
    points = {name for name in FIGURE_5.points if name.startswith(THREE.name)}
    assert len(points) == 8 * len(THREE.loads)


def test_two_thresholds_are_to_be_unfair_and_are_beside_vbr_of_a_constant_rate() -> None:
    equal, unequal = (Sample((replace(RUN, goodput=rates),)) for rates in ((20.0, 20.0, 20.0), (10.0, 20.0, 30.0)))
    assert unfair({70: equal, 100: equal}, {50: equal}).holds is False
    assert unfair({70: equal, 100: unequal}, {50: equal}).holds is True
    paper = load_paper("stop-and-go")
    judged = [paper.claim(unfair({70: equal}, {40: equal, 50: other})) for other in (equal, unequal)]
    assert [(claim.cause, claim.rows) for claim in judged] == [("unexplained", []), ("open", ["open.ni-zone"])]


def test_between_two_thresholds_a_connection_stays_at_mcr() -> None:
    paper = load_paper("stop-and-go")
    zone = paper.scenario(CONSTANT["ni-zone, constant 50 Mbps"]).set({"duration": "1 s"})
    stop_and_go = '{ type = "stop-and-go", threshold = "250 cells" }'
    one = zone.set({"defaults.switch.algorithm": stop_and_go})
    rates = {}
    for name, scenario in (("two", zone), ("one", one)):
        (result,) = run_many([(scenario, {})])
        rates[name] = sorted(result.vc(f"vc{number}")["throughput_bps"] / 1e6 for number in (1, 2, 3))
    # MCR is 1 Mbps; with one threshold all three have the same.
    assert rates["two"][0] < 1.1 < 30 < rates["two"][1]
    assert rates["one"][2] < 1.1 * rates["one"][0]
