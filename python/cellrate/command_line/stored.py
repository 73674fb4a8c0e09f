"""Results that are in folders already: `cellrate show`, `cellrate plot` and `cellrate export`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .app import app
from .options import Each, Json, Points, point_of
from .output import print_json, print_points, tell
from .typed import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..results import Result
    from ..sweeps.for_papers import Write

Folder = Annotated[Path, Parameter(help="A folder of results, as `cellrate run --out` writes it.")]
Folders = Annotated[
    list[Path],
    Parameter(help="A folder of results, as `cellrate run --out` writes it. Several are one study, with a key result."),
]


@app.command("show")
def show(
    folders: Folders,
    /,
    *,
    json: Json = False,
    by: Annotated[
        list[str] | None,
        Parameter(
            help="Show a row for each value of this key, such as nrm, with means over all else. May be given again."
        ),
    ] = None,
    csv: Annotated[bool, Parameter(help="Print the table of a sweep as CSV, with all digits.")] = False,
    latex: Annotated[bool, Parameter(help="Print tables in LaTeX, for the package booktabs.")] = False,
    markdown: Annotated[bool, Parameter(help="Print tables in Markdown.")] = False,
    each: Each = False,
    point: Points = None,
) -> int:
    """Print the tables of a run again, of a sweep, of live runs, or of several of these in one.

    Of a sweep that still runs, or was interrupted, it shows the points that are there.
    """
    from ..campaigns.reading import folders_of, load_together
    from ..folders.replaceable import CAMPAIGN, of_a_live_run
    from ..results.reading import summary_in, told_of
    from ..sweeps.for_papers import latex as as_latex
    from ..sweeps.for_papers import markdown as as_markdown
    from ..sweeps.for_papers import print_tables
    from ..sweeps.overview import print_csv, print_overview, settings_in
    from ..sweeps.settings import named
    from ..sweeps.table import print_runs

    forms = {"--json": json, "--csv": csv, "--latex": latex, "--markdown": markdown}
    asked = [option for option, given in forms.items() if given]
    if len(asked) > 1:
        raise CellrateError(f"{asked[0]} and {asked[1]} are two forms of one table; leave one out")
    table = as_latex if latex else as_markdown if markdown else None
    folder = folders[0]
    with told_of(folder):
        results = load_together(folders)
        missing = len(results.missing)
        if not len(results):
            raise CellrateError(f"{folder}: none of {missing} points is there yet")
        if point:
            if csv or by:
                raise CellrateError(f"--point shows a single run; leave {'--csv' if csv else '--by'} out")
            _show_one(_picked(folder, results, point), json, table, each=each)
            return 0
        if json and (len(folders) > 1 or (folder / CAMPAIGN).is_file()):
            print_points({"set": result.set, **result.summary} for result in results)
        elif json:
            print_json(summary_in(folder))
        elif csv:
            print_csv(results, by or [])
        elif table is not None:
            print_tables(results, by or [], table, each=each)
        elif by:
            print_overview(results, by, title=named(results[0].summary, settings_in(results)))
        elif len(folders) == 1 and of_a_live_run(results[0].summary):
            from ..live.reading import load_live
            from .live import print_runs as print_live_runs

            print_live_runs([load_live(one) for one in folders_of(folder)])
        else:
            print_runs(results, each=each)
    if missing:
        made = f"the command that made {', '.join(map(str, folders))} goes on with them"
        tell(f"{missing} of {len(results) + missing} points are missing; {made}.")
    return 0


def _show_one(result: Result, json: bool, table: Write | None, *, each: bool) -> None:
    """Print the tables of one point of a sweep."""
    if json:
        print_json(result.summary)
    elif table is not None:
        from ..sweeps.for_papers import print_tables

        result.settings = {}
        print_tables([result], [], table, each=each)
    else:
        from ..sweeps.table import print_runs

        print_runs([result], each=each)


@app.command("export")
def export(
    folder: Folder,
    /,
    *,
    out: Annotated[Path, Parameter(help="Where, without an ending: OUT.sca and OUT.vec are written.")],
) -> int:
    """Write the results of a run or a sweep as scalar and vector files of OMNeT++, which opp_scavetool reads.

    Of a sweep each point that is there is a run, with its settings as iteration variables.
    """
    from ..campaigns.reading import load_sweep
    from ..results.omnetpp import write_omnetpp
    from ..results.reading import told_of

    with told_of(folder):
        results = load_sweep(folder)
        if not len(results):
            raise CellrateError(f"{folder}: none of {len(results.missing)} points is there yet")
        every = list(results)
    for file in write_omnetpp(every, out):
        print(file)
    return 0


def _picked(folder: Path, results: Sequence[Result], point: list[str]) -> Result:
    """Give the result of the point that is meant."""
    from ..sweeps.overview import settings_in
    from ..sweeps.picking import place_of

    meant = point_of(point)
    assert meant is not None
    return results[place_of(settings_in(results), meant, str(folder))]


@dataclass(frozen=True, kw_only=True)
class Multiples:
    """Options of a picture of one figure over what was varied."""

    figure: Annotated[
        str | None,
        Parameter(
            help="Of a sweep this figure alone: vcs.throughput (of all together), 'each abr vcs.p99_delay'; with "
            "--over, --heat or --distribution."
        ),
    ] = None
    over: Annotated[str | None, Parameter(help="Draw --figure over this key, with 95 % intervals.")] = None
    heat: Annotated[str | None, Parameter(help="Draw --figure as a map over two keys, such as rif,rdf.")] = None
    distribution: Annotated[
        str | None, Parameter(help="Draw the distribution of --figure for each value of this key.")
    ] = None
    by: Annotated[
        list[str] | None,
        Parameter(help="A key whose values have panels of their own: a column each, and a row each when given again."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OfSeries:
    """Options of a picture of series, or of distributions over a whole run."""

    beside: Annotated[
        list[Path] | None, Parameter(help="A folder of results to draw in the same panels. May be given again.")
    ] = None
    probe: Annotated[
        list[str] | None, Parameter(help="Only this probe, such as acr; all by default. May be given again.")
    ] = None
    entity: Annotated[
        str | None, Parameter(help="Only what is of this VC, port or entry of flows, such as sw1->sw2.")
    ] = None
    from_: Annotated[str | None, Parameter(name="--from", help="Only from this instant on, such as 10ms.")] = None
    until: Annotated[str | None, Parameter(help="Only up to this instant.")] = None
    delays: Annotated[bool, Parameter(help="Draw the distributions of the delays of cells.")] = False
    completion_times: Annotated[
        bool, Parameter(help="Draw the distributions of completion times of flows, a line for each class of sizes.")
    ] = False
    together: Annotated[
        bool, Parameter(help="Draw all points of a sweep in the same panels, instead of a panel for each.")
    ] = False

    def first_of(self, *names: str) -> str | None:
        """Give the first of these options that is given."""
        return next((f"--{name.rstrip('_')}" for name in names if getattr(self, name) is not None), None)

    def span(self) -> tuple[float, float] | None:
        """Give the part of the time that is drawn [s]."""
        from .asking import seconds

        if self.from_ is None and self.until is None:
            return None
        return seconds(self.from_ or "0 s"), seconds(self.until) if self.until else float("inf")


@app.command("plot")
def plot(
    folders: Folders,
    /,
    *,
    multiples: Multiples,
    series: OfSeries,
    point: Points = None,
    out: Annotated[
        Path | None, Parameter(help="The picture: .png, .svg or .pdf (NAME.png in this folder by default).")
    ] = None,
) -> int:
    """Draw series of a run anew, some of them or a part of the time, or those of several runs or sweeps together.

    Of a sweep the figures are drawn over what was varied; with --figure, one of them in the way that is asked for; with
    --probe, the series of all points, a panel for each; with --point, the series of that one.
    """
    from ..campaigns.reading import load_sweep, load_together
    from ..drawing.figures import write
    from ..folders.replaceable import plain_name
    from ..results.reading import told_of
    from ..scenario import Scenario

    folder = folders[0]
    with told_of(folder):
        found: dict[Path, Sequence[Result]] = {}
        if len(folders) > 1 and not point and _is_of_figures(folders, multiples.figure, series.probe):
            found[folder] = load_together(folders)
        else:
            for place in (*folders, *(series.beside or [])):
                sweep = load_sweep(place)
                is_picked = point and (place in folders or len(sweep) > 1)
                found[place] = [_picked(place, sweep, point or [])] if is_picked else sweep
        drawn = _drawn(folder, found, multiples, series)
    if out is None:
        toml = found[folder][0].toml
        out = Path(plain_name(Scenario.parse(toml, file=str(folder / "scenario.toml"))) + ".png")
    tell(f"Plot: {write(drawn, out)}")
    return 0


def _drawn(folder: Path, found: dict[Path, Sequence[Result]], multiples: Multiples, series: OfSeries) -> Figure:
    """Draw the picture that the options mean, of the results of some folders, the first of which is `folder`."""
    results = found[folder]
    if any(value is not None for value in vars(multiples).values()):
        drawn = _multiples(folder, results, multiples)
        if other := series.first_of("beside", "probe", "entity", "from_", "until"):
            raise CellrateError(f"{other} is for series, and --figure draws none")
        return drawn
    if series.delays or series.completion_times:
        return _distributions(found, results, series)
    if len(results) > 1 and not series.probe:
        if given := series.first_of("beside", "entity", "from_", "until"):
            raise CellrateError(f"{folder} is of {len(results)} runs; {given} needs --probe, and draws their series")
        return _over_what_was_varied(folder, results)
    probes, entity = series.probe or [], series.entity
    try:
        if len(found) == 1 and len(results) > 1 and not series.beside and not series.together:
            from ..plotting.each_point import figure as each_point

            return each_point(results, probes, entity=entity, time=series.span())
        from ..plotting.together import plot as plot_together

        return plot_together(_by_name(found), *probes, entity=entity, time=series.span())
    except ValueError as error:
        raise CellrateError(str(error)) from None


def _distributions(found: dict[Path, Sequence[Result]], results: Sequence[Result], series: OfSeries) -> Figure:
    option = "--delays" if series.delays else "--completion-times"
    if given := series.first_of("probe", "from_", "until"):
        raise CellrateError(f"{option} draws distributions over the whole run; leave {given} out")
    if series.delays and series.completion_times:
        raise CellrateError("--delays and --completion-times are pictures of their own; leave one out")
    named, only = _by_name(found, always=len(results) > 1), [series.entity] if series.entity else []
    if series.delays:
        from ..plotting.delays import figure as delays

        return delays(named, only)
    from ..plotting.completion_times import figure as completion_times

    return completion_times(named, only)


def _is_of_figures(folders: Sequence[Path], figure: str | None, probe: list[str] | None) -> bool:
    """Whether a picture of several folders is one of figures over what was varied, and not of series."""
    from ..campaigns.reading import load_sweep

    return figure is not None or (not probe and any(len(load_sweep(folder)) > 1 for folder in folders))


def _multiples(folder: Path, results: Sequence[Result], asked: Multiples) -> Figure:
    from ..plotting import multiples

    shown, by = asked.figure, asked.by or []
    if shown is None or [asked.over, asked.heat, asked.distribution].count(None) != 2:
        raise CellrateError("--figure needs one of --over, --heat and --distribution, and each of these needs --figure")
    if not len(results) or not results[0].settings:
        raise CellrateError(f"{folder}: nothing was varied that {shown} could be drawn over")
    if asked.heat is not None:
        return multiples.heat(results, shown, [key.strip() for key in asked.heat.split(",")], by)
    if asked.over is not None:
        return multiples.over(results, shown, asked.over, by)
    assert asked.distribution is not None
    return multiples.distribution(results, shown, asked.distribution, by)


def _over_what_was_varied(folder: Path, results: Sequence[Result]) -> Figure:
    from ..plotting.sweeps import figure

    drawn = figure(results)
    if drawn is None:
        raise CellrateError(f"{folder}: nothing was varied that a picture could be drawn over")
    return drawn


def _by_name(found: dict[Path, Sequence[Result]], *, always: bool = True) -> dict[str, Result]:
    """Name results by their folders and by what points of a sweep set; a single one perhaps by nothing."""
    from ..sweeps.settings import names_by_settings

    short = {place: place.resolve().name for place in found}
    results: dict[str, Result] = {}
    for place, some in found.items():
        name = short[place] if list(short.values()).count(short[place]) == 1 else str(place)
        if len(some) == 1:
            results[name] = some[0]
        else:
            names = names_by_settings([one.settings for one in some])
            before = f"{name}: " if len(found) > 1 else ""
            results |= {before + point: one for point, one in zip(names, some, strict=True)}
    return results if always or len(results) > 1 else {"": next(iter(results.values()))}
