"""Summaries as tables on the terminal: set without rich, whose import takes several times as long as a short run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ..texts import printable
from .groups import Groups
from .summaries import Part, report


def print_summary(summary: dict[str, Any], settings: dict[str, str], groups: Groups | None = None) -> None:
    """Print what a run found: its name, tables, in which each of `groups` is one row, and lines."""
    told = summary["run"]["scenario"] + "".join(f"  {key} = {value}" for key, value in settings.items())
    print(printable(told))
    print_report(report(summary, groups))


def print_report(parts: Iterable[Part]) -> None:
    """Print tables and lines."""
    for part in parts:
        if isinstance(part, str):
            print(printable(part))
        else:
            print_numbers(*part)


def print_numbers(head: list[str], rows: list[list[str]]) -> None:
    """Print a table of names, on the left, and numbers; a heading may have several lines."""
    lines = [[printable(line) for line in name.split("\n")] for name in head]
    rows = [[printable(cell) for cell in row] for row in rows]
    height = max(map(len, lines))
    heading = list(zip(*([""] * (height - len(name)) + name for name in lines), strict=True))
    widths = [max(map(len, column)) for column in zip(*heading, *rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        name, *numbers = cells
        aligned = [name.ljust(widths[0])] + [
            number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)
        ]
        return (" " + "  ".join(aligned)).rstrip()

    for cells in heading:
        print(line(cells))
    print(" " + letter("─", "-") * (sum(widths) + 2 * len(widths[1:])))
    for row in rows:
        print(line(row))
    print()


def letter(wanted: str, otherwise: str) -> str:
    """Give a letter, such as that of which rules are made, or what stands for it where stdout has none."""
    try:
        wanted.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return otherwise
    return wanted
