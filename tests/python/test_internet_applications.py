"""Paper internet-applications: players, listeners, its arithmetic and its small parts, with runs of a few seconds."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cellrate import CellrateError
from cellrate.papers import Cell, load_paper
from cellrate.results import Result, Series
from cellrate.running.points import run_many
from internet_applications import arithmetic, live, search, sensitivity, video, voice, www
from internet_applications.common import (
    FTP_GOODPUT_SHARE,
    HOST_LINE,
    ftp_rate,
    line,
    line_rate,
    payload_share,
    starts,
)
from internet_applications.drawing import rate_panels
from internet_applications.playout import Frame, play
from internet_applications.search import Needs, highest_rate, room_for, smallest_mcr
from internet_applications.voice import listen
from internet_applications.www import deviation, mean, rank_correlation, response_times


def film(arrivals: list[float | None]) -> list[Frame]:
    """Frames of a film of 10 frames per second, 100 octets each, with the instants at which they came."""
    return [Frame(number, 0.1 * (number - 1), at, 100) for number, at in enumerate(arrivals, start=1)]


def test_a_film_in_time_is_shown_whole_and_needs_what_was_gathered() -> None:
    seen = play(film([0.1 * n for n in range(20)]), 10, gathered=3)
    assert (seen.frames, seen.lost, seen.suspended_s) == (20, 0, 0.0)
    # The first is shown when the third has come: from then on two wait, three for the instant before one is shown.
    assert seen.peak_frames == 3
    assert seen.peak_octets == 300


def test_a_late_frame_makes_the_film_stand_still_and_all_after_it_late() -> None:
    late = play(film([0.0, 0.1, 0.2, 1.3, 1.31, 1.32]), 10, gathered=1)
    assert late.suspended_s == pytest.approx(1.0)
    assert (late.lost, late.peak_frames) == (0, 2)


def test_a_full_buffer_loses_what_comes_faster_than_it_is_shown() -> None:
    # Twice as fast as it is shown: of what comes while the buffer is full, half is lost.
    fast = film([0.05 * n for n in range(200)])
    assert play(fast, 10, gathered=1).lost == 0
    seen = play(fast, 10, room=10, gathered=1)
    assert seen.peak_frames == 10
    first = min(seen.lost_in_buffer)
    assert len(seen.lost_in_buffer) / (201 - first) == pytest.approx(0.5, abs=0.02)


def test_lost_frames_are_skipped_and_take_no_time() -> None:
    seen = play(film([0.0, 0.1, None, None, 0.4, 0.5]), 10, gathered=2)
    assert (seen.lost_in_network, seen.longest_gap(), seen.lost) == ((3, 4), 2, 2)
    assert seen.loss == pytest.approx(2 / 6)
    # Frame 5 is due at 0.3 s, in place of frame 3, and comes at 0.4 s.
    assert seen.suspended_s == pytest.approx(0.1)


def test_a_packet_of_voice_is_recovered_by_the_next_one_only() -> None:
    def packet(number: int, *, lost: bool) -> dict[str, object]:
        at = 0.02 * number
        return {"number": number, "at_s": at, "arrived_s": None if lost else at + 0.01, "lost": lost}

    heard = listen([packet(number, lost=number in (2, 5, 6, 9)) for number in range(1, 10)])
    # 2 and 6 are carried by 3 and 7; 5 would be by 6, and 9 by 10.
    assert (heard.packets, heard.lost, heard.recovered) == (9, 4, 2)
    assert heard.silences == (1, 1)
    assert heard.silent_s == pytest.approx(0.04)
    assert heard.intervals == pytest.approx((0.02, 0.02))


def test_searches_end_where_the_room_is_enough() -> None:
    rates = {24: Needs(160, 0, 0), 10: Needs(14, 0, 0), 9: Needs(12, 0, 0)}
    assert [highest_rate(rates, room) for room in (160, 159, 14, 13, 11)] == [24, 10, 10, 9, None]
    mcrs = {0: Needs(160, 0, 0), 6: Needs(67, 0, 0), 7: Needs(46, 0, 5)}
    # What the network loses no room makes good.
    assert [smallest_mcr(mcrs, room) for room in (67, 66, 45)] == [6, None, None]
    assert smallest_mcr({**mcrs, 7: Needs(46, 0, 0)}, 66) == 7
    assert room_for(mcrs, 7, 6) == (46, 66)


def test_thirty_three_segments_take_seven_ticks_each() -> None:
    assert arithmetic.segments(300_000) == 33
    # 192 cells of 38.4 us, 10 ms and 50 ms are 67.4 ms, seven ticks; 163 cells for the last 7,766 octets.
    assert arithmetic.image_time() == pytest.approx(32 * 0.070 + 163 * 38.4e-6)
    found = {finding.id: finding for finding in arithmetic.EXPERIMENT.findings({})}
    assert found["arithmetic.overflow"].measured == "12.3 %"
    assert found["arithmetic.nine"].measured == "9.1 fps"


def test_deviation_and_rank_correlation_are_those_of_the_textbook() -> None:
    assert (mean([1.0, 2.0, 3.0]), deviation([1.0, 2.0, 3.0])) == (2.0, 1.0)
    assert rank_correlation([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 over the root of 4.5 x 5.
    assert rank_correlation([1, 2, 2, 4], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)


def test_a_setting_is_best_until_another_has_as_short_an_image_and_more_ftp() -> None:
    table = {setting: (gif, ftp) for setting, (_, gif, ftp) in www.TABLE_3.items()}
    assert www.best_of_nine(table) == []
    # Compared as printed: 2.644 s is no longer than 2.64 s.
    assert www.best_of_nine({**table, ("1/256", "1/256"): (2.644, 8.9)}) == [("1/256", "1/256")]
    assert www.best_of_nine({**table, ("1/256", "1/256"): (2.646, 8.9)}) == []


def test_every_value_of_the_tables_is_published_with_its_spread() -> None:
    published = load_paper("internet-applications").published
    tables = {
        **{f"www.table-2.{name.lower()}": (said, www.SPREAD_2[name]) for name, said in www.TABLE_2.items()},
        **{f"www.table-3.rdf-rif-{www.key(*at)}": (said, www.SPREAD_3[at]) for at, said in www.TABLE_3.items()},
        **{
            f"www.table-4.{icr.lower().replace('/', '-')}.rif-{www.key(rif)}": (said, www.SPREAD_4[icr, rif])
            for (icr, rif), said in www.TABLE_4.items()
        },
    }
    assert len(tables) == 20
    for id, (values, spread) in tables.items():
        for key, value, room in zip(("html", "gif", "ftp"), values, (*spread, None), strict=True):
            if (id, key) == ("www.table-2.alone", "ftp"):
                continue
            words = published[f"{id}.{key}"]["published"].split()
            assert float(words[0]) == value
            assert room is None or float(words[2]) == room, (id, key)


def test_every_case_resolves() -> None:
    paper = load_paper("internet-applications")
    for experiment in (video, search, voice, sensitivity, www):
        for point in experiment.EXPERIMENT.points.values():
            if point.set["seed"] == 1:
                paper.scenario(point).check()


def test_all_lines_have_the_bandwidth_of_figure_1_and_faster_ones_are_rows_of_their_own() -> None:
    paper = load_paper("internet-applications")
    for path in sorted((paper.folder / "scenarios").glob("*.toml")):
        scenario = tomllib.loads(path.read_text())
        rates = {link.get("rate", scenario["defaults"]["link"]["rate"]) for link in scenario["link"]}
        assert rates == {HOST_LINE}, path.name
        assert scenario["defaults"]["clocks"] == "independent"
    # 10 Mb/s of 48 in 53 octets.
    assert line(10) == HOST_LINE == "11.041667 Mbps"
    others = {
        str(settings["link.c-sw1.rate"]): name
        for name, settings in sensitivity.CHOICES.items()
        if "link.c-sw1.rate" in settings
    }
    assert others == {"25.6 Mbps": "hosts-25.6-mbps", "149.76 Mbps": "hosts-149.76-mbps"}


def test_the_paper_s_own_sums_decide_the_line_and_not_the_round_trip() -> None:
    found = {finding.id: finding for finding in arithmetic.EXPERIMENT.findings({})}
    # Html: 19 cells in 2.0 ms are 3.65 Mb/s; 192 cells of a segment then take 20.2 ms, and 10 + 50 ms more; 2.64 s /
    # 33 = 80 ms.
    assert arithmetic.segment_at(3.648, 0.010) == pytest.approx(0.0802, abs=1e-4)
    measured = str(found["arithmetic.image"].measured)
    assert measured.startswith("80.2 ms")
    # 20 ms there and back with an ACK after 40 ms take as long.
    assert "80.2 with that and an ACK after 40 ms" in measured
    assert found["arithmetic.line"].measured == "8.96 Mbps on 10 Mb/s of payload, 8.06 on 10 Mb/s of line"


def test_the_paper_s_own_sums_leave_no_time_for_a_queue_and_favour_a_timer_without_ticks_then() -> None:
    found = {finding.id: str(finding.measured) for finding in arithmetic.EXPERIMENT.findings({})}
    # 0.33 s more, 33 x 0.04 x 0.2 s of time-outs: 0.066 s over 33 segments.
    assert "2.0 ms a segment are left, 52 cells" in found["arithmetic.queue"]
    # 2048 cells of 38.4 us, 33 times.
    assert "79 ms, 2.6 s an image" in found["arithmetic.queue"]
    assert [part.split(", ")[1] for part in found["arithmetic.timer"].split("; ")] == ["5 of 8", "2 of 8", "4 of 8"]
    # Html in 4.2 ms: 80.2 ms a segment, 90 to the next tick, 80 to the fifth; its last 163 cells take 17.2 ms.
    rest = 0.0022 + 163 * 0.002 / 19
    for timer, each in zip(arithmetic.TIMERS.values(), (192 * 0.002 / 19 + 0.060, 0.090, 0.080), strict=True):
        assert arithmetic.image_sum(4.2, timer) == pytest.approx(rest + 32 * each)
    # 127 cells before each segment.
    assert arithmetic.image_sum(4.2, lambda least: least + 0.050, 127) == pytest.approx(
        rest + 32 * (192 * 0.002 / 19 + 0.060) + 33 * 127 * 38.4e-6
    )


def test_tables_have_the_papers_shape_and_rows_the_claims_seeds() -> None:
    claims = {id for id in load_paper("internet-applications").published if id.startswith("www.table-")}
    cells = [
        cell.claim for table in www.EXPERIMENT.tables for row in table.rows for cell in row if isinstance(cell, Cell)
    ]
    assert sorted({*cells}) == sorted({*claims, "arithmetic.ftp-alone"})
    _, three, _ = www.EXPERIMENT.tables
    assert three.head == ("RIF", "1/16", "1/64", "1/256", "RDF")
    # RDF stands beside the middle one of its three rows, as it is printed.
    assert [row[-1] for row in three.rows] == [None, "1/16", None, None, "1/64", None, None, "1/256", None]
    assert three.rows[0][1] == Cell("www.table-3.rdf-rif-16-16.html")
    for name in www.LEFT_OPEN:
        seeds = [key for key in www.EXPERIMENT.points if key.startswith(f"{www.case('1/64', '1/64')}, {name}, ")]
        assert len(seeds) == len(www.WWW_SEEDS)


def test_only_a_table_has_its_runs_only() -> None:
    paper = load_paper("internet-applications")
    one = paper.only(["table-2"]).experiments[0]
    names = {key.rsplit(", ", 1)[0] for key in one.points}
    assert {"alone", "UBR", "UBR, ftp-timer-only"} <= names
    assert not any(name.startswith("ABR") for name in names)
    assert len(paper.only(["www"]).experiments[0].points) == len(www.EXPERIMENT.points)
    # Another claim of the same experiment needs all runs.
    assert len(paper.only(["table-2", "www.bulk"]).experiments[0].points) == len(www.EXPERIMENT.points)


def test_runs_have_one_queue_but_those_of_the_rows_with_a_queue_for_each_connection() -> None:
    for experiment in (video, search, voice, sensitivity, www):
        for name, point in experiment.EXPERIMENT.points.items():
            assert ("defaults.switch.queueing" in point.set) == ("per-vc-queues" in name), name


def test_transfers_begin_within_a_second_and_the_same_for_the_same_seed() -> None:
    assert starts(1) == starts(1)
    assert starts(1) != starts(2)
    for seed in range(1, 6):
        for instant in str(starts(seed)["vc.ftp{i}.traffic.start"]).split('"')[1::2]:
            assert 10_000 <= float(instant.removesuffix(" ms")) < 11_000


def test_three_seconds_of_pages_have_the_times_of_the_arithmetic() -> None:
    paper = load_paper("internet-applications")
    point = www.EXPERIMENT.points["alone, 1"]
    scenario = paper.scenario(point).set({"duration": "8.2 s"})
    (result,) = run_many([(scenario, {})])
    (html,) = response_times(result.summary["exchange_list"], www.HTML)
    (gif,) = response_times(result.summary["exchange_list"], www.GIF)
    # 19 cells at 10 Mb/s of payload of the server's line and the server's 2.2 ms; clocks differ, and hosts take up to
    # a cell's time.
    assert html == pytest.approx(0.0022 + 19 * 38.4e-6, abs=1e-4)
    # 32 segments of 70 ms: an ACK leaves at each seventh tick of 10 ms. The first may wait for its tick.
    assert gif == pytest.approx(0.0022 + arithmetic.image_time(), abs=0.015)


def test_a_part_of_the_live_half_has_its_cases_only() -> None:
    assert [case.name for case in live.chosen(live.CASES, ["voice"])] == [
        "voice, alone",
        "voice, UBR",
        "voice, ABR",
    ]
    (one,) = live.chosen(live.CASES, ["video.ubr-loss"])
    assert [figure.claims for figure in one.figures] == [("video.ubr-loss",)]
    assert list(live.chosen(live.CASES, [])) == list(live.CASES)
    with pytest.raises(CellrateError, match="the live half has nothing for arithmetic"):
        live.chosen(live.CASES, ["arithmetic"])


def test_the_live_half_has_every_figure_of_the_paper_but_that_of_its_network() -> None:
    titles = {name: title for names in (live.FIGURES, live.SNAPSHOTS) for name, title in names.items()}
    assert titles.keys() <= {case.name for case in live.CASES}
    numbers = [int(found) for title in (*live.FIGURES.values(), *live.SNAPSHOTS.values()) for found in _numbers(title)]
    assert sorted(numbers) == list(range(2, 15))


def _numbers(title: str) -> list[str]:
    return re.findall(r"^Figure (\d+):", title)


def test_a_live_figure_says_of_how_many_runs_it_is() -> None:
    runs = [Result.__new__(Result) for _ in range(3)]
    for run in runs:
        run.summary = {"timing": {"passed": True}}

    def shown(values: list[float | None], of: int = 3) -> str:
        told = dict(zip(map(id, runs), values, strict=True))
        return live.text(live.Figure((), lambda run: told[id(run)], 1, "s"), runs, of)

    assert shown([1.0, 2.0, 3.0]) == "2.0 ± 2.5 s (3 runs)"
    assert shown([1.0, 2.0, 3.0], of=5) == "2.0 ± 2.5 s (3 of 5 runs in time)"
    assert shown([1.0, None, 1.0]) == "1.0 ± 0.0 s (in 2 of 3 runs; none came in the others)"
    assert shown([None, None, None]) == "none came (3 runs)"
    assert live.text(live.CASES[0].figures[0], [], 5) == "no run of 5 in time"


def test_a_run_that_was_late_once_counts_by_what_the_stall_moved() -> None:
    timing = {
        "passed": False, "quantum_s": 5e-4, "lateness_p99_s": 1e-3, "slipped_s": 0.0, "stalled_share": 0.02,
        "longest_stall_s": 0.1008, "cpu_share": 0.3, "late_cells_share": 0.0, "lost_datagrams_share": 0.0,
    }  # fmt: skip
    # 100.8 ms are 1.26 % of the 8 s in which the film has both transfers beside it, and 2.02 % of 5 s.
    assert live.late_share(timing, 8.0) == pytest.approx(0.0126)
    assert live.counts(timing, 8.0)
    assert not live.counts(timing, 5.0)
    assert live.counts({**timing, "passed": True}, 5.0)
    for figure, value in {"slipped_s": 1e-3, "lateness_p99_s": 3e-3, "stalled_share": 0.2, "cpu_share": 0.95}.items():
        assert not live.counts({**timing, figure: value}, 8.0), figure


def test_throughput_of_ftp_leaves_out_what_is_sent_again() -> None:
    paper = load_paper("internet-applications")
    points = [video.EXPERIMENT.points[f"24 fps, {case}, 1"] for case in ("UBR", "ABR")]
    over_ubr, over_abr = run_many(
        [(paper.scenario(point).set({"duration": "16 s", "vc.video.traffic.end": "15 s"}), {}) for point in points]
    )
    cells = sum(line_rate(over_ubr, vc, 11.0, 15.0) for vc in ("ftp1", "ftp2")) * FTP_GOODPUT_SHARE
    assert 0 < ftp_rate(over_ubr, 11.0, 15.0) < 0.97 * cells
    assert payload_share(over_abr, "ftp1") == pytest.approx(FTP_GOODPUT_SHARE, rel=0.01)


def test_pages_of_which_none_came_are_measured_to_the_end_of_the_run() -> None:
    paper = load_paper("internet-applications")
    scenario = paper.scenario(www.EXPERIMENT.points["UBR, 1"]).set({"duration": "9 s", "defaults.clocks": "exact"})
    (result,) = run_many([(scenario, {})])
    assert www.last_page(result) == 9.0
    pages = www.measure([result])
    assert (pages.gif, len(pages.ftp)) == ((), 1)
    assert math.isnan(pages.again)


def test_figures_have_what_the_paper_prints_of_them() -> None:
    values = {name: [one.value for one in video._marks(name)] for name in video._FIGURES}
    assert values == {
        "24 fps, alone": [8.5],
        "24 fps, UBR": [0.7],
        "24 fps, ABR": [6.0, 9.69],
        "9 fps, alone": [pytest.approx(3 / 8 * 8.5)],
        "9 fps, UBR": [2.0],
        "9 fps, ABR": [pytest.approx(3 / 8 * 8.5)],
        "24 fps, MCR 7": [7.0],
    }
    assert video._marks("24 fps, UBR")[0].label == "both FTP, published: 0.7 Mbps"
    received = Series("received", "ftp1", "cells", 0.1, np.array([0.1, 0.2]), np.array([100.0, 300.0]), 0.2)
    other = replace(received, entity="ftp2", values=np.array([50.0, 150.0]))
    run: Any = SimpleNamespace(all_series=lambda _: [received, other], stamp="a run")
    title = "Figure 7"
    drawn = rate_panels({title: run}, "Video", (0, 0.2), published={title: video._marks("24 fps, UBR")})
    (axes,) = drawn.axes
    assert [text.get_text() for text in axes.texts] == ["both FTP, published: 0.7 Mbps"]
    (both,) = [line for line in axes.lines if line.get_label() == "FTP, both"]
    assert np.asarray(both.get_ydata(), dtype=float) == pytest.approx([0.576, 1.152])
