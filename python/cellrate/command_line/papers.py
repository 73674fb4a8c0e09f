"""`cellrate paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ..errors import CellrateError
from .app import app
from .options import Cluster, Json, Workers
from .output import print_json, progress_bar, say, tell
from .typed import Parameter, in_two_columns

paper_app = app.group("paper", help="Reproduce the experiments of a paper and check its claims.")


@paper_app.command("list")
def paper_list(*, json: Json = False) -> int:
    """List the papers."""
    from ..papers import ready_papers

    papers = ready_papers()
    if json:
        print_json({"papers": [{"name": name, "title": title} for name, title in papers.items()]})
    else:
        tell(in_two_columns(papers))
    return 0


@paper_app.command("new")
def paper_new(
    folder: Annotated[Path, Parameter(help="Where to; its last part is the paper's short name.")],
    /,
) -> int:
    """Leave a paper of one's own that runs: a scenario, a claim, an experiment, a figure."""
    from ..papers.skeleton import leave

    leave(folder)
    tell(f"{folder} is a paper that runs: cellrate paper run {folder}")
    return 0


@paper_app.command("run")
def paper_run(
    name: Annotated[str, Parameter(help="A name from cellrate paper list, or the folder of a paper; its code is run.")],
    /,
    *,
    quick: Annotated[bool, Parameter(help="Only what the claims need, without the rows on sensitivity.")] = False,
    out: Annotated[
        Path | None, Parameter(help="Folder for the report (results/papers/NAME by default, NAME-only with --only).")
    ] = None,
    live: Annotated[
        bool,
        Parameter(help="Run the live half too, five runs a case, for a column of its own; for papers that have one."),
    ] = False,
    only: Annotated[
        str | None,
        Parameter(
            help="Experiments, tables (table-3) and ids of claims, with commas between them: only these, live too."
        ),
    ] = None,
    json: Json = False,
    workers: Workers = None,
    cluster: Cluster = None,
) -> int:
    """Run a paper's experiments, check its claims, and write the report."""
    from ..folders.replaceable import REPORT, replaceable
    from ..papers import load_paper
    from ..papers.estimating import announcement
    from ..papers.runs import kept_runs
    from ..running.processes import number_of_workers

    paper = load_paper(name)
    ids = _ids(only)
    usual = f"{paper.name}-only" if ids else paper.name
    folder = out if out is not None else Path("results") / "papers" / usual
    number_of_workers(workers, 1)
    announced = announcement(paper.only(ids) if ids else paper, quick=quick, workers=workers)
    (say if json else tell)(announced)
    measured = None
    if live:
        if paper.live is None:
            raise CellrateError(f"paper {paper.name!r} has no live half")
        replaceable(folder, REPORT)
        # First, and alone: real time does not bear company.
        with progress_bar(f"{paper.name}, live", quiet=json) as progress:
            measured = paper.live(paper.folder / "scenarios", kept_runs(folder), progress, paper.without_tables(ids))
    with progress_bar(paper.name, quiet=json) as progress:
        report = paper.run(
            folder, quick=quick, workers=workers, progress=progress, live=measured, executor=cluster, only=ids
        )
    _show_report(report, folder, json=json)
    return 0


@paper_app.command("readme")
def paper_readme(
    name: Annotated[str, Parameter(help="A name from cellrate paper list, or the folder of a paper.")],
    /,
    *,
    report: Annotated[Path | None, Parameter(help="What paper run wrote (results/papers/NAME by default).")] = None,
    note: Annotated[str, Parameter(help="A sentence on that run for the README, after the counts.")] = "",
) -> int:
    """Write what the report found into the paper's README, and into counts.json beside it."""
    from ..papers import load_paper
    from ..papers.counts import record_counts

    paper = load_paper(name)
    print(record_counts(paper, report if report is not None else Path("results") / "papers" / paper.name, note=note))
    return 0


@paper_app.command("report")
def paper_report(
    folder: Annotated[Path, Parameter(help="What paper run wrote.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Show the claims of a report that is there already."""
    from ..papers.report import read_report

    _show_report(read_report(folder), folder, json=json)
    return 0


def _ids(only: str | None) -> tuple[str, ...]:
    """Split what --only names.

    Raises
    ------
    CellrateError
        If it names nothing.
    """
    if only is None:
        return ()
    ids = tuple(part.strip() for part in only.split(","))
    if not all(ids):
        raise CellrateError(f"--only {only!r} has an empty part; write ids with commas between them")
    return ids


def _show_report(report: Any, folder: Path, *, json: bool) -> None:
    if json:
        print_json(report.content())
        return
    from ..papers.writing import print_claims
    from ..terminal import Console

    print_claims(Console(), report)
    tell(f"Report: {folder / 'report.html'}")
