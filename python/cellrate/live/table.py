"""Live runs and what machines lack, as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from ..recorded.columns import Numbers
from ..recorded.groups import Groups, groups_of
from ..recorded.summaries import Part, report
from ..recorded.table import print_summary
from .repeated import means, numbers, remark
from .under_load import sentences

if TYPE_CHECKING:
    from ..terminal import Console
    from .doctor import Finding
    from .supervision import LiveRun
    from .throughput import Throughput


def print_live(console: Console, run: LiveRun) -> None:
    """Print the last attempt: applications, connections and ports, and the verdict on its timing."""
    summary = run.result.summary
    rows = application_rows(summary)
    if rows[1]:
        _print_table(console, rows)
    print_summary(summary, run.result.settings, groups_of(run.result.toml))
    for part in network_parts(summary, [result.summary["timing"] for result in run.attempts]):
        if isinstance(part, str):
            console.print(part, highlight=False, markup=False, soft_wrap=True)
        else:
            _print_table(console, part)


def print_repeated(console: Console, summaries: Sequence[dict[str, Any]]) -> None:
    """Print the means over repeated runs, and what they are over."""
    found = means(summaries)
    if found:
        _print_table(console, numbers(found))
    console.print(remark(summaries), highlight=False, markup=False, soft_wrap=True)


def live_report(summary: dict[str, Any], groups: Groups | None = None) -> list[Part]:
    """Give what `print_live` prints of a single attempt, for the page that shows it."""
    rows = application_rows(summary)
    return [*([rows] if rows[1] else []), *report(summary, groups), *network_parts(summary, [summary["timing"]])]


def application_rows(summary: dict[str, Any]) -> Numbers:
    """Give the table of the programs on the hosts, and what came out of each."""
    head = ["application", "kind", "way", "ended", "result"]
    rows = []
    for row in summary["applications"]:
        way = row["host"] if row["peer"] is None else f"{row['host']} -> {row['peer']}"
        rows.append([row["application"], row["kind"], way, row["ended"] or "not started", outcome(row)])
    return head, rows


def network_parts(summary: dict[str, Any], timings: Sequence[dict[str, Any]]) -> list[Part]:
    """Give what became of datagrams and packets on this machine, and the verdict on the timing of each attempt.

    Of a distributed run there is a row for each end of a link, and what was not taken.
    """
    parts: list[Part] = []
    if summary.get("links"):
        head = ["datagrams", *(name.replace("_", " ") for name in LINK_FIGURES)]
        parts.append((head, [[row["link"], *(f"{row[name]:,}" for name in LINK_FIGURES)] for row in summary["links"]]))
        told = [("here", summary["datagrams"])]
        told += [(one["node"], one["datagrams"]) for one in summary.get("processes", [])]
        for place, refused in told:
            if refused is not None and any(refused.values()):
                kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in refused.items())
                parts.append(f"Datagrams not taken, {place}: {kinds}")
    lost = [f"{row['host']} {row['device']['ring_dropped']}" for row in summary["kernels"] if row["device"]]
    if lost:
        parts.append(f"Packets lost in the rings of the hosts: {', '.join(lost)}")
    parts += sentences(summary)
    return parts + [verdict(timing, number) for number, timing in enumerate(timings, start=1)]


LINK_FIGURES = ("sent", "received", "missing", "out_of_order", "restarts", "late_cells", "send_errors")
"""Columns of the table of links."""


def verdict(timing: dict[str, Any], number: int) -> str:
    """The verdict on the timing of an attempt, in a line."""
    late = timing["lateness_p99_s"]
    figures = (
        f"99 % of wake-ups late by at most {0.0 if late is None else late * 1e3:.2f} ms, "
        f"{timing['stalls']} stalls of the machine, the longest {timing['longest_stall_s'] * 1e3:.1f} ms, "
        f"{timing['cpu_share'] * 100:.0f} % of a processor"
    )
    told = "in time" if timing["passed"] else "OUT OF TIME (" + ", and ".join(timing["failures"]) + ")"
    return f"Attempt {number}: {told}; {figures}"


def outcome(row: dict[str, Any]) -> str:
    """Give the outcome of an application, in a few words."""
    if row["failed"]:
        return "FAILED: " + "; ".join(row["complaints"])
    result = row["result"]
    match row["kind"]:
        case "ftp":
            return f"{_mbps(result['goodput_bps'])}, {result['octets']:,} octets"
        case "iperf3":
            lost = f", {result['lost']} of {result['datagrams']} datagrams lost" if "lost" in result else ""
            again = f", {result['retransmissions']} retransmissions" if "retransmissions" in result else ""
            return f"{_mbps(result['goodput_bps'])}{lost}{again}"
        case "web":
            html, image = result["html_response_s"]["mean"], result["image_response_s"]["mean"]
            if html is None or image is None:
                return f"{result['pages_complete']} of {result['pages']} pages"
            return (
                f"{result['pages_complete']} of {result['pages']} pages, text {html * 1e3:.1f} ms, image {image:.2f} s"
            )
        case "video":
            return (
                f"{result['frames_played']} of {result['frames_sent']} frames played, "
                f"{result['frames_lost_in_network']} lost on the way, {result['frames_lost_to_overflow']} to overflow, "
                f"{result['frames_late']} late; stood {result['stalled_s']:.2f} s"
            )
        case "voice":
            if not result["packets"]:
                return "no packet came"
            return (
                f"{result['heard']} of {result['packets_due']} packets heard, {result['lost']} lost, "
                f"{result['silent_periods']} silent periods, jitter {result['jitter_s'] * 1e3:.2f} ms"
            )
        case "ping":
            return (
                f"{result['received']} of {result['sent']} answered, median {result['median_rtt_s'] * 1e3:.2f} ms, "
                f"99 % within {result['p99_rtt_s'] * 1e3:.2f} ms"
            )
    return f"status {row['exit_status']}"


def print_findings(console: Console, found: list[Finding]) -> None:
    """Print the verdict and how to get what is missing, and then what was looked for."""
    from .doctor import packages, sentence

    table = _table("what", "there", "for", "detail")
    for finding in found:
        there = "yes" if finding.present else "NO" if finding.required else "no"
        detail = finding.detail if finding.present else f"{finding.detail}  {finding.remedy}".strip()
        table.add_row(finding.name, there, finding.needed_for, detail)
    console.print(sentence(found), highlight=False, markup=False, soft_wrap=True)
    missing = packages(found)
    if missing:
        console.print(f"On Debian, as root: apt install {' '.join(missing)}", highlight=False, soft_wrap=True)
    console.print(table)


def print_throughput(console: Console, rows: list[Throughput]) -> None:
    """Print how many cells the engine carried, a row for each measurement."""
    table = _table("devices", "packets", "cells/s", "processor time per cell")
    for row in rows:
        table.add_row(
            "TUN to TUN" if row.devices == "tun" else "in memory",
            f"{row.packet_octets:,} octets",
            f"{row.cells_per_s:,.0f}",
            f"{row.cpu_ns_per_cell:.0f} ns",
        )
    console.print(table)


def _print_table(console: Console, numbers: Numbers) -> None:
    head, rows = numbers
    table = _table(*head)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _mbps(bps: float | None) -> str:
    return "nothing came" if bps is None else f"{bps / 1e6:.3f} Mbps"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        # What is cut can't be typed in: the name of a package, say.
        table.add_column(column, overflow="fold")
    return table
