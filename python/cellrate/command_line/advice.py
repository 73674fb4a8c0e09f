"""`cellrate advise`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from ..choices import Application, Switches
from ..errors import CellrateError
from .app import app
from .options import Cluster, Json, Workers
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
    application: Annotated[Application | None, Parameter(help="What it carries.")] = None,
    switches: Annotated[
        Literal[Switches, "explicit"] | None,
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
    tune: Annotated[
        bool,
        Parameter(help="After that, look for values that do better in simulation, by Optuna: cellrate[tune]."),
    ] = False,
    vary: Annotated[
        list[str] | None,
        Parameter(
            help="What to tune: KEY=LOW..HIGH of rif, rdf, cdf, nrm, trm, adtf or tbe; rif, rdf, nrm and cdf, all that "
            "can be signalled, by default. May be given again."
        ),
    ] = None,
    trials: Annotated[int | None, Parameter(help="Sets that are tried with --tune (40).")] = None,
    out: Annotated[
        Path | None, Parameter(help="Folder that keeps the runs of --tune (results/advise), to go on with.")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
) -> int:
    """Advise ABR parameters for a connection, each with its reason; asks for what is missing on a terminal."""
    from ..advice.advisor import advise as give
    from ..running.processes import number_of_workers
    from ..trial import check_writable, compare, write_scenario
    from ..trial import tune as tune_set
    from ..trial.tuning import VARIED, ranges_of
    from . import asking

    number_of_workers(workers, 1)
    options = {"--vary": vary, "--trials": trials, "--out": out, "--cluster": cluster}
    given = [option for option, value in options.items() if value is not None]
    if given and not tune:
        raise CellrateError(f"{given[0]} needs --tune")
    if trials is not None and trials < 1:
        raise CellrateError(f"--trials is {trials}; it must be at least 1")
    ranges_of(vary or [])
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
    tuned = None
    if simulate or tune:
        with progress_bar("advise", quiet=json) as progress:
            comparison = compare(advised, workers=workers, progress=progress)
        advised = comparison.kept
        if tune:
            with progress_bar("advise, tuning", quiet=json) as progress:
                tuned = tune_set(
                    comparison,
                    out or Path("results") / "advise",
                    vary=vary or VARIED,
                    trials=trials or 40,
                    workers=workers,
                    executor=cluster,
                    progress=progress,
                )
            advised = tuned.kept
    if write is not None:
        write_scenario(advised, write)
    if json:
        print_json(
            {
                **advised.content(),
                "simulation": comparison and comparison.content(),
                **({"tuning": tuned.content()} if tuned else {}),
            }
        )
        return 0
    from ..advice.table import print_advice
    from ..terminal import Console
    from ..trial.table import print_comparison, print_tuned

    console = Console()
    print_advice(console, advised)
    if comparison is not None:
        print_comparison(console, comparison)
    if tuned is not None:
        print_tuned(console, tuned)
    if write is not None:
        console.print(f"The scenario is in {write}", highlight=False, soft_wrap=True)
    return 0
