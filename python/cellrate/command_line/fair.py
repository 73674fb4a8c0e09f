"""`cellrate fair`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..errors import ScenarioError, at_point
from ..quantities import CELL_BITS, read_ratio
from ..toml import values_of
from .app import app
from .options import File, Json, Settings, settings_of
from .output import print_json
from .typed import Parameter

if TYPE_CHECKING:
    from ..scenario import FairShare
    from ..terminal import Console


@app.command("fair")
def fair(
    file: File,
    /,
    *,
    set: Settings = None,
    utilization: Annotated[
        str | None, Parameter(help="Share of each line that is handed out, such as 90 %; as its port does, without.")
    ] = None,
    json: Json = False,
) -> int:
    """Print the max-min fair rates of a scenario's ABR flows, each taken as greedy; of a sweep those at every point."""
    from ..scenario import prepare

    share = None if utilization is None else read_ratio(utilization)
    found = []
    for place, point in enumerate(prepare(file, set=settings_of(set)).points()):
        try:
            with at_point(place, point.settings):
                found.append((point.settings, point.scenario.fair(utilization=share)))
        except ValueError as error:
            raise ScenarioError(f"--{error}") from None
    if json:
        flows = [{"set": values_of(settings), "flows": [row.__dict__ for row in shares]} for settings, shares in found]
        print_json({"points": flows} if len(flows) > 1 else {"flows": flows[0]["flows"]})
        return 0
    from ..terminal import Console

    console = Console()
    for settings, shares in found:
        _print(console, shares, settings)
    return 0


def _print(console: Console, shares: list[FairShare], settings: dict[str, str]) -> None:
    """Print max-min fair rates, under what the point of a sweep set."""
    from rich import box
    from rich.table import Table

    if settings:
        line = "  ".join(f"{key} = {value}" for key, value in settings.items())
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("VC")
    table.add_column("Mbps", justify="right")
    table.add_column("cells/s", justify="right")
    table.add_column("bottleneck")
    for share in shares:
        name = f"{share.vc} (back)" if share.backward else share.vc
        rate = share.rate
        table.add_row(name, f"{rate * CELL_BITS / 1e6:.3f}", f"{rate:,.1f}", share.bottleneck or "its PCR")
    console.print(table)
