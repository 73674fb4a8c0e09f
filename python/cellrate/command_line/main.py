"""The command `cellrate`.

Exit status: 0 done, 1 the run failed, 2 the input is wrong, 3 no live runs on this machine, 143 ended by SIGTERM,
129 by SIGHUP.
Everything slow to import (NumPy, matplotlib, pyarrow, rich's tables) is imported where it is needed.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from .. import __version__
from ..errors import CellrateError, Interrupted, LiveUnavailable, RunError, ScenarioError
from .typed import App, Parameter, UsageError, in_two_columns

if TYPE_CHECKING:
    from ..results import Result
    from ..wireshark.capture import Capture

app = App(
    "cellrate",
    help="ATM ABR congestion control at the level of the single cell: run scenarios, reproduce papers.",
    version=__version__,
)
paper_app = app.group("paper", help="Reproduce the experiments of a paper and check its claims.")
live_app = app.group("live", help="Real hosts and real applications over the ABR service, on a Linux machine.")

Settings = Annotated[
    list[str] | None,
    Parameter(name="--set", help="Change a value first: dotted.path=value. May be given again."),
]
Sweeps = Annotated[
    list[str] | None,
    Parameter(
        name="--sweep",
        help="Run every value of a list: dotted.path=[value, value]. May be given again: all combinations.",
    ),
]
Seeds = Annotated[
    int | None,
    Parameter(help="Run each point with so many seeds: the scenario's own or --seed, and those that follow it."),
]
Seed = Annotated[int | None, Parameter(help="Seed of all randomness, instead of the scenario's own.")]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON instead of tables.")]
Out = Annotated[Path | None, Parameter(help="Folder for the results; it appears whole or not at all.")]
File = Annotated[str, Parameter(help="A TOML file, or the name of a ready scenario (cellrate list).")]
Start = Annotated[
    str | None,
    Parameter(help="When the network's time begins, the same for all: 2026-11-21T12:00:00+00:00, or ns since 1970."),
]
Workers = Annotated[int | None, Parameter(help="Processes for sweeps; the number of processors by default.")]

CaptureFolder = Annotated[
    Path | None, Parameter(help="Write every cell that leaves a port into this folder, for Wireshark.")
]
CapturePorts = Annotated[list[str] | None, Parameter(help="Only at this port, such as sw1->sw2. May be given again.")]
CaptureFrom = Annotated[str | None, Parameter(help="Only from this instant on, such as 10ms.")]
CaptureUntil = Annotated[str | None, Parameter(help="Only before this instant.")]
CaptureKind = Annotated[
    Literal["cells", "pdus"] | None, Parameter(help="Only cells, or only AAL5 PDUs (both by default).")
]
CaptureLimit = Annotated[
    str | None, Parameter(help="Most that a file of the capture may hold, such as 200MB (1 GB by default).")
]
Algorithm = Annotated[
    list[str] | None,
    Parameter(help="A custom algorithm of the scenario: NAME=FILE.py:CLASS. May be given again."),
]
Policy = Annotated[
    list[str] | None,
    Parameter(help="A custom use-it-or-lose-it policy of the scenario: NAME=FILE.py:CLASS. May be given again."),
]
CustomTraffic = Annotated[
    list[str] | None,
    Parameter(help="Custom traffic of the scenario: NAME=FILE.py:CLASS. May be given again."),
]
Threads = Annotated[int, Parameter(help="Threads per run, for large networks; the result does not depend on it.")]


@app.command("run")
def run(
    file: File,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
    sweep: Sweeps = None,
    seeds: Seeds = None,
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
) -> int:
    """Run a scenario, or every point of its sweep."""
    from ..extensions.custom import load
    from ..results.folders import check_apart, plain_name
    from ..running.processes import number_of_workers
    from ..running.runs import prepare, run_into, sweep_into
    from ..running.runs import run as run_one
    from ..sweeps.varying import ON_COMMAND_LINE, varied

    scenario = varied(prepare(file, set=_settings(set), seed=seed), _lists(sweep), seeds, ON_COMMAND_LINE)
    points = [(point.scenario, point.set) for point in scenario.checked_points()]
    custom = load(algorithm, policy, traffic)
    captured = _capture(capture, capture_port, capture_from, capture_until, capture_kind, capture_limit)
    if out is None and (plot or csv):
        out = Path("results") / plain_name(points[0][0])
    check_apart(out, capture)
    number_of_workers(workers, len(points))
    swept = len(points) > 1
    undrawn: list[str] = []
    with _progress(points[0][0].name, quiet=json) as progress:
        if swept and captured is None:
            results = sweep_into(
                out,
                points,
                csv=csv,
                plots=plot,
                workers=workers,
                progress=progress,
                threads=threads,
                custom=custom,
                complain=undrawn.append,
            )
        else:

            def one() -> Result:
                return run_one(
                    scenario,
                    capture=captured,
                    progress=progress,
                    threads=threads,
                    algorithms=custom.algorithms,
                    policies=custom.policies,
                    traffic=custom.traffic,
                )

            results = [run_into(out, one, csv=csv, plots=plot, complain=undrawn.append)]
    if json:
        _print_json(
            {"points": [{"set": result.set, **result.summary} for result in results]} if swept else results[0].summary
        )
        return _lacking(undrawn)
    from ..results.table import print_summary

    for result in results:
        print_summary(result.summary, result.set)
        for written in result.captured:
            print(written)
    if out is not None:
        print(f"Results are in {out}")
    return _lacking(undrawn)


@app.command("watch")
def watch(
    file: File,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
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

    The run begins when somebody has opened the page. It shows the series that the scenario records.
    """
    from ..extensions.custom import load
    from ..results.folders import plain_name
    from ..results.table import print_summary
    from ..running.runs import prepare, run_into
    from ..watching import watch as run_watched

    scenario = prepare(file, set=_settings(set), seed=seed)
    custom = load(algorithm, policy, traffic)
    if out is None and (plot or csv):
        out = Path("results") / plain_name(scenario.points()[0].scenario)
    undrawn: list[str] = []

    def one() -> Result:
        return run_watched(
            scenario,
            speed=speed,
            port=port,
            algorithms=custom.algorithms,
            policies=custom.policies,
            traffic=custom.traffic,
            on_ready=_say_where,
        )

    result = run_into(out, one, csv=csv, plots=plot, complain=undrawn.append)
    print_summary(result.summary, result.set)
    if out is not None:
        print(f"Results are in {out}")
    return _lacking(undrawn)


@app.command("validate")
def validate(file: File, /, *, set: Settings = None) -> int:
    """Check a scenario without running it."""
    from ..running.runs import prepare

    scenario = prepare(file, set=_settings(set))
    points = scenario.checked_points()
    runs = "1 run" if len(points) == 1 else f"{len(points)} runs"
    first = points[0].scenario
    print(f"{file} is sound: {first.name}, {runs} of {first.duration_s:g} s, hash {scenario.hash[:12]}")
    return 0


@app.command("list")
def list_(*, json: Json = False) -> int:
    """List the ready scenarios, each with what it is for."""
    from ..scenario import Scenario, ready_scenarios

    rows = {name: Scenario.load(path).points()[0].scenario.purpose for name, path in ready_scenarios().items()}
    if json:
        _print_json({"scenarios": [{"name": name, "purpose": purpose} for name, purpose in rows.items()]})
    else:
        print(in_two_columns(rows))
    return 0


@app.command("draw")
def draw(
    file: File,
    /,
    *,
    set: Settings = None,
    out: Annotated[
        Path | None, Parameter(help="The picture: .png, .svg or .pdf (NAME.png in this folder by default).")
    ] = None,
) -> int:
    """Draw a scenario's network: switches, hosts, links, and the ways that connections take.

    Of a sweep its first point is drawn.
    """
    from ..plotting.figures import write
    from ..results.folders import plain_name
    from ..running.runs import prepare

    first, *others = prepare(file, set=_settings(set)).points()
    scenario = first.scenario
    if others:
        values = ", ".join(f"{path} = {value}" for path, value in first.set.items())
        print(f"{file} sweeps over {1 + len(others)} points; the picture is of the first: {values}", file=sys.stderr)
    picture = out if out is not None else Path(f"{plain_name(scenario)}.png")
    print(write(scenario.draw(), picture))
    return 0


@app.command("fair")
def fair(
    file: File,
    /,
    *,
    set: Settings = None,
    utilization: Annotated[
        float | None, Parameter(help="Share of each line that is handed out, above 0 to 1; as its port does, without.")
    ] = None,
    json: Json = False,
) -> int:
    """Print the max-min fair rates of a scenario's ABR flows, each taken as greedy; of a sweep those at every point."""
    from ..errors import at_point
    from ..running.runs import prepare

    found = []
    for place, point in enumerate(prepare(file, set=_settings(set)).points()):
        try:
            with at_point(place, point.set):
                found.append((point.set, point.scenario.fair(utilization=utilization)))
        except ValueError as error:
            raise ScenarioError(f"--{error}") from None
    if json:
        flows = [{"set": settings, "flows": [share.__dict__ for share in shares]} for settings, shares in found]
        _print_json({"points": flows} if len(flows) > 1 else {"flows": flows[0]["flows"]})
        return 0
    from rich.console import Console

    from ..results.table import print_fair

    console = Console()
    for settings, shares in found:
        print_fair(console, shares, settings)
    return 0


@app.command("advise")
def advise(
    *,
    link: Annotated[
        str | None, Parameter(help="Rate of the slowest link: 155.52 Mbps, or T1, DS3, OC-3, OC-12.")
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
    simulate: Annotated[bool, Parameter(help="Run the set against the defaults, and show both.")] = False,
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
    if write is not None:
        write_scenario(advised, write)
    comparison = None
    if simulate:
        with _progress("advise", quiet=json) as progress:
            comparison = compare(advised, workers=workers, progress=progress)
    if json:
        _print_json({**advised.content(), "simulation": comparison and comparison.content()})
        return 0
    from rich.console import Console

    from ..results.table import print_advice, print_comparison

    console = Console()
    print_advice(console, advised)
    if comparison is not None:
        print_comparison(console, comparison)
    if write is not None:
        console.print(f"The scenario is in {write}", highlight=False, soft_wrap=True)
    return 0


@app.command("wireshark")
def wireshark(
    *,
    install: Annotated[bool, Parameter(help="Copy it into the folder of your Wireshark plugins.")] = False,
    folder: Annotated[Path | None, Parameter(help="With --install: another folder.")] = None,
    print: Annotated[bool, Parameter(help="Print it.")] = False,
) -> int:
    """Give the Wireshark dissector of RM cells and AAL5 (Lua): print it, install it, or say where it is."""
    from ..wireshark import dissector

    if folder is not None and not install:
        raise CellrateError("--folder needs --install: it is where the dissector is copied to")
    if install:
        sys.stdout.write(f"{dissector.install(folder)}\n")
    if print:
        sys.stdout.write(dissector.SCRIPT.read_text())
    if not install and not print:
        sys.stdout.write(f"{dissector.SCRIPT}\n")
    return 0


@app.command("schema")
def schema() -> int:
    """Print the JSON Schema of scenario files, for editors."""
    from ..scenario import schema as give

    _print_json(give())
    return 0


@app.command("doctor")
def doctor(*, json: Json = False) -> int:
    """Say what this machine lacks for live runs, and how to get it; exit status 3 if there are none without it."""
    from ..live import doctor as looked_for

    found = looked_for.findings()
    status = 3 if looked_for.lacking(found) else 0
    if json:
        _print_json(looked_for.content(found))
        return status
    from rich.console import Console

    from ..live.table import print_findings

    print_findings(Console(), found)
    return status


@live_app.command("run")
def live_run(
    file: File,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
    out: Annotated[
        Path | None, Parameter(help="Folder for the results (results/live/NAME by default); it appears whole.")
    ] = None,
    repeat: Annotated[int, Parameter(help="Runs, each with results of its own.")] = 1,
    attempts: Annotated[int, Parameter(help="How often a run that was out of time is tried, at most.")] = 3,
    distributed: Annotated[
        bool, Parameter(help="A process for each switch, cells in datagrams between them ([live] nodes).")
    ] = False,
    elsewhere: Annotated[
        list[str] | None, Parameter(help="With --distributed: a switch that another machine runs. May be given again.")
    ] = None,
    start: Start = None,
    json: Json = False,
    plot: Annotated[bool, Parameter(help="Draw plots into the folder.")] = False,
    csv: Annotated[bool, Parameter(help="Write the series, and the rows of VCs and ports, as CSV too.")] = False,
    capture: CaptureFolder = None,
    capture_port: CapturePorts = None,
    capture_from: CaptureFrom = None,
    capture_until: CaptureUntil = None,
    capture_kind: CaptureKind = None,
    capture_limit: CaptureLimit = None,
    algorithm: Algorithm = None,
    policy: Policy = None,
    traffic: CustomTraffic = None,
) -> int:
    """Run a scenario with hosts that are network namespaces, real applications on them, and cells in real time.

    A run that fails the verdict on its own timing is tried again; all attempts are kept. Exit status 1 if an
    application failed, or no attempt was in time. A capture is of the last attempt, of the ports of the process that
    has the hosts.
    """
    from ..extensions.custom import load
    from ..live.table import print_live
    from ..live.work import run_and_write

    undrawn: list[str] = []
    runs, folder = run_and_write(
        file,
        set=_settings(set),
        seed=seed,
        out=out,
        repeat=repeat,
        attempts=attempts,
        distributed=distributed,
        elsewhere=elsewhere or [],
        start_unix_ns=_unix_ns(start),
        plots=plot,
        csv=csv,
        capture=_capture(capture, capture_port, capture_from, capture_until, capture_kind, capture_limit),
        watched=lambda name: _progress(name, quiet=json),
        custom=load(algorithm, policy, traffic),
        complain=undrawn.append,
    )
    failed = any(run.failed_applications or not run.in_time for run in runs)
    if json:
        summaries = [run.result.summary for run in runs]
        _print_json(summaries[0] if len(runs) == 1 else {"runs": summaries})
        return _lacking(undrawn) or int(failed)
    from rich.console import Console

    console = Console()
    for run in runs:
        print_live(console, run)
        for written in run.result.captured:
            console.print(str(written), highlight=False, soft_wrap=True)
    console.print(f"Results are in {folder}", highlight=False, soft_wrap=True)
    return _lacking(undrawn) or int(failed)


@live_app.command("watch")
def live_watch(
    file: File,
    /,
    *,
    set: Settings = None,
    seed: Seed = None,
    port: Annotated[int, Parameter(help="Port of the page on 127.0.0.1; a free one by default.")] = 0,
    out: Annotated[
        Path | None, Parameter(help="Folder for the results (results/live/NAME by default); it appears whole.")
    ] = None,
    plot: Annotated[bool, Parameter(help="Draw plots into the folder.")] = False,
    csv: Annotated[bool, Parameter(help="Write the series, and the rows of VCs and ports, as CSV too.")] = False,
    algorithm: Algorithm = None,
    policy: Policy = None,
    traffic: CustomTraffic = None,
) -> int:
    """Run a scenario live, on a page that a browser opens: what it records, as it happens.

    The run begins when somebody has opened the page, and goes by the clock. Otherwise as `cellrate live run`, in one
    process and with one attempt.
    """
    from rich.console import Console

    from ..extensions.custom import load
    from ..live.table import print_live
    from ..live.work import default_folder, run_and_write
    from ..results.folders import replaceable
    from ..running.runs import prepare
    from ..watching.live import page_of

    scenario = prepare(file, set=_settings(set), seed=seed)
    custom = load(algorithm, policy, traffic)
    undrawn: list[str] = []
    if out is None:
        out = default_folder(scenario)
    # Said before somebody opens the page.
    replaceable(out)

    with page_of(scenario, port=port, on_ready=_say_where) as board:
        runs, folder = run_and_write(
            scenario,
            out=out,
            repeat=1,
            attempts=1,
            distributed=False,
            elsewhere=[],
            start_unix_ns=None,
            plots=plot,
            csv=csv,
            capture=None,
            watched=lambda _: contextlib.nullcontext(),
            look=board.add,
            custom=custom,
            complain=undrawn.append,
        )
        board.end(runs[0].result)
    console = Console()
    print_live(console, runs[0])
    console.print(f"Results are in {folder}", highlight=False, soft_wrap=True)
    return _lacking(undrawn) or int(bool(runs[0].failed_applications) or not runs[0].in_time)


@live_app.command("node")
def live_node(
    file: File,
    node: Annotated[list[str], Parameter(help="Nodes of the scenario that this process is.")],
    /,
    *,
    set: Settings = None,
    start: Start = None,
    figures: Annotated[Path | None, Parameter(help="File for the figures, as JSON; printed without it.")] = None,
    algorithm: Algorithm = None,
    policy: Policy = None,
    traffic: CustomTraffic = None,
) -> int:
    """Run nodes of a scenario in this process, with cells in datagrams to and from the others ([live] nodes)."""
    from ..extensions.custom import load
    from ..live.distribution import run_node
    from ..running.runs import prepare

    scenario = prepare(file, set=_settings(set)).points()[0].scenario
    summary = run_node(scenario, node, _unix_ns(start), figures, load(algorithm, policy, traffic))
    if figures is None:
        _print_json(summary)
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
        _print_json({"throughput": [asdict(row) for row in rows]})
        return 0
    from rich.console import Console

    from ..live.table import print_throughput

    print_throughput(Console(), rows)
    return 0


@paper_app.command("list")
def paper_list(*, json: Json = False) -> int:
    """List the papers."""
    from ..papers import PAPERS

    if json:
        _print_json({"papers": [{"name": name, "title": title} for name, title in PAPERS.items()]})
    else:
        print(in_two_columns(PAPERS))
    return 0


@paper_app.command("run")
def paper_run(
    name: Annotated[str, Parameter(help="A name from cellrate paper list.")],
    /,
    *,
    quick: Annotated[bool, Parameter(help="Only what the claims need, without the rows on sensitivity.")] = False,
    out: Annotated[Path | None, Parameter(help="Folder for the report (results/papers/NAME by default).")] = None,
    live: Annotated[
        bool,
        Parameter(help="Run the live half too, five runs a case, for a column of its own; for papers that have one."),
    ] = False,
    json: Json = False,
    workers: Workers = None,
) -> int:
    """Run a paper's experiments, check its claims, and write the report."""
    from ..papers import load_paper
    from ..papers.paper import kept_runs
    from ..results.folders import REPORT, replaceable
    from ..running.processes import number_of_workers

    paper = load_paper(name)
    folder = out if out is not None else Path("results") / "papers" / name
    number_of_workers(workers, 1)
    measured = None
    if live:
        if paper.live is None:
            raise CellrateError(f"paper {name!r} has no live half")
        replaceable(folder, REPORT)
        # First, and alone: real time does not bear company.
        with _progress(f"{name}, live", quiet=json) as progress:
            measured = paper.live(paper.folder / "scenarios", kept_runs(folder), progress)
    with _progress(name, quiet=json) as progress:
        report = paper.run(folder, quick=quick, workers=workers, progress=progress, live=measured)
    _show_report(report, folder, json=json)
    return 0


@paper_app.command("report")
def paper_report(
    folder: Annotated[Path, Parameter(help="What paper run wrote.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Show the claims of a report that is there already."""
    from ..papers.report import read_report

    _show_report(read_report(folder), folder, json=json)
    return 0


_told_to_end: signal.Signals | None = None
"""Which signal came that is an interrupt with another exit status."""

TO_END = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
"""Such signals, and what is said of them; SIGHUP comes when the terminal is closed."""


def main() -> None:
    """Run the command line and end the process."""
    for number in TO_END:
        # With nohup it is ignored, and stays so.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal has no letters for is no reason to end.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(status(sys.argv[1:]))


def _interrupt(number: int, _frame: object) -> None:
    global _told_to_end
    if _told_to_end is None or number == signal.SIGTERM:
        _told_to_end = signal.Signals(number)
        raise KeyboardInterrupt
    # A terminal that is closed may say so twice, of which the second would end what the first has begun.


def status(arguments: list[str]) -> int:
    """Run the command line and give the exit status; errors are a paragraph on stderr."""
    try:
        return app(arguments)
    except UsageError as error:
        return _complain(f"{error} (cellrate --help says what there is.)", 2)
    except (KeyboardInterrupt, Interrupted):
        return _ended()
    except RunError as error:
        return _complain(str(error), 1)
    except LiveUnavailable as error:
        return _complain(str(error), 3)
    except (ScenarioError, CellrateError) as error:
        return _complain(str(error), 2)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        with contextlib.suppress(OSError):
            sys.stdout.close()
        return 0
    except OSError as error:
        # That the terminal is gone may be noticed in the middle of what is to be done because it is.
        return _complain(str(error), 1) if _told_to_end is None else _ended()


def _ended() -> int:
    if _told_to_end is None:
        return _complain("interrupted", 1)
    # As a shell has it: 128, and the signal.
    return _complain(TO_END[_told_to_end], 128 + _told_to_end)


def _complain(text: str, exit_status: int) -> int:
    # Without a terminal there is nobody to tell.
    with contextlib.suppress(OSError):
        print(f"cellrate: {text}", file=sys.stderr)
    return exit_status


def _lacking(complaints: list[str]) -> int:
    """Say what results lack, and give the exit status."""
    for text in complaints:
        _complain(text, 1)
    return int(bool(complaints))


def _settings(pairs: list[str] | None) -> dict[str, object]:
    settings: dict[str, object] = {}
    for pair in pairs or []:
        path, equals, value = pair.partition("=")
        if not equals or not path.strip():
            raise ScenarioError(f"--set {pair}: write a dotted path, = and a value, such as duration=200ms")
        settings[path.strip()] = value.strip()
    return settings


def _lists(pairs: list[str] | None) -> dict[str, list[object]]:
    """Read what `--sweep` was given: paths, each with a list of values as TOML."""
    import tomllib

    how = 'write a dotted path, = and a list of values, such as defaults.abr.nrm=[8, 32] or duration=["1 s", "2 s"]'
    lists: dict[str, list[object]] = {}
    for pair in pairs or []:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not path:
            raise ScenarioError(f"--sweep {pair}: {how}")
        if path in lists:
            raise ScenarioError(f"--sweep {pair}: {path} is swept over already; give all its values in one list")
        try:
            table = tomllib.loads(f"values = {text}")
        except tomllib.TOMLDecodeError:
            table = {}
        if len(table) != 1 or not isinstance(table["values"], list):
            raise ScenarioError(f"--sweep {pair}: this is no list; {how}")
        lists[path] = table["values"]
    return lists


def _say_where(address: str) -> None:
    print(f"Open {address}; Ctrl-C ends the run.", flush=True)


def _capture(
    folder: Path | None,
    ports: list[str] | None,
    start: str | None,
    end: str | None,
    kind: Literal["cells", "pdus"] | None,
    limit: str | None,
) -> Capture | None:
    """Give the capture that the options ask for."""
    options = {"port": ports, "from": start, "until": end, "kind": kind, "limit": limit}
    given = [f"--capture-{name}" for name, value in options.items() if value is not None]
    if folder is None:
        if given:
            raise CellrateError(f"{given[0]} needs --capture and a folder")
        return None
    from ..wireshark.capture import DEFAULT_LIMIT_OCTETS, Capture
    from .asking import octets, seconds

    return Capture(
        folder=folder,
        ports=ports,
        start_s=0.0 if start is None else seconds(start),
        end_s=None if end is None else seconds(end),
        cells=kind != "pdus",
        pdus=kind != "cells",
        limit_octets=DEFAULT_LIMIT_OCTETS if limit is None else octets(limit),
    )


def _unix_ns(start: str | None) -> int | None:
    if start is None or start.isdigit():
        return None if start is None else int(start)
    from datetime import datetime

    try:
        instant = datetime.fromisoformat(start)
    except ValueError:
        raise CellrateError(f"--start {start}: write an instant such as 2026-11-21T12:00:00+00:00") from None
    return int(instant.timestamp() * 1e9)


@contextlib.contextmanager
def _progress(name: str, *, quiet: bool) -> Iterator[Callable[[float], object] | None]:
    """Show a bar, but only to somebody who watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def _print_json(content: Any) -> None:
    print(json.dumps(content, indent=2, allow_nan=False))


def _show_report(report: Any, folder: Path, *, json: bool) -> None:
    if json:
        _print_json(report.content())
        return
    from rich.console import Console

    from ..papers.report import print_claims

    print_claims(Console(), report)
    print(f"Report: {folder / 'report.html'}")
