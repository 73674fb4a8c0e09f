"""Cards as tables: what their columns are, for the terminal and in Markdown."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cards import Card
from .findings import Findings


@dataclass(frozen=True)
class Column:
    """Column of a table of cards."""

    head: str
    """With its unit."""
    short: str
    """Where there is little room."""
    value: Callable[[Card], str]


WIDTH = 160
"""Least width of the printed table [columns]; it cannot be read in less."""

NONE = "-"
"""Where there is nothing to say."""


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f} %"


def _ms(value: float | None) -> str:
    return NONE if value is None else f"{1e3 * value:,.0f}"


COLUMNS = (
    Column("mean error", "error", lambda card: _share(card.mean_error)),
    Column("worst error", "worst", lambda card: _share(card.worst_error)),
    Column("settled", "settled", lambda card: f"{card.settled} of {card.phases}" if card.phases else NONE),
    Column("settling [ms]", "ms", lambda card: _ms(card.settling_s)),
    Column("long way", "long way", lambda card: NONE if card.beat_down is None else f"{card.beat_down:.2f}"),
    Column("mean queue [cells]", "mean queue", lambda card: f"{card.mean_queue:,.0f}"),
    Column("99 % [cells]", "99 %", lambda card: f"{card.p99_queue:,.0f}"),
    Column("longest [cells]", "longest", lambda card: f"{card.max_queue:,.0f}"),
    Column("utilization", "full", lambda card: _share(card.utilization)),
    Column("loss", "loss", lambda card: "0" if card.loss == 0 else f"{100 * card.loss:.2g} %"),
    Column("response 99 % [ms]", "response", lambda card: _ms(card.response_s)),
)


def markdown(cards: Sequence[Card]) -> str:
    """Give cards as a table in Markdown."""
    heads = [column.head for column in COLUMNS]
    rows = [["algorithm", *heads], ["---", *("---:" for _ in heads)]]
    rows += [[card.algorithm.replace("|", "\\|"), *(column.value(card) for column in COLUMNS)] for card in cards]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def markdown_of_errors(arena: Findings) -> str:
    """Give the mean errors of each algorithm in each scenario that is judged, as a table in Markdown."""
    judged = [name for name in arena.scenarios if arena.card(arena.algorithms[0], name).mean_error is not None]
    rows = [["algorithm", *judged], ["---", *("---:" for _ in judged)]]
    rows += [
        [name.replace("|", "\\|"), *(_share(arena.card(name, scenario).mean_error) for scenario in judged)]
        for name in arena.algorithms
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def text(arena: Findings) -> str:
    """Give the cards over all scenarios, and the costs, as they are printed."""
    from rich import box
    from rich.table import Table

    from ..terminal import Console

    written = io.StringIO()
    console = Console(file=written, width=max(WIDTH, shutil.get_terminal_size().columns))
    costs = {cost.algorithm: cost for cost in arena.costs}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("algorithm", min_width=24, overflow="fold")
    for column in COLUMNS:
        table.add_column(column.short, justify="right")
    if costs:
        table.add_column("RM cell", justify="right")
        table.add_column("interval", justify="right")
    for card in arena.overall:
        row = [card.algorithm, *(column.value(card) for column in COLUMNS)]
        if costs:
            cost = costs[card.algorithm]
            row += [f"{cost.rm_cell_ratio:.1f}", NONE if cost.interval_ratio is None else f"{cost.interval_ratio:.1f}"]
        table.add_row(*row)
    console.print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())
