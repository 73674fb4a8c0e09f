"""Links faster than signalling has rates for: simulated as far as RM cells carry, and said to leave the standard."""

from __future__ import annotations

import pytest

import cellrate
from cellrate import _native
from cellrate.errors import CellrateError, ScenarioError
from cellrate.recorded.summaries import report

SIGNALLED = 16_777_215
"""24 bits [cells/s]."""


def test_rates_reach_their_shares_on_a_link_of_800_gbps() -> None:
    scenario = cellrate.Scenario.load("fast-links")
    result = cellrate.run(scenario)
    for share in scenario.fair():
        series = result.series("acr", vc=share.vc)
        settled = series.values[series.times_s > 0.75 * scenario.duration_s].mean()
        assert settled == pytest.approx(share.rate, rel=0.03), share.vc
    rows = result.summary["beyond_signalling"]
    assert [(row["vc"], row["most"]) for row in rows] == [(f"vc{n}", SIGNALLED) for n in (1, 2, 3, 4)]
    assert [row["pcr"] for row in rows] == pytest.approx([800e9 / 424] * 3 + [100e9 / 424])
    (said,) = (part for part in report(result.summary) if isinstance(part, str) and part.startswith("Beyond"))
    assert said.startswith("Beyond the standard: PCR of vc1 and 3 more is above 16777215 cells/s (7.11 Gb/s)")


def test_within_what_signalling_carries_nothing_is_said() -> None:
    within = cellrate.Scenario.load("fast-links").set({"defaults.abr.pcr": f"{SIGNALLED} cells/s"})
    assert cellrate.run(within).summary["beyond_signalling"] == []


def test_negotiation_cuts_a_peak_rate_to_what_signalling_carries() -> None:
    negotiated = cellrate.Scenario.load("fast-links").set({"admission": "true"})
    summary = cellrate.run(negotiated).summary
    changed = [row for row in summary["negotiated"] if row["vc"] == "vc1" and row["parameter"] == "pcr"]
    assert changed[0]["to"] == f"{SIGNALLED} cells/s"
    assert changed[0]["why"] == "signalling carries 16777215 cells/s at most"
    assert summary["beyond_signalling"] == []


def test_more_than_an_rm_cell_carries_is_refused() -> None:
    beyond = cellrate.Scenario.load("fast-links").set({"defaults.abr.pcr": "4290772993 cells/s"})
    with pytest.raises(ScenarioError, match="from 1 to 4290772992 cells/s, the most that an RM cell carries"):
        beyond.check()


def test_codes_of_more_than_signalling_carries_are_refused() -> None:
    rest = (0.0, 1e6, 32, 0.1, 1 / 16, 1 / 16, 0.5, SIGNALLED, 1 / 16, 0.01)
    assert dict(_native.signalled(float(SIGNALLED), *rest))["PCR"] == SIGNALLED
    with pytest.raises(CellrateError, match="at most 16777215 cells/s to be signalled"):
        _native.signalled(SIGNALLED + 1.0, *rest)
