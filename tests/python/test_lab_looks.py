"""The lab for everybody: any width, light and dark, by keyboard, with a screen reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cellrate.watching.lab import lab
from lab_pages import TRANSIENT, needs_lab, opened

pytestmark = needs_lab

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

CONTROLS = {
    *(
        "theme",
        "keys",
        "to-lab",
        "to-lessons",
        "scenario",
        "again",
        "slow",
        "more",
        "closer",
        "further",
        "left",
        "right",
    ),
    *("whole", "keep", "csv", "png", "toml", "link"),
}
"""Elements that can be reached when a run has ended."""


@pytest.mark.skipif(not AXE.is_file(), reason="the packages of the page have not been fetched: make lab")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rules_of_accessibility_find_nothing_serious(scheme: str) -> None:
    with lab() as address, opened(address + TRANSIENT, color_scheme=scheme) as page:
        page.ended()
        for opening in ("null", "document.querySelectorAll('details').forEach((one) => { one.open = true; })"):
            page.value(opening)
            page.value(AXE.read_text() + "; null")
            found: list[dict[str, Any]] = page.value("axe.run().then(({ violations }) => violations)")
            serious = [
                (one["id"], [node["html"][:200] for node in one["nodes"]])
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == []
        page.click("to-lessons")
        page.page.locator("#lesson .list button").first.click()
        page.ended()
        found = page.value("axe.run().then(({ violations }) => violations)")
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [420, 900, 1400, 3840])
def test_nothing_is_wider_than_the_page(width: int) -> None:
    with lab("weighted-shares") as address, opened(address, viewport={"width": width, "height": 900}) as page:
        page.ended()
        assert page.value("document.documentElement.scrollWidth") <= width
        page.click("to-lessons")
        page.page.locator("#lesson .list button").first.click()
        page.ended()
        assert page.value("document.documentElement.scrollWidth") <= width


def test_no_ready_scenario_is_wider_than_a_telephone() -> None:
    with lab() as address, opened(address + TRANSIENT, viewport={"width": 420, "height": 900}) as page:
        ready = page.value("[...document.querySelector('#scenario optgroup').children].map(({ value }) => value)")
        assert "gfr" in ready
        for name in ready:
            page.value(
                f"(({{ lab }}, choice) => {{ lab.current = null; choice.value = '{name}'; "
                "choice.dispatchEvent(new Event('change')); })(cellrate, document.getElementById('scenario'))"
            )
            page.until("cellrate.lab.current || !document.getElementById('fault').hidden")
            assert page.value("document.getElementById('fault').hidden"), name
            assert page.value("document.documentElement.scrollWidth") <= 420, name


def test_parameters_of_abr_are_offered_where_there_is_abr() -> None:
    with lab("two-source-transient") as address, opened(address) as page:
        page.ended()
        rif = "Boolean(document.getElementById('slider defaults.abr.rif'))"
        assert page.value(rif)
        page.page.locator("#scenario").select_option("ecn-dctcp")
        page.until("cellrate.lab.store.head.name == 'ecn-dctcp'")
        page.until("document.getElementById('slider defaults.switch.ecn.threshold')")
        assert not page.value(rif)
        # Whoever wants them finds them.
        assert page.value(
            "[...document.getElementById('more').options].some(({ value }) => value == 'defaults.abr.rif')"
        )


def test_a_scenario_that_a_link_brings_stands_in_the_list() -> None:
    with lab("gfr") as address, opened(address) as page:
        page.ended()
        chosen = "document.getElementById('scenario').selectedOptions[0].text"
        assert page.value(chosen) == "gfr"
        page.page.locator("#scenario").select_option("becn")
        page.until("cellrate.lab.store.head.name == 'becn'")
        page.page.locator("#scenario").select_option("")
        page.until("cellrate.lab.store.head.name == 'gfr'")
        page.click("to-lessons")
        page.click("to-lab")
        assert page.value(chosen) == "gfr"
        page.until("cellrate.lab.store.head.name == 'gfr'")


def test_all_of_it_works_by_keyboard() -> None:
    with lab() as address, opened(address + TRANSIENT) as page:
        before = page.ended()
        page.value("document.activeElement.blur()")
        reached: list[str] = []
        for _ in range(80):
            page.page.keyboard.press("Tab")
            reached.append(page.value("document.activeElement.id || document.activeElement.className"))
            if reached[-1] == "skip" and len(reached) > 1:
                break
        assert set(reached) >= CONTROLS
        assert "slider defaults.abr.nrm" in reached
        page.page.locator("[id='slider defaults.abr.nrm']").focus()
        page.page.keyboard.press("ArrowLeft")
        page.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
        assert page.ended()["vcs"] != before["vcs"]
        page.page.locator("#ports summary").focus()
        page.page.keyboard.press("Enter")
        page.until("document.getElementById('portlist').innerText.includes('sw1->sw2: 155.52 Mbps')")


def test_a_lecture_goes_by_keyboard_alone() -> None:
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        keys = page.page.keyboard

        def tab_to(wanted: str) -> None:
            for _ in range(120):
                keys.press("Tab")
                if page.value(f"document.activeElement.matches({wanted!r})"):
                    return
            raise AssertionError(f"Tab does not come to {wanted}")

        tab_to("#scenario")
        keys.type("becn")
        page.until("cellrate.lab.store.head.name == 'becn'")
        page.ended()
        tab_to("#slow")
        keys.press("Enter")
        page.until("[...cellrate.lab.store.departures.values()].some(({ at }) => at.length > 100)")
        tab_to("#fastest")
        keys.press("Space")
        page.ended()
        tab_to("#write summary")
        keys.press("Enter")
        page.until("Boolean(document.querySelector('#editor .cm-content'))")
        tab_to("#editor .cm-content")
        keys.press("Control+End")
        keys.type("\nnot")
        keys.press("Escape")
        keys.press("Control+Enter")
        page.until("!document.getElementById('fault').hidden")
        keys.press("Shift+Tab")
        tab_to("#fault-place")
        keys.press("Enter")
        page.until("document.activeElement.matches('.cm-content')")
        for _ in range(4):
            keys.press("Backspace")
        keys.press("Control+Enter")
        page.until("document.getElementById('fault').hidden")
        page.ended()
        tab_to("#own summary")
        keys.press("Enter")
        page.until("Boolean(document.querySelector('#code .cm-content'))")
        tab_to("#code .cm-content")
        keys.press("Tab")
        # Tab indents there; behind Escape it goes on.
        assert page.value("document.activeElement.matches('#code .cm-content')")
        keys.press("Escape")
        tab_to("#use")
        keys.press("Enter")
        page.until("cellrate.lab.store.head.toml.includes('custom')")
        page.ended()
        tab_to("#keep")
        keys.press("Space")
        assert page.value("document.getElementById('keep').ariaPressed") == "true"
        tab_to("#to-lessons")
        keys.press("Enter")
        tab_to("#lesson .list button")
        keys.press("Enter")
        page.until("cellrate.lab.shared.file == 'abr.toml'")
        tab_to("#lesson summary")
        keys.press("Enter")
        assert page.value("document.querySelector('#lesson details').open")
        tab_to("#lesson .steps button:not(:disabled)")
        keys.press("Enter")
        page.until("document.querySelector('#lesson h3').textContent.startsWith('2 of')")
        # Who goes on by keyboard reads on there.
        assert page.value("document.activeElement.matches('#lesson h3')")


def test_the_page_keeps_the_theme_that_was_chosen() -> None:
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        page.click("theme")
        page.click("theme")
        assert page.value("document.documentElement.dataset.theme") == "dark"
        page.page.reload()
        page.until("typeof cellrate !== 'undefined' && cellrate.lab.summary")
        assert page.value("document.documentElement.dataset.theme") == "dark"
