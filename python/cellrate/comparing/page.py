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
from .choosing import ADVICE, choosing
from .columns import NONE, Column
from .costs import Cost
from .findings import Findings
from .suite import DRAWN
from .tables import with_something

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
    parts = [
        "<h1>Switch algorithms in the arena</h1>",
        f'<p class="lead">{len(arena.algorithms)} algorithms on {len(arena.scenarios)} scenarios, all with the same '
        f"sources. {_seeds(arena)} cellrate {escape(arena.version)}.</p>",
        "<nav>" + " ".join(f'<a href="#{name}">{name}</a>' for name in arena.scenarios) + "</nav>",
        "<h2>All scenarios together</h2>",
        _cards(arena.overall),
        *_choosing(arena),
        _meaning(),
        *_costs(arena),
    ]
    for name, purpose in arena.scenarios.items():
        places = [place for place, card in enumerate(arena.cards) if card.scenario == name]
        cards = [arena.cards[place] for place in places]
        parts += [f'<h2 id="{name}">{name}</h2>', f"<p>{escape(purpose)} {_runs(cards[0], name)}</p>", _cards(cards)]
        parts += _unsettled(cards)
        longest = max(max(arena.sketches[place].queue) for place in places)
        drawn = [_figure(arena.cards[place], arena.sketches[place], longest) for place in places]
        parts.append(f'<div class="sketches">{"".join(drawn)}</div>')
        parts.append(_scale(arena.sketches[places[0]], longest))
    return pages.page("arena - cellrate", parts, _STYLE)


def tables(arena: Findings) -> str:
    """Give the tables alone, for a notebook."""
    parts = [_cards(arena.overall)]
    for name in arena.scenarios:
        parts += [f"<h4>{name}</h4>", _cards([card for card in arena.cards if card.scenario == name])]
    return f"<div>{''.join(parts)}</div>"


def _seeds(arena: Findings) -> str:
    drawn = [name for name in arena.scenarios if name in DRAWN]
    if not drawn:
        return "No scenario draws random numbers, so each ran once: every seed gives the same."
    seeds = "one seed" if arena.seeds == 1 else f"{arena.seeds} seeds"
    return f"{' and '.join(drawn)} drew random numbers with {seeds}; all else is the same with every seed and ran once."


def _runs(card: Card, scenario: str) -> str:
    if scenario not in DRAWN:
        return "One run: nothing in it is random."
    if card.runs == 1:
        return "One run, of one seed: other seeds give other figures, and how far off they are is not known."
    return f"Means of {card.runs} seeds, ± half of their 95 % confidence intervals (Student's t)."


def _choosing(arena: Findings) -> list[str]:
    lines = "".join(f"<li>{escape(line)}</li>" for line in choosing(arena))
    return [f"<h3>How to choose</h3><p>{ADVICE}</p><ul>{lines}</ul>"] if lines else []


def _unsettled(cards: Sequence[Card]) -> list[str]:
    said = [f"<li>{escape(card.algorithm)}: {escape(one.said)}</li>" for card in cards for one in card.unsettled]
    if not said:
        return []
    return [
        f"<details><summary>What runs say of rates that do not settle ({len(said)})</summary>"
        f'<ul class="small">{"".join(said)}</ul></details>'
    ]


def _cards(cards: Sequence[Card]) -> str:
    columns = with_something(cards)
    marks = [column.marks(cards) for column in columns]
    rows = []
    for place, card in enumerate(cards):
        cells = [_cell(column, card, of[place]) for column, of in zip(columns, marks, strict=True)]
        rows.append((card.algorithm, cells))
    return _table([column.head for column in columns], rows)


def _cell(column: Column, card: Card, mark: str) -> str:
    figure = column.figure(card)
    sort = "" if figure is None else f"{figure!r}"
    # Marked by a word as well: colours are not seen by all.
    word = f'<span class="mark" title="{mark} of the column">{mark} </span>' if mark else ""
    return (
        f'<td data-label="{escape(column.head)}" data-sort="{sort}"{f" class={mark}" if mark else ""}>'
        f"<span>{word}{escape(column.show(card))}</span></td>"
    )


def _table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in ("algorithm", *heads))
    body = "".join(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>' for name, cells in rows)
    return (
        f'<div class="wide"><table class="sortable stacked"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _meaning() -> str:
    return (
        '<details><summary>What the columns say</summary><p class="small">A share is what arrived of a connection '
        "over its max-min fair rate, of what the algorithm means to hand out, in the second half of a phase: the time "
        "in which the same connections send. Its error is the distance from 1. A phase has settled if in its first "
        "half all rates, means over 10 ms, came to stay within 10 % of their fair shares; beside how many have "
        "settled is the longest time until then. Ports are unsettled of which the algorithm's own rule or the run "
        "says so; nothing is said of algorithms that hand out no rates. The long way is the least share of the "
        "connections that cross the most switches, the long trip that of those with the longest round trip where it "
        "is twice another. The cheat is a source that does not obey: it has so many times its share, and its losses, "
        "with what is discarded for policing, stand apart. Queues are those of the port where they are longest, "
        "utilization is that of the ports that hold connections back, over the whole run. The slow-down of a flow is "
        "its time over that of its cells alone at PCR. Over several scenarios or seeds the mean error, queues, "
        "utilization, losses and slow-downs are means; of all else the worst is shown. The best and the worst of a "
        "column are marked, and with them what cannot be told from them, because it looks alike or their intervals "
        "overlap. A head sorts by its column.</p></details>"
    )


def _costs(arena: Findings) -> list[str]:
    if not arena.costs:
        return []
    return [
        "<h2>What they cost</h2>",
        f"<p>Time of the calls at a port with 32 connections, whose claims always change: medians, as of this machine "
        f"({escape(arena.machine)}).</p>",
        _table(_COST_HEADS, [(cost.algorithm, _cost_cells(cost)) for cost in arena.costs]),
    ]


_COST_HEADS = ("per RM cell, cheapest = 1", "per RM cell [ns]", "per interval, cheapest = 1", "per interval [ns]")


def _cost_cells(cost: Cost) -> list[str]:
    figures = (cost.rm_cell_ratio, cost.rm_cell_ns, cost.interval_ratio, cost.interval_ns)
    cells = []
    for head, figure in zip(_COST_HEADS, figures, strict=True):
        shown = NONE if figure is None else f"{figure:,.0f}" if head.endswith("[ns]") else f"{figure:.1f}"
        sort = "" if figure is None else f"{figure!r}"
        cells.append(f'<td data-label="{head}" data-sort="{sort}"><span>{shown}</span></td>')
    return cells


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
body { max-width: 94rem; } table { font-size: .8rem; }
.lead { font-size: 1.05rem; max-width: 60rem; } .wide { overflow-x: auto; } h2 + p, h3 + p, li { max-width: 60rem; }
ul { padding-left: 1.2rem; } td { white-space: nowrap; }
th, td { padding: .35rem .4rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: bottom; }
tr > th:first-child { text-align: left; overflow-wrap: anywhere; } tbody th { min-width: 10rem; }
.best { background: var(--near); font-weight: 600; } .worst { background: var(--neither); }
.mark { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.sketches { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .8rem 1rem;
margin-top: 1rem; align-items: end; }
figcaption { font-size: .8rem; font-weight: 600; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; border-bottom: 1px solid var(--line); }
.band { fill: var(--share); fill-opacity: .55; } .one { stroke: var(--soft); stroke-dasharray: 3 3; }
.queue { fill: none; stroke: var(--queue); stroke-width: 1.5; }
@media print { .wide { overflow: visible; } .wide table { font-size: .55rem; } th, td { padding: .2rem .2rem; }
tbody th { min-width: 0; } .sketches { grid-template-columns: repeat(5, 1fr); } }
@media (max-width: 52rem) { .sketches { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); } }
"""
