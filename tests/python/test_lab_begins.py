"""The lab for who opens it the first time: it moves, goes by keys, and nothing that is asked about is out of sight."""

from __future__ import annotations

import pytest

from cellrate.watching.lab import lab
from conftest import PAIR
from lab_pages import TRANSIENT, needs_lab, opened

pytestmark = needs_lab

SCREEN = {"viewport": {"width": 1440, "height": 900}}
CUT = "[...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
LESSONS = ("abr", "nrm-rif-rdf", "erica", "satellite", "use-it-or-lose-it", "tcp")


def test_the_page_opens_moving_and_goes_by_keys() -> None:
    with lab() as address, opened(address, **SCREEN) as page:
        keys = page.page.keyboard
        page.until("typeof cellrate !== 'undefined' && cellrate.lab.store?.now_s > 0.002")
        assert page.value("document.getElementById('slow').ariaPressed") == "true"
        keys.press("Space")
        page.until("document.getElementById('speed').value == 'stands still'")
        # A later instant, of a line that is full: still each of its cells is drawn.
        page.value("void (cellrate.lab.pace.speed = 0.02, cellrate.lab.ask({ speed: 0.02, paused: false }))")
        page.until("cellrate.lab.store.now_s > 0.009")
        page.value("cellrate.lab.network.draw()")
        assert page.value("cellrate.lab.network.fewer") == 1
        assert page.value("Math.max(...[...cellrate.lab.store.departures.values()].map(({ at }) => at.length))") > 50
        keys.press("s")
        assert page.value("document.getElementById('slow').ariaPressed") == "false"
        keys.press("f")
        page.ended()
        main = "[...document.querySelectorAll('#controls .main')].map((one) => one.id).join()"
        assert page.value(main) == "again"
        keys.press("Space")
        page.until("cellrate.lab.summary === null || cellrate.lab.summary")
        page.ended()
        keys.press("?")
        assert page.value("document.getElementById('help').open")
        keys.press("r")
        page.page.locator("#keys-on").uncheck()
        keys.press("Escape")
        keys.press("s")
        assert page.value("document.getElementById('slow').ariaPressed") == "false"


def test_a_key_that_belongs_to_a_field_is_left_to_it() -> None:
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        page.page.locator("#write summary").click()
        page.page.locator("#editor .cm-content").click()
        page.page.keyboard.press("Control+End")
        page.page.keyboard.type("# fr s?")
        assert page.value("cellrate.lab.editor.text").endswith("# fr s?")
        assert page.value("document.getElementById('slow').ariaPressed") == "false"
        assert not page.value("document.getElementById('help').open")
        page.page.locator("#closer").press("Space")
        assert page.value("cellrate.lab.panels.zoomed") is not None


def test_nothing_moves_for_who_does_not_want_it() -> None:
    with lab() as address, opened(address, reduced_motion="reduce") as page:
        page.ended()
        assert page.value("document.getElementById('slow').ariaPressed") == "false"


def test_text_sliders_questions_and_panels_of_each_lesson_are_seen_at_once() -> None:
    with lab() as address, opened(f"{address}#lesson={LESSONS[0]}", **SCREEN) as page:
        for lesson in LESSONS:
            for step in (1, 2, 3):
                page.value(f"void (location.hash = '#lesson={lesson}.{step}')")
                page.until(
                    f"document.querySelector('#lesson h3')?.textContent.startsWith('{step} of') && "
                    f"cellrate.lab.shared.file == '{lesson}.toml' && cellrate.lab.isOther === false"
                )
                bottoms = page.value(
                    "[...document.querySelectorAll('#panels .panel, #lesson > *, #lesson .slider')]"
                    ".map((one) => one.getBoundingClientRect().bottom)"
                )
                assert len(bottoms) > 5
                assert max(bottoms) <= 900, (lesson, step, max(bottoms))
        # Panels stand at the right of the text.
        right = page.value("document.getElementById('lesson').getBoundingClientRect().right")
        assert page.value("document.getElementById('panels').getBoundingClientRect().left") >= right


def test_behind_the_last_lesson_one_goes_on_with_its_network() -> None:
    with lab() as address, opened(f"{address}#lesson=tcp.3", **SCREEN) as page:
        page.ended()
        page.page.get_by_role("button", name="Go on with this network in the lab").click()
        assert page.value("document.getElementById('lesson').hidden")
        assert page.value("document.getElementById('scenario').selectedOptions[0].text").startswith("tcp.toml")
        assert page.value("cellrate.lab.store.head.name") == "tcp-over-abr"
        assert page.value("document.getElementById('parameters').parentElement.id") == "side"


def test_what_is_wrong_stands_where_it_was_written() -> None:
    with lab() as address, opened(address + TRANSIENT, **SCREEN) as page:
        page.ended()
        page.page.locator("#write summary").click()
        content = page.page.locator("#editor .cm-content")
        content.fill("\n" * 70 + PAIR.replace('duration = "20 ms"', 'duration = "20 mss"'))
        content.press("Control+Home")
        content.press("Control+Enter")
        page.until("document.getElementById('write-fault').textContent")
        line = page.value("cellrate.lab.editor.text.split('mss')[0].split('\\n').length")
        assert page.text("write-fault").startswith(f'Line {line}: duration: "mss" is not a unit of a time')
        seen = "((box) => box.top >= 0 && box.bottom <= innerHeight)({}.getBoundingClientRect())"
        page.until(seen.format("document.getElementById('write-fault')"))
        # The cursor is at the place, which has come into sight.
        page.until(seen.format("document.querySelector('.cm-activeLine')"))
        assert "20 mss" in page.value("document.querySelector('.cm-activeLine').textContent")
        assert page.text("fault-text").startswith("pair.toml:")
        assert page.value("document.getElementById('scenario').selectedOptions[0].text") == "pair.toml (your text)"
        content.fill(PAIR)
        content.press("Control+Enter")
        page.until("cellrate.lab.store.head.name == 'pair'")
        assert page.text("write-fault") == ""
        page.ended()
        page.page.locator("#own summary").click()
        page.page.locator("#code .cm-content").fill("let rate = 1;")
        page.click("use")
        page.until("document.getElementById('own-fault').textContent")
        assert page.text("own-fault").startswith("the code has no class")


def test_two_runs_have_one_scale_and_no_table_is_cut() -> None:
    with lab() as address, opened(address + TRANSIENT, **SCREEN) as page:
        page.ended()
        page.click("keep")
        page.value("cellrate.lab.set([['defaults.link.length', '4000 km']])")
        page.until("cellrate.lab.store.head.toml.includes('length = \"4000 km\"')")
        page.ended()
        ends = "cellrate.lab.{}.plots.map(({{ plot }}) => plot.scales.y.max)"
        page.until(f"String({ends.format('panels')}) == String({ends.format('keptPanels')})")
        kept, now = (page.value(f"cellrate.lab.{one}.plots[1].high") for one in ("keptPanels", "panels"))
        # The queue is longer now: the kept one alone would have a lower axis.
        assert now > 1.5 * kept
        assert page.value(ends.format("keptPanels"))[1] == pytest.approx(1.05 * now)
        assert page.text("kept-name") == "Kept: length = 1000 km"
        assert page.text("own-name") == "Now: length = 4000 km"
        page.until(f"{CUT} == 0")
        page.page.set_viewport_size({"width": 420, "height": 900})
        page.until(f"{CUT} == 0")


@pytest.mark.parametrize(("name", "duration"), [("tcp-flows", "8 s"), ("mpeg2", "")])
def test_no_column_of_a_table_is_cut_on_a_telephone(name: str, duration: str) -> None:
    with lab() as address, opened(f"{address}#scenario={name}", viewport={"width": 420, "height": 900}) as page:
        page.until("typeof cellrate !== 'undefined' && cellrate.lab.store")
        if duration:
            page.value(f"cellrate.lab.set([['duration', '{duration}']])")
            page.until(f"cellrate.lab.store.head.duration_s == {duration.removesuffix(' s')}")
        page.ended()
        assert page.value("document.querySelectorAll('#figures table').length") > 1
        page.until(f"{CUT} == 0")


def test_a_run_is_told_in_words() -> None:
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        assert page.value("document.getElementById('told').ariaLive") == "polite"
        assert page.text("told").startswith("The run has ended, at 400.00 ms of 400.00 ms. ACR [Mbps]: vc1 ")
        page.page.locator("#words summary").click()
        # A browser tells that the list was opened a task later, and only then is it written.
        page.until("document.querySelectorAll('#wordlist li').length == 4")
        words = page.value("[...document.querySelectorAll('#wordlist li')].map((one) => one.textContent)")
        panels = page.value("cellrate.lab.store.head.panels.map((panel) => panel.lines[0].series)")
        most = page.value(f"Math.max(...cellrate.lab.store.track({panels[1]}).values.values)")
        assert words[1].startswith("queue [cells]. sw1->sw2: now ")
        assert f"most {most:,.0f} at " in words[1]
