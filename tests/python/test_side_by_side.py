"""The tables of switch algorithms in docs/algorithms are what the arena gives today.

UPDATE_REFERENCE=1 writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import cellrate

PAGE = Path(__file__).parents[2] / "docs" / "algorithms" / "README.md"
BEGIN, END = "<!-- arena: written by `make arena` -->\n\n", "\n<!-- the end of what the arena writes -->"


def test_the_tables_are_what_the_arena_gives() -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    table, after = rest.split(END)
    now = cellrate.arena(costs=False, progress=False).markdown()
    if os.environ.get("UPDATE_REFERENCE"):
        PAGE.write_text(f"{before}{BEGIN}{now}{END}{after}")
    else:
        assert table == now
