"""Curves of ACR explained in the lab, by the pointer and by keys, as `cellrate explain` explains them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import cellrate
from cellrate.watching.lab import lab
from lab_pages import TRANSIENT, Seen, needs_lab, opened

pytestmark = needs_lab

BOX = "document.querySelector('#panels .why')"
LINES = "document.querySelector('#panels .why pre')?.textContent"
PLOT = "#panels .u-over"


@pytest.fixture
def seen() -> Iterator[Seen]:
    """The lab with a run that has ended."""
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        yield page


def pointed(seen: Seen, at_s: float, place: int = 0) -> str:
    """Point at a curve at an instant, and give what is said; the instant is that of a whole pixel."""
    seen.page.locator(PLOT).first.scroll_into_view_if_needed()
    inner = seen.page.locator(PLOT).first.bounding_box()
    assert inner is not None
    plot = "cellrate.lab.panels.plots[0]"
    x = round(seen.value(f"{plot}.plot.valToPos({at_s}, 'x')"))
    value = f"cellrate.lab.panels.valueAt({plot}.panel.lines[{place}], {plot}.plot.posToVal({x}, 'x')) * 424e-6"
    y = seen.value(f"{plot}.plot.valToPos({value}, 'y')")
    seen.page.mouse.move(inner["x"] + x, inner["y"] + y - 1)
    name = seen.value(f"{plot}.panel.lines[{place}].label")
    seen.until(f"{BOX}.textContent.startsWith('{name} at ') && !{BOX}.hidden && !{LINES}.includes('repeated')")
    return str(seen.value(LINES))


def instant(seen: Seen) -> float:
    return float(seen.value(f"document.querySelector('{PLOT}').ariaValueNow"))


def by_command(vc: str, at_s: float, settings: dict[str, object] | None = None) -> str:
    scenario = cellrate.Scenario.load("two-source-transient", set=settings or {})
    return "\n".join(cellrate.explain(scenario, vc, at_s).words)


def assert_as_command(seen: Seen, vc: str) -> None:
    """Hold the words shown to those of the command: they come some time after the pointer."""
    last = time.monotonic() + 20.0
    while (said := str(seen.value(LINES))) != (due := by_command(vc, instant(seen))) and time.monotonic() < last:
        seen.page.wait_for_timeout(100)
    assert said == due


def test_the_pointer_at_a_curve_says_what_the_command_says(seen: Seen) -> None:
    # Later, earlier, and another source: the run goes on, keeps its steps, and begins anew.
    for at_s in (0.22, 0.36, 0.115):
        pointed(seen, at_s)
        assert_as_command(seen, "vc1")
    # A curve that is hidden is not pointed at, and leaves the other alone.
    seen.page.locator("#panels .legend .line").first.click()
    told = pointed(seen, 0.17, place=1)
    assert_as_command(seen, "vc2")
    assert "turned the FRM around" in told
    seen.page.mouse.move(5, 5)
    seen.until(f"{BOX}.hidden")


def test_nothing_is_run_again_until_a_curve_is_pointed_at(seen: Seen) -> None:
    assert seen.value("cellrate.lab.asking.hand === null")
    box = seen.page.locator(PLOT).first.bounding_box()
    assert box is not None
    # The upper left corner of the panel is far from all curves.
    seen.page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.97)
    seen.page.wait_for_timeout(400)
    assert seen.value("cellrate.lab.asking.hand === null")
    pointed(seen, 0.05)
    assert seen.value("cellrate.lab.asking.hand !== null")
    # With the next run its worker goes.
    seen.click("again")
    seen.until("cellrate.lab.asking.hand === null")
    seen.ended()


def test_keys_go_along_a_curve_and_to_the_next(seen: Seen) -> None:
    seen.value(f"document.querySelector('{PLOT}').focus({{ focusVisible: true }})")
    plot = seen.page.locator(PLOT).first
    said = f"!{BOX}.hidden && {BOX}.textContent.startsWith('vc{{}} at ') && !{LINES}.includes('repeated')"
    seen.until(said.format(1))
    assert instant(seen) == pytest.approx(0.2)
    assert seen.value(LINES) == by_command("vc1", instant(seen))
    plot.press("ArrowLeft")
    plot.press("Shift+ArrowLeft")
    assert instant(seen) == pytest.approx(0.1956)
    plot.press("ArrowDown")
    seen.until(said.format(2))
    assert seen.value(LINES) == by_command("vc2", instant(seen))
    assert seen.value(f"document.querySelector('{PLOT}').ariaValueText") == "vc2 at 195.60 ms"
    plot.press("Escape")
    assert seen.value(f"{BOX}.hidden")
    assert seen.page.locator(PLOT).first.get_attribute("role") == "slider"


def test_a_slider_and_an_own_algorithm_are_explained_as_they_ran(seen: Seen) -> None:
    seen.page.locator("[id='slider defaults.abr.nrm']").press("ArrowLeft")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    seen.ended()
    told = pointed(seen, 0.15)
    assert told == by_command("vc1", instant(seen), {"defaults.abr.nrm": "16"})
    assert told != by_command("vc1", instant(seen))
    seen.page.locator("#own summary").click()
    seen.click("use")
    seen.until("cellrate.lab.store.head.toml.includes('custom')")
    seen.ended()
    own = pointed(seen, 0.15)
    assert "a BRM came back" in own
    assert own != told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("class Mine extends SwitchAlgorithm { on_backward_rm() { for (;;); } }", "has not come back for 5 s"),
        ("class Mine extends SwitchAlgorithm { on_backward_rm() { throw new Error('mine'); } }", "mine"),
    ],
)
def test_an_algorithm_that_throws_or_hangs_is_said_in_the_box(seen: Seen, code: str, told: str) -> None:
    # The run that is shown had none: what goes wrong does so in the worker of the explanation alone.
    start = seen.value("cellrate.lab.current.start")
    own = ["defaults.switch.algorithm", '{ type = "custom", name = "mine" }']
    seen.page.evaluate(
        "(start) => { cellrate.lab.current.start = start; }", {**start, "algorithm": code, "settings": [own]}
    )
    seen.value(f"document.querySelector('{PLOT}').focus({{ focusVisible: true }})")
    seen.until(f"{LINES}?.startsWith('It cannot be explained: ') && {LINES}.includes('{told}')")
    # The next question has a worker of its own.
    seen.page.evaluate("(start) => { cellrate.lab.current.start = start; }", start)
    seen.page.locator(PLOT).first.press("ArrowLeft")
    seen.until(f"{LINES}?.includes('BRM')")
