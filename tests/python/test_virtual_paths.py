"""Virtual paths: what a user sees of their channels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellrate
from cellrate.captures.arrivals import by_connection, read_capture
from cellrate.command_line.main import status
from conftest import PAIR
from test_capture import fields, needs_tshark

PATH = PAIR.replace(
    "[[vc]]\n",
    '[[vc]]\nchannels = [{ name = "files", weight = 3 }, { name = "mail" }]\nloopback = [{ every = "1 ms" }]\n',
    1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("paths")


@pytest.fixture(scope="module")
def result(folder: Path) -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(PATH), capture=folder)


def test_every_key_of_a_row_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    section = text.partition("## channels\n")[2].partition("\n## ")[0]
    files, mail = result.summary["channels"]
    assert (files["channel"], mail["channel"], files["weight"]) == ("files", "mail", 3)
    assert {key for key in files if f"`{key}`" not in section} == set()
    assert files["sent"] == pytest.approx(3 * mail["sent"], abs=4)
    assert files["throughput_bps"] + mail["throughput_bps"] == pytest.approx(result.summary["vcs"][0]["throughput_bps"])


def test_tables_have_a_row_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], result: cellrate.Result
) -> None:
    name = result.summary["channels"][0]["vc"]
    assert f"<td>files in {name}</td>" in result._repr_html_()
    file = tmp_path / "paths.toml"
    file.write_text(PATH)
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert f"\n files in {name} " in capsys.readouterr().out
    assert (tmp_path / "out" / "channels.csv").read_text().startswith('"vc","channel","weight","sent","waiting"')
    assert cellrate.run(cellrate.Scenario.parse(PAIR)).summary["channels"] == []


def test_fair_has_the_shares_of_channels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (share,) = cellrate.Scenario.parse(PATH).fair()
    (plain,) = cellrate.Scenario.parse(PAIR).fair()
    assert (share.rate, plain.channels) == (plain.rate, [])
    data = share.rate * 31 / 32
    assert dict(share.channels) == pytest.approx({"files": data * 3 / 4, "mail": data / 4})
    file = tmp_path / "paths.toml"
    file.write_text(PATH)
    assert status(["fair", str(file), "--json"]) == 0
    (flow,) = json.loads(capsys.readouterr().out)["flows"]
    assert [name for name, _ in flow["channels"]] == ["files", "mail"]
    assert status(["fair", str(file)]) == 0
    assert "files" in capsys.readouterr().out


def test_a_capture_has_cells_of_channels_and_those_of_the_path(
    folder: Path, result: cellrate.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = dict(by_connection(read_capture(folder / "cells.pcapng")))
    port = next(name for name in rows if name.endswith("->sw 255/32")).rpartition(" ")[0]
    first = {name.rpartition(" ")[2]: row for name, row in rows.items() if name.startswith(f"{port} ")}
    assert set(first) == {"255/4", "255/6", "255/32", "255/33"}
    assert first["255/6"]["rm_cells"] == first["255/6"]["cells"] > 0
    assert first["255/4"]["oam_cells"] == first["255/4"]["cells"] > 0
    sent = [row["sent"] for row in result.summary["channels"]]
    assert [first[name]["cells"] for name in ("255/32", "255/33")] == pytest.approx(sent, abs=2)
    assert status(["trace", str(folder / "cells.pcapng"), "--json"]) == 0
    assert f"{port} 255/33" in json.loads(capsys.readouterr().out)["connections"]


@needs_tshark
def test_the_dissector_decodes_rm_and_oam_cells_of_a_path(folder: Path, result: cellrate.Result) -> None:
    rm = fields(folder / "cells.pcapng", "cell.vpi", "cell.vci", "cell.pti", "abr.crc10_ok", where="abr")
    assert {tuple(row[:3]) for row in rm} == {("255", "6", "6")}
    oam = fields(folder / "cells.pcapng", "oam.flow", "oam.crc10_ok", where="oam")
    assert {row[0] for row in oam} == {"F4 end to end"}
    assert result.summary["loopbacks"][0]["lost"] == 0


def test_a_live_run_refuses_channels_by_their_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "paths.toml"
    file.write_text(PATH)
    assert status(["live", "run", str(file)]) != 0
    assert "channels need a simulation: a live run has no virtual paths" in capsys.readouterr().err
