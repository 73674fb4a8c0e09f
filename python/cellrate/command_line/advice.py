"""`cellrate advise`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from .app import app
from .options import Json, Workers
from .output import print_json, progress_bar
from .typed import Parameter


@app.command("advise")
def advise(
    *,
    link: Annotated[
        str | None,
        Parameter(help="Rate of the slowest link: 155.52 Mbps, or T1, E1, E3, DS3, DS3-PLCP, OC-3, STM-1, OC-12."),
    ] = None,
    distance: Annotated[str | None, Parameter(help="Length of the path, one way, such as 1000 km.")] = None,
    round_trip: Annotated[str | None, Parameter(help="Round-trip time without queues, instead of a distance.")] = None,
    satellite_hops: Annotated[int, Parameter(help="Geostationary hops on the path, 550 ms there and back each.")] = 0,
    buffer: Annotated[int, Parameter(help="Room for ABR cells in each switch [cells].")] = 4096,
    application: Annotated[
        Literal["bulk", "interactive", "video", "voice", "transaction"] | None, Parameter(help="What it carries.")
    ] = None,
    switches: Annotated[
        Literal["efci", "relative", "explicit", "erica", "eprca"] | None,
        Parameter(help="How switches give feedback; explicit means erica."),
    ] = None,
    number_of_switches: Annotated[int, Parameter(help="Switches on the path.")] = 2,
    rate: Annotated[str | None, Parameter(help="What the application must have, such as 6 Mbps.")] = None,
    sources: Annotated[int, Parameter(help="Connections that share the slowest link, this one included.")] = 2,
    charging: Annotated[int | None, Parameter(help="k, where the price limits PCR to k x MCR (2 to 10).")] = None,
    json: Json = False,
    write: Annotated[Path | None, Parameter(help="Leave the set as a scenario in this file.")] = None,
    simulate: Annotated[
        bool, Parameter(help="Run the set against the defaults, show both, and take back what does worse.")
    ] = False,
    workers: Workers = None,
) -> int:
    """Advise ABR parameters for a connection, each with its reason; asks for what is missing on a terminal."""
    from ..advice.advisor import advise as give
    from ..running.processes import number_of_workers
    from ..trial import check_writable, compare, write_scenario
    from . import asking

    number_of_workers(workers, 1)
    if write is not None:
        check_writable(write)
    situation = asking.situation(
        asking.Answers(link, distance, round_trip, application, switches),
        interactive=sys.stdin.isatty() and sys.stdout.isatty() and not json,
        satellite_hops=satellite_hops,
        buffer_cells=buffer,
        number_of_switches=number_of_switches,
        rate=rate,
        sources=sources,
        charging=charging,
    )
    advised = give(situation)
    comparison = None
    if simulate:
        with progress_bar("advise", quiet=json) as progress:
            comparison = compare(advised, workers=workers, progress=progress)
        advised = comparison.kept
    if write is not None:
        write_scenario(advised, write)
    if json:
        print_json({**advised.content(), "simulation": comparison and comparison.content()})
        return 0
    from ..advice.table import print_advice
    from ..terminal import Console
    from ..trial.table import print_comparison

    console = Console()
    print_advice(console, advised)
    if comparison is not None:
        print_comparison(console, comparison)
    if write is not None:
        console.print(f"The scenario is in {write}", highlight=False, soft_wrap=True)
    return 0
