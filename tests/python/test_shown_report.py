"""Report of a run in the end: the same on the terminal, in notebooks and on the page, by `results.summaries.report`."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

import cellrate
from cellrate.live.table import live_report
from cellrate.recorded.summaries import application_numbers, report
from cellrate.recorded.table import print_summary
from cellrate.watching.board import Board

ESC = "\x1b"

TIMING: dict[str, Any] = {
    "lateness_p99_s": 1e-3,
    "stalls": 2,
    "longest_stall_s": 4e-3,
    "cpu_share": 0.3,
    "passed": False,
    "failures": ["3 of 4 datagrams were lost"],
}


@pytest.fixture(scope="module")
def tcp() -> cellrate.Result:
    return cellrate.run("tcp-over-abr", set={"duration": "300 ms"})


def told(result: cellrate.Result, parts: list[Any]) -> list[Any]:
    board = Board(cellrate.Scenario.parse(result.toml), cellrate.Scenario.parse(result.toml)._native.series())
    board.enter()
    board.leave()
    board.end(result, parts)
    more = board.since([0] * len(result.series_names), -1.0)
    assert more is not None
    shown: list[Any] = more["figures"]["report"]
    return shown


def test_terminal_notebook_and_page_show_the_same(tcp: cellrate.Result, capsys: pytest.CaptureFixture[str]) -> None:
    parts = report(tcp.summary)
    assert [part for part in parts if part in application_numbers(tcp.summary)], "TCP has a table"
    print_summary(tcp.summary, {})
    printed = capsys.readouterr().out
    html = tcp._repr_html_()
    page = told(tcp, parts)
    assert len(page) == len(parts)
    for part, shown in zip(parts, page, strict=True):
        if isinstance(part, str):
            assert part in printed
            assert escape(part) in html
            assert shown == part
        else:
            head, rows = part
            assert shown == {"head": head, "rows": rows}
            for row in rows:
                assert all(cell in printed and f"<td>{escape(cell)}</td>" in html for cell in row)


def test_the_page_shows_the_verdict_and_applications_of_a_live_run(tcp: cellrate.Result) -> None:
    application: dict[str, Any] = {
        "application": "bulk", "kind": "command", "host": "a", "peer": None, "ended": "in time", "failed": False,
        "exit_status": 0, "result": {}, "complaints": [],
    }  # fmt: skip
    summary = {**tcp.summary, "applications": [application], "kernels": [], "timing": TIMING}
    page = told(tcp, live_report(summary))
    assert page[0]["rows"] == [["bulk", "command", "a", "in time", "status 0"]]
    assert page[-1].startswith("Attempt 1: OUT OF TIME (3 of 4 datagrams were lost); 99 % of wake-ups")
    assert page[1:-1] == told(tcp, report(tcp.summary))


def test_texts_are_escaped_on_the_page(tcp: cellrate.Result) -> None:
    parts = [f"line{ESC}", ([f"head\nof two{ESC}"], [[f"cell{ESC}"]])]
    assert told(tcp, parts) == ["line\\x1b", {"head": ["head\nof two\\x1b"], "rows": [["cell\\x1b"]]}]
