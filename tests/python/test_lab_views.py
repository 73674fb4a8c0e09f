"""Views of a run in the lab: values under the pointer, zoom, colours, two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import cellrate
from cellrate.watching.lab import lab
from lab_pages import TRANSIENT, Seen, needs_lab, opened

pytestmark = needs_lab


@pytest.fixture
def seen() -> Iterator[Seen]:
    """The lab as it opens, with its first run at its end."""
    with lab() as address, opened(address + TRANSIENT) as page:
        page.ended()
        yield page


def over(seen: Seen, selector: str, across: float, down: float) -> tuple[float, float]:
    """The place of the page at those parts of an element's width and height."""
    box = seen.page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def test_the_pointer_over_a_panel_tells_the_value_of_each_line(seen: Seen) -> None:
    seen.page.mouse.move(*over(seen, "#panels .u-over", 0.375, 0.5))
    values = (
        "[...document.querySelectorAll('#panels .panel')[0].querySelectorAll('.value')].map((one) => one.textContent)"
    )
    seen.until(f"{values}.every(Boolean)")
    # At 150 ms both send: each has what the store has for that instant.
    kept = [seen.value(f"cellrate.lab.store.track({line}).at(0.15) * 424e-6") for line in (0, 1)]
    assert [float(value) for value in seen.value(values)] == pytest.approx(kept, rel=1e-3)
    # The picture of the network shows the same instant.
    assert seen.value("cellrate.lab.network.at") == pytest.approx(0.15, abs=0.002)
    seen.page.mouse.move(5, 5)
    seen.until("cellrate.lab.network.at === null")
    assert not any(seen.value(values))


def test_the_pointer_over_a_link_tells_its_rate_queue_and_connections(seen: Seen) -> None:
    seen.page.mouse.move(*over(seen, "#network", 0.5, 0.5))
    seen.until("!document.getElementById('tip').hidden")
    told = seen.text("tip")
    assert told.startswith("sw1->sw2: 155.52 Mbps, 5.00 ms; queue ")
    assert "% used; vc1 ACR " in told
    seen.page.mouse.move(5, 5)
    seen.until("document.getElementById('tip').hidden")


def test_a_panel_is_zoomed_in_its_values_alone(seen: Seen) -> None:
    scale = "cellrate.lab.panels.plots[{}].plot.scales.y.max"
    before = [seen.value(scale.format(place)) for place in (0, 1)]
    seen.page.mouse.move(*over(seen, "#panels .panel:nth-of-type(2) .u-over", 0.5, 0.6))
    seen.page.mouse.down()
    seen.page.mouse.move(*over(seen, "#panels .panel:nth-of-type(2) .u-over", 0.503, 0.98))
    seen.page.mouse.up()
    seen.until(f"{scale.format(1)} < {before[1] / 2}")
    assert seen.value(scale.format(1)) == pytest.approx(0.4 * before[1], rel=0.02)
    assert seen.value(scale.format(0)) == before[0]
    assert seen.value("cellrate.lab.panels.zoomed") is None
    seen.page.locator("#panels .u-over").first.dblclick()
    seen.until(f"{scale.format(1)} == {before[1]}")


def test_max_min_lines_follow_who_sends(seen: Seen) -> None:
    levels = seen.value("cellrate.lab.store.head.panels[0].lines.map((line) => line.level)")
    line = 0.9 * 155.52e6 / 424
    (first, second) = [[(at, rate and rate / line) for at, rate in level] for level in levels]
    assert first == [
        (0, pytest.approx(1, rel=1e-3)),
        (0.1, pytest.approx(0.5, rel=1e-3)),
        (0.2, pytest.approx(1, rel=1e-3)),
    ]
    assert second == [(0, None), (0.1, pytest.approx(0.5, rel=1e-3)), (0.2, None)]


PIXELS = """(name) => {
  const canvas = document.getElementById('network');
  const read = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  read.drawImage(canvas, 0, 0);
  const { data } = read.getImageData(0, 0, canvas.width, canvas.height);
  const style = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const wanted = [1, 3, 5].map((place) => parseInt(style.slice(place, place + 2), 16));
  let found = 0;
  for (let place = 0; place < data.length; place += 4) {
    const alike = wanted.every((part, channel) => Math.abs(data[place + channel] - part) < 12);
    if (alike && data[place + 3] > 200) found += 1;
  }
  return found;
}"""
"""How many places of the network's picture have a colour."""


def test_a_long_queue_is_red_and_rm_cells_have_their_colours(seen: Seen) -> None:
    def pixels(name: str) -> int:
        return int(seen.page.evaluate(PIXELS, name))

    def shown_at(instant: float) -> None:
        seen.value(f"cellrate.lab.network.at = {instant}; cellrate.lab.network.draw()")

    shown_at(0.05)
    assert pixels("--hot") == 0
    shown_at(0.15)
    # A bar of 34 by 7, and the link.
    assert pixels("--hot") > 200
    assert pixels("--frm") == pixels("--brm") == 0
    seen.value("cellrate.lab.network.at = null")
    seen.click("slow")
    # The run before, which has ended, stands there until the new one has begun.
    seen.until("0.018 < cellrate.lab.store.now_s && cellrate.lab.store.now_s < 0.3")
    seen.click("pause")
    seen.until("document.getElementById('speed').value == 'stands still'")
    seen.value("cellrate.lab.network.draw()")
    assert pixels("--frm") > 100
    assert pixels("--brm") > 100


def test_two_runs_side_by_side_are_named_by_their_settings_and_zoomed_together(seen: Seen) -> None:
    seen.click("keep")
    assert seen.text("kept-name") == "Kept: two-source-transient"
    assert seen.text("own-name") == "Now: two-source-transient"
    seen.page.locator("[id='slider defaults.abr.nrm']").press("ArrowLeft")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    seen.ended()
    assert seen.text("own-name") == "Now: nrm = 16"
    assert seen.text("kept-name") == "Kept: nrm = 32"
    seen.click("closer")
    zoomed = ["cellrate.lab.panels.zoomed", "cellrate.lab.keptPanels.zoomed"]
    assert [seen.value(one) for one in zoomed] == [pytest.approx([0.1, 0.3])] * 2
    seen.page.locator("#kept-panels .u-over").first.dblclick()
    assert [seen.value(one) for one in zoomed] == [None, None]
    seen.click("keep")
    assert seen.value("document.getElementById('own-name').hidden")


def test_a_slider_offers_what_the_scenario_takes_and_no_more(seen: Seen) -> None:
    def offered(path: str) -> list[str]:
        if not seen.value(f"Boolean(document.getElementById('slider {path}'))"):
            seen.page.locator("#more").select_option(path)
        ends = []
        for key in ("Home", "End"):
            seen.page.locator(f"[id='slider {path}']").press(key)
            ends.append(str(seen.value(f"document.getElementById('slider {path}').ariaValueText")))
        return ends

    assert offered("defaults.abr.nrm") == ["2", "256"]
    assert offered("defaults.abr.rif") == ["1/32768", "1"]
    assert offered("defaults.abr.cdf") == ["1/64", "1"]
    assert offered("defaults.abr.tbe") == ["170000 cells", "16777215 cells"]
    seen.until("cellrate.lab.store.head.toml.includes('cdf = ')")
    summary = seen.ended()
    settings = {f"defaults.abr.{key}": value for key, value in {"nrm": "256", "rif": "1", "cdf": "1"}.items()}
    expected = cellrate.run(cellrate.Scenario.load("two-source-transient", set=settings)).summary
    assert [row["data_sent"] for row in summary["vcs"]] == [row["data_sent"] for row in expected["vcs"]]


def test_the_page_goes_on_without_its_server(seen: Seen) -> None:
    seen.until("typeof cellrateEditors !== 'undefined'")
    seen.page.context.set_offline(True)
    before = seen.ended()
    seen.click("again")
    seen.until("cellrate.lab.summary === null || cellrate.lab.summary")
    assert seen.ended()["vcs"] == before["vcs"]
    seen.page.locator("#write summary").click()
    seen.page.locator("#editor .cm-content").press("Control+Enter")
    seen.page.locator("#own summary").click()
    seen.click("use")
    seen.until("cellrate.lab.store.head.toml.includes('custom')")
    seen.ended()
    seen.click("to-lessons")
    seen.page.locator("#lesson .list button").first.click()
    seen.until("cellrate.lab.shared.file == 'abr.toml'")
    seen.ended()
