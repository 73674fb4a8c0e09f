"""The lab with what strangers send: code that stays or floods, links that are cut, or whose scenario is very large."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import cellrate
from cellrate.watching.lab import fragment, lab
from conftest import PAIR
from lab_pages import Seen, needs_lab, opened

pytestmark = needs_lab

FIRST = "two-source-transient"


@pytest.fixture
def seen() -> Iterator[Seen]:
    """The lab as it opens, with its first run at its end."""
    with lab(FIRST) as address, opened(address) as page:
        page.ended()
        yield page


def figures(seen: Seen) -> Any:
    return seen.ended()["vcs"]


def link(text: str, *, file: str = "theirs.toml", **more: object) -> str:
    """Give a fragment as another page, or a person with bad intent, may write it: bare, without a sum."""
    packer = zlib.compressobj(9, wbits=-15)
    content = {"file": file, "text": text, "point": 0, "settings": [], "algorithm": None, **more}
    packed = packer.compress(json.dumps(content).encode()) + packer.flush()
    return f"#s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def follow(seen: Seen, hash_: str) -> None:
    """Have the same tab go to another address, as a click on a link does."""
    seen.value(f"void (location.hash = {json.dumps(hash_)})")


def use(seen: Seen, code: str | None) -> None:
    seen.value(f"cellrate.lab.use({json.dumps(code)})")
    seen.until("document.getElementById('unuse').hidden === " + json.dumps(code is None))


def pair(**settings: str) -> str:
    return cellrate.Scenario.parse(PAIR).set(settings).toml


MINE = "\nclass Mine extends SwitchAlgorithm { on_backward_rm() { return self.rate ?? 100000; } }"

STAYS = {
    "a global": "self.rate = 1000;",
    "postMessage": """const post = self.postMessage.bind(self);
        self.postMessage = (told, moved) => {
          if (told?.kind === "end") {
            const summary = JSON.parse(told.summary);
            summary.vcs.forEach((row) => { row.data_delivered = 1; });
            told = { ...told, summary: JSON.stringify(summary) };
          }
          post(told, moved);
        };""",
    "JSON": "JSON.stringify = () => '{}';",
    "a prototype": """Object.defineProperty(Float64Array.prototype, 'subarray', {
          value(from, to) { return new Float64Array(to - from); },
        });""",
    "the simulator": "WebAssembly.Instance.prototype.constructor = null; self.onmessage = null;",
    "messages of later runs": """for (let id = 0; id < 40; id += 1) {
          const vcs = [{
            vc: "forged", data_sent: 1, data_delivered: 1, dropped: 0, throughput_bps: 1, mean_acr: 1, p99_delay_s: 1,
          }];
          const run = { duration_s: 1, cell_hops: 1 };
          self.postMessage({ kind: "end", id, summary: JSON.stringify({ run, vcs, ports: [] }) });
          self.postMessage({ kind: "more", id, told: { now_s: 1, packs: [], speed: null, paused: false } });
        }""",
    "a timer": "setInterval(() => self.postMessage({ kind: 'failed', id: 9, fault: { message: 'forged' } }), 1);",
}
"""By what code changes beside its class, how."""


@pytest.mark.parametrize("what", STAYS)
def test_code_that_was_sent_away_touches_no_later_figure(seen: Seen, what: str) -> None:
    right = figures(seen)
    seen.value(f"cellrate.lab.use({json.dumps(STAYS[what] + MINE)})")
    seen.until("cellrate.lab.setup.algorithm && (cellrate.lab.summary || !document.getElementById('fault').hidden)")
    use(seen, None)
    assert figures(seen) == right
    # Nor that of the reader's own code, used after it.
    seen.value(f"cellrate.lab.use({json.dumps(STAYS[what] + MINE)})")
    use(seen, MINE)
    own = figures(seen)
    seen.value(
        f"cellrate.lab.open({{ file: 'x.toml', text: {json.dumps(PAIR)}, point: 0, settings: [], algorithm: null }})"
    )
    seen.until("cellrate.lab.store.head.name == 'pair'")
    assert figures(seen) == cellrate.run(cellrate.Scenario.parse(PAIR)).summary["vcs"]
    set_so = {"defaults.switch.algorithm": '{ type = "custom", name = "mine" }'}

    class Mine(cellrate.algorithms.SwitchAlgorithm):
        def __init__(self, port: cellrate.algorithms.Port) -> None:
            pass

        def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
            return 100000

    assert own == cellrate.run(cellrate.Scenario.load(FIRST, set=set_so), algorithms={"mine": Mine}).summary["vcs"]


def test_the_same_code_runs_again_in_a_world_of_its_own(seen: Seen) -> None:
    counts = """self.runs = (self.runs ?? 0) + 1;
        class Mine extends SwitchAlgorithm { on_backward_rm() { return 1000 * self.runs; } }"""
    use(seen, counts)
    first = figures(seen)
    seen.click("again")
    seen.until("cellrate.lab.summary === null || cellrate.lab.summary")
    assert figures(seen) == first
    seen.click("slow")
    seen.until("cellrate.lab.following && cellrate.lab.store.now_s > 0")
    seen.click("fastest")
    assert figures(seen) == first


FLOODS = {
    "of any kind": "for (let i = 0; i < 300000; i += 1) self.postMessage(i);",
    "as of a run": """for (let i = 0; i < 300000; i += 1) {
          self.postMessage({ kind: 'more', id: 2, told: { now_s: 0, packs: [], speed: null, paused: false } });
        }""",
    "as heads": "for (let i = 0; i < 20000; i += 1) self.postMessage({ kind: 'head', id: 2, head: {} });",
}


@pytest.mark.parametrize("what", FLOODS)
def test_a_flood_of_messages_is_ended(seen: Seen, what: str) -> None:
    right = figures(seen)
    seen.value(f"cellrate.lab.use({json.dumps(FLOODS[what] + MINE)})")
    seen.until("!document.getElementById('fault').hidden")
    assert "was ended" in seen.text("fault-text")
    use(seen, None)
    assert figures(seen) == right


def test_a_second_link_in_the_same_tab_is_opened_and_nothing_of_the_first_stays(seen: Seen) -> None:
    follow(seen, link(pair(), file="one.toml", algorithm=MINE))
    seen.until("cellrate.lab.store.head.name == 'pair'")
    seen.ended()
    chosen = "document.getElementById('scenario').selectedOptions[0].text"
    assert seen.value(chosen) == "one.toml"
    assert not seen.value("document.getElementById('from-link').hidden")
    seen.click("keep")
    seen.page.locator("#panels .legend .line").first.click()
    seen.click("closer")
    follow(seen, link(pair(name='"other"'), file="two.toml"))
    seen.until("cellrate.lab.store.head.name == 'other'")
    assert seen.value(chosen) == "two.toml"
    assert seen.value("document.querySelectorAll('#scenario option[value=\"\"]').length") == 1
    assert seen.value("document.getElementById('from-link').hidden")
    assert MINE not in seen.value("cellrate.lab.code.text")
    assert seen.value("document.getElementById('kept').hidden")
    assert seen.value("cellrate.lab.panels.zoomed") is None
    assert seen.value("document.querySelectorAll('#panels .line[aria-pressed=false]').length") == 0
    assert seen.value("document.title") == "other - cellrate"
    seen.ended()


def test_back_and_a_lesson_and_a_name_in_the_address_are_followed(seen: Seen) -> None:
    follow(seen, "#lesson=erica.2")
    seen.until("cellrate.lab.shared.file == 'erica.toml'")
    assert seen.value("document.querySelector('#lesson h3').textContent").startswith("2 of")
    follow(seen, "#scenario=becn")
    seen.until("cellrate.lab.store.head.name == 'becn'")
    assert seen.value("document.getElementById('lesson').hidden")
    seen.value("history.back()")
    seen.until("cellrate.lab.shared.file == 'erica.toml'")


DAMAGED: dict[str, Callable[[str], str]] = {
    "cut": lambda whole: whole[:-60],
    "cut to nothing": lambda whole: whole[:3],
    "cut before its sum": lambda whole: whole[:-3],
    "a letter changed": lambda whole: whole[:200] + ("A" if whole[200] != "A" else "B") + whole[201:],
    "a letter changed at the end": lambda whole: whole[:-4] + ("A" if whole[-4] != "A" else "B") + whole[-3:],
    "with a space": lambda whole: whole[:90] + "%20" + whole[90:],
    "no scenario": lambda whole: "#s=" + base64.urlsafe_b64encode(zlib.compress(b"null")).decode(),
    "no such lesson": lambda whole: "#lesson=nothing-like-it",
    "no such scenario": lambda whole: "#scenario=nothing-like-it",
    "another word": lambda whole: "#scen",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_link_says_so_and_goes_on_saying_it(how: str) -> None:
    whole = fragment(cellrate.Scenario.parse(PAIR, file="pair.toml"))
    damaged = DAMAGED[how](whole)
    with lab() as address, opened(address + damaged, reduced_motion="reduce") as page:
        page.ended()
        said = page.text("notice")
        assert said.startswith("This link cannot be opened: ")
        assert "first-look" in said
        page.page.locator("[id='slider defaults.abr.nrm']").press("ArrowLeft")
        page.until("cellrate.lab.store.head.toml.includes('nrm = 4')")
        page.ended()
        assert not page.value("document.getElementById('notice').hidden")
        page.page.locator("#scenario").select_option("becn")
        page.until("cellrate.lab.store.head.name == 'becn'")
        assert page.value("document.getElementById('notice').hidden")
        # In a tab that shows something it stays as it is.
        follow(page, damaged)
        page.until("!document.getElementById('notice').hidden")
        assert page.value("cellrate.lab.store.head.name") == "becn"
        follow(page, whole)
        page.until("cellrate.lab.store.head.name == 'pair'")
        assert page.value("document.getElementById('notice').hidden")


LARGE = """name = "many"
duration = "5 ms"
[defaults]
link = { rate = "155.52 Mbps", length = "10 km" }
[[host]]
name = "a"
[[host]]
name = "b"
[[switch]]
name = "sw"
[[link]]
between = ["a", "sw"]
[[link]]
between = ["sw", "b"]
[[vc]]
name = "v{i}"
path = ["a", "sw", "b"]
count = 4000
abr = { pcr = "1 Mbps" }
[[probe]]
record = ["acr"]
every = "1 ms"
"""


def test_a_very_large_scenario_of_a_link_waits_and_then_leaves_the_page_alive() -> None:
    with lab() as address, opened(address.split("#")[0] + link(LARGE)) as page:
        page.until("!document.getElementById('large').hidden")
        assert "4,000 connections, 4,000 series" in page.text("large-text")
        assert page.value("cellrate.lab.store") is None
        assert page.value("document.querySelectorAll('#panels canvas').length") == 0
        page.click("run-large")
        page.until("Boolean(cellrate.lab.summary)", 300)
        # All of them are one group, until they are asked for one by one.
        lines = "document.querySelectorAll('#panels .legend .line').length"
        assert page.value(lines) == 1
        page.click("each")
        assert page.value(lines) == 100
        assert "3,900 more lines are not drawn" in page.value("document.getElementById('panels').textContent")
        assert page.value("document.querySelectorAll('#figures tr').length") < 1000
        page.page.locator("#scenario").select_option("becn")
        page.until("cellrate.lab.store.head.name == 'becn'")
        page.ended()


def test_a_scenario_that_cannot_be_run_leaves_nothing_of_the_one_before(seen: Seen) -> None:
    follow(seen, link('name = "broken"\nduration = "x"'))
    seen.until("!document.getElementById('fault').hidden")
    assert seen.value("cellrate.lab.summary") is None
    assert seen.value("cellrate.lab.store") is None
    assert seen.text("name") == "theirs"
    for place in ("purpose", "figures", "panels", "sliders", "stamp", "now"):
        assert seen.text(place) == "", place
    assert seen.value("document.title") == "cellrate lab"
    follow(seen, fragment(cellrate.Scenario.parse(PAIR, file="pair.toml")))
    seen.until("cellrate.lab.store?.head.name == 'pair'")
    assert seen.value("document.getElementById('fault').hidden")
    seen.ended()


def test_the_address_is_that_of_what_is_shown(seen: Seen) -> None:
    seen.click("link")
    seen.until("location.hash.startsWith('#s=')")
    first = seen.value("location.hash")
    seen.page.locator("[id='slider defaults.abr.nrm']").press("ArrowLeft")
    seen.until(f"location.hash != {json.dumps(first)}")
    seen.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
    summary = figures(seen)
    # Playwright hears of an address that was replaced only later.
    address = seen.value("location.href")
    seen.page.locator("#scenario").select_option("becn")
    seen.until("location.hash == '#scenario=becn'")
    seen.page.goto("about:blank")
    seen.page.goto(address)
    seen.until("typeof cellrate !== 'undefined' && cellrate.lab.summary")
    assert figures(seen) == summary
