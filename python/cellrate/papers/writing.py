"""Writing of the report on a paper: its page, its figures and JSON, what made it; and its claims in the terminal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..folders.replaceable import TOOK
from ..results import Result
from ..results.writing import write_json
from ..running.processes import side_by_side
from .experiment import Drawing, Experiment
from .judging import NEAR, NEITHER, SPREAD
from .page import report_page, shown
from .report import MARK, Report

if TYPE_CHECKING:
    from ..terminal import Console


@dataclass(frozen=True)
class Begun:
    """When the work on a report began."""

    clock: float = field(default_factory=time.perf_counter)
    used: float = field(default_factory=lambda: _processor_s())

    def seconds(self) -> float:
        """Time since then [s]."""
        return time.perf_counter() - self.clock

    def processor_s(self) -> float:
        """Processor time since then, of this process and of those that it has waited for [s]."""
        return _processor_s() - self.used


def _processor_s() -> float:
    return sum(os.times()[:4])


def write_report(
    report: Report,
    drawings: Mapping[str, Sequence[Drawing]],
    folder: Path,
    *,
    known: Mapping[str, Any],
    begun: Begun,
    workers: int | None = None,
) -> None:
    """Draw the figures into figures/ and write the page and the JSON.

    Figures are drawn by so many processes; `begun` is when the work began, `running_s` what all runs took by
    themselves,
    whenever they were made.
    """
    # Not needed here, but by all of the processes, which would import it one by one.
    from ..plotting.runs import figure  # noqa: F401

    (folder / "figures").mkdir()
    todo = [drawing for drawn in drawings.values() for drawing in drawn]
    drawn = iter(side_by_side([partial(_drawn, drawing, folder / "figures") for drawing in todo], workers=workers))
    pictures = {
        experiment: [(drawing.caption, next(drawn)) for drawing in of_experiment]
        for experiment, of_experiment in drawings.items()
    }
    write_json(folder / MARK, report.content())
    write_json(folder / TOOK, {"processor_s": round(begun.processor_s()), **provenance(), **known})
    took = f"{known['runs']} runs and all figures in {begun.seconds():.0f} s"
    (folder / "report.html").write_text(report_page(report, pictures, took), encoding="utf-8", newline="\n")


def costs(experiments: Sequence[Experiment], results: Mapping[str, Mapping[str, Result]]) -> dict[str, Any]:
    """Give how many runs and cell hops each experiment has, each run once, for a later report to say what it takes."""
    seen: set[str] = set()
    found: dict[str, list[int]] = {}
    for experiment in experiments:
        runs = [run.summary["run"] for run in results[experiment.name].values()]
        new = {run["hash"]: int(run["cell_hops"]) for run in runs if run["hash"] not in seen}
        seen |= new.keys()
        found[experiment.name] = [len(new), sum(new.values())]
    return {"runs": len(seen), "by_experiment": found}


def provenance() -> dict[str, str]:
    """Give the day of a report, and the commit of the code that made it where that is known.

    READMEs and counts, which reports of other papers have just written, are no changes of the code.
    """
    said = {"date": datetime.now(UTC).date().isoformat()}
    place = Path(__file__).parent
    written = (f":(exclude,top)papers/*/{name}" for name in ("README.md", "counts.json"))
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        head, changed = (
            subprocess.run(["git", *words], cwd=place, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--", ".", "../../../papers", *written])
        )
        said["commit"] = head[:12] + (" with changes" if changed else "")
    return said


def print_claims(console: Console, report: Report) -> None:
    """Print the rows as a table, and why for those that do not hold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # A name that is cut in two can't be looked for.
    table.add_column("claim", no_wrap=True)
    for name in ("published", "measured", ""):
        table.add_column(name, overflow="fold")
    marks = {NEAR: "green", SPREAD: "yellow", NEITHER: "red", None: ""}
    for claim in report.claims:
        mark = Text(claim.verdict or "-", marks[claim.verdict])
        table.add_row(claim.id, Text(shown(claim.published)), Text(shown(claim.measured)), mark)
    console.print(table)
    for claim in report.claims:
        if claim.verdict == NEITHER:
            cause = f" ({claim.cause})" if claim.cause else ""
            console.print(f"{claim.id}{cause}: {claim.why}", highlight=False, markup=False)
    console.print(report.count().text(), highlight=False)


def _drawn(drawing: Drawing, folder: Path) -> bytes:
    """Draw a figure into the folder, and give it as PNG."""
    from ..drawing.figures import save

    base = folder / drawing.name
    save(drawing.draw(), base)
    return base.with_name(base.name + ".png").read_bytes()
