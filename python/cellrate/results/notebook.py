"""Results as a notebook shows them: the tables that the command line prints, as HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from ..texts import printable, printable_lines
from .summaries import (
    Numbers,
    application_numbers,
    fairness_line,
    port_numbers,
    run_line,
    vc_numbers,
    virtual_source_numbers,
    window_numbers,
)


def html_of(summary: dict[str, Any], settings: dict[str, str]) -> str:
    """Give the rows for VCs, applications, ports and virtual sources and a line about the run."""
    title = printable(summary["run"]["scenario"] + "".join(f", {key} = {value}" for key, value in settings.items()))
    numbers = (
        vc_numbers(summary),
        *application_numbers(summary),
        port_numbers(summary),
        virtual_source_numbers(summary),
        *window_numbers(summary),
    )
    tables = "".join(map(html_table, numbers))
    last = printable(f"{fairness_line(summary)} {run_line(summary['run'])}".strip())
    return f"<div><b>{escape(title)}</b>{tables}<small>{escape(last)}</small></div>"


def html_table(numbers: Numbers) -> str:
    """Give a table as HTML, nothing where there are no rows; names appear with escapes (`texts.printable`)."""
    head, rows = numbers
    if not rows:
        return ""
    headings = "".join(f"<th>{escape(printable_lines(name)).replace(chr(10), '<br>')}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{lines}</tbody></table>"
