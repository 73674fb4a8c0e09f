"""Summaries, fair rates and advice as tables on the terminal.

What a run prints is set without rich, whose import takes several times as long as a short run. Tables whose text must
be broken into lines have it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .summaries import CELL_BITS, application_numbers, port_numbers, run_line, vc_numbers, virtual_source_numbers

if TYPE_CHECKING:
    from rich.console import Console

    from ..advice.advisor import AdvisedSet
    from ..scenario import FairShare
    from ..trial import Comparison


def print_summary(summary: dict[str, Any], settings: dict[str, str]) -> None:
    """Print a run's rows for VCs, applications, ports and virtual sources and a line about the run."""
    run = summary["run"]
    print(run["scenario"] + "".join(f"  {key} = {value}" for key, value in settings.items()))
    _print_numbers(*vc_numbers(summary))
    for numbers in application_numbers(summary):
        _print_numbers(*numbers)
    for row in summary.get("refused", []):
        print(f"Refused: {row['category']} connection {row['vc']}, {row['reason']}")
    if summary.get("negotiated"):
        changed = len({row["vc"] for row in summary["negotiated"]})
        print(f"Set-up changed {len(summary['negotiated'])} parameters of {changed} directions; --json lists them.")
    _print_numbers(*port_numbers(summary))
    head, rows = virtual_source_numbers(summary)
    if rows:
        _print_numbers(head, rows)
    print(run_line(run))


def print_fair(console: Console, shares: list[FairShare], settings: dict[str, str]) -> None:
    """Print max-min fair rates, under what the point of a sweep set."""
    from rich import box
    from rich.table import Table

    if settings:
        line = "  ".join(f"{key} = {value}" for key, value in settings.items())
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("VC")
    table.add_column("Mbps", justify="right")
    table.add_column("cells/s", justify="right")
    table.add_column("bottleneck")
    for share in shares:
        name = f"{share.vc} (back)" if share.backward else share.vc
        rate = share.rate
        table.add_row(name, f"{rate * CELL_BITS / 1e6:.3f}", f"{rate:,.1f}", share.bottleneck or "its PCR")
    console.print(table)


def print_advice(console: Console, advised: AdvisedSet) -> None:
    """Print advised parameters, a row each, and the warnings."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", no_wrap=True)
    table.add_column("code", justify="right", no_wrap=True)
    table.add_column("reason")
    table.add_column("section", no_wrap=True)
    for advice in advised.advices:
        code = advised.codes.get(advice.parameter)
        text = advice.text.replace(" (", "\n(")
        table.add_row(advice.parameter, text, "" if code is None else str(code), advice.reason, advice.source)
    console.print(table)
    console.print(f"Record of Nrm, Trm, ADTF and CDF: {advised.codes['record']:#010x}", highlight=False)
    for warning in advised.warnings:
        console.print(f"Warning: {warning}", highlight=False, markup=False)


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


def _number(value: float | None) -> str:
    if value is None:
        return "never"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"


def _print_numbers(head: list[str], rows: list[list[str]]) -> None:
    """Print a table of names, on the left, and numbers; a heading may have several lines."""
    lines = [name.split("\n") for name in head]
    height = max(map(len, lines))
    heading = list(zip(*([""] * (height - len(name)) + name for name in lines), strict=True))
    widths = [max(map(len, column)) for column in zip(*heading, *rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        name, *numbers = cells
        aligned = [name.ljust(widths[0])] + [
            number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)
        ]
        return (" " + "   ".join(aligned)).rstrip()

    for cells in heading:
        print(line(cells))
    print(" " + _rule() * (sum(widths) + 3 * len(widths[1:])))
    for row in rows:
        print(line(row))
    print()


def _rule() -> str:
    """What a rule is made of: a line, or hyphens where stdout has none."""
    try:
        "─".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "-"
    return "─"
