"""Look of a result in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import cellrate
from conftest import PAIR


class Cells(HTMLParser):
    """Collects the text of table cells, and holds that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)
            if tag in ("td", "th"):
                self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_a_result_shows_itself_as_the_tables_of_the_command_line() -> None:
    result = cellrate.run(cellrate.Scenario.parse(PAIR))
    parser = Cells()
    parser.feed(result._repr_html_())
    assert parser.open == []
    assert "vc1" in parser.cells
    # "->" is escaped on the way.
    assert "a->sw" in parser.cells
    assert f"{result.vc('vc1')['data_delivered']:,}" in parser.cells
    assert result.summary["run"]["hash"][:12] in result._repr_html_()


def test_a_name_is_no_markup() -> None:
    named = PAIR.replace('name = "pair"', 'name = "<b>pair</b>"')
    assert "<b>&lt;b&gt;pair&lt;/b&gt;</b>" in cellrate.run(cellrate.Scenario.parse(named))._repr_html_()


def test_a_figure_has_the_panels_asked_for_and_shows_itself() -> None:
    result = cellrate.run("two-source-transient")
    drawn = result.plot("acr", "queue", time=(0.1, 0.2))
    labels = [axes.get_ylabel() for axes in drawn.axes]
    assert [re.sub(r" \[.*", "", label) for label in labels] == ["ACR", "queue"]
    assert drawn.axes[0].get_xlim() == (0.1, 0.2)
    assert drawn._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")  # type: ignore[attr-defined]
    assert len(result.plot().axes) > len(drawn.axes)


def test_the_time_axis_of_a_figure_takes_units_and_ends_with_the_run(result: cellrate.Result) -> None:
    def limits(begin: Any, end: Any) -> tuple[float, float]:
        return result.plot("acr", time=(begin, end)).axes[0].get_xlim()

    assert limits("5 ms", "10 ms") == limits(0.005, 0.01) == (0.005, 0.01)
    assert limits(0, 3) == limits(0.0, float("inf")) == (0.0, 0.02)
    for time, said in (
        ((0.01, 0.005), "ends before it begins"),
        ((0.01, 0.01), "there is nothing of a run from 0 s to 0.02 s in it"),
        ((0.02, 0.03), "there is nothing of a run"),
        ((-0.01, 0.01), "not an instant of a run"),
        ((0.0, float("nan")), "not an instant of a run"),
        (("0", "10"), "'0' has no unit"),
    ):
        with pytest.raises(ValueError, match=said):
            limits(*time)
    wrong: Any
    for wrong in ("5 ms", 0.01, (0.0, 0.01, 0.02), (0.0, None)):
        with pytest.raises(TypeError, match="instant"):
            result.plot("acr", time=wrong)


def test_a_figure_of_nothing_says_what_there_is() -> None:
    result = cellrate.run("two-source-transient")
    with pytest.raises(cellrate.NoSuchSeries, match="no series acrr; probes of this run: acr, received, queue, utili"):
        result.plot("acr", "acrr")
    bare = re.sub(r"\[\[probe\]\].*", "", PAIR, flags=re.DOTALL)
    with pytest.raises(cellrate.NoSuchSeries, match="no series to draw; probes of this run: none"):
        cellrate.run(cellrate.Scenario.parse(bare)).plot()
