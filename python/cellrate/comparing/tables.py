"""Cards as tables for the terminal and in Markdown."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from dataclasses import replace

from ..recorded.table import letter
from .cards import Card
from .columns import COLUMNS, NONE, Column
from .findings import Findings

WIDTH = 160
"""Least width of the printed table [columns]; it cannot be read in less."""

IN_MARKDOWN = {"best": "**{}**", "worst": "*{}*", "": "{}"}
"""Marks of the best and the worst, in Markdown."""

ERROR = COLUMNS[0]


def with_something(cards: Sequence[Card]) -> list[Column]:
    """Give the columns that say something of any of the cards."""
    return [column for column in COLUMNS if any(column.show(card) != NONE for card in cards)]


def markdown(cards: Sequence[Card]) -> str:
    """Give cards as a table in Markdown, the best of a column in bold and the worst in italics."""
    columns = with_something(cards)
    return _markdown([column.head for column in columns], [_marked(column, cards) for column in columns], cards)


def markdown_of_errors(arena: Findings) -> str:
    """Give the mean errors of each algorithm in each scenario that is judged, as a table in Markdown."""
    judged = [name for name in arena.scenarios if arena.card(arena.algorithms[0], name).mean_error is not None]
    columns = [_marked(ERROR, [arena.card(one, scenario) for one in arena.algorithms]) for scenario in judged]
    return _markdown(judged, columns, arena.overall)


def _marked(column: Column, cards: Sequence[Card]) -> list[str]:
    marks = column.marks(cards)
    return [IN_MARKDOWN[mark].format(column.show(card)) for mark, card in zip(marks, cards, strict=True)]


def _markdown(heads: Sequence[str], columns: Sequence[Sequence[str]], cards: Sequence[Card]) -> str:
    rows = [["algorithm", *heads], ["---", *("---:" for _ in heads)]]
    for card, row in zip(cards, zip(*columns, strict=True), strict=True):
        rows.append([card.algorithm.replace("|", "\\|"), *row])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def text(arena: Findings) -> str:
    """Give the cards over all scenarios, and the costs, as they are printed."""
    from rich import box
    from rich.table import Table

    from ..terminal import Console

    signs = {"best": letter("▲", "^"), "worst": letter("▼", "v"), "": " "}
    written = io.StringIO()
    console = Console(file=written, width=max(WIDTH, shutil.get_terminal_size().columns))
    costs = {cost.algorithm: cost for cost in arena.costs}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("algorithm", min_width=24, overflow="fold")
    columns = [column for column in with_something(arena.overall) if column.printed]
    for column in columns:
        table.add_column(f"{column.short} ", justify="right", no_wrap=column.short == "settled")
    if costs:
        table.add_column("RM cell", justify="right")
        table.add_column("interval", justify="right")
    # Intervals have no room here; the page and JSON have them.
    cards = [replace(card, half_widths={}) for card in arena.overall]
    marks = [column.marks(arena.overall) for column in columns]
    for place, card in enumerate(cards):
        row = [card.algorithm]
        row += [column.show(card) + signs[of[place]] for column, of in zip(columns, marks, strict=True)]
        if costs:
            cost = costs[card.algorithm]
            row += [f"{cost.rm_cell_ratio:.1f}", NONE if cost.interval_ratio is None else f"{cost.interval_ratio:.1f}"]
        table.add_row(*row)
    console.print(table)
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    if len(arena.overall) > 1:
        lines.append(f"{signs['best']} is the best of a column, {signs['worst']} the worst.")
    return "\n".join(lines)
