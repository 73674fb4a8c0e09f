"""The page of commands has every command with every option, as its help says them.

UPDATE_REFERENCE=1 writes it anew.
"""

from __future__ import annotations

import os

import commands

from cellrate.command_line.app import GROUPS, app


def test_the_reference_is_what_the_commands_say() -> None:
    page = commands.PAGE.read_text()
    if os.environ.get("UPDATE_REFERENCE"):
        commands.PAGE.write_text(commands.renewed(page))
    else:
        assert page == commands.renewed(page)


def test_each_command_stands_under_one_heading_of_the_help() -> None:
    grouped = app.grouped()
    assert list(grouped) == list(GROUPS)
    names = [name for rows in grouped.values() for name in rows]
    assert sorted(names) == sorted(set(names)) == sorted({*app.commands, *app.modules})
