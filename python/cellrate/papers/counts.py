"""The counts of a paper's last full report, kept beside it and in its README."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from ..errors import CellrateError
from ..folders.replaceable import TOOK
from ..results.writing import write_json
from .paper import Paper
from .report import Counts, read_report

COUNTS = "counts.json"
"""The file beside the README."""
BEGIN, END = "<!-- counts: written by `cellrate paper readme` -->", "<!-- end of counts -->"
"""Lines of the README between which the counts stand."""


def record_counts(paper: Paper, report: Path, *, note: str = "") -> str:
    """Write the counts of a report into counts.json and the README of its paper, and give what the README says.

    `note` is a sentence that follows: what a reader has to know of that run.

    Raises
    ------
    CellrateError
        If the report is of another paper, of a quick run or of a part of the paper; if the README has no place for
        counts; or if the files cannot be written.
    """
    known = read_report(report)
    if known.paper != paper.name:
        raise CellrateError(f"{report} holds a report on {known.paper}, not on {paper.name}")
    if known.quick or known.only:
        raise CellrateError(f"{report} holds a report on a part of the paper; counts are those of a full run")
    try:
        took = json.loads((report / TOOK).read_text(encoding="utf-8"))
        content = {"version": known.version, **dataclasses.asdict(known.count()), **took}
        if note:
            content["note"] = note
        text = block(content)
        readme = paper.folder / "README.md"
        whole = with_counts(readme.read_text(encoding="utf-8"), text)
        if whole is None:
            raise CellrateError(f'{readme} has no lines "{BEGIN}" and "{END}", between which the counts stand')
        write_json(paper.folder / COUNTS, content)
        readme.write_text(whole, encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        raise CellrateError(f"the counts of {paper.name} cannot be recorded: {error}") from None
    return text


def block(content: dict[str, Any]) -> str:
    """Give the paragraph of the README for what counts.json holds."""
    counts = Counts(**{field.name: content[field.name] for field in dataclasses.fields(Counts)})
    took = f" and took {content['processor_s']:,} s of processor time" if "processor_s" in content else ""
    return " ".join(
        [f"{counts.text()} The report had {content['runs']:,} runs{took}.", *filter(None, [content.get("note")])]
    )


def with_counts(readme: str, text: str) -> str | None:
    """Give a README with the paragraph between its marks, None if it has no such marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}" if begin and end else None
