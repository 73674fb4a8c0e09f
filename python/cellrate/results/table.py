"""Summaries as tables on the terminal: set without rich, whose import takes several times as long as a short run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ..texts import printable
from .summaries import (
    application_numbers,
    fairness_line,
    port_numbers,
    run_line,
    vc_numbers,
    virtual_source_numbers,
    window_numbers,
)


def print_summary(summary: dict[str, Any], settings: dict[str, str]) -> None:
    """Print a run's rows for VCs, applications, ports and virtual sources and a line about the run."""
    run = summary["run"]
    print(printable(run["scenario"] + "".join(f"  {key} = {value}" for key, value in settings.items())))
    print_numbers(*vc_numbers(summary))
    for numbers in application_numbers(summary):
        print_numbers(*numbers)
    for row in summary.get("refused", []):
        print(printable(f"Refused: {row['category']} connection {row['vc']}, {row['reason']}"))
    if summary.get("negotiated"):
        changed = len({row["vc"] for row in summary["negotiated"]})
        print(f"Set-up changed {len(summary['negotiated'])} parameters of {changed} directions; --json lists them.")
    if summary.get("clocks"):
        print(clocks_line(summary["clocks"]))
    print_numbers(*port_numbers(summary))
    for row in summary.get("host_bottlenecks", []):
        print(
            f"{row['port']}: the host's own line is the bottleneck of its connections, {row['waiting']:,} cells wait "
            "there at the end. ABR begins with ICR, which is PCR unless the scenario says less."
        )
    for row in summary.get("phase_effects", []):
        print(printable(phase_effect_line(row)))
    for row in summary.get("unsettled", []):
        print(printable(unsettled_line(row)))
    head, rows = virtual_source_numbers(summary)
    if rows:
        print_numbers(head, rows)
    for numbers in window_numbers(summary):
        print_numbers(*numbers)
    if fairness := fairness_line(summary):
        print(printable(fairness))
    print(run_line(run))


def clocks_line(clocks: list[dict[str, Any]]) -> str:
    """Say how far the clocks of a run were apart."""
    offsets = [row["offset_ppm"] for row in clocks]
    phases = [row["phase_s"] for row in clocks if row["phase_s"] is not None]
    said = f"Clocks: {len(clocks)} not exact, from {min(offsets):+.1f} to {max(offsets):+.1f} ppm"
    if phases and max(phases) > 0:
        said += f", phases up to {max(phases) * 1e6:.2f} us"
    return f"{said}; --json lists them."


def phase_effect_line(row: dict[str, Any]) -> str:
    """Say which connection a tie or a phase that never changes has shut out at a port."""
    return (
        f"Phase effects: at {row['port']} {row['decided']} of {row['lost']} losses were decided by a tie or a phase "
        f"that never changes between {row['vcs']} like connections ({row['starved']} lost {row['starved_loss']:.1%} "
        f"of its cells, {row['favoured']} {row['favoured_loss']:.1%}); see docs/guides/phase-effects.md."
    )


def unsettled_line(row: dict[str, Any]) -> str:
    """Say of a port whose rates cannot settle, or have not, by what that is known."""
    connections = "1 connection" if row["connections"] == 1 else f"{row['connections']} connections"
    said = f"Unsettled: {row['algorithm']} at {row['port']}, {connections}: "
    if row["by"] == "rule":
        said += (
            f"gain x delay is {row['gain_delay']:.2f} with a delay of {row['delay_s'] * 1e3:.3g} ms, "
            f"and rates settle below 1.57; {row['remedy']} would"
        )
    else:
        said += (
            f"in the last quarter an ACR swings by {row['swing']:.0%} of its mean, "
            f"and that of {row['vc']} is {row['share']:.2f} of its fair share"
        )
    return f"{said}; see docs/algorithms."


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
        return (" " + "   ".join(aligned)).rstrip()

    for cells in heading:
        print(line(cells))
    print(" " + letter("─", "-") * (sum(widths) + 3 * len(widths[1:])))
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
