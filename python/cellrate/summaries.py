"""Summaries as people read them: which rows tell something, and their figures as text."""

from __future__ import annotations

from typing import Any

CELL_BITS = 424


def telling_vcs(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the directions that carry more than RM cells; the others are in the JSON."""
    return [row for row in summary["vcs"] if row["data_sent"]]


def telling_ports(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the ports at which a cell ever waited, or all if there is none; the others are in the JSON."""
    return [row for row in summary["ports"] if row["max_queue"] > 1 or row["dropped"]] or list(summary["ports"])


Numbers = tuple[list[str], list[list[str]]]
"""Headings, perhaps of several lines, and rows: a name, and numbers behind it."""


def vc_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of VCs."""
    head = ["VC", "data sent", "delivered", "dropped", "Mbps", "mean ACR\nMbps", "p99 delay\nms"]
    return head, [
        [
            row["vc"],
            f"{row['data_sent']:,}",
            f"{row['data_delivered']:,}",
            f"{row['dropped']:,}",
            f"{row['throughput_bps'] / 1e6:.2f}",
            "" if row["mean_acr"] is None else f"{row['mean_acr'] * CELL_BITS / 1e6:.2f}",
            "" if row["p99_delay_s"] is None else f"{row['p99_delay_s'] * 1e3:.3f}",
        ]
        for row in telling_vcs(summary)
    ]


def port_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of ports."""
    rows = telling_ports(summary)
    head = ["port", "utilization\n%", "max queue\ncells", "mean queue\ncells", "dropped\ncells"]
    numbers = [
        [
            row["port"],
            f"{row['utilization'] * 100:.1f}",
            f"{row['max_queue']:,}",
            f"{row['mean_queue']:,.1f}",
            f"{row['dropped']:,}",
        ]
        for row in rows
    ]
    # Results stored before switches could originate BRMs have no such figure.
    originated = [row.get("backward_rm_originated", 0) for row in rows]
    if any(originated):
        head.append("BRMs\noriginated")
        for columns, count in zip(numbers, originated, strict=True):
            columns.append(f"{count:,}")
    return head, numbers


def virtual_source_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of virtual sources; no rows where no switch segments a control loop."""
    head = ["virtual source", "data sent", "max queue\ncells", "mean queue\ncells", "mean ACR\nMbps"]
    return head, [
        [
            f"{row['vc']} at {row['switch']}",
            f"{row['data_sent']:,}",
            f"{row['max_queue']:,}",
            f"{row['mean_queue']:,.1f}",
            f"{row['mean_acr'] * CELL_BITS / 1e6:.2f}",
        ]
        for row in summary.get("virtual_sources", [])
    ]


def run_line(run: dict[str, Any]) -> str:
    """Give a line about the run itself."""
    return (
        f"{run['duration_s']:g} s of network time in {run['wall_s']:.2f} s: {run['cell_hops']:,} cell hops, "
        f"{run['cell_hops_per_s'] / 1e6:.1f} million per second.  Hash {run['hash'][:12]}, seed {run['seed']}."
    )
