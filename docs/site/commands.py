"""The reference of the command line in docs/commands.md, made from the commands themselves.

`UPDATE_REFERENCE=1 pytest tests/python/test_command_page.py` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from cellrate.command_line.app import app
from cellrate.command_line.typed import Described

PAGE = Path(__file__).resolve().parents[1] / "commands.md"
BEGIN = "<!-- reference: written from the commands; UPDATE_REFERENCE=1 pytest tests/python/test_command_page.py -->\n"
END = "\n<!-- end of reference -->"


def reference() -> str:
    """Give the reference of every command, in the order of the help, as Markdown."""
    return "\n".join(_entry(command) for command in app.described())


def renewed(page: str) -> str:
    """Give the page with today's reference between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{reference()}{END}{rest.split(END)[1]}"


def _entry(command: Described) -> str:
    name = command.usage.partition(" [OPTIONS]")[0]
    lines = [f"### {name}", "", "```text", command.usage, "```", ""]
    for paragraph in command.paragraphs:
        lines += [_cell(paragraph), ""]
    rows = command.arguments | command.options
    if rows:
        lines += ["| argument or option | meaning |", "| --- | --- |"]
        lines += [f"| `{_cell(option)}` | {_cell(said)} |" for option, said in rows.items()]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Write a text of a help as Markdown shows it letter by letter, within a table, too."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
