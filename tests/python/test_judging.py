"""Rules by which claims of papers are judged, by numbers worked by hand; and causes, which are computed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cellrate import CellrateError
from cellrate.papers import Experiment, Finding, Paper, Tried, load_paper, ready_papers
from cellrate.papers.judging import (
    JUDGED,
    NEAR,
    NEITHER,
    SPREAD,
    judge_figure,
    judge_hardly,
    judge_order,
    prediction,
    printed,
)

PAGE = Path(__file__).parents[2] / "docs/guides/judging.md"

EXACTLY = {"published": 100, "unit": "cells"}


def judged(kind: str, said: Mapping[str, Any], *values: float) -> str:
    return judge_figure(kind, printed(said), values)


def test_a_figure_is_near_within_a_tenth() -> None:
    assert judged("figure", EXACTLY, 110.0) == NEAR
    assert judged("figure", EXACTLY, 110.1) == NEITHER
    assert judged("figure", EXACTLY, 89.9) == NEITHER
    assert judged("figure", EXACTLY, math.nan) == NEITHER
    # The nearer end of a range counts.
    said = {"published": "2500 to 3000 cells"}
    assert [judged("figure", said, value) for value in (2240.0, 2260.0, 2800.0, 3290.0, 3310.0)] == [
        NEITHER, NEAR, NEAR, NEAR, NEITHER,
    ]  # fmt: skip


def test_a_per_cent_is_judged_by_what_is_lost_as_well() -> None:
    # 94.4 % lose 5.6; 91.1 lose 8.9, more by 59 %. 93.9 lose 6.1, more by 9 %.
    said = {"published": 94.4, "unit": "%"}
    assert judged("per cent", said, 91.1) == NEITHER
    assert judged("figure", said, 91.1) == NEAR
    assert judged("per cent", said, 93.9) == NEAR
    # Half of 4 % is a miss, though 98 is near 96.
    assert judged("per cent", {"published": "about 4 %"}, 2.0) == NEITHER


def test_the_spread_is_that_of_one_more_run() -> None:
    # Mean 130, deviation 10; t(2) = 4.303: one more run is within 4.303 x 10 x sqrt(4/3) = 49.7, the mean within 24.8.
    values = (120.0, 130.0, 140.0)
    assert prediction(values) == pytest.approx((130, 49.69), abs=0.01)
    assert judged("figure", EXACTLY, *values) == SPREAD
    assert judged("figure", {"published": 80, "unit": "cells"}, *values) == NEITHER
    # Near and in the spread is near; two seeds have no spread.
    assert judged("figure", {"published": 125, "unit": "cells"}, *values) == NEAR
    assert judged("figure", EXACTLY, 120.0, 140.0) == NEITHER


def test_a_printed_spread_is_the_paper_s_own() -> None:
    said = {"published": "2.66 ± 0.08 s"}
    # Half of the last digit is granted.
    assert judged("printed spread", said, 2.744) == NEAR
    assert judged("printed spread", said, 2.75) == NEITHER
    wide = {"published": "3.7 ± 1.5 ms"}
    assert judged("printed spread", wide, 4.5) == SPREAD
    assert judged("printed spread", wide, 5.3) == NEITHER
    # Seeds that differ do not help.
    assert judged("printed spread", said, 2.0, 3.0, 4.0) == NEITHER


def test_an_order_is_decided_by_the_interval_of_the_differences() -> None:
    # Mean 2, deviation 1: the mean is known within 2.48.
    assert judge_order((1.0, 2.0, 3.0)) == SPREAD
    assert judge_order((-3.0, -2.0, -1.0)) == SPREAD
    assert judge_order((2.0, 3.0, 4.0)) == NEAR
    assert judge_order((-2.0, -3.0, -4.0)) == NEITHER
    assert [judge_order((value,)) for value in (0.1, 0.0, -0.1)] == [NEAR, NEITHER, NEITHER]


def test_hardly_is_a_tenth_in_each_case() -> None:
    assert judge_hardly((0.1, -0.1)) == NEAR
    assert judge_hardly((0.0, -0.19)) == NEITHER


@pytest.mark.parametrize(
    ("said", "figure"),
    [
        ({"published": "about 140 Mbps"}, (140, 140, "Mbps", None, 0.5)),
        ({"published": "4.2 ± 0.89 ms"}, (4.2, 4.2, "ms", 0.89, 0.05)),
        ({"published": "2500 to 3000 cells"}, (2500, 3000, "cells", None, 0.5)),
        ({"published": "3/8", "value": 37.5, "unit": "%"}, (37.5, 37.5, "%", None, 0.05)),
        ({"published": 299680, "unit": "cells"}, (299680, 299680, "cells", None, 0.5)),
    ],
)
def test_figures_are_read_as_papers_print_them(said: dict[str, Any], figure: tuple[Any, ...]) -> None:
    found = printed(said)
    assert (found.low, found.high, found.unit, found.spread, found.step) == pytest.approx(figure)


@pytest.mark.parametrize("said", [{"published": 5637}, {"published": "at once"}, {"published": "7.7"}])
def test_a_figure_without_unit_is_none(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not a printed figure"):
        printed(said)


def paper(judged: str = "figure") -> Paper:
    """A paper of one claim, and of two rows with other choices."""
    made = Paper("made", "Made", Path(), (Experiment("a", "A", {}, lambda _: [], lambda _: []),))
    entry = {"text": "Cells.", "source": "page 1", "published": 100, "unit": "cells", "judged": judged}
    rows = {name: {"text": "Otherwise.", "source": "open", "kind": "sensitivity"} for name in ("a.one", "a.two")}
    made.__dict__["published"] = {"a.claim": entry, **rows, "a.more": {**rows["a.one"], "kind": "beyond"}}
    return made


MISSED = (200.0, 201.0, 202.0)
HIT, NONE = Tried(values=(99.0, 100.0, 101.0)), Tried(values=MISSED)


@pytest.mark.parametrize(
    ("rows", "cause", "have"),
    [
        ({}, "unexplained", []),
        ({"a.one": HIT}, "open", ["a.one"]),
        ({"a.one": NONE}, "unexplained", []),
        ({"a.one": HIT, "a.two": NONE}, "undecided", ["a.one"]),
        ({"a.one": HIT, "a.two": HIT}, "undecided", ["a.one", "a.two"]),
    ],
)
def test_a_cause_follows_from_the_rows_that_were_run(rows: dict[str, Tried], cause: str, have: list[str]) -> None:
    claim = paper().claim(Finding("a.claim", "201", values=MISSED, rows=rows))
    assert (claim.verdict, claim.cause, list(claim.rows)) == (NEITHER, cause, have)
    assert all(row in claim.why for row in have)
    # A quick run leaves rows out, and so says nothing of causes.
    assert paper().claim(Finding("a.claim", "201", values=MISSED, rows=rows), quick=True).cause is None
    assert paper().claim(Finding("a.claim", "100", values=(100.0,), rows={"a.one": HIT})).cause is None


def test_a_cause_of_statements_needs_as_many_seeds() -> None:
    made = paper("bound")
    tried = {"a.one": Tried(holds=True, seeds=3)}
    assert made.claim(Finding("a.claim", "no", False, "Why.", rows=tried, seeds=3)).cause == "open"
    with pytest.raises(ValueError, match="not run with the claim's 5 seeds"):
        made.claim(Finding("a.claim", "no", False, "Why.", rows=tried, seeds=5))


def test_a_row_that_cannot_decide_a_cause_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.three is not a row of a choice"):
        paper().claim(Finding("a.claim", "201", values=MISSED, rows={"a.three": HIT}))
    with pytest.raises(ValueError, match=r"a\.more is not a row of a choice"):
        paper().claim(Finding("a.claim", "201", values=MISSED, rows={"a.more": HIT}))
    with pytest.raises(ValueError, match="not run with the claim's 3 seeds"):
        paper().claim(Finding("a.claim", "201", values=MISSED, rows={"a.one": Tried(values=(100.0,))}))


def test_a_figure_is_not_judged_by_a_word() -> None:
    with pytest.raises(ValueError, match="judged as 'figure', by values"):
        paper().claim(Finding("a.claim", "200", True))
    # Without a value nothing is said.
    assert paper().claim(Finding("a.claim", "200", why="Shorter.")).verdict is None


@pytest.mark.parametrize("rule", [None, "roughly"])
def test_a_claim_without_a_rule_is_told_with_the_rules_there_are(rule: str | None) -> None:
    made = paper()
    said = {key: value for key, value in made.published["a.claim"].items() if key != "judged"}
    made.published["a.claim"] = said if rule is None else {**said, "judged": rule}
    with pytest.raises(CellrateError, match=rf"judged of a\.claim is {rule!r}; write one of figure, per cent"):
        made.claim(Finding("a.claim", "100", values=[100.0]))


def test_a_quick_run_says_no_by_the_same_rule() -> None:
    for quick in (True, False):
        assert paper().claim(Finding("a.claim", "150", values=(150.0,)), quick=quick).verdict == NEITHER
        assert paper().claim(Finding("a.claim", "105", values=(105.0,)), quick=quick).verdict == NEAR


def test_the_page_has_a_row_for_each_kind() -> None:
    rows = re.findall(r"^\| `([a-z ]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(JUDGED)
    used = {said.get("judged") for name in ready_papers() for said in load_paper(name).published.values()} - {None}
    assert used == set(JUDGED)
