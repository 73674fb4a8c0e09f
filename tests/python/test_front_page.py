"""The front page is short, and its figures are those of the files that hold the measurements."""

from __future__ import annotations

import figures


def test_figures_are_those_of_the_files() -> None:
    page = figures.README.read_text()
    assert page == figures.renewed(page), "python docs/site/figures.py writes them anew"


def test_a_stranger_reads_it_on_two_screens() -> None:
    lines = figures.README.read_text().splitlines()
    assert len(lines) <= 100
    assert [line for line in lines if len(line) > figures.COLUMNS] == []
