"""Texts from elsewhere reach no terminal, picture or page with anything that acts upon them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.table import Table

import cellrate
from cellrate.command_line.main import status
from cellrate.recorded.summaries import report
from cellrate.terminal import Console
from cellrate.texts import printable, printable_lines
from cellrate.watching.board import Board
from conftest import PAIR

HOSTILE = "a\\u001b]0;owned\\u0007\\u202eb\\u0000\\u2066c\\u009b31m\\u200fd$x$"
"""A title for the terminal, directions, NUL, an 8-bit escape and matplotlib's formulas, as TOML says it."""

ACTING = (*range(9), *range(11, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), 0x2066, 0x200F)
UNWANTED = [chr(code) for code in ACTING]


def unwanted(text: str) -> list[str]:
    return [letter for letter in UNWANTED if letter in text]


def test_everything_that_acts_is_an_escape_and_all_letters_stay() -> None:
    assert printable("\x1b[31m\n\x00\u202e\udc80\U000e0041") == "\\x1b[31m\\x0a\\x00\\u202e\\udc80\\U000e0041"
    assert printable_lines("a\n\tb\r\x9b") == "a\n\tb\\x0d\\x9b"
    for text in ("Zürich – Łódź", "東京 ↔ 大阪", "שלום", "e\u0301", "ACR ≥ 1 µs"):
        assert printable(text) == text


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A scenario whose name and purpose are hostile."""
    text = PAIR.replace('name = "pair"', f'name = "{HOSTILE}"\npurpose = "{HOSTILE}"', 1)
    assert HOSTILE in text
    (file := tmp_path / "hostile.toml").write_text(text)
    return file


def test_tables_say_names_with_escapes(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert status(["validate", str(hostile)]) == 0
    assert status(["run", str(hostile), "--out", str(hostile.parent / "out")]) == 0
    assert status(["run", str(hostile), "--sweep", "seed=[1, 2]"]) == 0
    assert status(["show", str(hostile.parent / "out")]) == 0
    told = capfd.readouterr()
    assert "\\x1b]0;owned\\x07\\u202eb" in told.out
    assert unwanted(told.out + told.err) == []


def test_names_are_letters_in_tables_of_sweeps_searches_and_captures(
    hostile: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.parent)
    (hostile.parent / "swept.toml").write_text(
        hostile.read_text() + f'\n[[sweep]]\nset = "name"\nvalues = ["{HOSTILE}", "[/red]"]\n'
    )
    vary = ["--vary", "duration=10ms..20ms", "--such-that", "ports.dropped == 0"]
    commands = [
        ["run", "hostile.toml", "--out", "out", "--capture", "cells"],
        ["run", "hostile.toml", "--sweep", 'name=["[red]\\u001b[2J\\u202e", "[/red]"]', "--out", "swept"],
        ["show", "swept", "--by", "name"],
        ["plot", "swept", "--out", "swept.png"],
        ["fair", "swept.toml"],
        ["trace", "cells/cells.pcapng"],
        ["search", "hostile.toml", *vary, "--out", "search"],
    ]
    for words in commands:
        if words[0] == "trace":
            (capture,) = Path("cells").glob("*cells*.pcapng")
            capture.write_bytes(capture.read_bytes().replace(b"sw->b", b"s\x1b[2J"))
            words = ["trace", str(capture)]
        assert status(words) == 0, (words, capfd.readouterr())
        told = capfd.readouterr()
        assert told.out, words
        assert unwanted(told.out + told.err) == [], words


def test_a_paper_or_live_run_prints_names_as_letters(capfd: pytest.CaptureFixture[str]) -> None:
    text = HOSTILE.encode().decode("unicode_escape")
    table = Table(f"heading {text}")
    table.add_row(f"[red]{text}[/x]")
    Console(width=200).print(table)
    told = capfd.readouterr().out
    assert "[red]a\\x1b" in told
    assert "[/x]" in told
    assert unwanted(told) == []


def test_the_page_of_a_run_is_told_names_as_letters(hostile: Path) -> None:
    scenario = cellrate.Scenario.parse(hostile.read_text().partition("[[probe]]")[0])
    board = Board(scenario, [])
    result = cellrate.run(scenario)
    board.end(result, report(result.summary))
    toml = board.head.pop("toml")
    told = json.dumps([board.head, board.since([], -1.0)], ensure_ascii=False)
    assert "a\\\\x1b]0;owned" in told
    # JSON writes controls as escapes of its own.
    assert unwanted(told) == []
    assert "\\u001b" not in told
    assert toml == scenario.toml


def test_a_name_that_leads_elsewhere_names_no_folder_of_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (inner := tmp_path / "in").mkdir()
    monkeypatch.chdir(inner)
    (inner / "evil.toml").write_text(PAIR.replace('"pair"', '"../../../evil"'))
    words = ["evil.toml", "--vary", "duration=10ms..20ms"]
    assert status(["search", *words, "--such-that", "ports.dropped == 0"]) == 2
    assert status(["tune", *words, "--objective", "max vcs.throughput", "--trials", "1"]) == 2
    assert "cannot name a folder" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.rglob("*")] == ["in", "evil.toml"]


def test_errors_show_lines_of_files_with_escapes(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = hostile.read_text()
    for change in (
        text.replace('name = "a"', f'name = "{HOSTILE}"', 1),
        text.replace('name = "a"', 'name = "a" \x1b[2J', 1),
        text + f'\n"{HOSTILE}" = 1\n',
        text.replace("155.52 Mbps", HOSTILE),
    ):
        hostile.write_text(change)
        assert status(["validate", str(hostile)]) == 2
        told = capsys.readouterr().err
        assert told.strip()
        assert unwanted(told) == []


def test_pictures_and_notebooks_have_the_same(hostile: Path) -> None:
    result = cellrate.run(cellrate.Scenario.load(hostile))
    drawing = io.StringIO()
    result.plot().savefig(drawing, format="svg")
    assert unwanted(drawing.getvalue()) == []
    assert unwanted(result._repr_html_() + repr(result)) == []
    drawing = io.StringIO()
    cellrate.Scenario.load(hostile).draw().savefig(drawing, format="svg")
    assert unwanted(drawing.getvalue()) == []
