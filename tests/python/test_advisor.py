"""The guidelines of paper abr-parameters against its own worked numbers, and against signalling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cellrate
from cellrate.advice import advisor, formulas
from cellrate.advice.advised import AdvisedSet
from cellrate.advice.advisor import advise
from cellrate.advice.situation import MAX_24_BITS, Situation
from cellrate.choices import Switches

OC3, OC12, T1 = 155.52e6, 622.08e6, 1.544e6


@pytest.mark.parametrize(("cells_per_ms", "hops", "paper"), [(365, 1, 6144), (4 * 365, 1, 24576), (4 * 365, 2, 49152)])
def test_crm_over_satellites_is_what_the_formula_gives_and_two_percent_above_the_paper(
    cells_per_ms: int, hops: int, paper: int
) -> None:
    # The paper writes 550 ms x 365 cells/ms / 32 = 6144. The product is 6273.4; 6144 is 6 x 1024, and belongs to
    # 196,608 cells: 538.7 ms at 365 cells/ms. Its figures for 622 Mbps and for n hops are multiples of 6144.
    exact = formulas.crm_bound(cells_per_ms * 1000, 0.55 * hops, 32)
    assert exact == -(-550 * cells_per_ms * hops // 32)
    assert 1.02 < exact / paper < 1.0212
    assert paper == 6144 * (cells_per_ms // 365) * hops


def test_crm_bound_rounds_up_and_not_further() -> None:
    assert formulas.crm_bound(32_000, 0.1, 32) == 100
    assert formulas.crm_bound(32_001, 0.1, 32) == 101


def test_a_24_bit_tbe_gives_a_19_bit_crm() -> None:
    # "A 24-bit TBE allows a 19-bit CRM" (section 6.2.1): 16,777,215 / 32 = 524,287.97.
    assert formulas.crm_bound(MAX_24_BITS, 1.0, 32) == 2**19


@pytest.mark.parametrize(
    ("link", "text"),
    [(T1, "100 ms"), (OC3, "100 ms"), (OC12, "25 ms"), (2488.32e6, "6.25 ms"), (7000e6, "1.5625 ms")],
)
def test_trm_by_speed(link: float, text: str) -> None:
    # c / PCR with c = 10^6 / 27 = 37,037: 10.2 s at T1, 101 ms at OC-3, 25.2 ms at OC-12, 6.3 ms at OC-48, 2.2 ms.
    assert advise(link_bps=link, round_trip_s=0.01)["Trm"].text == text


def test_trm_constant_is_100_ms_at_the_papers_cell_time() -> None:
    assert pytest.approx(0.1) == advisor.TRM_CONSTANT * 2.7e-6


def test_inter_rm_times() -> None:
    # Section 4.2.1: 86.4 us at 155 Mbps and 8.60 ms at 1.55 Mbps, with cells of 2.7 us and 269 us; 424 bits take 1.3 %
    # and 1.8 % longer.
    assert formulas.inter_rm_time(32, 155e6) == pytest.approx(86.4e-6, rel=0.015)
    assert formulas.inter_rm_time(32, 1.55e6) == pytest.approx(8.6e-3, rel=0.02)


def test_tbe_limits_icr() -> None:
    # The paper's WAN (section 6.2.1): FRTT = 30 ms. 128 cells are 4267 cells/s, 512 are 17,067, 1024 34,133.
    for tbe, rate in [(128, 4266.67), (512, 17066.67), (1024, 34133.33)]:
        assert formulas.initial_rate_limit(tbe, 0.03) == pytest.approx(rate, abs=0.01)
    assert formulas.initial_rate_limit(128, 0.0) == float("inf")


def test_rule_6_decays_by_one_minus_cdf_to_the_k_plus_1() -> None:
    # CRM = 32: nothing before 32 RM cells, 15/16 at 32, (15/16)^2 at 33, (15/16)^11 = 0.49168 at 42.
    rates = [formulas.rate_after_cutoff(1000, 1 / 16, sent, 32) for sent in (31, 32, 33, 42)]
    assert rates == pytest.approx([1000, 937.5, 878.906, 491.682], abs=1e-3)
    assert formulas.rate_after_cutoff(1000, 1 / 16, 1000, 32, mcr=50) == 50
    assert formulas.rate_after_cutoff(1000, 0.0, 1000, 32) == 1000
    # The paper says that a smaller CDF makes the decrease more rapid; its formula says the opposite.
    assert formulas.rate_after_cutoff(1000, 1 / 64, 42, 32) > formulas.rate_after_cutoff(1000, 1 / 2, 42, 32)


def test_queue_after_a_joint_start() -> None:
    assert formulas.startup_queue(3, 1000, 400) == 800
    assert formulas.startup_queue(3, 1000, 4000) == 2000


def test_tcr_is_10_of_365_cells_per_ms() -> None:
    # 2.7 x 10^-5 as a fraction; the percent sign in section 7.2 is a factor of 100 too much.
    assert pytest.approx(2.7e-5, rel=0.02) == advisor.TCR_SHARE


def test_by_kind_of_switch() -> None:
    def of(switches: Switches) -> AdvisedSet:
        return advise(Situation(link_bps=OC3, round_trip_s=0.01, switches=switches))

    assert (of("erica")["RIF"].text, of("erica")["RDF"].text) == ("1", "1/16")
    assert of("eprca")["RIF"].text == "1/16"
    # 366,792 cells/s x 10 ms / 256 = 14.3 steps in a round trip: RIF <= 1/57.3, RDF <= 1/28.7.
    assert (of("efci")["RIF"].text, of("efci")["RDF"].text) == ("1/64", "1/32")
    assert of("relative")["RIF"].value == of("efci")["RIF"].value


def test_tbe_is_the_path_and_the_buffers_and_warns_where_they_conflict() -> None:
    campus = advise(link_bps=OC3, round_trip_s=20e-6, buffer_cells=1000)
    assert campus["TBE"].value == 2008  # 366,792 x 20 us = 7.3, and 2 x 1000
    assert not campus["TBE"].warnings
    satellite = advise(link_bps=OC12, round_trip_s=0, satellite_hops=1)
    assert satellite["TBE"].value == pytest.approx(1_467_169 * 0.55 + 8192, abs=1)
    assert "small buffers ask for a small TBE" in satellite["TBE"].warnings[0]
    assert satellite["CRM"].value >= formulas.crm_bound(1_467_169, 0.55, 256)
    assert satellite["ADTF"].value == 1.1


def test_where_24_bits_are_too_few_rule_6_is_disabled_and_the_reader_warned() -> None:
    far = advise(link_bps=OC12, round_trip_s=0, satellite_hops=25)
    assert far["TBE"].value == MAX_24_BITS
    assert far["CDF"].value == 0
    text = " ".join(far.warnings)
    assert "rule 6 triggers" in text
    assert "10.23 s" in text


def test_real_time_wants_a_guarantee_and_few_changes() -> None:
    video = advise(link_bps=OC3, round_trip_s=0.01, application="video")
    # 6 Mbps are 14,150.94 cells/s of data; with an RM cell in 256, 14,206.4. Voice: 171 x 256/255 = 171.67.
    assert (video["Nrm"].value, video["MCR"].value) == (256, 14_207)
    assert advise(link_bps=T1, round_trip_s=0.01, application="voice")["MCR"].value == 172
    greedy = advise(link_bps=OC3, round_trip_s=0.01, application="video", rate_bps=100e6)
    assert any("do not fit" in warning for warning in greedy.warnings)


def test_charging_limits_pcr() -> None:
    charged = advise(link_bps=OC3, round_trip_s=0.01, application="video", rate_bps=4.24e6, charging=4)
    assert (charged["MCR"].value, charged["PCR"].value) == (10_040, 40_160)  # 10,000 x 256/255 = 10,039.2


def test_rates_move_by_what_pcr_brings_back_in_a_round_trip() -> None:
    # 2 x 384 cells/s for 0.1 s are 77 cells, a third of Nrm: one step at most.
    slow = advise(link_bps=622.08e6, round_trip_s=0.1, switches="efci", application="bulk", charging=2)
    assert (slow["PCR"].value, slow["RIF"].text, slow["RDF"].text) == (768, "1/16", "1/16")
    fast = advise(link_bps=622.08e6, round_trip_s=0.1, switches="efci", application="bulk")
    assert (fast["RIF"].text, fast["RDF"].text) == ("1/4096", "1/2048")


@pytest.mark.parametrize(
    ("known", "word"),
    [
        ({"link_bps": 10.0}, "link rate"),
        ({"round_trip_s": -1.0}, "round trip"),
        ({"round_trip_s": float("nan")}, "round trip"),
        ({"satellite_hops": 30}, "satellite hops"),
        ({"buffer_cells": 0}, "from 1 to"),
        ({"application": "fax"}, "bulk, interactive, video, voice, transaction"),
        ({"switches": "none"}, "efci, relative, erica, eprca"),
        ({"charging": 11}, "from 2 to 10"),
        ({"charging": 2, "rate_bps": 0.0}, "must be above 0"),
        ({"video_bps": 2e8}, "video takes 2e"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_makes_no_sense_is_told(known: dict[str, object], word: str) -> None:
    with pytest.raises(cellrate.CellrateError, match=word):
        advise(**{"link_bps": OC3, "round_trip_s": 0.01, **known})


@given(
    situation=st.builds(
        Situation,
        link_bps=st.floats(1000, 7e9),
        round_trip_s=st.floats(0, 0.3),
        satellite_hops=st.integers(0, 29),
        buffer_cells=st.integers(1, 10**6),
        switches=st.sampled_from(["efci", "relative", "erica", "eprca"]),
        number_of_switches=st.integers(1, 10),
        application=st.sampled_from(["bulk", "interactive", "video", "voice", "transaction"]),
        sources=st.integers(1, 100),
        charging=st.none() | st.integers(2, 10),
    )
)
def test_every_advised_value_is_in_range_and_signallable(situation: Situation) -> None:
    # `advise` asks the protocol core for the codes, which refuses whatever is out of range or cannot be carried.
    advised = advise(situation)
    value = {advice.parameter: advice.value for advice in advised.advices}
    assert value["MCR"] <= value["ICR"] <= value["PCR"] <= situation.line
    assert advised.codes["PCR"] == value["PCR"]
    assert advised.codes["TBE"] == value["TBE"]
    assert value["ICR"] == value["MCR"] or value["ICR"] <= formulas.initial_rate_limit(value["TBE"], value["FRTT"])
    assert all(advice.reason and advice.source for advice in advised.advices)
