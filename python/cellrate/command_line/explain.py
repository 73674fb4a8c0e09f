"""`cellrate explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .app import app
from .options import AllowFiles, Custom, Json, Points, point_of
from .output import own_output_aside, print_json, tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..scenario import Scenario


@app.command("explain")
def explain(
    what: Annotated[str, Parameter(help="A folder of results, which keeps its scenario; or a file or ready scenario.")],
    /,
    *,
    vc: Annotated[str, Parameter(help='The ABR connection, such as vc1; "vc1 (back)" for its other direction.')],
    at: Annotated[str | None, Parameter(help="The instant, such as 120ms; the end of the run by default.")] = None,
    steps: Annotated[int, Parameter(help="How many steps of ACR to show, those before the instant.")] = 8,
    point: Points = None,
    custom: Custom,
    allow_files: AllowFiles = None,
    json: Json = False,
) -> int:
    """Say why a source has its ACR: which RM cell came, which switch wrote what into it, which rule moved ACR.

    The run is repeated up to the instant, where the source notes each step of ACR by the rule of TM 4.0 that took it.
    """
    from dataclasses import asdict

    from ..recorded.table import print_numbers
    from ..running.explained import table
    from ..running.explaining import explain as explained
    from .asking import seconds

    plugins = custom.load()
    scenario = _scenario_of(what, point, allow_files or [])
    with own_output_aside(json):
        found = explained(
            scenario,
            vc,
            None if at is None else seconds(at),
            steps=steps,
            **plugins.keywords(),
        )
    if json:
        print_json(asdict(found))
        return 0
    tell(f"{found.scenario}, ACR of {found.vc} up to {found.at_s * 1e3:g} ms\n")
    if found.steps:
        print_numbers(*table(found))
    for line in found.words:
        tell(line)
    return 0


def _scenario_of(what: str, point: list[str] | None, allow_files: list[Path]) -> Scenario:
    """Give the scenario of a folder of results, of a file, or the ready one of that name; of a sweep one point."""
    from ..campaigns.reading import load_sweep
    from ..errors import CellrateError
    from ..results.reading import told_of
    from ..scenario import Scenario, prepare
    from ..sweeps.overview import settings_in
    from ..sweeps.picking import listed, one_point, place_of

    meant = point_of(point)
    folder = Path(what)
    if not folder.is_dir():
        return one_point(prepare(what, allow_files=allow_files), meant, "ACR is explained of one run").scenario
    with told_of(folder):
        results = load_sweep(folder)
        settings = settings_in(results)
        if meant is None and len(results) != 1:
            raise CellrateError(
                f"{what} has {len(results)} points; ACR is explained of one run. --point N picks one of them:\n"
                f"{listed(settings)}"
            )
        place = place_of(settings, 1 if meant is None else meant, what)
        return Scenario.parse(results[place].toml, file=str(folder / "scenario.toml"), allow_files=allow_files)
