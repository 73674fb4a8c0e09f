"""Groups made by `count` in the lab: one slider, one row of each table, and one band in panels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cellrate
from cellrate.plotting.bands import fold
from cellrate.recorded.groups import DRAWN, groups_of
from cellrate.watching.lab import lab
from lab_pages import Seen, needs_lab, opened
from test_groups import NETWORK

pytestmark = needs_lab

NAMES = ", ".join(f'"tcp{number}"' for number in range(1, 8))
PROBES = f"""
[[probe]]
record = ["acr"]
of = [{NAMES}]
[[probe]]
record = ["delay"]
every = "1 ms"
of = [{NAMES}, "video"]
[[probe]]
record = ["queue"]
of = ["sw1->sw2"]
"""
GROUP = "tcp1 ... tcp7"


@pytest.fixture(scope="module")
def scenario() -> cellrate.Scenario:
    return cellrate.Scenario.parse(NETWORK.replace('traffic = { type = "tcp" }', 'abr = { mcr = "1 Mbps" }') + PROBES)


@pytest.fixture
def seen(scenario: cellrate.Scenario) -> Iterator[Seen]:
    with lab(scenario) as address, opened(address) as page:
        page.ended()
        yield page


def legends(seen: Seen) -> list[list[str]]:
    names = "[...one.querySelectorAll('.line > span:nth-child(2)')].map((name) => name.textContent)"
    code = f"[...document.querySelectorAll('#panels .panel')].map((one) => {names})"
    return list(seen.value(code))


def test_a_group_is_one_slider_that_moves_all_its_members(seen: Seen) -> None:
    labels = seen.value("[...document.querySelectorAll('#sliders label')].map((one) => one.textContent)")
    assert f"MCR of {GROUP}" in labels
    offered = seen.value("[...document.querySelectorAll('#more option')].map((one) => one.textContent)")
    assert not any("{i" in name for name in [*labels, *offered])
    seen.page.locator("[id='slider vc.tcp{i}.abr.mcr']").press("End")
    seen.until("cellrate.lab.store.head.toml.includes('100 Mbps')")
    summary = seen.ended()
    moved = cellrate.run(cellrate.Scenario.parse(seen.value("cellrate.lab.store.head.toml"))).summary
    assert moved["overbooked"]
    assert [row["data_sent"] for row in summary["vcs"]] == [row["data_sent"] for row in moved["vcs"]]


def test_tables_and_panels_fold_until_each_is_asked_for(seen: Seen) -> None:
    # Hosts s1 to s8 have no series; the queue is that of a switch.
    assert legends(seen) == [[GROUP], ["sw1->sw2"], [GROUP, "video"]]
    names = "[...document.querySelectorAll('#figures tbody th')].map((one) => one.textContent)"
    assert seen.value(names)[:2] == [GROUP, "  total of 7"]
    seen.click("each")
    members = [f"tcp{number}" for number in range(1, 8)]
    assert legends(seen) == [members, ["sw1->sw2"], [*members, "video"]]
    assert seen.value(names)[:7] == members
    # The next run keeps it.
    seen.click("again")
    seen.until("cellrate.lab.summary === null || cellrate.lab.summary")
    seen.ended()
    assert seen.value(names)[:7] == members
    seen.click("each")
    assert legends(seen)[0] == [GROUP]


def drawn(seen: Seen, panel: int, series: int) -> tuple[Any, Any]:
    """Give instants and values of a series as they are drawn, where there are any."""
    times, values = seen.value(f"(({{ data }}) => [data[0], data[{series}]])(cellrate.lab.panels.plots[{panel}].plot)")
    kept = [(time, value) for time, value in zip(times, values, strict=True) if value is not None]
    return np.array([time for time, _ in kept]), np.array([value for _, value in kept])


def test_a_band_is_that_of_the_plots_of_the_package(seen: Seen, scenario: cellrate.Scenario) -> None:
    result = cellrate.run(scenario)
    groups = groups_of(scenario.toml, DRAWN)
    for panel, probe, lines in ((0, "acr", 1), (2, "delay", 2)):
        scale = {"acr": 424e-6, "delay": 1e3}[probe]
        ((median, band),) = [one for one in fold(result.all_series(probe), groups) if one[1] is not None]
        assert band is not None
        at, low = drawn(seen, panel, 1 + lines)
        _, high = drawn(seen, panel, 2 + lines)
        _, middle = drawn(seen, panel, 1)
        assert (low <= middle + 1e-9).all()
        assert (middle <= high + 1e-9).all()
        assert low.min() == pytest.approx(np.nanmin(band.low) * scale)
        assert high.max() == pytest.approx(np.nanmax(band.high) * scale)
        # Away from jumps, which fall into one part or the next, both have the same.
        ends_with_value = band.step == "pre"
        place = np.searchsorted(median.times_s, at, "left" if ends_with_value else "right") - (not ends_with_value)
        theirs = median.values[place.clip(0, len(median.values) - 1)] * scale
        assert np.nanquantile(np.abs(middle - theirs), 0.8) <= 1e-6


def test_the_pointer_tells_the_range_of_a_group_and_explains_its_nearest_member(seen: Seen) -> None:
    plot = "cellrate.lab.panels.plots[0].plot"
    box = seen.page.locator("#panels .u-over").first.bounding_box()
    assert box is not None
    x = round(seen.value(f"{plot}.valToPos(0.03, 'x')"))
    now, of = f"{plot}.posToVal({x}, 'x')", "cellrate.lab.store.head.panels[0].lines"
    values = [seen.value(f"cellrate.lab.panels.valueAt({of}[{place}], {now}) * 424e-6") for place in range(7)]
    y = seen.value(f"{plot}.valToPos({values[4]}, 'y')")
    seen.page.mouse.move(box["x"] + x, box["y"] + y)
    seen.until("document.querySelector('#panels .why pre')?.textContent.includes('BRM')")
    name = seen.value("document.querySelector('#panels .why b').textContent").split(" at ")[0]
    nearest = min(range(7), key=lambda place: abs(values[place] - values[4]))
    assert values[int(name.removeprefix("tcp")) - 1] == pytest.approx(values[nearest], abs=2.0)
    kept = [seen.value(f"cellrate.lab.store.track({line}).at({now}) * 424e-6") for line in range(7)]
    told = str(seen.value("document.querySelector('#panels .value').textContent")).split(" to ")
    ends = sorted({round(value, 3) for value in (min(kept), max(kept))})
    assert [float(value) for value in told] == pytest.approx(ends, rel=1e-3)
