"""Results that are in folders already: `cellrate show`, `cellrate plot` and `cellrate export`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    folder = folders[0]
    with told_of(folder):
        results = load_together(folders)
        missing = len(results.missing)
        if not len(results):
            raise CellrateError(f"{folder}: none of {missing} points is there yet")
        if point:
            if csv or by:
                raise CellrateError(f"--point shows a single run; leave {'--csv' if csv else '--by'} out")
            one = _picked(folder, results, point)
            if json:
                print_json(one.summary)
            elif latex or markdown:
                one.settings = {}
                print_tables([one], [], as_latex if latex else as_markdown, each=each)
            else:
                print_runs([one], each=each)
            return 0
        if json and (len(folders) > 1 or (folder / CAMPAIGN).is_file()):
            print_points({"set": result.set, **result.summary} for result in results)
        elif json:
            print_json(summary_in(folder))
        elif csv:
            print_csv(results, by or [])
        elif latex or markdown:
            print_tables(results, by or [], as_latex if latex else as_markdown, each=each)
        elif by:
            print_overview(results, by, title=named(results[0].summary, settings_in(results)))
        elif len(folders) == 1 and of_a_live_run(results[0].summary):
            _print_live(folders_of(folder))
        else:
            print_runs(results, each=each)
    if missing:
        total = len(results) + missing
        made = ", ".join(map(str, folders))
        tell(f"{missing} of {total} points are missing; the command that made {made} goes on with them.")
    return 0


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


def _print_live(folders: Sequence[Path]) -> None:
    from ..live.reading import load_live
    from ..live.table import print_live, print_repeated
    from ..terminal import Console

    runs = [load_live(folder) for folder in folders]
    for run in runs:
        print_live(Console(), run)
    if len(runs) > 1:
        print_repeated(Console(), [run.result.summary for run in runs])


@app.command("plot")
def plot(
    folders: Folders,
    /,
    *,
    beside: Annotated[
        list[Path] | None, Parameter(help="A folder of results to draw in the same panels. May be given again.")
    ] = None,
    probe: Annotated[
        list[str] | None, Parameter(help="Only this probe, such as acr; all by default. May be given again.")
    ] = None,
    entity: Annotated[
        str | None, Parameter(help="Only what is of this VC, port or entry of flows, such as sw1->sw2.")
    ] = None,
    figure: Annotated[
        str | None,
        Parameter(
            help="Of a sweep this figure alone: vcs.throughput (of all together), 'each abr vcs.p99_delay'; with "
            "--over, --heat or --distribution."
        ),
    ] = None,
    over: Annotated[str | None, Parameter(help="Draw --figure over this key, with 95 % intervals.")] = None,
    heat: Annotated[str | None, Parameter(help="Draw --figure as a map over two keys, such as rif,rdf.")] = None,
    distribution: Annotated[
        str | None, Parameter(help="Draw the distribution of --figure for each value of this key.")
    ] = None,
    by: Annotated[
        list[str] | None,
        Parameter(help="A key whose values have panels of their own: a column each, and a row each when given again."),
    ] = None,
    point: Points = None,
    delays: Annotated[bool, Parameter(help="Draw the distributions of the delays of cells.")] = False,
    completion_times: Annotated[
        bool, Parameter(help="Draw the distributions of completion times of flows, a line for each class of sizes.")
    ] = False,
    together: Annotated[
        bool, Parameter(help="Draw all points of a sweep in the same panels, instead of a panel for each.")
    ] = False,
    from_: Annotated[str | None, Parameter(name="--from", help="Only from this instant on, such as 10ms.")] = None,
    until: Annotated[str | None, Parameter(help="Only up to this instant.")] = None,
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
        results: Sequence[Result]
        if len(folders) > 1 and not point and _is_of_figures(folders, figure, probe):
            results = load_together(folders)
            found[folder] = results
        else:
            for place in (*folders, *(beside or [])):
                sweep = load_sweep(place)
                is_picked = point and (place in folders or len(sweep) > 1)
                found[place] = [_picked(place, sweep, point or [])] if is_picked else sweep
            results = found[folder]
        drawn: Figure
        ways = {"--over": over, "--heat": heat, "--distribution": distribution}
        asked = [option for option, value in ways.items() if value is not None]
        if figure is not None or asked or by:
            drawn = _multiples(folder, results, figure, {option: ways[option] or "" for option in asked}, by or [])
            series = {"--beside": beside, "--probe": probe, "--entity": entity, "--from": from_, "--until": until}
            other = [option for option, value in series.items() if value is not None]
            if other:
                raise CellrateError(f"{other[0]} is for series, and --figure draws none")
        elif delays or completion_times:
            option = "--delays" if delays else "--completion-times"
            given = [option for option, value in {"--probe": probe, "--from": from_, "--until": until}.items() if value]
            if given:
                raise CellrateError(f"{option} draws distributions over the whole run; leave {given[0]} out")
            if delays and completion_times:
                raise CellrateError("--delays and --completion-times are pictures of their own; leave one out")
            named, only = _by_name(found, always=len(results) > 1), [entity] if entity else []
            if delays:
                from ..plotting.delays import figure as delays_figure

                drawn = delays_figure(named, only)
            else:
                from ..plotting.completion_times import figure as completion_times_figure

                drawn = completion_times_figure(named, only)
        elif len(found) == 1 and len(results) > 1 and probe and not beside and not together:
            from ..plotting.each_point import figure as each_point

            try:
                drawn = each_point(results, probe, entity=entity, time=_span(from_, until))
            except ValueError as error:
                raise CellrateError(str(error)) from None
        elif len(results) > 1 and not probe:
            options = {"--beside": beside, "--entity": entity, "--from": from_, "--until": until}
            given = [option for option, value in options.items() if value is not None]
            if given:
                raise CellrateError(
                    f"{folder} is of {len(results)} runs; {given[0]} needs --probe, and draws their series"
                )
            drawn = _over_what_was_varied(folder, results)
        else:
            drawn = _series(found, probe or [], entity, from_, until)
    if out is None:
        out = Path(plain_name(Scenario.parse(results[0].toml, file=str(folder / "scenario.toml"))) + ".png")
    tell(f"Plot: {write(drawn, out)}")
    return 0


def _is_of_figures(folders: Sequence[Path], figure: str | None, probe: list[str] | None) -> bool:
    """Whether a picture of several folders is one of figures over what was varied, and not of series."""
    from ..campaigns.reading import load_sweep

    return figure is not None or (not probe and any(len(load_sweep(folder)) > 1 for folder in folders))


def _multiples(
    folder: Path, results: Sequence[Result], shown: str | None, ways: Mapping[str, str], by: list[str]
) -> Figure:
    from ..plotting import multiples

    if shown is None or len(ways) != 1:
        raise CellrateError("--figure needs one of --over, --heat and --distribution, and each of these needs --figure")
    if not len(results) or not results[0].settings:
        raise CellrateError(f"{folder}: nothing was varied that {shown} could be drawn over")
    ((way, keys),) = ways.items()
    if way == "--heat":
        return multiples.heat(results, shown, [key.strip() for key in keys.split(",")], by)
    draw = multiples.over if way == "--over" else multiples.distribution
    return draw(results, shown, keys, by)


def _over_what_was_varied(folder: Path, results: Sequence[Result]) -> Figure:
    from ..plotting.sweeps import figure

    drawn = figure(results)
    if drawn is None:
        raise CellrateError(f"{folder}: nothing was varied that a picture could be drawn over")
    return drawn


def _series(
    found: dict[Path, Sequence[Result]], probes: list[str], entity: str | None, begin: str | None, end: str | None
) -> Figure:
    """Draw series of runs, told apart by their folders and by what points of a sweep set."""
    from ..plotting.together import plot as plot_together

    try:
        return plot_together(_by_name(found), *probes, entity=entity, time=_span(begin, end))
    except ValueError as error:
        raise CellrateError(str(error)) from None


def _span(begin: str | None, end: str | None) -> tuple[float, float] | None:
    from .asking import seconds

    return None if begin is None and end is None else (seconds(begin or "0 s"), seconds(end) if end else float("inf"))


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
