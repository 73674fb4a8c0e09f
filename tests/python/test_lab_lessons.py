"""The lessons of the lab: each network runs, and shows what the text says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cellrate
from cellrate.watching.lab import lab
from lab_pages import TRANSIENT, Seen, needs_lab, opened

pytestmark = needs_lab

LESSONS = {"abr": 3, "nrm-rif-rdf": 3, "erica": 3, "rcp": 3, "satellite": 3, "use-it-or-lose-it": 3, "tcp": 3}
"""How many steps each has."""


def middle(summary: dict[str, Any]) -> dict[str, Any]:
    """The row of the port that all connections share."""
    row: dict[str, Any] = next(row for row in summary["ports"] if row["port"] == "sw1->sw2")
    return row


def goodputs(summary: dict[str, Any]) -> list[float]:
    return [row["goodput_bps"] / 1e6 for row in summary["tcp"]]


def cuts(summary: dict[str, Any]) -> int:
    return sum(row["cutoff_decreases"] for row in summary["vcs"] if row["data_sent"])


CLAIMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "nrm-rif-rdf 1 RIF = 1/1024": lambda s: 0.5 < middle(s)["utilization"] < 0.6,
    "nrm-rif-rdf 1 RIF = 1/64": lambda s: 500 < middle(s)["max_queue"] < 700,
    "nrm-rif-rdf 1 RIF = 1/16": lambda s: 900 < middle(s)["max_queue"] < 1050,
    "nrm-rif-rdf 2 RDF = 1/256": lambda s: 5000 < middle(s)["max_queue"] < 6200,
    "nrm-rif-rdf 2 RDF = 1/2": lambda s: middle(s)["max_queue"] < 900,
    "erica 1 10 ms": lambda s: 7000 < middle(s)["max_queue"] < 9000,
    "erica 1 1 ms": lambda s: middle(s)["max_queue"] < 10,
    "rcp 0": lambda s: middle(s)["max_queue"] < 10 and 0.70 < middle(s)["utilization"] < 0.76,
    "rcp 0 ERICA": lambda s: 7000 < middle(s)["max_queue"] < 8000,
    "rcp 1 FECN": lambda s: middle(s)["max_queue"] > 100_000,
    "rcp 1 RCP": lambda s: middle(s)["max_queue"] < 10,
    "rcp 2 alpha 1.6": lambda s: 900 < middle(s)["max_queue"] < 1100,
    "rcp 2 without the queue": lambda s: middle(s)["max_queue"] < 10,
    "satellite 1 TBE = 1024 cells": lambda s: cuts(s) > 100,
    "satellite 1 TBE = 8192 cells": lambda s: cuts(s) > 0,
    "satellite 1 TBE = 65536 cells": lambda s: cuts(s) == 0,
    "satellite 2 CRM = 32": lambda s: cuts(s) > 500,
    "satellite 2 CRM = 6144": lambda s: cuts(s) == 0,
    "use-it-or-lose-it 1 none beyond rule 5": lambda s: 11_500 < middle(s)["max_queue"] < 12_500,
    "use-it-or-lose-it 1 february-1995: ACR falls while nothing comes back": lambda s: middle(s)["max_queue"] < 5500,
    "use-it-or-lose-it 1 count-based": lambda s: 11_000 < middle(s)["max_queue"] < 12_100,
    "use-it-or-lose-it 2": lambda s: middle(s)["max_queue"] < 3000,
    "tcp 0": lambda s: max(goodputs(s)) > 8 and min(goodputs(s)) < 0.2,
    "tcp 1 3000 cells": lambda s: max(goodputs(s)) - min(goodputs(s)) < 0.1 and 2500 < middle(s)["max_queue"] < 2900,
    "tcp 2": lambda s: max(goodputs(s)) - min(goodputs(s)) < 0.01 and not middle(s)["dropped"],
}
"""Texts and answers, by lesson, step and button."""


def cells(summary: dict[str, Any]) -> int:
    return int(middle(summary)["max_queue"])


def mbps(summary: dict[str, Any], vc: str = "vc1") -> float:
    return float(next(row["throughput_bps"] for row in summary["vcs"] if row["vc"] == vc) / 1e6)


MOVES: list[tuple[str, str, str, Callable[[dict[str, Any]], bool]]] = [
    ("abr 1", "defaults.link.length", "100 km", lambda s: 105 < cells(s) < 115),
    ("abr 1", "defaults.link.length", "1000 km", lambda s: 1345 < cells(s) < 1355),
    ("abr 2", "defaults.abr.nrm", "8", lambda s: mbps(s) / (middle(s)["utilization"] * 149.76) < 0.875),
    ("nrm-rif-rdf 0", "defaults.abr.nrm", "2", lambda s: mbps(s) < 1),
    ("nrm-rif-rdf 0", "defaults.abr.nrm", "32", lambda s: 105.5 < mbps(s) < 106.5),
    ("nrm-rif-rdf 0", "defaults.abr.nrm", "256", lambda s: 103.5 < mbps(s) < 104.5),
    ("erica 0", "defaults.switch.algorithm.target_utilization", "90 %", lambda s: 2 < middle(s)["mean_queue"] < 3),
    ("erica 0", "defaults.switch.algorithm.target_utilization", "99 %", lambda s: 95 < middle(s)["mean_queue"] < 105),
    ("rcp 0", "defaults.switch.algorithm.alpha", "0.1", lambda s: 0.37 < middle(s)["utilization"] < 0.41),
    ("rcp 1", "defaults.link.length", "100 km", lambda s: 2_200 < cells(s) < 2_600),
    ("satellite 1", "defaults.abr.tbe", "32768 cells", lambda s: cuts(s) == 0),
    ("use-it-or-lose-it 0", "defaults.abr.adtf", "500 ms", lambda s: 11_950 < cells(s) < 12_050),
    ("use-it-or-lose-it 0", "defaults.abr.adtf", "200 ms", lambda s: 6_200 < cells(s) < 6_350),
    ("use-it-or-lose-it 0", "defaults.abr.adtf", "190 ms", lambda s: cells(s) == 5),
    ("tcp 0", "link.sw1-sw2.length", "210 km", lambda s: goodputs(s)[0] < 0.2 and goodputs(s)[1] > 8),
    ("tcp 2", "defaults.switch.algorithm.target_utilization", "95 %", lambda s: min(goodputs(s)) > 3.9),
]
"""Effects of a slider by the texts: lesson and step, parameter, value. Its run is natively the same."""


READ = (
    "[...document.getElementById('lesson').children].filter(({ id }) => id != 'parameters')"
    ".map((one) => one.textContent).join(' ')"
)
"""Words of a step, without those of its sliders."""


def test_each_step_runs_and_shows_what_its_text_says() -> None:
    claims = dict(CLAIMS)
    moves = list(MOVES)
    words = dict.fromkeys(LESSONS, 0)

    def checked(page: Seen, place: str) -> None:
        summary = page.ended()
        claim = claims.pop(place, None)
        assert claim is None or claim(summary), (place, summary["ports"], summary["tcp"], summary["vcs"])

    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        page.click("to-lessons")
        assert page.value("document.querySelectorAll('#lesson .list button').length") == len(LESSONS)
        for lesson, steps in LESSONS.items():
            page.value(f"location.hash = '#lesson={lesson}'")
            page.page.reload()
            page.until(f"typeof cellrate !== 'undefined' && cellrate.lab.shared.file == '{lesson}.toml'")
            for step in range(steps):
                checked(page, f"{lesson} {step}")
                for move in [move for move in moves if move[0] == f"{lesson} {step}"]:
                    _, path, value, holds = move
                    assert page.value(f"Boolean(document.getElementById('slider {path}'))"), move
                    text = page.value("cellrate.lab.store.head.toml")
                    assert holds(cellrate.run(cellrate.Scenario.parse(text).set({path: value})).summary), move
                    moves.remove(move)
                words[lesson] += len(page.value(READ).split())
                assert page.value("document.querySelectorAll('#lesson details').length") > 0
                assert page.value("document.querySelectorAll('.slider').length") > 0
                for button in page.page.locator("#lesson .try").all():
                    button.click()
                    checked(page, f"{lesson} {step} {button.inner_text()}")
                if step + 1 < steps:
                    page.page.get_by_role("button", name="Next", exact=True).click()
                    page.until(f"document.querySelector('#lesson h3').textContent.startsWith('{step + 2} of')")
    assert not claims
    assert not moves
    # At 120 words a minute half of its ten minutes is left for trying.
    assert words["abr"] < 600
    assert max(words.values()) < 1000


def test_a_slider_has_the_sentence_of_its_own_algorithm() -> None:
    with lab() as address, opened(address + "#lesson=rcp") as page:
        page.until("typeof cellrate !== 'undefined' && document.querySelectorAll('.slider').length > 1")
        texts = page.value("[...document.querySelectorAll('.slider small')].map((one) => one.textContent)")
        # Phantom, which stands before RCP in the list of algorithms, has an alpha, too.
        assert "Gain of what the line has left." in texts
        assert not any("Weight of the newest interval" in text for text in texts)
