"""Series of several runs in one picture: the same panels as of a run, with a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..errors import NoSuchSeries
from ..recorded.instants import Instant, part_of_run
from ..recorded.run import as_recorded
from ..sweeps.settings import names_by_settings
from .curves import Known, Source, lines_of
from .panels import grouped
from .runs import Panel, figure, warm_up_of

if TYPE_CHECKING:
    from ..drawing.figures import Drawn
    from ..recorded.run import Recorded
    from ..recorded.series import Series


def plot(
    results: Recorded | Mapping[str, Recorded] | Sequence[Recorded],
    *probes: str,
    entity: str | None = None,
    time: tuple[Instant, Instant] | None = None,
    each: bool = False,
) -> Drawn:
    """Draw what several runs recorded in one figure: a panel per kind of quantity, in it a line for each run.

    A notebook shows the figure; `savefig` writes it.

    Parameters
    ----------
    results
        By name, {"ERICA": result, "CAPC": other}: the legend has the names, and of what the series is where that is not
        the same in a panel. Of a sweep, a list: the legend has what each point set. Or a single one.
    *probes
        "acr", "queue", ...: only these; all of them if none is given.
    entity
        Only series of this VC or port; of all if None.
    time
        The part of the time axis to show, from and to: numbers [s] or texts such as "5 ms"; it ends with the longest
        run at the latest. All of it when None.
    each
        Whether each member of a group that a scenario makes by `count` has a line; otherwise a group of six members or
        more is a band from the least to the largest, with its median.

    Raises
    ------
    NoSuchSeries
        If no run recorded such a series.
    ValueError
        If there are no results, or nothing of a run is in `time`, or an instant of it is none.
    TypeError
        If something among `results` is not a result, or `time` is not a pair of numbers or texts.
    """
    if isinstance(results, Mapping):
        named = {name: as_recorded(result) for name, result in results.items()}
    else:
        several = results if isinstance(results, Sequence) and not isinstance(results, str) else [results]
        found = [as_recorded(result) for result in several]
        named = dict(zip(names_by_settings([result.settings for result in found]), found, strict=True))
    if not named:
        raise ValueError("there are no results to draw")
    panels = _panels(named, probes, entity, each=each)
    runs = [result.summary["run"] for result in named.values()]
    shown_s = None if time is None else part_of_run(time, max(run["duration_s"] for run in runs))
    title = ", ".join(dict.fromkeys(run["scenario"] for run in runs))
    stamps = list(dict.fromkeys(f"{run['hash'][:12]} seed {run['seed']}" for run in runs))
    more = f" and {len(stamps) - 4} more" if len(stamps) > 4 else ""
    versions = ", ".join(dict.fromkeys(run["version"] for run in runs))
    stamp = f"{', '.join(stamps[:4])}{more}  cellrate {versions}"
    return figure(panels, title, stamp, time=shown_s, warm_up_s=warm_up_of(named.values()))


def _panels(results: Mapping[str, Recorded], probes: Sequence[str], entity: str | None, *, each: bool) -> list[Panel]:
    found = [
        (name, series)
        for name, result in results.items()
        for probe, of in result.series_names
        if (not probes or probe in probes) and entity in (None, of)
        for series in [result.series(probe, entity=of)]
    ]
    recorded = {series.probe for _, series in found}
    missing = [probe for probe in probes if probe not in recorded]
    if missing or not found:
        there_are = dict.fromkeys(
            f"{probe} of {of}" for result in results.values() for probe, of in result.series_names
        )
        asked = f"{missing[0] if missing else 'to draw'}{'' if entity is None else f' of {entity}'}"
        raise NoSuchSeries(f"no run has a series {asked}; the series of these runs: {', '.join(there_are) or 'none'}")
    known = {name: Known.of(result, [*recorded], each=each) for name, result in results.items()}
    panels = []
    for kind, places in grouped([(series.probe, series.unit) for _, series in found]):
        drawn = [found[place] for place in places]
        several_probes = len({series.probe for _, series in drawn}) > 1
        several_entities = len({series.entity for _, series in drawn}) > 1
        sources: dict[tuple[str, str], list[Series]] = {}
        for name, series in drawn:
            sources.setdefault((name, series.probe), []).append(series)

        def label(of: str, one: Series, probes: bool = several_probes, entities: bool = several_entities) -> str:
            parts = " ".join([*([one.entity] if entities else []), *([one.probe] if probes else [])])
            return ": ".join([of, *filter(None, [parts])]) if len(results) > 1 else parts or one.entity

        lines, levels = lines_of(
            [Source(some, known[name], partial(label, name)) for (name, _), some in sources.items()],
            has_levels=kind.probes == ("acr",),
        )
        # Where legends do not say of what a line is, the axis does.
        is_told = several_entities or len(results) == 1
        axis = kind.axis if is_told else f"{drawn[0][1].entity}\n{kind.axis}"
        panels.append(Panel(axis, lines, kind.scale, kind.top, kind.second_axis, levels))
    return panels
