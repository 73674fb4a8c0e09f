"""Summaries as people read them: which rows tell something, and their figures as text."""

from __future__ import annotations

from typing import Any

from ..quantities import CELL_BITS
from .completion_times import sizes


def vcs_with_data(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the directions that carry more than RM cells; the others are in the JSON."""
    return [row for row in summary["vcs"] if row["data_sent"]]


def ports_with_queues(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the ports at which a cell ever waited, or all if there is none; the others are in the JSON."""
    return [row for row in summary["ports"] if row["max_queue"] > 1 or row["dropped"]] or list(summary["ports"])


Numbers = tuple[list[str], list[list[str]]]
"""Headings, perhaps of several lines, and rows: a name, and numbers behind it."""

Part = Numbers | str
"""A table or a line of what is shown of a run."""


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
        for row in vcs_with_data(summary)
    ]


PORT_COUNTS = {
    "tagged_dropped": "tagged ones\ndropped",
    "pdus_refused": "PDUs\nrefused",
    "pdus_cut": "PDUs\ncut",
    "backward_rm_originated": "BRMs\noriginated",
}
"""Counts in tables of ports where there is any, with its title."""


def port_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of ports."""
    rows = ports_with_queues(summary)
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
    for key, title in PORT_COUNTS.items():
        # Results that were stored before there was such a figure have none.
        counts = [row.get(key, 0) for row in rows]
        if any(counts):
            head.append(title)
            for columns, count in zip(numbers, counts, strict=True):
                columns.append(f"{count:,}")
    return head, numbers


def window_numbers(summary: dict[str, Any]) -> list[Numbers]:
    """Give the tables of VCs, ports and policers within windows of the run, where the scenario has any."""
    tables = []
    for of, key, numbers in (
        ("vc", "vcs", vc_numbers),
        ("port", "ports", port_numbers),
        ("policing", "policing", policing_numbers),
    ):
        rows = summary.get(f"{of}_windows", [])
        for name in dict.fromkeys(row["window"] for row in rows):
            own = [row for row in rows if row["window"] == name]
            head, lines = numbers({key: own})
            if lines:
                span = f"{own[0]['from_s']:g} to {own[0]['until_s']:g} s"
                tables.append(([f"{head[0]} in {name},\n{span}", *head[1:]], lines))
    return tables


def fairness_line(summary: dict[str, Any]) -> str:
    """Give a line about how evenly connections of a category were served; nothing of a single one."""
    parts = []
    for row in summary.get("fairness", []):
        if row["vcs"] < 2 or row["jain"] is None:
            continue
        part = f"{row['jain']:.3f} of {row['vcs']} {row['category'].upper()} directions"
        if row["jain_of_fair_shares"] is not None:
            part += f" ({row['jain_of_fair_shares']:.3f} over max-min shares)"
        parts.append(part)
    return f"Jain's index: {', '.join(parts)}." if parts else ""


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


def policing_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of policers; no rows where nothing is policed."""
    head = ["policed", "definition", "conforming\ncells", "not\ncells", "tagged\ncells", "discarded\ncells"]
    return head, [
        [
            f"{row['vc']} at {row['switch']}",
            row["definition"],
            *(f"{row[key]:,}" for key in ("conforming", "nonconforming", "tagged", "discarded")),
        ]
        for row in summary.get("policing", [])
    ]


def branch_point_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of branch points; no rows where no ABR connection is a tree."""
    head = [
        "branch point",
        "FRM",
        "BRM\ncame",
        "BRM\nsent",
        "too\nhigh",
        "mean excess\nMbps",
        "response\nms",
        "max\nms",
    ]

    def milliseconds(value: float | None) -> str:
        return "-" if value is None else f"{value * 1e3:.3f}"

    return head, [
        [
            f"{row['vc']} at {row['switch']}",
            *(f"{row[key]:,}" for key in ("forward_rm", "backward_rm_received", "backward_rm_sent", "too_high")),
            f"{row['mean_excess'] * CELL_BITS / 1e6:.2f}",
            milliseconds(row["mean_response_s"]),
            milliseconds(row["max_response_s"]),
        ]
        for row in summary.get("branch_points", [])
    ]


def loopback_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of OAM loopbacks; no rows where no connection has any."""
    head = ["loopback", "flow", "sent", "answered", "lost", "mean\nms", "min\nms", "max\nms"]
    return head, [
        [
            f"{row['vc']} at {row['at']}",
            row["flow"],
            *(f"{row[key]:,}" for key in ("sent", "answered", "lost")),
            *("-" if row[key] is None else f"{row[key] * 1e3:.3f}" for key in ("mean_s", "min_s", "max_s")),
        ]
        for row in summary.get("loopbacks", [])
    ]


def channel_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of channels of virtual paths; no rows where there are none."""
    head = [
        "channel",
        "weight",
        "sent",
        "waiting",
        "delivered",
        "Mbps",
        "fair\nMbps",
        "of fair\n%",
        "mean\nms",
        "max\nms",
    ]
    return head, [
        [
            f"{row['channel']} in {row['vc']}",
            f"{row['weight']:g}",
            *("-" if row[key] is None else f"{row[key]:,}" for key in ("sent", "waiting", "delivered")),
            *("-" if row[key] is None else f"{row[key] / 1e6:.3f}" for key in ("throughput_bps", "fair_share_bps")),
            "-" if row["of_fair_share"] is None else f"{row['of_fair_share'] * 100:.1f}",
            *("-" if row[key] is None else f"{row[key] * 1e3:.3f}" for key in ("mean_delay_s", "max_delay_s")),
        ]
        for row in summary.get("channels", [])
    ]


def tcp_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of TCP connections that sent anything, or of all if none did."""
    given = summary.get("tcp", [])
    rows = [row for row in given if row["segments"]] or given
    head = [
        "TCP",
        "goodput\nMbps",
        "segments\nsent again",
        "time-\nouts",
        "fast re-\ntransmits",
        "effi-\nciency %",
        "completed\ns",
    ]
    return head, [
        [
            name,
            f"{row['goodput_bps'] / 1e6:.3f}",
            f"{row['retransmitted']:,}",
            f"{row['timeouts']:,}",
            f"{row['fast_retransmits']:,}",
            _in(row["efficiency"], 100, 1),
            _in(row["completed_s"], 1, 3),
        ]
        for name, row in _named(rows, "connection")
    ]


def page_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of pages: a row per client."""
    head = ["pages", "whole", "mean load\nms", "p99 load\nms", "max load\nms"]
    return head, [
        [name, f"{row['count']:,}", *_times(row, "load")] for name, row in _named(summary.get("pages", []), "client")
    ]


def exchange_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of the objects of pages: a row per client and object."""
    head = [
        "page object",
        "whole",
        "request\noctets",
        "response\noctets",
        "mean\nresponse\nms",
        "p99\nresponse\nms",
        "max\nresponse\nms",
    ]
    return head, [
        [
            name,
            f"{row['count']:,}",
            f"{row['request_octets']:,}",
            f"{row['response_octets']:,}",
            *_times(row, "response"),
        ]
        for name, row in _named(summary.get("exchanges", []), "client", "object")
    ]


def burst_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of request-response traffic: a row per direction."""
    head = [
        "bursts",
        "whole",
        "cells\neach",
        "mean\nresponse\nms",
        "p99\nresponse\nms",
        "max\nresponse\nms",
        "mean\nMbps",
    ]
    return head, [
        [
            f"{row['vc']} {row['role']}",
            f"{row['count']:,}",
            f"{row['size_cells']:,}",
            *_times(row, "response"),
            _in(row["mean_throughput_bps"], 1e-6, 2),
        ]
        for row in summary.get("bursts", [])
    ]


def frame_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of frames in datagrams: a row per direction."""
    rows = summary.get("frames", [])
    counts = ["whole", "lost", "unfinished"]
    if any(row["skipped"] for row in rows):
        counts.insert(0, "skipped")
    heads = {"unfinished": "unfin-\nished"}
    head = ["frames", "all", *(heads.get(key, key) for key in counts), "mean time\nms", "p99 time\nms", "max time\nms"]
    return head, [
        [row["vc"], f"{row['frames']:,}", *(f"{row[key]:,}" for key in counts), *_times(row, "time")] for row in rows
    ]


def transport_stream_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of MPEG-2 transport streams at their receivers: a row per direction."""
    head = [
        "transport\nstream",
        "refer-\nences",
        "mean jitter\nus",
        "peak jitter\nus",
        "largest phase\nerror us",
        "clock\nppm",
        "largest error\nppm",
        "pictures",
        "late",
        "lost",
        "no room",
        "max buffer\noctets",
    ]
    return head, [
        [
            row["vc"],
            f"{row['references']:,}",
            *(_in(row[key], 1e6, 3) for key in ("mean_jitter_s", "peak_jitter_s", "max_phase_error_s")),
            *(_in(row[key], 1, 3) for key in ("mean_frequency_ppm", "max_frequency_error_ppm")),
            *(f"{row[key]:,}" for key in ("pictures", "late", "lost", "overflowed", "max_buffer")),
        ]
        for row in summary.get("transport_streams", [])
    ]


def flow_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of flows and calls that come and go: a row per demand."""
    head = [
        "flows",
        "offered",
        "begun",
        "no\nroom",
        "no\nslot",
        "com-\nplete",
        "blocked\n%",
        "mean\nset-up\nms",
        "mean\nholding\nms",
        "mean\nat once",
        "max\nat once",
    ]
    return head, [
        [
            row["flows"],
            *(f"{row[key]:,}" for key in ("offered", "begun", "no_room", "no_slot")),
            "" if row["completed"] is None else f"{row['completed']:,}",
            _in(row["blocking"], 100, 2),
            # Results that were stored before there was such a figure have none.
            _in(row.get("mean_set_up_s"), 1e3, 3),
            _in(row["mean_holding_s"], 1e3, 3),
            f"{row['mean_concurrent']:,.2f}",
            f"{row['max_concurrent']:,}",
        ]
        for row in summary.get("flows", [])
    ]


def completion_numbers(summary: dict[str, Any]) -> Numbers:
    """Give the table of flows of a size: a row per class of sizes, of all of them together first."""
    counts = {"offered": "offered", "blocked": "blocked", "count": "complete", "unfinished": "un-\nfinished"}
    times = ["mean time\nms", "p50 time\nms", "p99 time\nms", "mean\nslow-down", "p99\nslow-down"]
    return ["sizes", *counts.values(), *times], [
        [
            f"{row['flows']}, {sizes(row['from_octets'], row['below_octets'])}",
            *(f"{row[key]:,}" for key in counts),
            *(_in(row[f"{figure}_time_s"], 1e3, 3) for figure in ("mean", "p50", "p99")),
            *(_in(row[f"{figure}_slowdown"], 1, 2) for figure in ("mean", "p99")),
        ]
        for row in summary.get("completions", [])
    ]


def application_numbers(summary: dict[str, Any]) -> list[Numbers]:
    """Give the tables of what applications had of the network; of each kind that there is."""
    kinds = (
        flow_numbers,
        completion_numbers,
        tcp_numbers,
        page_numbers,
        exchange_numbers,
        burst_numbers,
        frame_numbers,
        transport_stream_numbers,
    )
    return [numbers for numbers in (kind(summary) for kind in kinds) if numbers[1]]


def _named(rows: list[dict[str, Any]], *keys: str) -> list[tuple[str, dict[str, Any]]]:
    """Give rows with names: that of the VC, and behind it those of these numbers that differ within one of the VCs.

    The first number is that of a connection or client, "#2", the other one of an object, "object 1".
    """
    among: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        for key in keys:
            among.setdefault((row["vc"], key), set()).add(row[key])
    shown = [key for key in keys if any(len(numbers) > 1 for (_, of), numbers in among.items() if of == key)]
    marks = {key: "#" if key == keys[0] else f"{key} " for key in shown}
    return [(" ".join([row["vc"], *(f"{mark}{row[key]}" for key, mark in marks.items())]), row) for row in rows]


def _times(row: dict[str, Any], of: str) -> list[str]:
    return [_in(row[f"{figure}_{of}_s"], 1e3, 3) for figure in ("mean", "p99", "max")]


def _in(value: float | None, factor: float, decimals: int) -> str:
    """Give a number in another unit; nothing where there is none."""
    return "" if value is None else f"{value * factor:,.{decimals}f}"


def run_line(run: dict[str, Any]) -> str:
    """Give a line about the run itself."""
    of_which = f"Hash {run['hash'][:12]}, seed {run['seed']}."
    if "wall_s" not in run:
        # A point of a sweep, whose files are the same bytes each time.
        return f"{run['duration_s']:g} s of network time: {run['cell_hops']:,} cell hops.  {of_which}"
    per_s = run["cell_hops_per_s"]
    speed = f"{per_s / 1e6:.1f} million" if per_s >= 1e5 else f"{per_s:,.0f}"
    measured = f"Figures from {start:g} s on.  " if (start := run.get("measured_from_s", 0)) else ""
    return measured + (
        f"{run['duration_s']:g} s of network time in {run['wall_s']:.2f} s: {run['cell_hops']:,} cell hops, "
        f"{speed} per second.  {of_which}"
    )


def clocks_line(clocks: list[dict[str, Any]]) -> str:
    """Say how far the clocks of a run were apart."""
    offsets = [row["offset_ppm"] for row in clocks]
    phases = [row["phase_s"] for row in clocks if row["phase_s"] is not None]
    said = f"Clocks: {len(clocks)} not exact, from {min(offsets):+.1f} to {max(offsets):+.1f} ppm"
    if phases and max(phases) > 0:
        said += f", phases up to {max(phases) * 1e6:.2f} us"
    return f"{said}; --json lists them."


def beyond_signalling_line(rows: list[dict[str, Any]]) -> str:
    """Say which connections have a peak rate that signalling cannot carry."""
    names = rows[0]["vc"] if len(rows) == 1 else f"{rows[0]['vc']} and {len(rows) - 1} more"
    return (
        f"Beyond the standard: PCR of {names} is above {rows[0]['most']:.0f} cells/s (7.11 Gb/s), the most that "
        "signalling carries."
    )


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


def report(summary: dict[str, Any]) -> list[Part]:
    """Give all that is shown of a run, in its order: tables that have rows, and lines between them.

    The terminal, notebooks and the page that shows a run all show this.
    """
    parts: list[Part] = [vc_numbers(summary), *application_numbers(summary)]
    parts += [
        f"Refused: {row['category']} connection {row['vc']}, {row['reason']}" for row in summary.get("refused", [])
    ]
    if negotiated := summary.get("negotiated"):
        changed = len({row["vc"] for row in negotiated})
        parts.append(f"Set-up changed {len(negotiated)} parameters of {changed} directions; --json lists them.")
    if beyond := summary.get("beyond_signalling"):
        parts.append(beyond_signalling_line(beyond))
    if clocks := summary.get("clocks"):
        parts.append(clocks_line(clocks))
    parts.append(port_numbers(summary))
    parts += [
        f"{row['port']}: the host's own line is the bottleneck of its connections, {row['waiting']:,} cells wait there "
        "at the end. ABR begins with ICR, which is PCR unless the scenario says less."
        for row in summary.get("host_bottlenecks", [])
    ]
    parts += map(phase_effect_line, summary.get("phase_effects", []))
    parts += map(unsettled_line, summary.get("unsettled", []))
    inside = (virtual_source_numbers(summary), policing_numbers(summary), branch_point_numbers(summary))
    others = (*inside, loopback_numbers(summary), channel_numbers(summary), *window_numbers(summary))
    parts += [numbers for numbers in others if numbers[1]]
    parts += [line for line in (fairness_line(summary), run_line(summary["run"])) if line]
    return parts
