"""The tables of a run on the terminal: what applications had of the network stands there, on 80 columns."""

from __future__ import annotations

import re
from typing import Any

import pytest

import cellrate
from cellrate.recorded.summaries import application_numbers, numbers
from cellrate.recorded.table import print_summary
from conftest import PAIR
from test_run import CONVERSATIONS

# A buffer that TCP overflows, a transfer that ends, two clients whose page has two objects.
APPLICATIONS = (
    CONVERSATIONS.replace('"20 ms"', '"5 s"')
    .replace("[defaults]", '[defaults]\nswitch.buffers = { shared = "300 cells" }')
    .replace('between = ["sw", "b"]', 'between = ["sw", "b"]\nrate = "50 Mbps"')
    .replace('preset = "reno" }', 'preset = "reno", transfer = "600 kB", connections = 2 }')
    .replace(
        'objects = [{ response = "600 octets" }], record = 1',
        'clients = 2, count = 3, think_time = "20 ms", objects = [{ response = "600 octets" }, { response = "20 kB" }]',
    )
)


@pytest.fixture(scope="module")
def ran() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(APPLICATIONS))


@pytest.fixture(scope="module")
def tables(ran: cellrate.Result) -> dict[str, dict[str, dict[str, str]]]:
    """By its first heading, each table: by name of the row, what stands under which heading."""
    return {
        " ".join(head[0].split()): {
            row[0]: dict(zip((" ".join(name.split()) for name in head[1:]), row[1:], strict=True)) for row in rows
        }
        for head, rows in application_numbers(ran.summary)
    }


def test_every_kind_of_application_has_a_table_that_fits_80_columns(
    ran: cellrate.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    print_summary(ran.summary, ran.set)
    *lines, last = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "network time" in last
    assert sum("──" in line for line in lines) == 7
    # A notebook has the same ones.
    headings = re.findall(r"<thead><tr><th>(.*?)</th>", ran._repr_html_())
    assert [heading.replace("<br>", " ") for heading in headings] == [
        "VC", "TCP connection", "page", "page object", "direction of bursts", "direction of frames", "port",
    ]  # fmt: skip


def test_a_run_of_cells_alone_has_no_more_tables_than_before() -> None:
    result = cellrate.run(cellrate.Scenario.parse(PAIR))
    assert application_numbers(result.summary) == []
    # Results stored by an earlier version may lack the rows.
    assert application_numbers({"run": {}, "vcs": [], "ports": []}) == []


def test_tcp_is_about_goodput_and_what_was_sent_again(ran: cellrate.Result, tables: Any) -> None:
    rows = {f"{row['vc']} #{row['connection']}": row for row in ran.summary["tcp"]}
    table = tables["TCP connection"]
    assert list(table) == list(rows)
    row, shown = rows["vc3 #1"], table["vc3 #1"]
    assert row["retransmitted"] > 0
    assert shown == {
        "completed s": f"{row['completed_s']:.3f}",
        "goodput Mbps": f"{row['goodput_bps'] / 1e6:.3f}",
        "segments sent again": str(row["retransmitted"]),
        "timeouts": str(row["timeouts"]),
        "fast retransmits": str(row["fast_retransmits"]),
        "efficiency %": f"{row['efficiency'] * 100:.1f}",
    }


def test_a_connection_that_sent_nothing_stands_back_and_one_that_did_not_end_has_no_end() -> None:
    waiting = {
        "vc": "b", "connection": 1, "segments": 0, "goodput_bps": 0.0, "retransmitted": 0, "timeouts": 0,
        "fast_retransmits": 0, "efficiency": None, "completed_s": None,
    }  # fmt: skip
    busy = {**waiting, "vc": "a", "segments": 3, "efficiency": 0.5}
    assert numbers({"tcp": [busy, waiting]}, "tcp")[1] == [["a", "", "0.000", "0", "0", "0", "50.0"]]
    assert numbers({"tcp": [waiting]}, "tcp")[1] == [["b", "", "0.000", "0", "0", "0", ""]]


def test_pages_and_their_objects_are_about_how_long_they_took(ran: cellrate.Result, tables: Any) -> None:
    page, object_ = ran.summary["pages"][1], ran.summary["exchanges"][3]
    assert tables["page"]["vc4 #2"] == {
        "whole": "3",
        "mean load ms": f"{page['mean_load_s'] * 1e3:,.3f}",
        "p99 load ms": f"{page['p99_load_s'] * 1e3:,.3f}",
        "max load ms": f"{page['max_load_s'] * 1e3:,.3f}",
    }
    assert len(tables["page object"]) == 4
    shown = tables["page object"]["vc4 #2 object 2"]
    assert (shown["whole"], shown["response octets"]) == ("3", "20,000")
    assert shown["mean response ms"] == f"{object_['mean_response_s'] * 1e3:,.3f}"


def test_bursts_have_response_times_and_throughput(ran: cellrate.Result, tables: Any) -> None:
    response = ran.summary["bursts"][1]
    shown = tables["direction of bursts"]["vc2 (back) response"]
    assert (shown["whole"], shown["each cells"]) == (f"{response['count']:,}", "16")
    assert shown["max response ms"] == f"{response['max_response_s'] * 1e3:,.3f}"
    assert shown["mean throughput Mbps"] == f"{response['mean_throughput_bps'] / 1e6:.2f}"


def test_frames_are_whole_lost_or_on_their_way(ran: cellrate.Result, tables: Any) -> None:
    (row,) = ran.summary["frames"]
    shown = tables["direction of frames"]["vc5"]
    assert (shown["all"], shown["whole"], shown["lost"]) == tuple(
        f"{row[key]:,}" for key in ("frames", "whole", "lost")
    )
    assert shown["unfinished"] == str(row["unfinished"])
    assert shown["p99 time ms"] == f"{row['p99_time_s'] * 1e3:,.3f}"
    assert "skipped" not in shown
    left_out = numbers({"frames": [{**row, "skipped": 7, "mean_time_s": None}]}, "frames")
    assert left_out[0][2] == "skipped"
    assert (left_out[1][0][2], left_out[1][0][6]) == ("7", "")
