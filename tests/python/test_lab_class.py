"""The lab for a class: addresses that last, files for any web server, lessons of one's own."""

from __future__ import annotations

import contextlib
import functools
import http.server
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrate import CellrateError, ScenarioError
from cellrate.command_line.main import status
from cellrate.watching.lab import STEADY_PORT, lab, write_lab
from cellrate.watching.lessons import lesson
from cellrate.watching.site import names_of_machine
from conftest import PAIR
from lab_pages import TRANSIENT, needs_lab, opened

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/teaching.md").read_text()
WHOLE = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.M | re.S)[0]
"""The lesson of the guide."""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own-lesson.toml"
    file.write_text(WHOLE)
    return file


def changed(tmp_path: Path, *changes: tuple[str, str], name: str = "changed.toml") -> Path:
    text = WHOLE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_lesson_is_read_as_the_page_takes_it(own: Path) -> None:
    read = lesson(own)
    assert read["id"] == "own-lesson"
    (step,) = read["steps"]
    assert len(step["text"]) == 2
    assert 'name = "two-source-transient"' in step["scenario"]
    assert step["sliders"] == ["defaults.link.length", "defaults.abr.nrm"]
    assert [one["settings"] for one in step["tries"]] == [
        [("defaults.link.length", "10 km")],
        [("defaults.link.length", "5000 km")],
    ]
    assert step["questions"][0]["answer"] == [
        "The queue grows for as long as the news takes: the excess rate times the round trip."
    ]


def test_a_scenario_beside_a_lesson_is_taken(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    file = changed(tmp_path, ('scenario = "two-source-transient"', 'scenario = "pair.toml"'))
    assert 'name = "pair"' in lesson(file)["steps"][0]["scenario"]


WRONG = {
    "title: this key is missing": ('title = "How far is too far?"\n', ""),
    'titel: there is no such key. Did you mean "title"?': ("title =", "titel ="),
    "step[1].text: a text is due here, not 3": (re.findall(r'text = """.*?"""', WHOLE, re.S)[0], "text = 3"),
    "step[1].title: a text is due here, not '  '": ('title = "a line of a thousand kilometres"', 'title = "  "'),
    "step[1].sliders[2]: defaults.abr.nrmm: there is no key": ("defaults.abr.nrm", "defaults.abr.nrmm"),
    "step[1].sliders[2]: defaults.abr: a table is due here": ('"defaults.abr.nrm"', '"defaults.abr"'),
    "step[1].sliders: a list of paths is due here": ("sliders = [", "sliders = [1, "),
    "step[1].try[1].label: this key is missing": ('label = "10 km"\n', ""),
    "step[1].try[2].settings: defaults.link.length: ": ('"5000 km" }', '"5000 cells" }'),
    "step[1].try[1].settings.defaults: a text or a number": (
        '"defaults.link.length" = "10',
        'defaults.link.length = "10',
    ),
    "step[1].question[1].answer: this key is missing": (re.findall(r'answer = """.*?"""', WHOLE, re.S)[0], ""),
    "step[1].question: one table or more is due here": ("[[step.question]]", "[step.question]"),
    "this is not TOML": ("[[step]]", "[[step]"),
}
"""By how the error begins, the part of a lesson that is replaced, and by which."""


@pytest.mark.parametrize("said", WRONG)
def test_a_lesson_that_is_none_is_refused_with_its_file_and_key(said: str, tmp_path: Path) -> None:
    file = changed(tmp_path, WRONG[said])
    with pytest.raises(CellrateError) as caught:
        lesson(file)
    assert str(caught.value).startswith(f"{file}: {said}")


def test_files_that_are_no_lessons_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="nothing-like-it"):
        lesson(changed(tmp_path, ("two-source-transient", "nothing-like-it")))
    for name, content, said in [
        ("a lesson.toml", WHOLE.encode(), "the name of a lesson"),
        ("octets.toml", b"\xff\xfe", "this is not TOML"),
        ("deep.toml", b"a = " + b"[" * 5000, "this is not TOML|tables within"),
        ("large.toml", b"#" * 1_000_001, "more than 1000000 octets"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CellrateError, match=said):
            lesson(tmp_path / name)
    for place in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(CellrateError, match="Give the path of a lesson"):
            lesson(place)


@needs_lab
def test_an_address_with_a_token_is_the_same_at_the_next_start() -> None:
    with lab(token="abr-course_26", port=0) as first:
        port = int(first.split(":")[2].split("/")[0])
    assert "/abr-course_26/" in first
    with lab(token="abr-course_26", port=port) as second:
        assert second == first
        assert urllib.request.urlopen(second).status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(second.replace("course", "curse"))
    for wrong in ("short", "with space", "a/b/c/d/e", "x" * 65, "schöner", ""):
        with pytest.raises(CellrateError, match="it must be 6 to 64 letters"), lab(token=wrong, port=0):
            pass


@needs_lab
def test_the_command_names_the_addresses_that_others_reach(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []

    def fetch() -> None:
        told = capsys.readouterr().out
        addresses = re.findall(r"^  (http://\S+)$", told, re.M)
        assert [re.split("[/:]", address)[3] for address in addresses] == names_of_machine()
        assert re.match(r"Open http://127\.0\.0\.1:", told)
        fetched.append(urllib.request.urlopen(addresses[0].split("#")[0]).status)
        # The page has them, too, for its links.
        with urllib.request.urlopen(addresses[0] + "mode.js") as mode:
            assert addresses[0] in mode.read().decode()

    monkeypatch.setattr("cellrate.command_line.lab._wait", fetch)
    assert status(["lab", "--no-browser", "--host", "0.0.0.0", "--port", "0", "--token", "for-a-test"]) == 0
    assert fetched == [200]
    assert STEADY_PORT == 8053


@contextlib.contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """Serve files as any web server does."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@needs_lab
def test_the_page_as_files_works_below_a_path_with_a_lesson_of_ones_own(own: Path, tmp_path: Path) -> None:
    assert status(["lab", "--lesson", str(own), "--write", str(tmp_path / "public/some/abr")]) == 0
    with web_server(tmp_path / "public") as address, opened(f"{address}/some/abr/") as page:
        page.until("cellrate.lab.shared.file == 'own-lesson.toml'")
        page.ended()
        lesson_text = page.text("lesson")
        assert "how long does it take until the first source has given way" in lesson_text
        assert page.value("document.querySelectorAll('.slider').length") == 2
        page.page.get_by_role("button", name="10 km", exact=True).click()
        page.until("cellrate.lab.store.head.toml.includes('length = \"10 km\"')")
        page.ended()
        page.page.get_by_role("button", name="All lessons").click()
        titles = page.value("[...document.querySelectorAll('#lesson .list strong')].map((one) => one.textContent)")
        assert titles[0] == "How far is too far?"
        assert len(titles) == 8


@needs_lab
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    written = write_lab(tmp_path / "abr", "becn")
    before = (written / "mode.js").read_text()
    assert "#s=" in before
    write_lab(written)
    assert (written / "mode.js").read_text() != before
    (written / "thesis.tex").write_text("mine")
    with pytest.raises(CellrateError, match=r"holds thesis\.tex, which is not a file of the lab"):
        write_lab(written, "gfr")
    assert (written / "thesis.tex").read_text() == "mine"
    for wrong in (tmp_path / "abr/index.html", Path("/proc/none")):
        with pytest.raises(CellrateError, match="the lab cannot be written to"):
            write_lab(wrong)
    assert status(["lab", "--write", str(tmp_path / "more"), "--token", "abcdefgh"]) == 2
    assert not (tmp_path / "more").exists()


@needs_lab
def test_a_link_opens_as_it_was_left_at_each_address_of_the_page() -> None:
    with lab(host="0.0.0.0", token="for-a-class", port=0) as address, opened(address + TRANSIENT) as page:
        page.ended()
        page.page.locator("#more").select_option("vc.vc2.traffic.start")
        page.page.locator("[id='slider defaults.abr.nrm']").press("ArrowLeft")
        page.until("cellrate.lab.store.head.toml.includes('nrm = 16')")
        page.click("slow")
        page.until("cellrate.lab.following && cellrate.lab.store.now_s > 0")
        page.click("link")
        page.until("location.hash.startsWith('#s=')")
        links = page.value("[...document.querySelectorAll('#links input')].map((one) => one.value)")
        fragment = page.value("location.hash")
        assert links[0] == page.value("location.href")
        own = address.split("/for-a-class/")[0].rpartition(":")[2]
        others = [f"http://{name}:{own}/for-a-class/{fragment}" for name in names_of_machine()]
        assert links[1:-1] == others
        assert links[-1] == fragment
        sliders = page.value("[...document.querySelectorAll('.slider input')].map((one) => one.id)")
        page.page.goto("about:blank")
        page.page.goto(links[0])
        page.until("typeof cellrate !== 'undefined' && cellrate.lab.store?.now_s > 0")
        assert page.value("document.getElementById('slow').ariaPressed") == "true"
        assert page.value("[...document.querySelectorAll('.slider input')].map((one) => one.id)") == sliders
        assert "nrm = 16" in page.value("cellrate.lab.store.head.toml")
        page.click("fastest")
        page.ended()


@needs_lab
def test_answers_are_kept_and_saved_as_a_file_until_they_are_forgotten(tmp_path: Path) -> None:
    with lab() as address, opened(f"{address}#lesson=erica", accept_downloads=True) as page:
        page.ended()
        answer = page.page.get_by_role("textbox", name="Your answer: ").first
        assert not page.page.get_by_role("button", name="Save my answers").is_visible()
        asked = page.value("document.querySelector('#lesson summary').textContent")
        # A key of the page is a letter here, and what looks like a heading stays part of the answer.
        answer.fill("## one\n<b>two</b> s")
        answer.press("s")
        page.page.reload()
        page.ended()
        assert page.page.get_by_role("textbox", name="Your answer: ").first.input_value() == "## one\n<b>two</b> ss"
        with page.page.expect_download() as told:
            page.page.get_by_role("button", name="Save my answers").click()
        assert told.value.suggested_filename == "erica-answers.md"
        told.value.save_as(tmp_path / "answers.md")
        text = (tmp_path / "answers.md").read_text()
        assert re.match(r"# Answers, \d{4}-\d\d-\d\d\n\n## ERICA", text)
        assert f"\n\n{asked}\n\n> ## one\n> <b>two</b> ss\n" in text
        # Of all lessons on the page that lists them; no other has been answered.
        page.click("to-lessons")
        with page.page.expect_download() as told:
            page.page.get_by_role("button", name="Save my answers").click()
        told.value.save_as(tmp_path / "all.md")
        assert (tmp_path / "all.md").read_text() == text
        page.page.get_by_role("button", name="Forget them").click()
        assert page.value("localStorage.getItem('cellrate answers')") is None
        assert page.page.get_by_role("button", name="Save my answers").count() == 0
