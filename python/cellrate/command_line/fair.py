"""`cellrate fair`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError, ScenarioError, at_point
from ..quantities import CELL_BITS, read_ratio
from ..toml import values_of
from .app import app
from .options import File, Json, Settings, settings_of
from .output import print_json
from .typed import Parameter

if TYPE_CHECKING:
    from ..scenario import FairShare, Scenario
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
    over_time: Annotated[
        bool, Parameter(help="From each instant on at which it changes who sends, or what lines carry.")
    ] = False,
    gmm: Annotated[
        bool, Parameter(help="The larger of MCR and share for each flow, rather than its MCR and a share of the rest.")
    ] = False,
    json: Json = False,
) -> int:
    """Print the max-min fair rates of a scenario's ABR flows, each taken as greedy; of a sweep those at every point."""
    from ..scenario import prepare

    share = None if utilization is None else read_ratio(utilization)
    found = []
    for place, point in enumerate(prepare(file, set=settings_of(set)).points()):
        try:
            with at_point(place, point.settings):
                found.append((point.settings, _spans(point.scenario, share, over_time, gmm)))
        except ValueError as error:
            raise ScenarioError(f"--{error}") from None
    if json:
        points = [{"set": values_of(settings), **_content(spans, over_time)} for settings, spans in found]
        print_json({"points": points} if len(points) > 1 else _content(found[0][1], over_time))
        return 0
    from ..terminal import Console

    console = Console()
    for settings, spans in found:
        for at_s, shares in spans:
            said = [f"{key} = {value}" for key, value in settings.items()]
            _print(console, shares, [f"from {at_s:g} s on", *said] if over_time else said)
    return 0


def _spans(scenario: Scenario, share: float | None, over_time: bool, gmm: bool) -> list[tuple[float, list[FairShare]]]:
    """Give rates from each instant [s] on; without `over_time` one for all."""
    if not over_time:
        return [(0.0, scenario.fair(utilization=share, gmm=gmm))]
    spans = scenario.fair_over_time(utilization=share, gmm=gmm)
    if not spans:
        raise CellrateError(
            "--over-time: it changes more than 500 times who sends or what lines carry; shorten duration"
        )
    return spans


def _content(spans: list[tuple[float, list[FairShare]]], over_time: bool) -> dict[str, object]:
    rows = [(at_s, [row.__dict__ for row in shares]) for at_s, shares in spans]
    return {"spans": [{"from_s": at_s, "flows": flows} for at_s, flows in rows]} if over_time else {"flows": rows[0][1]}


def _print(console: Console, shares: list[FairShare], said: list[str]) -> None:
    """Print max-min fair rates, under what is said of them."""
    from rich import box
    from rich.table import Table

    if said:
        console.print("  ".join(said), highlight=False, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("VC")
    table.add_column("Mbps", justify="right")
    table.add_column("cells/s", justify="right")
    table.add_column("bottleneck")
    for share in shares:
        name = f"{share.vc} (back)" if share.backward else share.vc
        rate = share.rate
        table.add_row(name, f"{rate * CELL_BITS / 1e6:.3f}", f"{rate:,.1f}", share.bottleneck or "its PCR")
        for channel, rate in share.channels:
            table.add_row(f"  {channel}", f"{rate * CELL_BITS / 1e6:.3f}", f"{rate:,.1f}", "")
    console.print(table)
