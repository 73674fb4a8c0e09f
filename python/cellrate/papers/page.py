"""The report on a paper as one page: its tables in their own shape, figures, and the other claims as rows."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..drawing import pages
from .experiment import Cell, Claim, Table, Value
from .judging import NEAR, NEITHER, SPREAD

if TYPE_CHECKING:
    from .report import Report

HEADINGS = {
    "claim": "What the paper says",
    "erratum": "Contradictions within the paper",
    "sensitivity": "Choices the paper leaves open, made the other way",
    "beyond": "What the paper does not have",
}

WORDS: Mapping[str | None, str] = {NEAR: "near", SPREAD: "within the spread", NEITHER: "neither", None: "not judged"}


def report_page(report: Report, pictures: Mapping[str, Sequence[tuple[str, bytes]]], took: str) -> str:
    """Give the whole page; `pictures` are captions and PNGs by experiment, `took` says how long it all took."""
    asked = f" Of the paper, these only: {', '.join(report.only)}." if report.only else ""
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="lead">{escape(f"{report.says} {report.count().text()}{asked}".strip())}</p>',
        f'<p class="small">Paper <code>{report.paper}</code>, cellrate {report.version}, '
        f"{took}{', quick' if report.quick else ''}. A figure is near within 10 %, a per cent by what is lost as well; "
        "in the spread if one more run could be the published one; all else is as said (near) or not. "
        f"{''.join(_key(verdict) for verdict in (NEAR, SPREAD, NEITHER))}</p>",
        "<nav>" + " ".join(f'<a href="#{n}">{escape(t)}</a>' for n, t in report.experiments.items()) + "</nav>",
    ]
    claims = {claim.id: claim for claim in report.claims}
    for name, title in report.experiments.items():
        parts.append(f'<h2 id="{name}">{escape(title)}</h2>')
        shown_already: set[str] = set()
        for table in report.tables.get(name, ()):
            inside = table.claims() & claims.keys()
            if inside:
                shown_already |= inside
                parts.append(_paper_table(table, claims))
        for caption, picture in pictures.get(name, []):
            data = base64.b64encode(picture).decode()
            text = escape(caption)
            parts.append(
                f'<figure><img alt="{text}" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'
            )
        rows = [claim for claim in report.claims if claim.id.split(".")[0] == name and claim.id not in shown_already]
        for kind, heading in HEADINGS.items():
            of_kind = [claim for claim in rows if claim.kind == kind]
            if of_kind:
                parts.append(f"<h3>{heading}</h3>{_rows(of_kind)}")
    return pages.page(f"{report.paper} – cellrate", parts, _STYLE)


def shown(value: Value) -> str:
    """Give a value as text, thousands with commas; a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, int | float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return str(value)


def difference(claim: Claim) -> str:
    """Say by how much a measured figure is off, of a per cent by what is lost, too; nothing where none is printed."""
    if claim.off is None or claim.mean is None:
        return ""
    text = _per_cent(claim.off)
    if claim.judged == "per cent" and claim.off > -1:
        said = claim.mean / (1 + claim.off)
        if said != 100:
            text += f", of the rest {_per_cent((100 - claim.mean) / (100 - said) - 1)}"
    return text


def _per_cent(part: float) -> str:
    return f"{100 * part:+.0f} %" if abs(part) >= 0.005 else "0 %"


def cell_texts(claim: Claim, part: int | None = None) -> tuple[str, str]:
    """Give what is published and measured, without the unit that a table has in its head."""
    texts = []
    for value in (claim.published, claim.measured):
        text = shown(value)
        if part is not None:
            pieces = text.split(", ")
            text = pieces[part] if part < len(pieces) else "-"
        texts.append(text.removesuffix(f" {claim.unit}") if claim.unit else text)
    return texts[0], texts[1]


def notes_of(table: Table, claims: Mapping[str, Claim]) -> list[str]:
    """Give the reasons of a table's cells, each once, in the order of the cells."""
    cells = (cell for row in table.rows for cell in row if isinstance(cell, Cell) and cell.claim in claims)
    whys = (claims[cell.claim].why for cell in cells if claims[cell.claim].verdict != NEAR)
    return list(dict.fromkeys(filter(None, whys)))


def seeds_of(table: Table, claims: Mapping[str, Claim]) -> str:
    """Say of how many seeds a table is, where it is of several or a quick run has fewer."""
    seeds = sorted({claims[id].seeds or 1 for id in table.claims() & claims.keys() if claims[id].mean is not None})
    return f" ({in_words(seeds)} seed{'s' * (seeds != [1])})" if seeds else ""


def in_words(numbers: Sequence[int]) -> str:
    """Write one or more numbers: "1, 3 or 5"."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def _paper_table(table: Table, claims: Mapping[str, Claim]) -> str:
    notes = notes_of(table, claims)
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.head)
    rows = []
    for row in table.rows:
        cells = []
        for cell in row:
            if isinstance(cell, Cell):
                cells.append(_cell(claims.get(cell.claim), cell.part, notes))
            else:
                cells.append(f'<th scope="row">{escape(cell or "")}</th>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f'<h3 id="{table.name}">{escape(table.caption + seeds_of(table, claims))}</h3>'
        f'<div class="wide"><table class="paper"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        '</div><p class="small">Published | <b>measured</b>.</p>'
        + (f'<ol class="notes">{listed}</ol>' if listed else "")
    )


def _cell(claim: Claim | None, part: int | None, notes: Sequence[str]) -> str:
    if claim is None:
        return "<td>-</td>"
    said, measured = cell_texts(claim, part)
    off = difference(claim) if part is None else ""
    css = claim.verdict or ("erratum" if claim.kind == "erratum" else "open")
    word = "an error of the paper" if claim.kind == "erratum" else WORDS[claim.verdict]
    cause = f", {claim.cause}" if claim.cause else ""
    live = f" ({escape(shown(claim.live))} live)" if claim.live is not None else ""
    mark = f"<sup>{notes.index(claim.why) + 1}</sup>" if claim.verdict != NEAR and claim.why in notes else ""
    hover = escape(f"{claim.id}: {off + ', ' if off else ''}{word}{cause}")
    return (
        f'<td class="{css}" title="{hover}"><span class="said">{escape(said)}</span><span class="bar"> | </span>'
        f'<b>{escape(measured)}</b>{live}{mark}<span class="off">{escape(off)}</span></td>'
    )


def _key(verdict: str) -> str:
    return f'<span class="key {verdict}">{WORDS[verdict]}</span> '


def _rows(claims: Sequence[Claim]) -> str:
    live = any(claim.live is not None for claim in claims)
    judged = any(claim.verdict is not None for claim in claims)
    heads = ["id", "claim", "published", *(("simulated", "live") if live else ("measured",)), *([""] if judged else [])]
    head = "".join(f"<th>{text}</th>" for text in heads)
    rows = "".join(_row(claim, live=live, judged=judged) for claim in claims)
    return f'<div class="wide"><table class="claims"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(claim: Claim, *, live: bool, judged: bool) -> str:
    why = f'<p class="why">{escape(claim.why)}</p>' if claim.why else ""
    cells = [
        f"<td><code>{escape(claim.id)}</code></td>",
        f'<td>{escape(claim.text)}{why}<p class="small">{escape(claim.source)}</p></td>',
        f"<td>{escape(_with_unit(claim.published, claim.unit))}</td>",
        f"<td>{escape(_with_unit(claim.measured, claim.unit))}</td>",
    ]
    if live:
        cells.append(f"<td>{escape(shown(claim.live))}</td>")
    if judged:
        below = "".join(f'<p class="small">{escape(text)}</p>' for text in (difference(claim), claim.cause) if text)
        cells.append(f'<td class="{claim.verdict or "open"}">{WORDS[claim.verdict]}{below}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _with_unit(value: Value, unit: str | None) -> str:
    text = shown(value)
    return f"{text} {unit}" if unit and unit not in text and value is not None else text


_STYLE = """
.lead { font-size: 1.05rem; max-width: 60rem; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .4rem .55rem; border-bottom: 1px solid var(--line); }
.claims td:nth-child(2) { min-width: 20rem; } td p { margin: .25rem 0 0; } .claims td:last-child { white-space:
nowrap; } .claims td:first-child code { font-size: .78rem; overflow-wrap: anywhere; }
.why { border-left: 3px solid var(--queue); padding-left: .5rem; }
.near { background: var(--near); } .spread { background: var(--spread); } .neither { background: var(--neither); }
.erratum .said { text-decoration: line-through; }
.key { padding: .1rem .4rem; border-radius: .2rem; }
.paper { width: auto; } .paper td, .paper th { white-space: nowrap; text-align: right; border: 1px solid var(--line); }
.paper tbody th { font-weight: 600; text-align: left; } .said, .bar { color: var(--soft); }
.off { display: none; color: var(--soft); font-size: .72rem; margin-left: .35rem; }
.notes { font-size: .85rem; max-width: 60rem; }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; background: #ffffff; }
figcaption { color: var(--soft); font-size: .85rem; }
@media print { .off { display: inline; } .wide { overflow: visible; } .paper { font-size: .7rem; }
.paper th, .paper .off { white-space: normal; } }
@media (max-width: 40rem) {
.paper { font-size: .74rem; } .paper td, .paper th { padding: .25rem .3rem; } .paper th { white-space: normal; }
.paper .said, .paper .off { display: block; margin: 0; } .paper .off { white-space: normal; }
.paper .bar { display: none; }
.claims thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.claims, .claims tbody, .claims tr, .claims td { display: block; width: auto; min-width: 0; }
.claims tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .6rem; padding: .3rem .5rem; }
.claims td { border: 0; padding: .1rem 0; } .claims td:nth-child(2) { min-width: 0; }
.claims td:nth-child(3)::before { content: "published: "; color: var(--soft); }
.claims td:nth-child(4)::before { content: "measured: "; color: var(--soft); }
.claims td:last-child { padding: .1rem .4rem; }
}
"""
