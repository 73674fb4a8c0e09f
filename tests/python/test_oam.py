"""OAM loopback cells: what a user sees of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.captures.arrivals import by_connection, read_capture
from cellrate.command_line.main import status
from conftest import PAIR
from test_capture import fields, needs_tshark

LOOPED = PAIR.replace(
    "[[vc]]\n",
    '[[vc]]\nloopback = [{ every = "1 ms" }, { every = "1 ms", at = "sw", start = "500 us" }]\n',
    1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("oam")


@pytest.fixture(scope="module")
def result(folder: Path) -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(LOOPED), capture=folder)


def test_every_key_of_a_row_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    section = text.partition("## loopbacks\n")[2].partition("\n## ")[0]
    whole, segment = result.summary["loopbacks"]
    assert (whole["flow"], segment["flow"], segment["at"]) == ("end-to-end", "segment", "sw")
    assert {key for key in whole if f"`{key}`" not in section} == set()
    assert 0 < segment["min_s"] <= segment["mean_s"] <= segment["max_s"]
    assert segment["mean_s"] < whole["mean_s"]


def test_tables_have_a_row_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], result: cellrate.Result
) -> None:
    name = result.summary["loopbacks"][0]["vc"]
    assert f"<td>{name} at sw</td>" in result._repr_html_()
    file = tmp_path / "looped.toml"
    file.write_text(LOOPED)
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert f"\n {name} at sw " in capsys.readouterr().out
    assert (tmp_path / "out" / "loopbacks.csv").read_text().startswith('"vc","at","flow","sent","answered"')
    assert cellrate.run(cellrate.Scenario.parse(PAIR)).summary["loopbacks"] == []


def test_a_capture_has_them_and_trace_counts_them(
    folder: Path, result: cellrate.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = dict(by_connection(read_capture(folder / "cells.pcapng")))
    whole, segment = result.summary["loopbacks"]
    (first,) = [name for name in rows if name.endswith("->sw 0/32") and rows[name]["oam_cells"] > 0][:1]
    assert rows[first]["oam_cells"] == pytest.approx(whole["sent"] + segment["sent"], abs=2)
    assert status(["trace", str(folder / "cells.pcapng"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["connections"]
    assert told[first]["oam_cells"] == rows[first]["oam_cells"]


@needs_tshark
def test_the_dissector_decodes_them(folder: Path, result: cellrate.Result) -> None:
    names = ("oam.flow", "oam.type", "oam.function", "oam.loopback.request", "oam.loopback.tag", "oam.crc10_ok")
    found = fields(folder / "cells.pcapng", *names, where="oam")
    assert {row[0] for row in found} == {"F5 end to end", "F5 segment"}
    assert {(row[1], row[2], row[5].lower()) for row in found} <= {("1", "8", "1"), ("1", "8", "true")}
    # A request crosses both links and comes back over both.
    tag = "oam.loopback.tag == 3"
    assert len(fields(folder / "cells.pcapng", "frame.number", where=f'{tag} && oam.flow == "F5 end to end"')) == 4
    assert result.summary["loopbacks"][0]["lost"] == 0
