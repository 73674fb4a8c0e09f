"""MPEG-2 transport streams at their receivers: what a user sees of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellrate

QUICK = {"duration": "4 s", "warm_up": "1 s"}


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run("mpeg2", point=1, set=QUICK)


@pytest.mark.parametrize("rows", ["transport_streams", "reference_list"])
def test_every_key_is_in_the_reference(result: cellrate.Result, rows: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    row = result.summary[rows][0]
    assert row["vc"] == "film"
    assert {key for key in row if f"`{key}`" not in text} == set()


def test_references_come_every_40_ms_and_pictures_are_there(result: cellrate.Result) -> None:
    row = result.summary["transport_streams"][0]
    assert (row["references"], row["lost_references"], row["lost"]) == (75, 0, 0)
    assert 0 < row["mean_jitter_s"] < row["peak_jitter_s"] < 0.01
    assert len(result.summary["reference_list"]) == pytest.approx(100, abs=1)
    assert row["pictures"] == 75


def test_the_tables_have_it(result: cellrate.Result) -> None:
    assert "<td>film</td>" in result._repr_html_()
    assert cellrate.tidy([result], "reference_list").num_rows == len(result.summary["reference_list"])
