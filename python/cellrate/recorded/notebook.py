"""Results as a notebook shows them: the tables that the command line prints, as HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from ..texts import printable, printable_lines
from .columns import Numbers
from .groups import Groups
from .summaries import Part, report


def html_of(summary: dict[str, Any], settings: dict[str, str], groups: Groups | None = None) -> str:
    """Give the tables and lines that the command line prints of a run."""
    title = printable(summary["run"]["scenario"] + "".join(f", {key} = {value}" for key, value in settings.items()))
    return f"<div><b>{escape(title)}</b>{''.join(map(_part, report(summary, groups)))}</div>"


def _part(part: Part) -> str:
    return f"<p><small>{escape(printable(part))}</small></p>" if isinstance(part, str) else html_table(part)


def html_table(numbers: Numbers) -> str:
    """Give a table as HTML, nothing where there are no rows; names appear with escapes (`texts.printable`)."""
    head, rows = numbers
    if not rows:
        return ""
    headings = "".join(f"<th>{escape(printable_lines(name)).replace(chr(10), '<br>')}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{lines}</tbody></table>"
