"""Texts from elsewhere reach no terminal, picture or page with anything that acts upon them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.texts import printable, printable_lines
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
    assert unwanted(result._repr_html_()) == []
    drawing = io.StringIO()
    cellrate.Scenario.load(hostile).draw().savefig(drawing, format="svg")
    assert unwanted(drawing.getvalue()) == []
