"""Summaries as people read them: which tables tell something, and lines between them."""

from __future__ import annotations

from collections.abc import Sequence

from .columns import Numbers, Row, Rows, tables
from .groups import Groups

Part = Numbers | str
"""A table or a line shown of a run."""

APPLICATIONS = ("flows", "completions", "tcp", "pages", "exchanges", "bursts", "frames", "transport_streams")
"""Tables of what applications had of the network."""

INSIDE = ("virtual_sources", "policing", "branch_points", "loopbacks", "channels")
"""Tables of what happened within the network, and at ends beside data."""

WINDOWS = {"vc_windows": "vcs", "port_windows": "ports", "policing_windows": "policing"}
"""Tables of rows within windows of the run, and the tables whose columns they have."""


def numbers(summary: Rows, key: str, groups: Groups | None = None) -> Numbers:
    """Give a table: the rows of it that tell something."""
    table = tables()[key]
    return table.numbers(table.telling(summary), groups=groups)


def vcs_with_data(summary: Rows) -> list[Row]:
    """Give the directions that carry more than RM cells; the others are in the JSON."""
    return tables()["vcs"].telling(summary)


def ports_with_queues(summary: Rows) -> list[Row]:
    """Give the ports at which a cell ever waited, or all if there is none; the others are in the JSON."""
    return tables()["ports"].telling(summary)


def window_numbers(summary: Rows, groups: Groups | None = None) -> list[Numbers]:
    """Give the tables of VCs, ports and policers within windows of the run, where the scenario has any."""
    found = []
    for key, kind in WINDOWS.items():
        rows = summary.get(key, [])
        table = tables()[kind]
        for name in dict.fromkeys(row["window"] for row in rows):
            own = [row for row in rows if row["window"] == name]
            shown = table.telling({kind: own})
            span = f"{own[0]['from_s']:g} to {own[0]['until_s']:g} s"
            found.append(table.numbers(shown, f"{table.one} in {name},\n{span}", groups))
    return found


def fairness_line(summary: Rows) -> str:
    """Give a line about how evenly connections of a category were served; nothing of a single one.

    Where sources come and go, what each got in its own time says nothing of fairness: then the index is over fair
    shares alone, which are of the time in which each sends, and where there are none that is said.
    """
    parts, without = [], []
    for row in summary.get("fairness", []):
        of = f"of {row['vcs']} {row['category'].upper()} directions"
        whole, over = row["jain"], row["jain_of_fair_shares"]
        if row["vcs"] < 2:
            continue
        if whole is not None:
            parts.append(f"{whole:.3f} {of}" + ("" if over is None else f" ({over:.3f} over max-min shares)"))
        elif over is not None:
            parts.append(f"{over:.3f} {of} over max-min shares, each of the time in which it sends")
        elif any(share["category"] == row["category"] and share["goodput_bps"] for share in summary.get("shares", [])):
            without.append(f"none {of}, which do not all send all the time")
    return f"Jain's index: {', '.join([*parts, *without])}." if parts or without else ""


def application_numbers(summary: Rows, groups: Groups | None = None) -> list[Numbers]:
    """Give the tables of what applications had of the network; of each kind that there is."""
    return [found for found in (numbers(summary, key, groups) for key in APPLICATIONS) if found[1]]


def run_line(run: Row) -> str:
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


def clocks_line(clocks: Sequence[Row]) -> str:
    """Say how far the clocks of a run were apart."""
    offsets = [row["offset_ppm"] for row in clocks]
    phases = [row["phase_s"] for row in clocks if row["phase_s"] is not None]
    said = f"Clocks: {len(clocks)} not exact, from {min(offsets):+.1f} to {max(offsets):+.1f} ppm"
    if phases and max(phases) > 0:
        said += f", phases up to {max(phases) * 1e6:.2f} us"
    return f"{said}; --json lists them."


def beyond_signalling_line(rows: Sequence[Row]) -> str:
    """Say which connections have a peak rate that signalling cannot carry."""
    names = rows[0]["vc"] if len(rows) == 1 else f"{rows[0]['vc']} and {len(rows) - 1} more"
    return (
        f"Beyond the standard: PCR of {names} is above {rows[0]['most']:.0f} cells/s (7.11 Gb/s), the most that "
        "signalling carries."
    )


def phase_effect_line(row: Row) -> str:
    """Say which connection a tie or a phase that never changes has shut out at a port."""
    return (
        f"Phase effects: at {row['port']} {row['decided']} of {row['lost']} losses were decided by a tie or a phase "
        f"that never changes between {row['vcs']} like connections ({row['starved']} lost {row['starved_loss']:.1%} "
        f"of its cells, {row['favoured']} {row['favoured_loss']:.1%}); see docs/guides/phase-effects.md."
    )


def overbooked_line(row: Row) -> str:
    """Say of a port that its line is promised to its connections more than once."""
    return (
        f"Overbooked: {row['port']}: MCR, SCR (VBR) and PCR (CBR) of {row['connections']} connections sum to "
        f"{row['promised'] * 424e-6:.6g} Mbps, and its line has {row['line'] * 424e-6:.6g} Mbps: not all can have what "
        "they are promised. With admission = true, connections beyond the line would be refused."
    )


def unkept_line(row: Row) -> str:
    """Say of a port that others may take the place of what is promised to a connection."""
    others = f" ({row['connections']} connections)" if row["connections"] > 1 else ""
    left = f"has about {row['left'] * 424e-6:.4g}" if row["by"] == "queue" else "may have nothing"
    return (
        f"Not kept: at {row['port']} {row['vc']}{others} is promised {row['promised'] * 424e-6:.6g} Mbps and {left}: "
        f"{row['other']} may bring more than it is promised, and their {row['by']} goes by no promise; "
        f"{row['remedy']} would."
    )


def start_line(row: Row) -> str:
    """Say of a port that its longest queue, and what follows from it, is that of the start."""
    return (
        f"Start: at {row['port']} {row['connections']} sources begin together with {row['icr'] / row['line']:.3g} "
        f"times the rate of the line (ICR). Its longest queue, {row['queue']:,} cells, is that of the start, and so "
        "are delays and means. A smaller icr or tbe avoids that; warm_up leaves it out of the figures."
    )


def unsettled_line(row: Row) -> str:
    """Say of a port whose rates cannot settle, or have not, by what that is known."""
    connections = "1 connection" if row["connections"] == 1 else f"{row['connections']} connections"
    said = f"Unsettled: {row['algorithm']} at {row['port']}, {connections}: "
    if row["by"] == "rule":
        said += (
            f"gain x delay is {row['gain_delay']:.2f} with a delay of {row['delay_s'] * 1e3:.3g} ms, "
            f"and rates settle below 1.57; {row['remedy']} would"
        )
    elif row["by"] == "phase":
        said += (
            f"bursts that leave nothing come every {row['delay_s'] * 1e3:.3g} ms, a whole part of the 100 ms between "
            f"two FRMs of a source at ACR 0, which may meet bursts alone for ever; {row['remedy']} would help"
        )
    else:
        said += (
            f"in the last quarter an ACR swings by {row['swing']:.0%} of its mean, "
            f"and that of {row['vc']} is {row['share']:.2f} of its fair share"
        )
        if row["remedy"]:
            said += f"; {row['remedy']} would help"
    return f"{said}; see docs/algorithms."


def report(summary: Rows, groups: Groups | None = None) -> list[Part]:
    """Give all that is shown of a run, in its order: tables that have rows, and lines between them.

    The terminal, notebooks and the page that shows a run all show this; each of `groups` is one row.
    """
    parts: list[Part] = [numbers(summary, "vcs", groups), *application_numbers(summary, groups)]
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
    parts.append(numbers(summary, "ports", groups))
    parts += [
        f"{row['port']}: the host's own line is the bottleneck of its connections, {row['waiting']:,} cells wait there "
        "at the end. ABR begins with ICR, which is PCR unless the scenario says less."
        for row in summary.get("host_bottlenecks", [])
    ]
    parts += map(overbooked_line, summary.get("overbooked", []))
    parts += map(unkept_line, summary.get("unkept", []))
    parts += map(start_line, summary.get("starts", []))
    parts += map(phase_effect_line, summary.get("phase_effects", []))
    parts += map(unsettled_line, summary.get("unsettled", []))
    others = (*(numbers(summary, key, groups) for key in INSIDE), *window_numbers(summary, groups))
    parts += [found for found in others if found[1]]
    parts += [line for line in (fairness_line(summary), run_line(summary["run"])) if line]
    return parts
