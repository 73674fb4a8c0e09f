"""`advise --tune`: what is kept is never below the advised set or the defaults, and can be signalled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cellrate import CellrateError, Scenario
from cellrate.advice.advisor import advise, codes_of
from cellrate.advice.situation import Situation
from cellrate.campaigns.ranges import SIGNALLED
from cellrate.command_line.main import status
from cellrate.trial import compare, tune
from cellrate.trial.tuning import LOST, _score, ranges_of

pytest.importorskip("optuna")

T1 = Situation(link_bps=1.536e6, round_trip_s=0.01, application="interactive")


def test_values_found_beat_the_advised_set_and_the_same_call_runs_nothing_again(tmp_path: Path) -> None:
    comparison = compare(advise(T1), workers=1)
    tuned = tune(comparison, tmp_path / "runs", trials=8, workers=1)
    (needed,) = tuned.needed
    default, advised, best = tuned.figures[needed]
    assert default is not None
    assert advised is not None
    assert best is not None
    assert best <= advised
    assert best <= default
    assert tuned.figures[LOST][2] <= tuned.figures[LOST][1]  # type: ignore[operator]
    for key, value in tuned.changed.items():
        assert value in SIGNALLED[key]
    assert tuned.kept.codes == codes_of(tuned.kept.advices)
    before = {file.stat().st_ino for file in tmp_path.glob("runs/point-*/summary.json")}
    assert tune(comparison, tmp_path / "runs", trials=8, workers=1).content() == tuned.content()
    assert before == {file.stat().st_ino for file in tmp_path.glob("runs/point-*/summary.json")}


ADVISED = {"throughput": (100.0, True, True), "delay": (10.0, False, True), "queue": (5.0, False, False)}
ADVISED |= {LOST: (1.0, False, False)}
DEFAULT = {**ADVISED, "delay": (12.0, False, True)}


@pytest.mark.parametrize(
    ("changed", "is_taken"),
    [
        ({}, False),
        ({"delay": (8.0, False, True)}, True),
        # Less than a hundredth better is as good.
        ({"delay": (9.95, False, True)}, False),
        ({"delay": (8.0, False, True), "throughput": (99.99, True, True)}, False),
        ({"delay": (8.0, False, True), LOST: (2.0, False, False)}, False),
        ({"delay": (8.0, False, True), "queue": (900.0, False, False)}, True),
        ({"delay": (None, False, True), "throughput": (200.0, True, True)}, False),
        ({"queue": (1.0, False, False)}, False),
    ],
)
def test_a_set_takes_the_place_only_if_it_is_worse_in_nothing_that_counts(
    changed: dict[str, tuple[float | None, bool, bool]], is_taken: bool
) -> None:
    assert (_score({**ADVISED, **changed}, ADVISED, DEFAULT) > 0) == is_taken


def test_a_request_that_never_ended_and_now_does_is_better() -> None:
    never = {**ADVISED, "delay": (None, False, True)}
    assert _score(ADVISED, never, never) > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mcr=1..2", "keys that can be tuned are rif, rdf, cdf, nrm, trm, adtf, tbe"),
        ("rif=1/3..1", "1/3 cannot be signalled"),
        ("nrm=2..3", "3 cannot be signalled"),
        ("rif", "write a dotted path, = and two values"),
    ],
)
def test_what_cannot_be_tuned_or_signalled_is_refused(text: str, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        ranges_of([text])


def test_the_command_writes_the_tuned_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["advise", "--link", "T1", "--round-trip", "10 ms", "--application", "interactive", "--switches", "erica"]
    more = ["--tune", "--vary", "rif=1/4096..1/16", "--trials", "4", "--workers", "1", "--out", str(tmp_path / "runs")]
    assert status([*call, *more, "--write", str(tmp_path / "set.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tuning"]["trials"] == 4
    (rif,) = [row for row in found["parameters"] if row["parameter"] == "RIF"]
    assert Scenario.load(tmp_path / "set.toml").to_dict()["defaults"]["abr"]["rif"] == rif["text"]
    assert found["tuning"]["changed"].get("rif", rif["text"]) == rif["text"]
    assert status([*call, "--trials", "4"]) == 2
    assert "--trials needs --tune" in capsys.readouterr().err
