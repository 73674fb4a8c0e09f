"""The report on a paper: one self-contained page, and the same as JSON."""

from __future__ import annotations

import base64
import html
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError
from ..folders.replaceable import REPORT, TOOK
from ..folders.stored_json import stored_json
from ..results.writing import write_json
from ..running.processes import side_by_side
from .experiment import CAUSES, Claim, Drawing, Value

if TYPE_CHECKING:
    from ..terminal import Console

MARK = REPORT

HEADINGS = {
    "claim": "What the paper says",
    "erratum": "Contradictions within the paper",
    "sensitivity": "Choices the paper leaves open, made the other way",
    "beyond": "What the paper does not have",
}


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


@dataclass(frozen=True)
class Counts:
    """How many claims of a paper hold, and how many do not by cause."""

    claims: int
    """Claims of the paper itself that could be judged."""
    hold: int
    open: int
    ours: int
    unexplained: int
    errata: int
    """Contradictions within the paper, which are no claims."""

    def text(self) -> str:
        """Write them as a sentence."""
        missed = {cause: getattr(self, cause) for cause in CAUSES}
        parts = [f"{number} {CAUSE_WORDS[cause]}" for cause, number in missed.items() if number]
        lost = sum(missed.values())
        rest = f" {lost} {'does' if lost == 1 else 'do'} not: {', '.join(parts)}." if lost else ""
        errata = f" {self.errata} {'row shows' if self.errata == 1 else 'rows show'} errata." if self.errata else ""
        return f"{self.hold} of {self.claims} claims of the paper hold.{rest}{errata}"


CAUSE_WORDS = {
    "open": "decided by a parameter that the paper leaves open",
    "ours": "for want of something in the model here",
    "unexplained": "not explained",
}
"""How each of `CAUSES` is said."""


@dataclass(frozen=True)
class Report:
    """The claims of a paper, each with what was measured."""

    paper: str
    title: str
    version: str
    quick: bool
    claims: Sequence[Claim]
    experiments: Mapping[str, str]
    """Name and title of each experiment."""
    only: Sequence[str] = ()
    """Experiments and claims that were asked for, where it was not all of them."""

    def content(self) -> dict[str, Any]:
        """Give the report for JSON; the same for the same code, with any number of processes."""
        return {
            "paper": self.paper,
            "title": self.title,
            "version": self.version,
            "quick": self.quick,
            "only": list(self.only),
            "experiments": dict(self.experiments),
            "claims": [claim.content() for claim in self.claims],
        }

    def count(self) -> Counts:
        """Count the claims by what became of them."""
        own = [claim for claim in self.claims if claim.kind == "claim" and claim.holds is not None]
        missed = {cause: sum(claim.cause == cause for claim in own if not claim.holds) for cause in CAUSES}
        errata = sum(claim.kind == "erratum" for claim in self.claims)
        return Counts(claims=len(own), hold=sum(claim.holds is True for claim in own), errata=errata, **missed)


def read_report(folder: Path) -> Report:
    """Read what `write_report` wrote.

    Raises
    ------
    CellrateError
        If there is no report.
    """
    try:
        content = stored_json((folder / MARK).read_bytes())
        return Report(**{**content, "claims": [Claim(**row) for row in content["claims"]]})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CellrateError(f"{folder} holds no report that can be read ({MARK}: {error})") from None


def write_report(
    report: Report,
    drawings: Mapping[str, Sequence[Drawing]],
    folder: Path,
    *,
    runs: int,
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
    write_json(folder / TOOK, {"runs": runs, "processor_s": round(begun.processor_s())})
    took = f"{runs} runs and all figures in {begun.seconds():.0f} s"
    (folder / "report.html").write_text(_page(report, pictures, took), encoding="utf-8", newline="\n")


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
    marks = {True: Text("holds", "green"), False: Text("does not", "red"), None: Text("-")}
    for claim in report.claims:
        table.add_row(claim.id, Text(shown(claim.published)), Text(shown(claim.measured)), marks[claim.holds])
    console.print(table)
    for claim in report.claims:
        if claim.holds is False:
            cause = f" ({claim.cause})" if claim.cause else ""
            console.print(f"{claim.id}{cause}: {claim.why}", highlight=False, markup=False)
    console.print(report.count().text(), highlight=False)


def shown(value: Value) -> str:
    """Give a value as text; a dash for none."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _drawn(drawing: Drawing, folder: Path) -> bytes:
    """Draw a figure into the folder, and give it as PNG."""
    from ..drawing.figures import save

    base = folder / drawing.name
    save(drawing.draw(), base)
    return base.with_name(base.name + ".png").read_bytes()


def _page(report: Report, pictures: Mapping[str, Sequence[tuple[str, bytes]]], took: str) -> str:
    asked = f" Of the paper, these only: {', '.join(report.only)}." if report.only else ""
    parts = [
        f"<h1>{html.escape(report.title)}</h1>",
        f'<p class="lead">{html.escape(report.count().text() + asked)}</p>',
        "<p>Its experiments were run again, and every row below is checked by code on the measured series.</p>",
        f'<p class="small">Paper <code>{report.paper}</code>, cellrate {report.version}, '
        f"{took}{', quick' if report.quick else ''}.</p>",
        "<nav>" + " ".join(f'<a href="#{n}">{html.escape(t)}</a>' for n, t in report.experiments.items()) + "</nav>",
    ]
    for name, title in report.experiments.items():
        parts.append(f'<h2 id="{name}">{html.escape(title)}</h2>')
        rows = [claim for claim in report.claims if claim.id.split(".")[0] == name]
        for kind, heading in HEADINGS.items():
            of_kind = [claim for claim in rows if claim.kind == kind]
            if of_kind:
                parts.append(f"<h3>{heading}</h3>{_table(of_kind)}")
        for caption, picture in pictures.get(name, []):
            data = base64.b64encode(picture).decode()
            text = html.escape(caption)
            parts.append(
                f'<figure><img alt="{text}" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'
            )
    title = html.escape(f"{report.paper} – cellrate")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _table(claims: Sequence[Claim]) -> str:
    words = {True: ("yes", "holds"), False: ("no", "does not hold"), None: ("open", "not judged")}
    rows = []
    live = any(claim.live is not None for claim in claims)
    for claim in claims:
        css, word = words[claim.holds]
        cause = f'<p class="small">{claim.cause}</p>' if claim.cause else ""
        why = f'<p class="why">{html.escape(claim.why)}</p>' if claim.why else ""
        rows.append(
            f"<tr><td><code>{html.escape(claim.id)}</code></td><td>{html.escape(claim.text)}{why}"
            f'<p class="small">{html.escape(claim.source)}</p></td><td>{html.escape(shown(claim.published))}</td>'
            f"<td>{html.escape(shown(claim.measured))}</td>"
            + (f"<td>{html.escape(shown(claim.live))}</td>" if live else "")
            + f'<td class="{css}">{word}{cause}</td></tr>'
        )
    head = "<tr><th>id</th><th>claim</th><th>published</th>"
    head += ("<th>simulated</th><th>live</th>" if live else "<th>measured</th>") + "<th></th></tr>"
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd;
padding-top: 1rem; } h3 { font-size: 1rem; margin-bottom: .4rem; }
nav a { margin-right: 1rem; } a { color: #0072b2; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid #e4e4e4; }
th { color: #555; font-weight: 600; } td:nth-child(2) { min-width: 22rem; } td p { margin: .25rem 0 0; }
td:nth-child(1) code { font-size: .8rem; white-space: nowrap; }
.small { color: #666; font-size: .8rem; } .why { border-left: 3px solid #d55e00; padding-left: .5rem; }
td.yes, td.no, td.open { white-space: nowrap; font-weight: 600; }
td.yes { color: #00734f; } td.no { color: #b34700; } td.open { color: #666; }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; } figcaption { color: #444; font-size: .85rem; }
"""
