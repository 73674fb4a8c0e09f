"""The paper on RCP: closed forms, processor sharing itself, and what the waits of its flows are made of."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from cellrate import Result, run
from cellrate.papers import load_paper
from cellrate.papers.judging import NEAR
from rcp import reasons
from rcp.common import LINE, Class, Seen, gap, sharing, slow_start

PAPER = load_paper("rcp")
POINTS = reasons.EXPERIMENT.points


def result_of(name: str, **more: object) -> Result:
    return run(PAPER.scenario(POINTS[name], quick=True).set(more))


def test_the_lines_of_figure_12_are_the_printed_ones(tmp_path: Path) -> None:
    report = PAPER.run(tmp_path / "report", only=["lines"])
    assert len(report.claims) == 8
    assert all(claim.verdict == NEAR and abs(claim.off or 0.0) < 0.005 for claim in report.claims)


def test_closed_forms_by_hand() -> None:
    # 1.5 x 0.1 s, and 100 packets at a tenth of 1,000 a second; 2^4 - 1 packets in four windows, and half a round trip.
    assert sharing(100, 1000, 0.9) == pytest.approx(1.15)
    assert slow_start(15, 1500) == pytest.approx(0.46)


def test_processor_sharing_itself_takes_as_long_as_its_closed_form() -> None:
    served = reasons._sharing(Seen.of(result_of("sharing"), LINE * 260 / 269))
    assert served.holds
    # One queue for all, as a line without any control has it, is no processor sharing for flows of one size.
    fifo = Seen.of(result_of("sharing", **{"defaults.switch.queueing": '{ type = "fifo" }'}), LINE * 260 / 269)
    long = fifo.flows("100-packets")
    assert long.time_s < 0.9 * (fifo.sharing(long.packets) - 0.1)


def test_a_flow_under_rcp_waits_twice_in_the_queue() -> None:
    seen = Seen.of(result_of("as-is"))
    assert reasons._waits(seen).holds
    # One wait is too little, by more than what the claim allows.
    short = seen.flows("10-packets")
    assert short.time_s > 1.02 * (seen.sharing(short.packets) + seen.queue / seen.line)


def test_a_class_without_flows_has_no_mean() -> None:
    none = Class.of({"count": 0, "mean_octets": None, "mean_time_s": None}, 472)
    assert none.count == 0
    assert math.isnan(none.time_s)


def test_gaps_make_the_load_that_is_asked_for() -> None:
    assert gap(0.9) == "1110.2 us"
    seen = Seen.of(result_of("as-is"))
    assert seen.load == pytest.approx(0.9, abs=0.03)


def test_a_rate_in_every_data_cell_takes_nothing_of_the_line() -> None:
    in_band = result_of("in-band")
    there = [row for row in in_band.summary["vcs"] if row["data_sent"]]
    assert 0 < sum(row["forward_rm_sent"] for row in there) < 0.01 * sum(row["data_sent"] for row in there)
    seen = Seen.of(in_band)
    assert seen.cells == 10
    assert seen.load == pytest.approx(0.9, abs=0.04)
