"""The page of a report on a paper: tables in their own shape, reasons once, published values in plots; its cost."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Literal

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from cellrate.comparing import page as arena_page
from cellrate.drawing import pages
from cellrate.papers import Cell, Experiment, Table, load_paper
from cellrate.papers.estimating import announcement
from cellrate.papers.experiment import Claim
from cellrate.papers.judging import NEAR, NEITHER, SPREAD
from cellrate.papers.page import cell_texts, difference, report_page, shown
from cellrate.papers.report import Report
from cellrate.plotting.published import PUBLISHED, Published
from cellrate.plotting.runs import Line, Panel, figure
from cellrate.recorded.series import Series
from conftest import command
from lab_pages import CHROME

WHY = "Segments wait behind FTP."


def claim(name: str, verdict: str, off: float, why: str = "") -> Claim:
    said = 8.0
    return Claim(
        id=f"a.{name}", text="Text.", source="table 1", published=f"{said} Mbps",
        measured=f"{said * (1 + off):.1f} Mbps",
        verdict=verdict, why=why, kind="claim", judged="figure", unit="Mbps", mean=said * (1 + off), off=off, seeds=3,
    )  # fmt: skip


TABLE = Table(
    "table-1",
    "Table 1: rates",
    ("RIF", "1/16", "1/64", "RDF"),
    [["ftp [Mbps]", Cell("a.one"), Cell("a.two"), "1/16"], ["gif [s]", Cell("a.three"), Cell("a.four"), None]],
)
CLAIMS = [
    claim("one", NEAR, 0.02),
    claim("two", NEITHER, -0.25, WHY),
    claim("three", SPREAD, 0.15, "Another <reason>."),
    claim("four", NEITHER, 0.5, WHY),
    claim("other", NEAR, 0.0),
]


@pytest.fixture
def page() -> str:
    report = Report(
        "made", "A paper", "1.0", quick=False, claims=CLAIMS, experiments={"a": "Rates"}, says="It claims two things.",
        tables={"a": [TABLE]},
    )  # fmt: skip
    return report_page(report, {}, "1 run")


def test_a_table_has_the_papers_heads_rows_and_order(page: str) -> None:
    (table,) = re.findall(r'<table class="paper">.*?</table>', page, re.DOTALL)
    assert re.findall(r'scope="col">([^<]*)<', table) == list(TABLE.head)
    rows = re.findall(r"<tr>(.*?)</tr>", table)[1:]
    texts = [
        [re.sub(r"<sup>.*?</sup>|<[^>]*>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in rows
    ]
    assert texts[0] == ["ftp [Mbps]", "8.0 | 8.2+2 %", "8.0 | 6.0-25 %", "1/16"]
    assert [row[0] for row in texts] == ["ftp [Mbps]", "gif [s]"]
    # Each cell has the colour of its verdict, and says how far it is off where it is pointed at.
    assert re.findall(r'<td class="(\w+)" title="([^"]*)"', table) == [
        (NEAR, "a.one: +2 %, near"),
        (NEITHER, "a.two: -25 %, neither"),
        (SPREAD, "a.three: +15 %, within the spread"),
        (NEITHER, "a.four: +50 %, neither"),
    ]


def test_a_reason_stands_once_and_its_cells_name_it(page: str) -> None:
    assert page.count(WHY) == 1
    assert re.findall(r"<sup>(\d)</sup>", page) == ["1", "2", "1"]
    assert "Another &lt;reason&gt;." in page
    # What is in a table is no row of its own.
    assert page.count("<code>a.other</code>") == 1
    assert "<code>a.one</code>" not in page


def test_a_page_is_headed_by_what_the_paper_claims_and_what_came_out(page: str) -> None:
    assert "It claims two things. 2 near, 1 more within the spread, 2 neither: 5 claims" in page


WIDE = Table(
    "table-1",
    "Table 1",
    ("#", "Mean per source [Mbps]", "Standard deviation [Mbps]", "Max switch queue [cells]",
     "Total TCP throughput [Mbps]", "Efficiency [% of max throughput]"),
    [["1.", "5", "5", Cell("a.two"), Cell("a.two"), Cell("a.lost")]],
)  # fmt: skip
"""The widest table of the papers: table 1 of tcp-lrd-vbr."""


@pytest.mark.browser
@pytest.mark.parametrize(("media", "width"), [("screen", 420), ("print", 718)])
def test_a_wide_table_fits_a_telephone_and_a_sheet_of_paper(media: Literal["screen", "print"], width: int) -> None:
    lost = dataclasses.replace(claim("lost", NEITHER, 91.1 / 94.4 - 1, WHY), judged="per cent", mean=91.1)
    report = Report("made", "A paper", "1.0", quick=False, claims=[*CLAIMS, lost], experiments={"a": "Rates"},
                    tables={"a": [WIDE]})  # fmt: skip
    with CHROME.context(viewport={"width": width, "height": 900}) as context:
        shown_page = context.new_page()
        shown_page.emulate_media(media=media)
        shown_page.set_content(report_page(report, {}, "1 run"))
        table, room = shown_page.evaluate(
            "[document.querySelector('.paper').offsetWidth, document.querySelector('.wide').clientWidth]"
        )
    assert table <= room


def test_pages_of_papers_and_of_the_arena_are_made_by_one_maker(page: str) -> None:
    assert pages.STYLE in page
    dark = "prefers-color-scheme: dark"
    assert pages.STYLE.count(dark) == 1
    assert dark not in arena_page._STYLE
    # On paper, where nothing can be pointed at, differences are printed.
    assert "@media print { .off { display: inline; }" in page


def test_a_per_cent_says_what_the_rest_is_off() -> None:
    made = dataclasses.replace(claim("one", NEITHER, 91.1 / 94.4 - 1, WHY), judged="per cent", mean=91.1)
    assert difference(made) == "-3 %, of the rest +59 %"
    assert difference(claim("one", NEAR, -0.001)) == "0 %"


def test_numbers_are_written_one_way() -> None:
    assert [shown(value) for value in (6775, 299680, 68.72, 0.5, "9.05 ms", None)] == [
        "6,775", "299,680", "68.72", "0.5", "9.05 ms", "-",
    ]  # fmt: skip
    many = dataclasses.replace(CLAIMS[0], published="24 ms, 96 ms", measured="2.26 ms, 9.05 ms", unit=None)
    assert cell_texts(many, 1) == ("96 ms", "9.05 ms")


def test_a_published_value_is_drawn_within_the_panel() -> None:
    series = Series("queue", "sw", "cells", None, np.array([0.0, 1.0]), np.array([0.0, 2000.0]), 2.0)
    said = (Published(2500, "published: 2500", high=3000), Published(0, "slope", span=(0.5, 1.5), end=900))
    drawn: Figure = figure([Panel("queue", [Line(series, "sw")], published=said)], "Title", "stamp")
    (axes,) = drawn.axes
    assert axes.get_ylim()[1] >= 3000
    lines = [line for line in axes.get_lines() if mpl.colors.same_color(line.get_color(), PUBLISHED)]
    assert [np.asarray(line.get_ydata()).tolist() for line in lines] == [[2500, 2500], [0, 900]]
    assert np.asarray(lines[1].get_xdata()).tolist() == [0.5, 1.5]
    assert [text.get_text() for text in axes.texts] == ["published: 2500", "slope"]
    # The time axis stays that of the run.
    assert axes.get_xlim()[1] < 3


def test_a_command_says_how_many_runs_there_are_and_how_long_they_take(tmp_path: Path) -> None:
    paper = load_paper("abr-parameters").only(["cutoff"])
    kept = {"by_experiment": {"cutoff": [3, 3 * 11_000_000]}}
    own = dataclasses.replace(paper, folder=tmp_path)
    (tmp_path / "scenarios").symlink_to(paper.folder / "scenarios")
    assert announcement(own, quick=False, workers=1) == "abr-parameters: 3 runs. How long they take is not known yet."
    (tmp_path / "counts.json").write_text(json.dumps(kept))
    assert announcement(own, quick=False, workers=1) == "abr-parameters: 3 runs, less than a minute here."
    # A hundred thousand times as much takes longer than any machine does in a minute.
    kept["by_experiment"]["cutoff"][1] *= 100_000
    (tmp_path / "counts.json").write_text(json.dumps(kept))
    told = announcement(own, quick=False, workers=1)
    assert (found := re.fullmatch(r"abr-parameters: 3 runs, some (\d+) min here\.", told)), told
    assert int(found[1]) > 1
    # No runs, no time.
    none = dataclasses.replace(own, experiments=(Experiment("a", "A", {}, lambda _: [], lambda _: []),))
    assert announcement(none, quick=False, workers=1) == "abr-parameters: no runs."


def test_the_command_announces_runs_of_a_table_alone_and_keeps_json_clean(tmp_path: Path) -> None:
    done = command("paper", "run", "abr-parameters", "--only", "table-2", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert "abr-parameters: no runs." in done.stderr
    ids = [row["id"] for row in json.loads(done.stdout)["claims"]]
    assert ids == [f"arithmetic.table-2-{name}" for name in ("ds0", "t1", "oc-3", "oc-24")]
    wrong = command("paper", "run", "abr-parameters", "--only", "table-9", "--out", tmp_path / "none")
    assert (wrong.returncode, "tables are table-2" in wrong.stderr) == (2, True)
