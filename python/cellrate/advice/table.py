"""Advice as a table on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..terminal import Console
    from .advised import AdvisedSet


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
