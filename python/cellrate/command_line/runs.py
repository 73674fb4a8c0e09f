"""`cellrate run` and `cellrate watch`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .again import command as again
from .app import app
from .options import (
    AllowFiles,
    Captured,
    Chosen,
    Cluster,
    Csv,
    Custom,
    Each,
    File,
    Files,
    Fresh,
    Host,
    Json,
    Out,
    Plot,
    Port,
    Seeds,
    Sweeps,
    Threads,
    Until,
    Workers,
    lists_of,
    point_of,
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
)
from .typed import Parameter

if TYPE_CHECKING:
    from ..campaigns.sweep import Sweep
    from ..campaigns.until import Unmet
    from ..plugins.collection import Plugins
    from ..results import Result
    from ..running.points import Point, Progress
    from ..scenario import Scenario
    from ..sweeps.figures import Precision
    from ..sweeps.several import SeveralPoints
    from ..sweeps.varying import Points
    from ..wireshark.capture import Capture


@dataclass(frozen=True, kw_only=True)
class Study:
    """Options of `cellrate run` that say over what a scenario is run, and where its points run."""

    sweep: Sweeps = None
    seeds: Seeds = None
    until: Until = None
    workers: Workers = None
    threads: Threads = 1
    cluster: Cluster = None
    fresh: Fresh = False

    def most_seeds(self) -> int | None:
        """Give the number of seeds of each point, at most where `--until` adds them."""
        if not self.until:
            return self.seeds
        from ..campaigns.until import MOST

        return MOST if self.seeds is None else self.seeds

    def precisions(self) -> list[Precision]:
        """Read `--until`."""
        from ..sweeps.figures import Precision

        return [Precision.read(text) for text in self.until or []]


@app.command("run")
def run(
    files: Files,
    /,
    *,
    chosen: Chosen,
    allow_files: AllowFiles = None,
    study: Study,
    out: Out = None,
    json: Json = False,
    each: Each = False,
    plot: Plot = False,
    csv: Csv = False,
    captured: Captured,
    custom: Custom,
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
    from ..sweeps.naming import lists_in_full, own_names
    from ..sweeps.several import points_of
    from ..sweeps.varying import ON_COMMAND_LINE

    plugins = custom.load()
    prepared = [chosen.scenario(file, plugins, allow_files, is_drawn=plot) for file in files]
    precisions = study.precisions()
    over = lists_in_full(lists_of(study.sweep), own_names(plugins.all()))
    points = points_of(prepared, over, study.most_seeds(), ON_COMMAND_LINE)
    file = ", ".join(files)
    if command is not None:
        if chosen.point:
            raise CellrateError("--command and --point both pick a point; leave one out")
        place = _place(points, [command], file)
        part = points.scenario_at(place)
        options = {"--record": chosen.record, "--allow-files": allow_files}
        options |= {f"--{kind}": given for kind, given in vars(custom).items()}
        tell(again(files[part], prepared[part], chosen.set or [], points[place][1], chosen.seed, options))
        return 0
    if chosen.point:
        if study.until:
            raise CellrateError("--until adds seeds to all points; leave --point out, or give --seeds")
        points = points.only(_place(points, chosen.point, file))
    out = _folder(prepared, study, len(points), out, is_wanted=plot or csv)
    runs = _Runs(file, points, plugins, study, precisions, out, csv, plot, captured.read())
    runs.check()
    title = prepared[0].name if len(prepared) == 1 else f"{len(prepared)} scenarios"
    with own_output_aside(json), progress_bar(title, quiet=json, points=len(points)) as progress:
        results, unmet = runs.do(progress)
    _print(results, out, json=json, each=each, is_swept=len(points) > 1)
    if unmet and not json:
        more = f" and {len(unmet) - 5} more" if len(unmet) > 5 else ""
        return complain(f"not as sure as was asked for: {'; '.join(map(str, unmet[:5]))}{more}", 1)
    return warn_and_exit_status(runs.undrawn)


def _place(points: Points | SeveralPoints, texts: list[str], file: str) -> int:
    """Give the place of the point that `--point` or `--command` means."""
    from ..sweeps.picking import place_of

    meant = point_of(texts)
    assert meant is not None
    return place_of([settings for _, settings in points], meant, file)


def _folder(
    prepared: Sequence[Scenario], study: Study, points: int, out: Path | None, *, is_wanted: bool
) -> Path | None:
    """Give the folder for the results: the one that is given, or one by the scenario's name where there must be one."""
    from ..folders.replaceable import plain_name

    if out is not None or not (is_wanted or study.until or (points > 1 and study.cluster is not None)):
        return out
    more = f"-and-{len(prepared) - 1}-more" if len(prepared) > 1 else ""
    return Path("results") / (plain_name(prepared[0]) + more)


@dataclass
class _Runs:
    """The runs of a study, with all that the options say of them."""

    file: str
    points: Points | SeveralPoints
    plugins: Plugins
    study: Study
    precisions: Sequence[Precision]
    out: Path | None
    csv: bool
    plots: bool
    capture: Capture | None
    undrawn: list[str] = field(default_factory=list)
    """Pictures that could not be drawn."""
    _is_begun: bool = False

    def check(self) -> None:
        """Refuse options that do not go together, before anything runs."""
        from ..folders.replaceable import check_apart
        from ..running.processes import number_of_workers
        from ..sweeps.picking import listed

        count = len(self.points)
        if count > 1 and self.capture is not None:
            raise CellrateError(
                f"{self.file} sweeps over {count} points; a capture is of one run. --point N picks one of them:\n"
                f"{listed([settings for _, settings in self.points])}"
            )
        check_apart(self.out, None if self.capture is None else self.capture.folder)
        number_of_workers(self.study.workers, count)
        if count == 1 and self.study.cluster is not None:
            raise CellrateError(
                f"--cluster {self.study.cluster}: {self.file} is a single run, which needs no cluster; add --sweep or "
                "--seeds"
            )
        _say_if_alone(self.points[0][0], self.study.threads)

    def do(self, progress: Progress | None) -> tuple[Sequence[Result], list[Unmet]]:
        """Give the results in the order of the points, and which figures are less sure than was asked for."""
        from ..running.into_folders import run_into, run_without_folder

        if self.precisions and self.capture is None:
            from ..campaigns.until import sweep_until

            return sweep_until(self.points, self.precisions, lambda some: self._into(some, None))
        if len(self.points) == 1:
            one, complain = partial(self._one, progress), self.undrawn.append
            return [run_into(self.out, one, csv=self.csv, plots=self.plots, complain=complain)], []
        if self.out is not None:
            return self._into(self.points, progress), []
        workers, threads = self.study.workers, self.study.threads
        return run_without_folder(
            self.points, workers=workers, progress=progress, threads=threads, plugins=self.plugins
        ), []

    def _into(self, some: Sequence[Point], progress: Progress | None) -> Sweep:
        from ..campaigns.running import sweep_into

        assert self.out is not None
        fresh, self._is_begun = self.study.fresh and not self._is_begun, True
        return sweep_into(
            self.out,
            some,
            csv=self.csv,
            plots=self.plots,
            workers=self.study.workers,
            progress=progress,
            threads=self.study.threads,
            plugins=self.plugins,
            executor=self.study.cluster,
            fresh=fresh,
            complain=lambda text: say(text) if "could not be drawn" not in text else self.undrawn.append(text),
            name="--cluster",
        )

    def _one(self, progress: Progress | None) -> Result:
        from ..running.runs import run as run_one

        scenario, settings = self.points[0]
        threads = self.study.threads
        result = run_one(scenario, capture=self.capture, progress=progress, threads=threads, **self.plugins.keywords())
        result.settings = dict(settings)
        return result


def _print(results: Sequence[Result], out: Path | None, *, json: bool, each: bool, is_swept: bool) -> None:
    """Print the summaries, or tables and where files are."""
    if json:
        if is_swept:
            print_points({"set": result.set, **result.summary} for result in results)
        else:
            print_json(results[0].summary)
        return
    from ..sweeps.table import print_runs

    print_runs(results, each=each)
    if not is_swept:
        for written in results[0].captured:
            tell(written)
    if out is not None:
        tell(f"Results are in {out}")


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
    chosen: Chosen,
    speed: Annotated[
        float | None, Parameter(help="Network time per time, such as 0.01; so that the run takes 20 s by default.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    custom: Custom,
    out: Out = None,
    plot: Plot = False,
    csv: Csv = False,
) -> int:
    """Run a scenario before your eyes, on a page that a browser opens: panels that grow, slow motion, pause.

    The run begins when the page has been opened. It shows the series that the scenario records, or ACR and queues
    if it records none.
    """
    from ..folders.replaceable import plain_name
    from ..recorded.groups import groups_of
    from ..recorded.table import print_summary
    from ..running.into_folders import run_into
    from ..sweeps.picking import one_point
    from ..watching import watch as run_watched

    plugins = custom.load()
    scenario = chosen.scenario(file, plugins, is_drawn=True)
    picked = point_of(chosen.point)
    shown = one_point(scenario, picked, "a page shows one run").scenario
    if out is None and (plot or csv):
        out = Path("results") / plain_name(shown)
    undrawn: list[str] = []

    def one() -> Result:
        return run_watched(
            scenario,
            point=picked,
            speed=speed,
            host=host,
            port=port,
            on_ready=partial(say_where, host=host),
            **plugins.keywords(),
        )

    result = run_into(out, one, csv=csv, plots=plot, complain=undrawn.append)
    print_summary(result.summary, result.settings, groups_of(result.toml))
    if out is not None:
        tell(f"Results are in {out}")
    return warn_and_exit_status(undrawn)
