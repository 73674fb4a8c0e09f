"""`cellrate run` and `cellrate watch`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .app import app
from .options import (
    Algorithm,
    AllowFiles,
    CaptureFolder,
    CaptureFrom,
    CaptureKind,
    CaptureLimit,
    CapturePorts,
    CaptureUntil,
    Cluster,
    CustomTraffic,
    Each,
    File,
    Files,
    Fresh,
    Json,
    Out,
    Points,
    Policy,
    Record,
    Seed,
    Seeds,
    Settings,
    Sweeps,
    Threads,
    Until,
    Workers,
    capture_of,
    lists_of,
    point_of,
    recorded_of,
    settings_of,
)
from .output import (
    complain,
    own_output_aside,
    print_json,
    print_points,
    progress_bar,
    say,
    say_where,
    tell,
    warn_and_exit_status,
    with_something_to_draw,
)
from .typed import Parameter

if TYPE_CHECKING:
    from ..campaigns.sweep import Sweep
    from ..campaigns.until import Unmet
    from ..results import Result
    from ..running.points import Point, Progress
    from ..scenario import Scenario
    from ..sweeps.figures import Precision


@app.command("run")
def run(
    files: Files,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
    sweep: Sweeps = None,
    seeds: Seeds = None,
    point: Points = None,
    record: Record = None,
    out: Out = None,
    json: Json = False,
    plot: Annotated[bool, Parameter(help="Draw plots into the folder (results/NAME without --out).")] = False,
    csv: Annotated[bool, Parameter(help="Write the series, and the rows of VCs and ports, as CSV too.")] = False,
    workers: Workers = None,
    capture: CaptureFolder = None,
    capture_port: CapturePorts = None,
    capture_from: CaptureFrom = None,
    capture_until: CaptureUntil = None,
    capture_kind: CaptureKind = None,
    capture_limit: CaptureLimit = None,
    threads: Threads = 1,
    algorithm: Algorithm = None,
    policy: Policy = None,
    traffic: CustomTraffic = None,
    cluster: Cluster = None,
    fresh: Fresh = False,
    until: Until = None,
    each: Each = False,
    allow_files: AllowFiles = None,
    command: Annotated[
        str | None,
        Parameter(
            help="Run nothing, and print the command that runs this point of the study by itself: its number from 1 "
            "on, or a value that it sets."
        ),
    ] = None,
) -> int:
    """Run a scenario, or every point of its sweep, or those of several scenarios as one study.

    A sweep with --out keeps each point as soon as it is done. The same command goes on after an interruption; more
    --seeds or --sweep values add points.
    """
    from ..errors import CellrateError
    from ..folders.replaceable import check_apart, plain_name
    from ..plugins.collection import load
    from ..running.into_folders import run_into, run_without_folder
    from ..running.processes import number_of_workers
    from ..running.runs import run as run_one
    from ..scenario import prepare
    from ..sweeps.naming import all_in_full, lists_in_full, own_names
    from ..sweeps.picking import listed, place_of
    from ..sweeps.several import points_of
    from ..sweeps.varying import ON_COMMAND_LINE

    plugins = load(algorithm, policy, traffic)
    own = own_names(plugins.all())
    settings = all_in_full(settings_of(set), own)
    allowed, recorded = allow_files or (), recorded_of(record)
    prepared = [prepare(file, set=settings, seed=seed, allow_files=allowed, record=recorded) for file in files]
    if plot:
        prepared = [with_something_to_draw(one) for one in prepared]
    precisions: list[Precision] = []
    if until:
        from ..campaigns.until import MOST, sweep_until
        from ..sweeps import figures

        precisions = [figures.Precision.read(text) for text in until]
        seeds = MOST if seeds is None else seeds
    over = lists_in_full(lists_of(sweep), own)
    points = points_of(prepared, over, seeds, ON_COMMAND_LINE)
    file = ", ".join(files)
    if command is not None:
        if point:
            raise CellrateError("--command and --point both pick a point; leave one out")
        from .again import command as again

        place = place_of([settings for _, settings in points], _meant(command), file)
        options: dict[str, Sequence[str | Path] | None] = {"--record": record, "--allow-files": allow_files}
        options |= {"--algorithm": algorithm, "--policy": policy, "--traffic": traffic}
        part = points.scenario_at(place)
        tell(again(files[part], prepared[part], set or [], points[place][1], seed, options))
        return 0
    picked = point_of(point)
    if picked is not None:
        if until:
            raise CellrateError("--until adds seeds to all points; leave --point out, or give --seeds")
        place = place_of([settings for _, settings in points], picked, file)
        points = points.only(place)
    captured = capture_of(capture, capture_port, capture_from, capture_until, capture_kind, capture_limit)
    name = prepared[0].name if len(prepared) == 1 else f"{len(prepared)} scenarios"
    swept = len(points) > 1
    if swept and capture is not None:
        raise CellrateError(
            f"{file} sweeps over {len(points)} points; a capture is of one run. --point N picks one of them:\n"
            f"{listed([settings for _, settings in points])}"
        )
    if out is None and (plot or csv or until or (swept and cluster is not None)):
        more = f"-and-{len(prepared) - 1}-more" if len(prepared) > 1 else ""
        out = Path("results") / (plain_name(prepared[0]) + more)
    check_apart(out, capture)
    number_of_workers(workers, len(points))
    if not swept and cluster is not None:
        raise CellrateError(
            f"--cluster {cluster}: {file} is a single run, which needs no cluster; add --sweep or --seeds"
        )
    _say_if_alone(points[0][0], threads)
    undrawn: list[str] = []
    unmet: list[Unmet] = []
    begun: list[bool] = []
    results: Sequence[Result]

    def into(some: Sequence[Point], progress: Progress | None) -> Sweep:
        from ..campaigns.sweeping import sweep_into

        assert out is not None
        anew = fresh and not begun
        begun.append(True)
        return sweep_into(
            out,
            some,
            csv=csv,
            plots=plot,
            workers=workers,
            progress=progress,
            threads=threads,
            plugins=plugins,
            executor=cluster,
            fresh=anew,
            complain=lambda text: say(text) if "could not be drawn" not in text else undrawn.append(text),
            name="--cluster",
        )

    with own_output_aside(json), progress_bar(name, quiet=json, points=len(points)) as progress:
        if precisions and captured is None:
            results, unmet = sweep_until(points, precisions, lambda some: into(some, None))
        elif swept and captured is None and out is not None:
            results = into(points, progress)
        elif swept and captured is None:
            results = run_without_folder(points, workers=workers, progress=progress, threads=threads, plugins=plugins)
        else:

            def one() -> Result:
                result = run_one(
                    points[0][0],
                    capture=captured,
                    progress=progress,
                    threads=threads,
                    algorithms=plugins.algorithms,
                    policies=plugins.policies,
                    traffic=plugins.traffic,
                )
                result.settings = dict(points[0][1])
                return result

            results = [run_into(out, one, csv=csv, plots=plot, complain=undrawn.append)]
    if json:
        if swept:
            print_points({"set": result.set, **result.summary} for result in results)
        else:
            print_json(results[0].summary)
        return warn_and_exit_status(undrawn)
    from ..sweeps.table import print_runs

    print_runs(results, each=each)
    if not swept:
        for written in results[0].captured:
            tell(written)
    if out is not None:
        tell(f"Results are in {out}")
    if unmet:
        more = f" and {len(unmet) - 5} more" if len(unmet) > 5 else ""
        return complain(f"not as sure as was asked for: {'; '.join(map(str, unmet[:5]))}{more}", 1)
    return warn_and_exit_status(undrawn)


def _meant(text: str) -> int | dict[str, object]:
    """Read what `--command` was given."""
    meant = point_of([text])
    assert meant is not None
    return meant


def _say_if_alone(scenario: Scenario, threads: int) -> None:
    """Say so where a run has no work for all its threads."""
    if threads > 1 and (most := scenario._native.most_threads()) < threads:
        print(
            f"cellrate run: {scenario.name} has work for {most} of {threads} threads: only parts of a network that "
            "links of some length (100 us, or less where few connections cross them) join can run side by side",
            file=sys.stderr,
        )


@app.command("watch")
def watch(
    file: File,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
    point: Points = None,
    record: Record = None,
    speed: Annotated[
        float | None, Parameter(help="Network time per time, such as 0.01; so that the run takes 20 s by default.")
    ] = None,
    port: Annotated[int, Parameter(help="Port of the page on 127.0.0.1; a free one by default.")] = 0,
    algorithm: Algorithm = None,
    policy: Policy = None,
    traffic: CustomTraffic = None,
    out: Out = None,
    plot: Annotated[bool, Parameter(help="Draw plots into the folder (results/NAME without --out).")] = False,
    csv: Annotated[bool, Parameter(help="Write the series, and the rows of VCs and ports, as CSV too.")] = False,
) -> int:
    """Run a scenario before your eyes, on a page that a browser opens: panels that grow, slow motion, pause.

    The run begins when the page has been opened. It shows the series that the scenario records, or ACR and queues
    if it records none.
    """
    from ..folders.replaceable import plain_name
    from ..plugins.collection import load
    from ..recorded.groups import groups_of
    from ..recorded.table import print_summary
    from ..running.into_folders import run_into
    from ..scenario import prepare
    from ..sweeps.picking import one_point
    from ..watching import watch as run_watched

    scenario = with_something_to_draw(prepare(file, set=settings_of(set), seed=seed, record=recorded_of(record)))
    picked = point_of(point)
    chosen = one_point(scenario, picked, "a page shows one run").scenario
    plugins = load(algorithm, policy, traffic)
    if out is None and (plot or csv):
        out = Path("results") / plain_name(chosen)
    undrawn: list[str] = []

    def one() -> Result:
        return run_watched(
            scenario,
            point=picked,
            speed=speed,
            port=port,
            algorithms=plugins.algorithms,
            policies=plugins.policies,
            traffic=plugins.traffic,
            on_ready=say_where,
        )

    result = run_into(out, one, csv=csv, plots=plot, complain=undrawn.append)
    print_summary(result.summary, result.settings, groups_of(result.toml))
    if out is not None:
        tell(f"Results are in {out}")
    return warn_and_exit_status(undrawn)
