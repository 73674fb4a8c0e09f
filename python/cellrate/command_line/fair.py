"""`cellrate fair`."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Print the max-min fair rates of a scenario's ABR flows, each taken as greedy; of a sweep those at every point.

    CBR and VBR of constant rate go first. Those whose rates vary are left out of account, and are said.
    """
    from ..scenario import prepare

    share = None if utilization is None else read_ratio(utilization)
    found = []
    for place, point in enumerate(prepare(file, set=settings_of(set)).points()):
        try:
            with at_point(place, point.settings):
                spans = _spans(point.scenario, share, over_time, gmm)
                found.append((point.settings, spans, point.scenario._native.before_abr()))
        except ValueError as error:
            raise ScenarioError(f"--{error}") from None
    if json:
        points = [_content(spans, before, over_time) for _, spans, before in found]
        told = [{"set": values_of(settings), **point} for (settings, _, _), point in zip(found, points, strict=True)]
        print_json({"points": told} if len(points) > 1 else points[0])
        return 0
    from ..terminal import Console

    console = Console()
    for settings, spans, before in found:
        for at_s, shares in spans:
            said = [f"{key} = {value}" for key, value in settings.items()]
            _print(console, shares, [f"from {at_s:g} s on", *said] if over_time else said)
        for line in _said_of(before):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
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


Before = list[tuple[str, float | None, float | None]]
"""CBR and VBR directions: name, rate that goes off before ABR [cells/s], mean of one that varies."""

MOST_NAMED = 8
"""Connections that a line names; of more it says how many."""


def _said_of(before: Before) -> Iterator[str]:
    """Say what CBR and VBR take, and what of them is left out of account."""

    def listed(parts: list[str]) -> str:
        more = len(parts) - MOST_NAMED
        return ", ".join(parts[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

    def mbps(rate: float) -> str:
        return f"{rate * CELL_BITS / 1e6:.3f} Mbps"

    taken = [f"{name} {mbps(rate)}" for name, rate, _ in before if rate is not None]
    varying = [
        name + ("" if mean is None else f" ({mbps(mean)} in the mean)") for name, rate, mean in before if rate is None
    ]
    if taken:
        yield f"CBR and VBR go first, whenever they send: {listed(taken)}."
    if varying:
        yield f"Left out of account, as their rates vary: {listed(varying)}. ABR has less by what these take."


def _content(spans: list[tuple[float, list[FairShare]]], before: Before, over_time: bool) -> dict[str, object]:
    names = ("vc", "rate", "mean")
    others = {"before_abr": [dict(zip(names, one, strict=True)) for one in before]} if before else {}
    return _rates(spans, over_time) | others


def _rates(spans: list[tuple[float, list[FairShare]]], over_time: bool) -> dict[str, object]:
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
