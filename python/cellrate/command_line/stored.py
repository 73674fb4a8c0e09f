"""Results that are in folders already: `cellrate show` and `cellrate plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..errors import CellrateError
from .app import app
from .options import Json
from .output import print_json
from .typed import Parameter

Folder = Annotated[Path, Parameter(help="A folder of results, as `cellrate run --out` writes it.")]


@app.command("show")
def show(folder: Folder, /, *, json: Json = False) -> int:
    """Print the tables of a run again, or of every point of a sweep."""
    from ..results.reading import load_sweep
    from ..results.table import print_summary

    results = load_sweep(folder)
    if json:
        points = [{"set": result.set, **result.summary} for result in results]
        print_json({"points": points} if len(results) > 1 else results[0].summary)
        return 0
    for result in results:
        print_summary(result.summary, result.set)
    return 0


@app.command("plot")
def plot(
    folder: Folder,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The picture: .png, .svg or .pdf (NAME.png in this folder by default).")
    ] = None,
    probe: Annotated[
        list[str] | None, Parameter(help="Only this probe, such as acr; all by default. May be given again.")
    ] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="Only from this instant on, such as 10ms.")] = None,
    until: Annotated[str | None, Parameter(help="Only up to this instant.")] = None,
) -> int:
    """Draw the series of a run anew: some of them, a part of the time; or the picture of a sweep."""
    from ..plotting.figures import write
    from ..plotting.sweeps import figure
    from ..results.reading import load_sweep
    from .asking import seconds

    results = load_sweep(folder)
    parts = {"--probe": probe, "--from": from_, "--until": until}
    given = [option for option, value in parts.items() if value is not None]
    run = results[0].summary["run"]
    if len(results) == 1:
        begin = 0.0 if from_ is None else seconds(from_)
        end = float("inf") if until is None else seconds(until)
        try:
            drawn = results[0].plot(*probe or (), time=(begin, end) if from_ or until else None)
        except ValueError as error:
            raise CellrateError(f"{folder}: {error}") from None
    elif given:
        raise CellrateError(
            f"{folder} has the results of {len(results)} runs, and {given[0]} is for the series of one; "
            f"each has a folder of its own there"
        )
    else:
        picture = figure(results)
        if picture is None:
            raise CellrateError(f"{folder}: nothing was varied that a picture could be drawn over")
        drawn = picture
    print(f"Plot: {write(drawn, out or Path(Path(run['scenario']).name + '.png'))}")
    return 0
