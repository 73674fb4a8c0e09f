"""The report of an arena: one page that needs no other file, in the dark too, and on a narrow screen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..drawing import pages
from ..folders.owned import write_file_whole
from ..folders.replaceable import ARENA
from .cards import Card, Sketch
from .findings import Findings
from .tables import COLUMNS, NONE

JSON_FILE, PAGE_FILE = ARENA
"""The cards, in the folder of the runs, and the report."""

WIDTH, HEIGHT = 240, 64
"""Size of a sketch's panel [px]."""

MOST_SHARE = 2.0
"""Shares above this are drawn at the upper edge."""


def write(arena: Findings, folder: Path) -> None:
    """Write the report, and the cards as JSON, beside the runs."""
    write_file_whole(folder / JSON_FILE, [json.dumps(arena.content(), indent=2, allow_nan=False) + "\n"])
    write_file_whole(folder / PAGE_FILE, [page(arena)])


def page(arena: Findings) -> str:
    """Give the whole page."""
    seeds = "" if arena.seeds == 1 else f", {arena.seeds} seeds of each"
    parts = [
        "<h1>Switch algorithms in the arena</h1>",
        f'<p class="lead">{len(arena.algorithms)} algorithms on {len(arena.scenarios)} scenarios{seeds}, all with '
        f"the same sources. cellrate {escape(arena.version)}.</p>",
        "<nav>" + " ".join(f'<a href="#{name}">{name}</a>' for name in arena.scenarios) + "</nav>",
        "<h2>All scenarios together</h2>",
        _table(arena.overall),
        _meaning(),
        *_costs(arena),
    ]
    for name, purpose in arena.scenarios.items():
        places = [place for place, card in enumerate(arena.cards) if card.scenario == name]
        cards = [arena.cards[place] for place in places]
        parts += [f'<h2 id="{name}">{name}</h2>', f"<p>{escape(purpose)}</p>", _table(cards)]
        longest = max(max(arena.sketches[place].queue) for place in places)
        drawn = [_figure(arena.cards[place], arena.sketches[place], longest) for place in places]
        parts.append(f'<div class="sketches">{"".join(drawn)}</div>')
        parts.append(_scale(arena.sketches[places[0]], longest))
    return pages.page("arena - cellrate", parts, _STYLE)


def tables(arena: Findings) -> str:
    """Give the tables alone, for a notebook."""
    parts = [_table(arena.overall)]
    for name in arena.scenarios:
        parts += [f"<h4>{name}</h4>", _table([card for card in arena.cards if card.scenario == name])]
    return f"<div>{''.join(parts)}</div>"


def _table(cards: Sequence[Card]) -> str:
    shown = [column for column in COLUMNS if any(column.value(card) != NONE for card in cards)]
    head = "".join(f'<th scope="col">{escape(column.head)}</th>' for column in shown)
    rows = []
    for card in cards:
        cells = "".join(f'<td data-label="{escape(column.head)}">{escape(column.value(card))}</td>' for column in shown)
        rows.append(f'<tr><th scope="row">{escape(card.algorithm)}</th>{cells}</tr>')
    return f'<table><thead><tr><th scope="col">algorithm</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _meaning() -> str:
    return (
        '<details><summary>What the columns say</summary><p class="small">A share is the mean ACR of a connection over '
        "its max-min fair rate, of what the algorithm means to hand out, in the second half of a phase: the time in "
        "which the same connections send. Its error is the distance from 1. A phase has settled if in its first half "
        "all rates came to stay within 10 % of their fair shares; settling is the longest time until then. The long "
        "way is the least share of the connections that cross the most switches. Queues are those of the port where "
        "they are longest, utilization is that of the ports that hold connections back, over the whole run. Over "
        "several scenarios or seeds the mean error, queues, utilization and loss are means; of all else the worst is "
        "shown.</p></details>"
    )


def _costs(arena: Findings) -> list[str]:
    if not arena.costs:
        return []
    rows = []
    for cost in arena.costs:
        interval = NONE if cost.interval_ns is None else f"{cost.interval_ns:,.0f}"
        ratio = NONE if cost.interval_ratio is None else f"{cost.interval_ratio:.1f}"
        rows.append(
            f'<tr><th scope="row">{escape(cost.algorithm)}</th>'
            f'<td data-label="per RM cell, cheapest = 1">{cost.rm_cell_ratio:.1f}</td>'
            f'<td data-label="per RM cell [ns]">{cost.rm_cell_ns:,.0f}</td>'
            f'<td data-label="per interval, cheapest = 1">{ratio}</td>'
            f'<td data-label="per interval [ns]">{interval}</td></tr>'
        )
    heads = ("per RM cell, cheapest = 1", "per RM cell [ns]", "per interval, cheapest = 1", "per interval [ns]")
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    return [
        "<h2>What they cost</h2>",
        f"<p>Time of the calls at a port with 32 connections, whose claims always change: medians, as of this machine "
        f"({escape(arena.machine)}).</p>",
        f'<table><thead><tr><th scope="col">algorithm</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>',
    ]


def _figure(card: Card, sketch: Sketch, longest: float) -> str:
    end_s = sketch.times_s[-1]
    name = escape(card.algorithm)
    has_shares = any(value is not None for value in sketch.least)
    shares = ""
    if has_shares:
        band = "".join(f'<path class="band" d="{path}"/>' for path in _bands(sketch, end_s))
        line = HEIGHT / 2
        shares = (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}: least and largest share in time">'
            f'<line class="one" x1="0" x2="{WIDTH}" y1="{line}" y2="{line}"/>{band}</svg>'
        )
    points = " ".join(
        f"{WIDTH * at_s / end_s:.1f},{HEIGHT * (1 - queue / max(longest, 1.0)):.1f}"
        for at_s, queue in zip(sketch.times_s, sketch.queue, strict=True)
    )
    queue = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}: longest queue in time">'
        f'<polyline class="queue" points="{points}"/></svg>'
    )
    return f"<figure><figcaption>{name}</figcaption>{shares}{queue}</figure>"


def _scale(sketch: Sketch, longest: float) -> str:
    """Say what the sketches of a scenario show."""
    has_shares = any(value is not None for value in sketch.least)
    shares = f"Above, from the least share to the largest, on a scale from 0 to {MOST_SHARE:g}; below, the"
    told = f"{shares if has_shares else 'The'} longest queue, from 0 to {longest:,.0f} cells."
    return f'<p class="small">{told} Each from 0 to {sketch.times_s[-1]:g} s.</p>'


def _bands(sketch: Sketch, end_s: float) -> list[str]:
    """Give the areas between the least and the largest share, one for each stretch without a gap."""
    runs: list[list[tuple[float, float, float]]] = [[]]
    for at_s, least, largest in zip(sketch.times_s, sketch.least, sketch.largest, strict=True):
        if least is None or largest is None:
            runs.append([])
        else:
            x = WIDTH * at_s / end_s
            low, high = (HEIGHT * (1 - min(value, MOST_SHARE) / MOST_SHARE) for value in (least, largest))
            # A line where all have the same.
            runs[-1].append((x, max(low, high + 1.5), high))
    paths = []
    for run in filter(None, runs):
        there = " L".join(f"{x:.1f} {high:.1f}" for x, _, high in run)
        back = " L".join(f"{x:.1f} {low:.1f}" for x, low, _ in reversed(run))
        paths.append(f"M{there} L{back} Z")
    return paths


_STYLE = """
td { white-space: nowrap; }
th, td { padding: .35rem .5rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: bottom; }
tr > th:first-child { text-align: left; overflow-wrap: anywhere; }
.sketches { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .8rem 1rem;
margin-top: 1rem; align-items: end; }
figcaption { font-size: .8rem; font-weight: 600; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; border-bottom: 1px solid var(--line); }
.band { fill: var(--share); fill-opacity: .55; } .one { stroke: var(--soft); stroke-dasharray: 3 3; }
.queue { fill: none; stroke: var(--queue); stroke-width: 1.5; }
@media (max-width: 52rem) {
thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
table, tbody, tr, td, tr > th:first-child { display: block; width: auto; }
tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .6rem; padding: .4rem .6rem; }
tr > th:first-child { border: 0; padding: .1rem 0 .3rem; font-size: .95rem; }
td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; }
td::before { content: attr(data-label); color: var(--soft); }
.sketches { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }
}
"""
