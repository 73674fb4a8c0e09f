"""The page of a live run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.live import doctor, live_run, live_watch
from cellrate.live.page import page_of
from cellrate.watching.site import FOLDER
from conftest import SWEEP
from test_live_run import application, scenario
from test_watch import Viewer, ask, say

_FOUND = doctor.findings()
needs_hosts = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))
pytestmark = pytest.mark.skipif(not (FOLDER / "page.js").is_file(), reason="the page has not been built here: make lab")

PROBES = """
[[probe]]
record = ["acr", "queue", "utilization"]
every = "10 ms"

[[probe]]
record = ["received"]
of = ["vc"]
every = "change"
"""
SENDER = """
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(9):
    sender.sendto(bytes(500), (sys.argv[1], 9))
    time.sleep(0.02)
"""
WORDS = json.dumps([sys.executable, "-c", SENDER, "{peer}"])
DATAGRAMS = application("datagrams", f'{{ type = "command", words = {WORDS} }}')


@needs_hosts
def test_a_viewer_sees_all_series_while_they_are_recorded_and_in_the_end_the_figures(tmp_path: Path) -> None:
    viewers: list[Viewer] = []
    text = scenario("1500 ms", DATAGRAMS) + PROBES
    run = live_watch(
        cellrate.Scenario.parse(text),
        folder=tmp_path,
        allow_commands=True,
        on_ready=lambda address: viewers.append(Viewer(address)),
    )
    viewers[0].join(30)
    assert run.failed_applications == []
    # 500 octets of payload, UDP, IP, LLC/SNAP and the trailer of AAL5 are 12 cells.
    assert run.result.vc("vc")["data_delivered"] == 9 * 12
    (_, head), *rest = viewers[0].events
    assert head["live"]
    assert len(rest) > 5, "as it goes on, not all in the end"
    names = run.result.series_names
    assert ("received", "vc") in names
    for place, (probe, entity) in enumerate(names):
        series = run.result.series(probe, entity=entity)
        seen = [more["series"].get(str(place), [[], []]) for _, more in rest]
        np.testing.assert_array_equal(np.concatenate([times for times, _ in seen]), series.times_s)
        np.testing.assert_array_equal(np.concatenate([values for _, values in seen]), series.values)
    assert "speed" not in rest[0][1]
    assert rest[-1][1]["figures"]["vcs"][0] == run.result.vc("vc")


@needs_hosts
def test_the_command_says_where_the_page_is_and_writes_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "t.toml", tmp_path / "out"
    file.write_text(scenario("300 ms", DATAGRAMS) + PROBES)
    monkeypatch.setattr("cellrate.watching.board.Board.wait_for_viewer", lambda _: None)
    assert status(["live", "watch", str(file), "--out", str(out)]) in (0, 1), "in time, or not"
    said = capsys.readouterr().out
    assert said.startswith("Open http://127.0.0.1:")
    assert json.loads((out / "summary.json").read_text())["run"]["attempt"] == 1
    assert (out / "series" / "acr.parquet").exists()


def test_a_live_run_goes_by_the_clock() -> None:
    addresses: list[str] = []
    text = scenario("1 s", DATAGRAMS) + PROBES
    with page_of(cellrate.Scenario.parse(text), on_ready=addresses.append, wait=False):
        assert say(addresses[0], '{"paused": true}') == ("error", "a live run keeps to the clock")
        assert "page.js" in ask(addresses[0], "")[1]


def test_what_cannot_be_watched_is_said_before_a_page_is_there() -> None:
    def no_page(_: str) -> None:
        pytest.fail("there is a page")

    with (
        pytest.raises(cellrate.CellrateError, match="records nothing to watch"),
        page_of(cellrate.Scenario.parse(scenario("1 s", DATAGRAMS)), on_ready=no_page),
    ):
        pass
    with (
        pytest.raises(cellrate.CellrateError, match="sweeps over 3 points; a page shows one run"),
        page_of(cellrate.Scenario.parse(SWEEP), on_ready=no_page),
    ):
        pass
    with pytest.raises(cellrate.CellrateError, match="a distributed run cannot be watched"):
        live_run(cellrate.Scenario.parse(scenario("1 s") + PROBES), distributed=True, look=lambda *_: None)
