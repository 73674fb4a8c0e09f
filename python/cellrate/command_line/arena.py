"""`cellrate arena`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .app import app
from .options import Algorithm, Json, Workers
from .output import own_output_aside, print_json, progress_bar, tell
from .typed import Parameter


@app.command("arena")
def arena(
    algorithms: Annotated[
        list[str] | None,
        Parameter(
            help="Names of algorithms, each perhaps with parameters behind it: 'erica { effective_number = true }'."
        ),
    ] = None,
    /,
    *,
    algorithm: Algorithm = None,
    only: Annotated[list[str] | None, Parameter(help="Only this scenario of the suite. May be given again.")] = None,
    seeds: Annotated[int, Parameter(help="Seeds of each scenario that draws random numbers.")] = 3,
    out: Annotated[
        Path | None,
        Parameter(help="Folder that keeps each run, and in the end arena.json and report.html (results/arena)."),
    ] = None,
    workers: Workers = None,
    json: Json = False,
    markdown: Annotated[
        bool, Parameter(help="Print the cards over all scenarios, and the errors in each, as tables in Markdown.")
    ] = False,
) -> int:
    """Hold switch algorithms against each other on one fixed suite of scenarios: a card for each, and a report.

    Without names all that are built in take part. The same command goes on after an interruption.
    """
    from ..comparing.contest import arena as hold
    from ..comparing.page import PAGE_FILE
    from ..errors import CellrateError
    from ..plugins.collection import load
    from ..running.processes import number_of_workers

    if json and markdown:
        raise CellrateError("--json and --markdown both print the cards; give one of them")
    number_of_workers(workers, 1)
    plugins = load(algorithm)
    folder = out or Path("results") / "arena"
    with own_output_aside(json or markdown), progress_bar("arena", quiet=json or markdown) as progress:
        found = hold(
            algorithms,
            algorithms=plugins.algorithms,
            only=only,
            seeds=seeds,
            workers=workers,
            out=folder,
            progress=False if progress is None else progress,
        )
    if json:
        print_json(found.content())
    elif markdown:
        print(found.markdown(), end="")
    else:
        print(found)
        tell(f"The report is {folder / PAGE_FILE}")
    return 0
