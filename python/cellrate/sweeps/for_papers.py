"""Tables of results as a paper has them: LaTeX with booktabs, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..recorded.columns import Numbers
from ..recorded.groups import groups_of
from ..recorded.summaries import report
from ..texts import printable
from .overview import overview, settings_in

if TYPE_CHECKING:
    from ..recorded.run import Recorded

_NUMBER = re.compile(r"(?:-?[0-9][0-9,]*(?:\.[0-9]+)?(?: (?:±|\+-) [0-9,.]+)?(?: \([0-9]+\))?)?")
"""Text of a cell that is a number, perhaps with its interval, or empty."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
"""Letters that LaTeX reads as something else, also in the font encoding OT1."""

_MARKDOWN = {letter: f"\\{letter}" for letter in "\\|*_`<>[]~"}


Write = Callable[[Numbers], str]
"""Writes a table: `latex` or `markdown`."""


def latex(table: Numbers) -> str:
    r"""Write a table in LaTeX, for `\usepackage{booktabs}`; each line of a heading is a row."""
    head, rows = _cells(table, _LATEX)
    height = max(len(name) for name in head)
    heading = zip(*([""] * (height - len(name)) + name for name in head), strict=True)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{_sides(rows, len(head), 'l', 'r')}}}",
            r"\toprule",
            *map(_row, heading),
            r"\midrule",
            *map(_row, rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def markdown(table: Numbers) -> str:
    """Write a table in Markdown, as GitHub and pandoc read it; a heading is one line."""
    head, rows = _cells(table, _MARKDOWN)
    sides = [":---" if side == "l" else "---:" for side in _sides(rows, len(head), "l", "r")]
    lines = [[" ".join(filter(None, name)) for name in head], sides, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def print_tables(results: Sequence[Recorded], by: Sequence[str], write: Write, *, each: bool = False) -> None:
    """Print the tables of a run, or the one table of several, as `latex` or `markdown` writes them."""
    if len(results) == 1 and not settings_in(results)[0]:
        tables = [
            part
            for part in report(results[0].summary, {} if each else groups_of(results[0].toml))
            if not isinstance(part, str)
        ]
    else:
        tables = [overview(results, by)]
    print("\n\n".join(map(write, tables)))


def _cells(table: Numbers, escapes: dict[str, str]) -> tuple[list[list[str]], list[list[str]]]:
    """Give the lines of each heading, and the rows, with what stands for letters that would be read as markup."""
    head, rows = table
    letters = str.maketrans(escapes)

    def escaped(text: str) -> str:
        return printable(text).translate(letters)

    return [list(map(escaped, name.split("\n"))) for name in head], [list(map(escaped, row)) for row in rows]


def _sides(rows: Sequence[Sequence[str]], columns: int, left: str, right: str) -> str:
    """Give for each column the side on which it stands: the first one and texts on the left, numbers on the right."""
    plain = [[cell.replace(r"$\pm$", "±") for cell in row] for row in rows]
    return "".join(
        left if column == 0 or not all(_NUMBER.fullmatch(row[column]) for row in plain) else right
        for column in range(columns)
    )


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
