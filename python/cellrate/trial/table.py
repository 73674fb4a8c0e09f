"""Table of a trial on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..terminal import Console
    from .comparison import Comparison
    from .tuning import TunedSet


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print what a trial of advised parameters found."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=comparison.what, title_justify="left")
    table.add_column("figure", no_wrap=True)
    table.add_column("defaults", justify="right", no_wrap=True)
    table.add_column("advised", justify="right", no_wrap=True)
    table.add_column("worse by")
    for figure in comparison.figures:
        name = f"* {figure.name}" if figure.needed else f"  {figure.name}"
        table.add_row(Text(name), _number(figure.default), _number(figure.advised), figure.blame or "")
    console.print(table)
    console.print("* what the application needs", highlight=False)
    console.print(comparison.verdict, highlight=False, markup=False)


def print_tuned(console: Console, tuned: TunedSet) -> None:
    """Print what a tuning of an advised set found, beside the set and the defaults."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"Tuned: {tuned.trials} sets", title_justify="left")
    table.add_column("figure", no_wrap=True)
    for name in ("defaults", "advised", "tuned"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, values in tuned.figures.items():
        table.add_row(Text(f"* {name}" if name in tuned.needed else f"  {name}"), *map(_number, values))
    console.print(table)
    console.print(tuned.verdict, highlight=False, markup=False)


def _number(value: float | None) -> str:
    if value is None:
        return "never"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
