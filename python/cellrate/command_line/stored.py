"""Results that are in folders already, as tables and for other programs: `cellrate show` and `cellrate export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .app import app
from .options import Each, Folder, Folders, Json, Points, picked
from .output import print_json, print_points, tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..results import Result
    from ..sweeps.for_papers import Write


@app.command("show")
def show(
    folders: Folders,
    /,
    *,
    json: Json = False,
    by: Annotated[
        list[str] | None,
        Parameter(
            help="Show a row for each value of this key, such as nrm, with means over all else. May be given again."
        ),
    ] = None,
    csv: Annotated[bool, Parameter(help="Print the table of a sweep as CSV, with all digits.")] = False,
    latex: Annotated[bool, Parameter(help="Print tables in LaTeX, for the package booktabs.")] = False,
    markdown: Annotated[bool, Parameter(help="Print tables in Markdown.")] = False,
    each: Each = False,
    point: Points = None,
) -> int:
    """Print the tables of a run again, of a sweep, of live runs, or of several of these in one.

    Of a sweep that still runs, or was interrupted, it shows the points that are there.
    """
    from ..campaigns.reading import folders_of, load_together
    from ..folders.replaceable import CAMPAIGN, of_a_live_run
    from ..results.reading import summary_in, told_of
    from ..sweeps.for_papers import latex as as_latex
    from ..sweeps.for_papers import markdown as as_markdown
    from ..sweeps.for_papers import print_tables
    from ..sweeps.overview import print_csv, print_overview, settings_in
    from ..sweeps.settings import named
    from ..sweeps.table import print_runs

    forms = {"--json": json, "--csv": csv, "--latex": latex, "--markdown": markdown}
    asked = [option for option, given in forms.items() if given]
    if len(asked) > 1:
        raise CellrateError(f"{asked[0]} and {asked[1]} are two forms of one table; leave one out")
    table = as_latex if latex else as_markdown if markdown else None
    folder = folders[0]
    with told_of(folder):
        results = load_together(folders)
        missing = len(results.missing)
        if not len(results):
            raise CellrateError(f"{folder}: none of {missing} points is there yet")
        if point:
            if csv or by:
                raise CellrateError(f"--point shows a single run; leave {'--csv' if csv else '--by'} out")
            _show_one(picked(folder, results, point), json, table, each=each)
            return 0
        if json and (len(folders) > 1 or (folder / CAMPAIGN).is_file()):
            print_points({"set": result.set, **result.summary} for result in results)
        elif json:
            print_json(summary_in(folder))
        elif csv:
            print_csv(results, by or [])
        elif table is not None:
            print_tables(results, by or [], table, each=each)
        elif by:
            print_overview(results, by, title=named(results[0].summary, settings_in(results)))
        elif len(folders) == 1 and of_a_live_run(results[0].summary):
            from ..live.reading import load_live
            from .live import print_runs as print_live_runs

            print_live_runs([load_live(one) for one in folders_of(folder)])
        else:
            print_runs(results, each=each)
    if missing:
        made = f"the command that made {', '.join(map(str, folders))} goes on with them"
        tell(f"{missing} of {len(results) + missing} points are missing; {made}.")
    return 0


def _show_one(result: Result, json: bool, table: Write | None, *, each: bool) -> None:
    """Print the tables of one point of a sweep."""
    if json:
        print_json(result.summary)
    elif table is not None:
        from ..sweeps.for_papers import print_tables

        result.settings = {}
        print_tables([result], [], table, each=each)
    else:
        from ..sweeps.table import print_runs

        print_runs([result], each=each)


@app.command("export")
def export(
    folder: Folder,
    /,
    *,
    out: Annotated[Path, Parameter(help="Where, without an ending: OUT.sca and OUT.vec are written.")],
) -> int:
    """Write the results of a run or a sweep as scalar and vector files of OMNeT++, which opp_scavetool reads.

    Of a sweep each point that is there is a run, with its settings as iteration variables.
    """
    from ..campaigns.reading import load_sweep
    from ..results.omnetpp import write_omnetpp
    from ..results.reading import told_of

    with told_of(folder):
        results = load_sweep(folder)
        if not len(results):
            raise CellrateError(f"{folder}: none of {len(results.missing)} points is there yet")
        every = list(results)
    for file in write_omnetpp(every, out):
        print(file)
    return 0
