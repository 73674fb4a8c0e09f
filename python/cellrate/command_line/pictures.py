"""Results that are in folders already, as pictures: `cellrate plot`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .app import app
from .options import Each, Folders, Points, picked
from .output import tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..drawing.figures import Drawn
    from ..drawing.printed import Print
    from ..results import Result


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
    lines: Annotated[
        str | None, Parameter(help="With --over: a key whose values are lines, or points beside each other.")
    ] = None
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

    each: Each = False

    def first_of(self, *names: str) -> str | None:
        """Give the first of these options that is given."""
        return next((f"--{name.rstrip('_')}" for name in names if getattr(self, name) is not None), None)

    def span(self) -> tuple[float, float] | None:
        """Give the part of the time that is drawn [s]."""
        from .asking import seconds

        if self.from_ is None and self.until is None:
            return None
        return seconds(self.from_ or "0 s"), seconds(self.until) if self.until else float("inf")


@dataclass(frozen=True, kw_only=True)
class ForPrint:
    """Options of what a picture is printed on, and in."""

    size: Annotated[
        str | None,
        Parameter(
            help="Size in print: a width such as 3.4in or 86mm, or '3.4in x 2in'. Letters have their printed size, "
            "300 dots an inch, and what the title said is printed for the caption."
        ),
    ] = None
    title: Annotated[str | None, Parameter(help="Title instead of the picture's own; '' for none.")] = None
    font: Annotated[
        str | None,
        Parameter(help="Family, size of letters with --size, or both: 'Times New Roman', '8pt', 'serif 8pt'."),
    ] = None

    def read(self) -> Print:
        """Read what was given."""
        from ..drawing.printed import Print

        wanted = Print.read(self.size, self.title, self.font)
        if self.font is not None and self.size is None and any(letter.isdigit() for letter in self.font):
            raise CellrateError("letters have a size in print only: give --size, or --font without a number")
        return wanted


@app.command("plot")
def plot(
    folders: Folders,
    /,
    *,
    multiples: Multiples,
    series: OfSeries,
    printed: ForPrint,
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
    from ..drawing.printed import for_print
    from ..results.reading import told_of

    folder, wanted = folders[0], printed.read()
    with told_of(folder):
        found: dict[Path, Sequence[Result]] = {}
        if len(folders) > 1 and not point and _is_of_figures(folders, multiples.figure, series.probe):
            found[folder] = load_together(folders)
        else:
            for place in (*folders, *(series.beside or [])):
                sweep = load_sweep(place)
                is_picked = point and (place in folders or len(sweep) > 1)
                found[place] = [picked(place, sweep, point or [])] if is_picked else sweep
        drawn = for_print(_drawn(folder, found, multiples, series, wanted.width), wanted)
    if out is None:
        out = Path(_name_of(folder, found[folder]) + ".png")
    tell(f"Plot: {write(drawn, out)}")
    if drawn.caption:
        tell(f"For the caption: {drawn.caption}.")
    return 0


def _name_of(folder: Path, results: Sequence[Result]) -> str:
    """Give the name of the picture of a folder: that of its scenario, or of a study of several its own."""
    from ..folders.replaceable import plain_name
    from ..scenario import Scenario
    from ..sweeps.settings import SCENARIO

    if len({result.settings.get(SCENARIO) for result in results}) > 1:
        return folder.resolve().name
    return plain_name(Scenario.parse(results[0].toml, file=str(folder / "scenario.toml")))


def _drawn(
    folder: Path, found: dict[Path, Sequence[Result]], multiples: Multiples, series: OfSeries, width: float | None
) -> Drawn:
    """Draw the picture that the options mean, of the results of some folders, the first of which is `folder`.

    Its width in print [in] is None where it is as wide as it needs.
    """
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
        return _over_what_was_varied(folder, results, width)
    probes, entity = series.probe or [], series.entity
    try:
        if len(found) == 1 and len(results) > 1 and not series.beside and not series.together:
            from ..plotting.each_point import figure as each_point

            return each_point(results, probes, entity=entity, time=series.span(), width=width, each=series.each)
        from ..plotting.together import plot as plot_together

        return plot_together(_by_name(found), *probes, entity=entity, time=series.span(), each=series.each)
    except ValueError as error:
        raise CellrateError(str(error)) from None


def _distributions(found: dict[Path, Sequence[Result]], results: Sequence[Result], series: OfSeries) -> Drawn:
    option = "--delays" if series.delays else "--completion-times"
    if given := series.first_of("probe", "from_", "until"):
        raise CellrateError(f"{option} draws distributions over the whole run; leave {given} out")
    if series.delays and series.completion_times:
        raise CellrateError("--delays and --completion-times are pictures of their own; leave one out")
    named, only = _by_name(found, always=len(results) > 1), [series.entity] if series.entity else []
    if series.delays:
        from ..plotting.delays import figure as delays

        return delays(named, only, each=series.each)
    from ..plotting.completion_times import figure as completion_times

    return completion_times(named, only)


def _is_of_figures(folders: Sequence[Path], figure: str | None, probe: list[str] | None) -> bool:
    """Whether a picture of several folders is one of figures over what was varied, and not of series."""
    from ..campaigns.reading import load_sweep

    return figure is not None or (not probe and any(len(load_sweep(folder)) > 1 for folder in folders))


def _multiples(folder: Path, results: Sequence[Result], asked: Multiples) -> Drawn:
    from ..plotting import multiples

    shown, by = asked.figure, asked.by or []
    if shown is None or [asked.over, asked.heat, asked.distribution].count(None) != 2:
        raise CellrateError("--figure needs one of --over, --heat and --distribution, and each of these needs --figure")
    if not len(results) or not results[0].settings:
        raise CellrateError(f"{folder}: nothing was varied that {shown} could be drawn over")
    if asked.lines is not None and asked.over is None:
        raise CellrateError("--lines is for --over; other pictures have no lines of a key")
    if asked.heat is not None:
        return multiples.heat(results, shown, [key.strip() for key in asked.heat.split(",")], by)
    if asked.over is not None:
        return multiples.over(results, shown, asked.over, by, lines=asked.lines)
    assert asked.distribution is not None
    return multiples.distribution(results, shown, asked.distribution, by)


def _over_what_was_varied(folder: Path, results: Sequence[Result], width: float | None) -> Drawn:
    from ..plotting.sweeps import figure

    drawn = figure(results, stacked=width is None)
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
