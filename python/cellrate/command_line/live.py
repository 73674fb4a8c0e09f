"""Commands of the live testbed: `cellrate live` and `cellrate doctor`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .app import app
from .options import (
    AllowCommands,
    Captured,
    Chosen,
    Csv,
    Custom,
    File,
    Host,
    Json,
    Key,
    Plot,
    Points,
    Port,
    Settings,
    Start,
    key_in,
    point_of,
    settings_of,
    unix_ns,
)
from .output import print_json, progress_bar, say_where, tell, warn_and_exit_status
from .typed import Parameter

if TYPE_CHECKING:
    from ..live.supervision import LiveRun

LiveOut = Annotated[
    Path | None, Parameter(help="Folder for the results (results/live/NAME by default); it appears whole.")
]

live_app = app.group("live", help="Real hosts and real applications over the ABR service, on a Linux machine.")


@app.command("doctor")
def doctor(
    file: Annotated[
        Path | None, Parameter(help="A scenario, whose commands are listed: a file or a ready one.")
    ] = None,
    /,
    *,
    json: Json = False,
) -> int:
    """Say what this machine lacks for live runs, and how to get it; exit status 3 if there are none without it."""
    from ..live import doctor as looked_for

    found = looked_for.findings()
    status = 3 if looked_for.missing_requirements(found) else 0
    scenario = None
    if file is not None:
        from ..scenario import prepare

        scenario = prepare(file)
    if json:
        told = looked_for.content(found)
        if scenario is not None:
            from ..live.trust import commands_of

            told["commands"] = commands_of(scenario)
        print_json(told)
        return status
    if scenario is not None:
        from ..live.trust import told_commands

        print("\n".join(told_commands(scenario) or ["The scenario runs no commands."]))
    from ..live.table import print_findings
    from ..terminal import Console

    print_findings(Console(), found)
    return status


@live_app.command("run")
def live_run(
    file: File,
    /,
    *,
    chosen: Chosen,
    out: LiveOut = None,
    repeat: Annotated[
        int, Parameter(help="Runs, each with results of its own; of several, means with 95 % intervals.")
    ] = 1,
    attempts: Annotated[int, Parameter(help="How often a run that was out of time is tried, at most.")] = 3,
    distributed: Annotated[
        bool, Parameter(help="A process for each switch, cells in datagrams between them ([live] nodes).")
    ] = False,
    elsewhere: Annotated[
        list[str] | None, Parameter(help="With --distributed: a switch that another machine runs. May be given again.")
    ] = None,
    start: Start = None,
    key: Key = None,
    allow_commands: AllowCommands = False,
    json: Json = False,
    plot: Plot = False,
    csv: Csv = False,
    captured: Captured,
    custom: Custom,
) -> int:
    """Run a scenario with hosts that are network namespaces, real applications on them, and cells in real time.

    A run that fails the verdict on its own timing is tried again; all attempts are kept. Exit status 1 if an
    application failed, or no attempt was in time. A capture is of the last attempt, of the ports of the process that
    has the hosts.
    """
    from ..live.runs import run_and_write
    from ..live.supervision import LiveOptions

    undrawn: list[str] = []
    plugins = custom.load()
    runs, folder = run_and_write(
        chosen.scenario(file, plugins, is_drawn=plot),
        point=point_of(chosen.point),
        out=out,
        repeat=repeat,
        plots=plot,
        csv=csv,
        watched=lambda name: progress_bar(name, quiet=json),
        options=LiveOptions(
            attempts=attempts,
            distributed=distributed,
            elsewhere=elsewhere or [],
            start_unix_ns=unix_ns(start),
            key=key_in(key),
            capture=captured.read(),
            plugins=plugins,
            allow_commands=allow_commands,
            complain=undrawn.append,
        ),
    )
    failed = any(run.failed_applications or not run.in_time for run in runs)
    if json:
        summaries = [run.result.summary for run in runs]
        from ..live.repeated import content, means

        print_json(summaries[0] if len(runs) == 1 else {"runs": summaries, "means": content(means(summaries))})
        return warn_and_exit_status(undrawn) or int(failed)
    print_runs(runs)
    tell(f"Results are in {folder}")
    return warn_and_exit_status(undrawn) or int(failed)


def print_runs(runs: Sequence[LiveRun]) -> None:
    """Print the tables of live runs, with the files of their captures, and means where there are several."""
    from ..live.table import print_live, print_repeated
    from ..terminal import Console

    for run in runs:
        print_live(Console(), run)
        for written in run.result.captured:
            tell(written)
    if len(runs) > 1:
        print_repeated(Console(), [run.result.summary for run in runs])


@live_app.command("watch")
def live_watch(
    file: File,
    /,
    *,
    chosen: Chosen,
    host: Host = "127.0.0.1",
    port: Port = 0,
    out: LiveOut = None,
    allow_commands: AllowCommands = False,
    plot: Plot = False,
    csv: Csv = False,
    custom: Custom,
) -> int:
    """Run a scenario live, on a page that a browser opens: what it records, as it happens.

    The run begins when the page has been opened, and keeps to the clock. Otherwise as `cellrate live run`, in one
    process and with one attempt.
    """
    from ..folders.replaceable import replaceable
    from ..live.attempt import applications
    from ..live.page import page_of
    from ..live.runs import default_folder, run_and_write
    from ..live.supervision import LiveOptions
    from ..live.table import live_report
    from ..live.trust import check_commands
    from ..recorded.groups import groups_of
    from ..sweeps.picking import one_point

    plugins = custom.load()
    scenario = chosen.scenario(file, plugins, is_drawn=True)
    picked = point_of(chosen.point)
    shown = one_point(scenario, picked, "a page shows one run").scenario
    undrawn: list[str] = []
    if out is None:
        out = default_folder(shown)
    # Said before the page is opened.
    replaceable(out)
    check_commands(shown, applications(shown), allowed=allow_commands)

    with page_of(scenario, picked, host=host, port=port, on_ready=partial(say_where, host=host)) as board:
        options = LiveOptions(look=board.add, plugins=plugins, allow_commands=allow_commands, complain=undrawn.append)
        runs, folder = run_and_write(
            scenario,
            point=picked,
            out=out,
            plots=plot,
            csv=csv,
            watched=lambda _: contextlib.nullcontext(),
            options=options,
        )
        (run,) = runs
        board.end(run.result, live_report(run.result.summary, groups_of(run.result.toml)))
    print_runs(runs)
    tell(f"Results are in {folder}")
    return warn_and_exit_status(undrawn) or int(bool(run.failed_applications) or not run.in_time)


@live_app.command("shell")
def live_shell(
    file: File,
    host: Annotated[str | None, Parameter(help="A host, to open its own shell and nothing else.")] = None,
    /,
    *,
    set: Settings = None,
    point: Points = None,
    custom: Custom,
) -> int:
    """Have a network of real hosts stand, with a shell over it: HOST COMMAND, pingall, iperf, rates, queues.

    It stands until one leaves, 24 hours at most. Duration, probes and applications of the scenario are left aside. All
    hosts have each other's names, and what was started on them ends with the shell, however that ends.
    """
    from ..live.shell import open_shell
    from ..scenario import prepare
    from ..sweeps.picking import one_point

    scenario = prepare(file, set=settings_of(set))
    chosen = one_point(scenario, point_of(point), "a shell is over one network").scenario
    return open_shell(chosen, host, custom.load())


@live_app.command("node")
def live_node(
    file: File,
    node: Annotated[list[str], Parameter(help="Nodes of the scenario that this process is.")],
    /,
    *,
    set: Settings = None,
    point: Points = None,
    start: Start = None,
    key: Key = None,
    figures: Annotated[Path | None, Parameter(help="File for the figures, as JSON; printed without it.")] = None,
    custom: Custom,
) -> int:
    """Run nodes of a scenario in this process, with cells in datagrams to and from the others ([live] nodes)."""
    from ..live.distribution import run_node
    from ..scenario import prepare
    from ..sweeps.picking import one_point

    scenario = one_point(prepare(file, set=settings_of(set)), point_of(point), "a node runs in one of them").scenario
    plugins = custom.load()
    summary = run_node(scenario, node, unix_ns(start), figures, plugins, key_in(key) or b"")
    if figures is None:
        print_json(summary)
    return 0 if summary["timing"]["passed"] or figures is not None else 1


@live_app.command("throughput")
def live_throughput(
    *,
    seconds: Annotated[float, Parameter(help="For how long each.")] = 2.0,
    packet_octets: Annotated[list[int] | None, Parameter(help="Lengths of IP packets (1500 and 9180).")] = None,
    json: Json = False,
) -> int:
    """Measure how many cells a second one core carries from TUN to TUN, and without devices, where no line limits."""
    from dataclasses import asdict

    from ..live.throughput import measure

    lengths = packet_octets or [1500, 9180]
    rows = [measure(seconds=seconds, packet_octets=length, tun=tun) for tun in (False, True) for length in lengths]
    if json:
        print_json({"throughput": [asdict(row) for row in rows]})
        return 0
    from ..live.table import print_throughput
    from ..terminal import Console

    print_throughput(Console(), rows)
    return 0
