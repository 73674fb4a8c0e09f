"""The lab: the simulator in the page, and all that can be done with it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.recorded import summaries
from cellrate.recorded.groups import groups_of
from cellrate.watching.board import Board
from cellrate.watching.lab import fragment, lab
from cellrate.watching.site import FOLDER
from conftest import PAIR, SWEEP
from lab_pages import TRANSIENT, Seen, needs_lab, opened

ROOT = Path(__file__).parents[2]
READY = sorted(path.stem for path in (ROOT / "scenarios").glob("*.toml"))

pytestmark = needs_lab


MOST_ROWS = 200
"""Rows of a table that the page shows; it says how many more there are."""


@pytest.fixture
def seen() -> Iterator[Seen]:
    """The lab as it opens."""
    with lab() as address, opened(address + TRANSIENT) as page:
        yield page


def told(summary: dict[str, Any], *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Give the figures that do not hang on the machine, and nothing of `but` in the row of the run."""
    apart = ("wall_s", "cell_hops_per_s", "hash", "version", *but)
    run = {key: value for key, value in summary["run"].items() if key not in apart}
    return {**summary, "run": run}


def native(scenario: cellrate.Scenario, point: int = 0) -> dict[str, Any]:
    return cellrate.run(scenario.points()[point].scenario).summary


def common(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two summaries of which Python's has rows about how it was run."""
    run = {key: one["run"][key] for key in other["run"]}
    return {**{key: one[key] for key in other}, "run": run}, other


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_webassembly_gives_the_summary_of_the_native_build_number_by_number() -> None:
    names = ["becn", "tcp-over-abr", "vs-vd", "cbr-and-abr"]
    short = [cellrate.Scenario.load(name, set={"duration": "500 ms"}) for name in names]
    texts = [{"text": scenario.toml, "file": name} for name, scenario in zip(names, short, strict=True)]
    done = subprocess.run(
        ["node", "web/tests/summaries.mjs"],
        cwd=ROOT,
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    for name, scenario, points in zip(names, short, json.loads(done.stdout), strict=True):
        own = scenario.points()
        assert len(points) == len(own)
        for summary, point in zip(points, own, strict=True):
            expected, given = common(cellrate.run(point.scenario).summary, summary)
            assert given == expected, name


SHORTER = {
    "calls": "8 s",
    "ecn-dctcp": "3 s",
    "ecn-red": "3 s",
    "frame-discard": "3 s",
    "gfr": "7 s",
    "long-range-dependence": "3 s",
    "phase-effects": "2 s",
    "rcp-flows": "10 s",
    "rm-cell-per-frame": "2 s",
    "tcp-edge": "4 s",
    "tcp-flows": "8 s",
    "tcp-today": "6 s",
    "video-follows-acr": "4 s",
    "vs-vd": "2 s",
    "web-search-flows": "8 s",
}
"""Durations here of scenarios that take more than a second of a processor in the page as they are."""


def test_every_ready_scenario_runs_in_the_page_with_the_figures_of_the_command(seen: Seen) -> None:
    assert set(READY) > SHORTER.keys()
    seen.ended()
    listed = seen.value("[...document.querySelectorAll('#scenario optgroup')[0].children].map((one) => one.value)")
    assert set(READY) <= set(listed)
    for name in READY:
        seen.page.locator("#scenario").select_option(name)
        seen.until(f"cellrate.lab.shared.file == '{name}.toml' && cellrate.lab.store.head.name == '{name}'")
        scenario = cellrate.Scenario.load(name)
        if name in SHORTER:
            scenario = scenario.set({"duration": SHORTER[name]})
            seen.value(f"cellrate.lab.set([['duration', '{SHORTER[name]}']])")
            seen.until(f"cellrate.lab.store.head.duration_s == {SHORTER[name].removesuffix(' s')}")
        summary = native(scenario)
        expected, given = common(summary, seen.ended())
        # The picture's own samples are events, too.
        assert told(given, but=("events",)) == told(expected, but=("events",)), name
        assert seen.value("cellrate.lab.store.head.panels") == panels(scenario), name
        expected_parts = [
            part if isinstance(part, str) else part[: 1 + MOST_ROWS] for part in printed(summary, scenario.toml)
        ]
        assert shown(seen) == expected_parts, name


def panels(scenario: cellrate.Scenario) -> list[dict[str, Any]]:
    """Give the series on each axis in `cellrate watch`, as JSON has it."""
    point = scenario.points()[0].scenario
    return list(json.loads(json.dumps(Board(point, point._native.series()).head))["panels"])


def printed(summary: dict[str, Any], toml: str) -> list[Any]:
    """Give what the command prints of a run, but for the line about the run itself: tables and lines."""
    parts = summaries.report(summary, groups_of(toml))[:-1]
    return [
        part if isinstance(part, str) else [[title.replace("\n", " ") for title in part[0]], *part[1]] for part in parts
    ]


def shown(page: Seen) -> list[Any]:
    """Give what the page shows of a run that has ended."""
    return list(
        page.value(
            "[...document.getElementById('figures').children].map((part) => part.tagName == 'P' ? part.textContent :"
            " [...part.querySelector('table').rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"
        )
    )


WINDOWED = (
    PAIR.replace("[defaults]\n", '[defaults]\nvc = { police = { action = "count" } }\n', 1)
    + '\n[[window]]\nname = "early"\nfrom = "2 ms"\nuntil = "7.5 ms"\n'
)
PAPERS = ROOT / "papers"


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (lambda: cellrate.Scenario.parse(WINDOWED), {"policing", "vc_windows", "port_windows", "policing_windows"}),
        (lambda: cellrate.Scenario.load("two-source-transient", set={"defaults.abr.tbe": "512 cells"}), set()),
        (
            lambda: cellrate.Scenario.load(PAPERS / "uili/scenarios/client-server.toml").set({"duration": "1 s"}),
            {"bursts"},
        ),
        (
            lambda: cellrate.Scenario.load(PAPERS / "internet-applications/scenarios/www.toml").set(
                {"duration": "20 s"}
            ),
            {"pages", "exchanges", "tcp", "clocks"},
        ),
        (
            lambda: cellrate.Scenario.load(PAPERS / "internet-applications/scenarios/video.toml").set(
                {"duration": "5 s"}
            ),
            {"frames", "tcp"},
        ),
    ],
)
def test_what_is_shown_in_the_end_is_what_the_command_prints(
    scenario: Callable[[], cellrate.Scenario], told: set[str]
) -> None:
    given = scenario()
    summary = native(given)
    assert {key for key in told if summary.get(key)} == told
    with lab(given) as address, opened(address) as page:
        page.ended()
        assert shown(page) == printed(summary, given.toml)


def test_a_slider_starts_the_run_over_and_the_old_curve_stays(seen: Seen) -> None:
    before = seen.ended()
    slider = seen.page.locator("[id='slider defaults.abr.nrm']")
    slider.focus()
    slider.press("ArrowLeft")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    after = seen.ended()
    set_so = cellrate.Scenario.load("two-source-transient", set={"defaults.abr.nrm": "16"})
    expected, given = common(native(set_so), after)
    assert told(given, but=("events",)) == told(expected, but=("events",))
    assert after["vcs"] != before["vcs"]
    assert not seen.value("document.getElementById('grey').hidden")
    assert seen.value("cellrate.lab.panels.plots[0].plot.series.length") == 1 + 2 * 2
    seen.page.get_by_label("Reset Nrm", exact=True).click()
    seen.until("!cellrate.lab.store.head.toml.includes('nrm = 16')")
    assert seen.ended()["vcs"] == before["vcs"]


def test_any_parameter_can_be_added(seen: Seen) -> None:
    seen.ended()
    seen.page.locator("#more").select_option("vc.vc2.traffic.start")
    slider = seen.page.locator("[id='slider vc.vc2.traffic.start']")
    slider.press("Home")
    seen.until("cellrate.lab.store.head.toml.includes('start = \"1 ms\"')")


def test_a_run_can_be_paused_stepped_slowed_and_gone_on_with(seen: Seen) -> None:
    whole = seen.ended()
    seen.value("cellrate.lab.pace.speed = 0.02")
    seen.click("again")
    seen.until("0.001 < cellrate.lab.store.now_s && cellrate.lab.store.now_s < 0.3")
    seen.click("pause")
    seen.until("document.getElementById('speed').value == 'stands still'")
    seen.page.wait_for_timeout(100)
    stands = seen.value("cellrate.lab.store.now_s")
    seen.page.wait_for_timeout(200)
    assert seen.value("cellrate.lab.store.now_s") == stands < 0.4
    seen.click("step")
    seen.until(f"cellrate.lab.store.now_s > {stands}")
    assert seen.value("cellrate.lab.store.now_s") == pytest.approx(stands + 0.4 / 200)
    seen.click("pause")
    seen.click("faster")
    assert seen.text("speed") == "40.00 ms per second"
    seen.click("slower")
    assert seen.text("speed") == "20.00 ms per second"
    seen.click("fastest")
    assert seen.ended()["vcs"] == whole["vcs"]


def test_slow_motion_shows_cells_on_their_way_and_changes_no_figure(seen: Seen) -> None:
    whole = seen.ended()
    seen.value("cellrate.lab.pace.speed = 0.02")
    seen.click("again")
    seen.until("0.012 < cellrate.lab.store.now_s && cellrate.lab.store.now_s < 0.3")
    seen.click("slow")
    seen.until("[...cellrate.lab.store.departures.values()].some(({ at }) => at.length > 100)")
    assert seen.text("speed") == "2.50 ms per second"
    assert seen.value(
        "[...cellrate.lab.store.departures.values()].every(({ at }) => at.every((t, i) => !i || t >= at[i - 1]))"
    )
    seen.click("slow")
    seen.click("fastest")
    assert seen.ended()["vcs"] == whole["vcs"]


def test_a_wrong_scenario_shows_its_error_at_its_place(seen: Seen) -> None:
    seen.ended()
    text = PAIR.replace('duration = "20 ms"', 'duration = "20 mss"')
    assert text != PAIR
    seen.page.locator("#write summary").click()
    seen.page.locator("#editor .cm-content").fill(text)
    seen.click("run-text")
    seen.until("!document.getElementById('fault').hidden")
    with pytest.raises(cellrate.ScenarioError) as caught:
        cellrate.Scenario.parse(text, file="pair.toml")
    assert seen.text("fault-text") == str(caught.value)
    seen.until("document.querySelector('.cm-lintRange-error')")
    assert seen.value("document.querySelector('.cm-lintRange-error').textContent") == '"20 mss"'
    seen.click("fault-place")
    assert seen.value("document.activeElement.classList.contains('cm-content')")
    seen.page.locator("#editor .cm-content").fill(PAIR)
    seen.page.keyboard.press("Control+Enter")
    seen.until("cellrate.lab.store.head.name == 'pair'")
    seen.ended()


def test_keys_complete_themselves(seen: Seen) -> None:
    seen.ended()
    seen.page.locator("#write summary").click()
    content = seen.page.locator("#editor .cm-content")
    content.fill('name = "x"\nduration = "1 ms"\n[defaults.switch]\nalgorithm = { type = "erica", tar')
    content.press("Control+End")
    content.press("Control+Space")
    seen.until(
        "[...document.querySelectorAll('.cm-completionLabel')].some((one) => one.textContent == 'target_utilization')"
    )
    content.press("Escape")
    content.fill("[defaults.abr]\nefci_state = ")
    content.press("Control+End")
    content.press("Control+Space")
    seen.until("[...document.querySelectorAll('.cm-completionLabel')].some((one) => one.textContent == '\"keep\"')")


def test_points_of_a_sweep_are_chosen() -> None:
    scenario = cellrate.Scenario.parse(SWEEP, file="sweep.toml")
    with lab(scenario) as address, opened(address) as page:
        page.ended()
        first = page.value("cellrate.lab.store.head.toml")
        page.page.locator("#point").select_option("2")
        page.until(f"cellrate.lab.store.head.toml != {json.dumps(first)}")
        expected, given = common(native(scenario, 2), page.ended())
        assert given["vcs"] == expected["vcs"]


def test_two_settings_are_compared_side_by_side(seen: Seen) -> None:
    seen.ended()
    seen.click("keep")
    slider = seen.page.locator("[id='slider defaults.abr.nrm']")
    slider.press("ArrowLeft")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    seen.ended()
    tables = "[...document.querySelectorAll('#{} td')].map((cell) => cell.textContent).join()"
    assert seen.value(tables.format("kept-figures")) != seen.value(tables.format("figures"))
    assert seen.value("document.querySelectorAll('#kept-panels canvas').length") == 4
    seen.click("keep")
    assert seen.value("document.getElementById('kept').hidden")


def test_panels_are_zoomed_by_hand_and_by_keys(seen: Seen) -> None:
    seen.ended()
    box = seen.page.locator("#panels .u-over").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    seen.page.mouse.move(box["x"] + box["width"] / 4, middle)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + box["width"] / 2, middle + 3)
    seen.page.mouse.up()
    assert seen.value("cellrate.lab.panels.zoomed") == pytest.approx([0.1, 0.2], abs=0.002)
    seen.page.locator("#whole").press("Enter")
    assert seen.value("cellrate.lab.panels.zoomed") is None
    seen.page.locator("#closer").press("Enter")
    assert seen.value("cellrate.lab.panels.zoomed") == pytest.approx([0.1, 0.3])
    seen.page.locator("#right").press("Enter")
    assert seen.value("cellrate.lab.panels.zoomed") == pytest.approx([0.15, 0.35])


def test_many_samples_are_drawn_as_what_is_least_and_largest_at_each_place() -> None:
    content = cellrate.Scenario.load("two-source-transient").to_dict() | {"duration": "8 s"}
    content["probe"] = [{"record": ["acr"], "every": "1 ms"}, {"record": ["queue"], "every": "change"}]
    shown = "cellrate.lab.panels.plots[%d].plot.data[%d]"
    kept = "cellrate.lab.store.track(%d).values.values"
    extremes = "(all => [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))])"
    with lab(cellrate.Scenario.from_dict(content)) as address, opened(address) as page:
        page.ended()
        lines = [(0, 0, 1, "424e-6"), (0, 1, 2, "424e-6")]
        queues = page.value("cellrate.lab.panels.plots[1].panel.lines.map((line) => line.series)")
        lines += [(1, series, place + 1, "1") for place, series in enumerate(queues)]
        assert page.value(f"{kept % 0}.length") == 8000
        page.until(f"{shown % (0, 0)}.length < 8000")
        for panel, series, column, scale in lines:
            drawn = page.value(f"{extremes}(Array.from({shown % (panel, column)}).filter((one) => one !== null))")
            samples = page.value(f"{extremes}(Array.from({kept % series}, (one) => one * {scale}))")
            assert drawn == samples, (panel, column)
        # Closer, each sample is a point of its own.
        page.value("cellrate.lab.panels.zoom([0.1, 0.3])")
        page.until(f"{shown % (0, 1)}.filter((one) => one !== null).length == 8000")


def test_files_and_a_link_are_taken_along(seen: Seen, tmp_path: Path) -> None:
    seen.ended()
    slider = seen.page.locator("[id='slider defaults.abr.nrm']")
    slider.press("ArrowLeft")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    summary = seen.ended()

    def taken(button: str) -> bytes:
        with seen.page.expect_download() as download:
            seen.click(button)
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path.read_bytes()

    csv = taken("csv").decode().splitlines()
    assert csv[0] == "panel,line,time_s,value"
    set_so = cellrate.Scenario.load("two-source-transient", set={"defaults.abr.nrm": "16"})
    series = cellrate.run(set_so).all_series("queue")[0]
    queue = [line.split(",") for line in csv if line.startswith("queue [cells]")]
    assert [float(value) for *_, value in queue] == list(series.values)
    assert taken("png").startswith(b"\x89PNG")
    assert cellrate.Scenario.parse(taken("toml").decode()).hash == set_so.hash
    seen.click("link")
    seen.until("location.hash.startsWith('#s=')")
    address = seen.value("location.href")
    seen.page.goto("about:blank")
    seen.page.goto(address)
    seen.until("typeof cellrate !== 'undefined' && cellrate.lab.summary")
    assert seen.ended()["vcs"] == summary["vcs"]


OWN = """
class Half extends SwitchAlgorithm {
  constructor(port) { super(port); this.rate = port.link_rate / 4; }
  on_backward_rm(now, vc, queue) { return this.rate; }
}
"""


def test_an_algorithm_of_ones_own_takes_the_place_of_the_scenarios(seen: Seen) -> None:
    before = seen.ended()
    seen.page.locator("#own summary").click()
    seen.page.locator("#code .cm-content").fill(OWN)
    seen.click("use")
    seen.until("cellrate.lab.store.head.toml.includes('custom')")
    own = seen.ended()

    class Half(cellrate.algorithms.SwitchAlgorithm):
        def __init__(self, port: cellrate.algorithms.Port) -> None:
            self.rate = port.link_rate / 4

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return self.rate

    scenario = cellrate.Scenario.load(
        "two-source-transient", set={"defaults.switch.algorithm": '{ type = "custom", name = "mine" }'}
    )
    expected = cellrate.run(scenario, algorithms={"mine": Half}).summary
    assert own["vcs"] == expected["vcs"]
    assert own["ports"] == expected["ports"]
    seen.click("unuse")
    seen.until("!cellrate.lab.store.head.toml.includes('custom')")
    assert seen.ended()["vcs"] == before["vcs"]


def test_what_an_algorithm_throws_is_told_with_instant_and_port(seen: Seen) -> None:
    seen.ended()
    seen.page.locator("#own summary").click()
    seen.page.locator("#code .cm-content").fill(
        "class Bad extends SwitchAlgorithm { on_backward_rm(now) { return nothing; } }"
    )
    seen.click("use")
    seen.until("!document.getElementById('fault').hidden")
    said = seen.text("fault-text")
    assert said.startswith('the algorithm "mine" of port ')
    assert "ReferenceError: nothing is not defined" in said
    seen.page.locator("#code .cm-content").fill("class Bad extends SwitchAlgorithm { on_backward_rm() { for (;;); } }")
    seen.click("use")
    seen.until("document.getElementById('fault-text').textContent.includes('has not come back')")


def test_code_in_a_link_is_run_by_its_reader_alone(seen: Seen) -> None:
    seen.ended()
    seen.page.locator("#own summary").click()
    seen.page.locator("#code .cm-content").fill(OWN)
    seen.click("use")
    seen.until("cellrate.lab.store.head.toml.includes('custom')")
    seen.ended()
    seen.click("link")
    seen.until("location.hash.startsWith('#s=')")
    address = seen.value("location.href")
    seen.page.goto("about:blank")
    seen.page.goto(address)
    seen.until("typeof cellrate !== 'undefined' && cellrate.lab.summary")
    assert "custom" not in seen.value("cellrate.lab.store.head.toml")
    assert "Half" in seen.value("document.querySelector('#code .cm-content').innerText")
    seen.click("use")
    seen.until("cellrate.lab.store.head.toml.includes('custom')")
    seen.ended()


def test_the_page_opens_as_a_file_without_a_server() -> None:
    with opened((FOLDER / "index.html").as_uri() + TRANSIENT) as page:
        page.until("typeof cellrate !== 'undefined' && cellrate.lab.summary")


def test_the_command_serves_it_with_a_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(PAIR)
    monkeypatch.setattr("cellrate.command_line.lab._wait", lambda: None)
    assert status(["lab", str(file), "--no-browser"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Open http://127.0.0.1:")
    assert fragment(cellrate.Scenario.parse(PAIR, file="pair.toml")) in said
    assert status(["lab", "nothing-like-it", "--no-browser"]) == 2
