"""Counts, tables and misses of the last report on a paper, in its README and in a file beside it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import CellrateError
from ..folders.replaceable import TOOK
from ..folders.stored_json import stored_json
from ..results.writing import write_json
from .experiment import Cell, Claim
from .judging import NEAR, NEITHER
from .page import WORDS, cell_texts, difference, in_words, seeds_of, shown
from .paper import Paper
from .report import Counts, read_report

COUNTS = "counts.json"
"""The file beside the README: the run, its counts, and what was measured of each claim."""

BLOCKS = ("counts", "tables", "misses")
"""Parts of a README that the command writes, each between two lines; the first has to be there."""

QUOTED = re.compile(r"(<!--=([\w.-]+)-->)(.*?)(<!--=-->)", re.DOTALL)
"""A measured value, quoted within a sentence: between its id and a mark that ends it."""


def record_counts(paper: Paper, report: Path, *, note: str = "") -> str:
    """Write what a report says into counts.json and the README of its paper, and give the counts of the latter.

    `note` is a sentence that follows: what a reader has to know of that run.

    Raises
    ------
    CellrateError
        If the report is of another paper or of a part of it; if the README has no place for counts, or quotes a claim
        that there is not; or if the files cannot be written.
    """
    known = read_report(report)
    if known.paper != paper.name:
        raise CellrateError(f"{report} holds a report on {known.paper}, not on {paper.name}")
    if known.only:
        raise CellrateError(f"{report} holds a report on a part of the paper; a README has the counts of all of it")
    try:
        took = stored_json((report / TOOK).read_bytes())
        content = {"version": known.version, "quick": known.quick, **dataclasses.asdict(known.count()), **took}
        if note:
            content["note"] = note
        content["rows"] = {claim.id: _kept(claim) for claim in known.claims}
        readme = paper.folder / "README.md"
        whole = written(paper, readme.read_text(encoding="utf-8"), content)
        write_json(paper.folder / COUNTS, content)
        readme.write_text(whole, encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        raise CellrateError(f"the counts of {paper.name} cannot be recorded: {error}") from None
    return _counts(paper, content)


def _kept(claim: Claim) -> dict[str, Any]:
    """Give what is kept of a row: all but what published.toml says."""
    return {
        key: value
        for key, value in claim.content().items()
        if key not in ("id", "text", "source", "published") and value not in (None, "", [])
    }


def written(paper: Paper, readme: str, content: Mapping[str, Any]) -> str:
    """Give a README with its blocks and quotations as `content`, what counts.json holds, has them.

    Raises
    ------
    CellrateError
        If it has no place for counts, or quotes a claim that there is not.
    """
    if f"<!-- {BLOCKS[0]}:" not in readme:
        begin, end = marks(BLOCKS[0])
        raise CellrateError(
            f'{paper.folder / "README.md"} has no lines "{begin}" and "{end}"; the counts go between them'
        )
    for block, text in _BLOCKS.items():
        begin, end = marks(block)
        before, found, rest = readme.partition(begin)
        _, ended, after = rest.partition(end)
        if found and ended:
            readme = f"{before}{begin}\n\n{text(paper, content)}\n\n{end}{after}"
    return QUOTED.sub(lambda found: f"{found[1]}{_quoted(paper, found[2], content)}{found[4]}", readme)


def _quoted(paper: Paper, id: str, content: Mapping[str, Any]) -> str:
    """Give what was measured of a claim; a quick run leaves rows out."""
    if id in content["rows"]:
        return shown(content["rows"][id]["measured"])
    if content["quick"] and id in paper.published:
        return "(not in a quick run)"
    raise CellrateError(f"{paper.folder / 'README.md'} quotes {id}, of which the report has nothing")


def marks(block: str) -> tuple[str, str]:
    """Give the lines of a README between which a block stands."""
    return f"<!-- {block}: written by `cellrate paper readme` -->", f"<!-- end of {block} -->"


def _counts(paper: Paper, content: Mapping[str, Any]) -> str:
    del paper
    counts = Counts(**{field.name: content[field.name] for field in dataclasses.fields(Counts)})
    seeds = sorted({row["seeds"] for row in content["rows"].values() if "judged" in row and "seeds" in row})
    of = f", {in_words(seeds)} seeds a claim" if seeds and seeds != [1] else ""
    commit = f", commit {content['commit']}" if "commit" in content else ""
    took = f"{content['runs']:,} runs{of}{commit}"
    kind = "A quick report" if content["quick"] else "The report"
    return " ".join([f"{counts.text()} {kind} of {content['date']}: {took}.", *filter(None, [content.get("note")])])


def _claims(paper: Paper, content: Mapping[str, Any]) -> dict[str, Claim]:
    """Give the rows again, with what published.toml says of them."""
    found = {}
    for id, row in content["rows"].items():
        said = paper.published[id]
        given: dict[str, Any] = {"verdict": None, "why": "", "measured": None, **row}
        found[id] = Claim(id=id, text=said["text"], source=said["source"], published=said.get("published"), **given)
    return found


def _tables(paper: Paper, content: Mapping[str, Any]) -> str:
    claims = _claims(paper, content)
    parts = ["Published; **measured**, and by how much it is off where that is not near."]
    for table in (table for experiment in paper.experiments for table in experiment.tables):
        rows = [list(table.head), ["---"] * len(table.head)]
        rows += [
            [_markdown(claims[cell.claim], cell) if isinstance(cell, Cell) else cell or "" for cell in row]
            for row in table.rows
        ]
        parts.append(
            f"{table.caption}{seeds_of(table, claims)}.\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
        )
    return "\n\n".join(parts)


def _markdown(claim: Claim, cell: Cell) -> str:
    said, measured = cell_texts(claim, cell.part)
    if claim.kind == "erratum":
        return f"~~{said}~~; {measured}"
    if claim.verdict in (NEAR, None):
        return f"{said}; **{measured}**"
    return f"{said}; **{measured}** ({', '.join(filter(None, (difference(claim), WORDS[claim.verdict])))})"


def _misses(paper: Paper, content: Mapping[str, Any]) -> str:
    """List the claims that are neither near nor within the spread, those with one reason together."""
    claims = [claim for claim in _claims(paper, content).values() if claim.verdict == NEITHER and claim.kind == "claim"]
    groups: dict[tuple[str, str | None], list[Claim]] = {}
    for claim in claims:
        groups.setdefault((claim.why, claim.cause), []).append(claim)
    lines = []
    for (why, cause), of in groups.items():
        named = "; ".join(
            f"`{claim.id}`: {shown(claim.measured)}, published {shown(claim.published)}"
            + (f" ({off})" if (off := difference(claim)) else "")
            for claim in of
        )
        lines.append(f"- {named}. {f'({cause}) ' if cause else ''}{why}")
    return "\n".join(lines) or "None."


_BLOCKS: Mapping[str, Callable[[Paper, Mapping[str, Any]], str]] = {
    "counts": _counts,
    "tables": _tables,
    "misses": _misses,
}
