"""Series of several runs in one picture: the same panels as of a run, with a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import NoSuchSeries
from ..recorded.instants import Instant, part_of_run
from ..recorded.run import as_recorded
from ..sweeps.settings import names_by_settings
from .panels import fair_levels, grouped
from .runs import Line, Panel, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..recorded.run import Recorded


def plot(
    results: Recorded | Mapping[str, Recorded] | Sequence[Recorded],
    *probes: str,
    entity: str | None = None,
    time: tuple[Instant, Instant] | None = None,
) -> Figure:
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

    Raises
    ------
    NoSuchSeries
        If no run recorded such a series.
    ValueError
        If there are no results, or nothing of a run is in `time`, or an instant of it is none.
    TypeError
        If something among `results` is no result, or `time` is no pair of numbers or texts.
    """
    if isinstance(results, Mapping):
        named = {name: as_recorded(result) for name, result in results.items()}
    else:
        several = results if isinstance(results, Sequence) and not isinstance(results, str) else [results]
        found = [as_recorded(result) for result in several]
        named = dict(zip(names_by_settings([result.settings for result in found]), found, strict=True))
    if not named:
        raise ValueError("there are no results to draw")
    panels = _panels(named, probes, entity)
    runs = [result.summary["run"] for result in named.values()]
    shown_s = None if time is None else part_of_run(time, max(run["duration_s"] for run in runs))
    title = ", ".join(dict.fromkeys(run["scenario"] for run in runs))
    stamps = list(dict.fromkeys(f"{run['hash'][:12]} seed {run['seed']}" for run in runs))
    more = f" and {len(stamps) - 4} more" if len(stamps) > 4 else ""
    versions = ", ".join(dict.fromkeys(run["version"] for run in runs))
    return figure(panels, title, f"{', '.join(stamps[:4])}{more}  cellrate {versions}", time=shown_s)


def _panels(results: Mapping[str, Recorded], probes: Sequence[str], entity: str | None) -> list[Panel]:
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
    fair = {name: fair_levels(result.toml) for name, result in results.items()} if "acr" in recorded else {}
    panels = []
    for kind, places in grouped([(series.probe, series.unit) for _, series in found]):
        drawn = [found[place] for place in places]
        several_probes = len({series.probe for _, series in drawn}) > 1
        several_entities = len({series.entity for _, series in drawn}) > 1
        lines, levels = [], {}
        for name, series in drawn:
            parts = [series.entity] if several_entities else []
            parts += [series.probe] if several_probes else []
            if len(results) > 1:
                label = ": ".join([name, *filter(None, [" ".join(parts)])])
            else:
                label = " ".join(parts) or series.entity
            lines.append(Line(series, label))
            if kind.probes == ("acr",) and series.entity in fair[name]:
                levels[label] = fair[name][series.entity]
        # Where legends do not say of what a line is, the axis does.
        is_told = several_entities or len(results) == 1
        axis = kind.axis if is_told else f"{drawn[0][1].entity}\n{kind.axis}"
        panels.append(Panel(axis, lines, kind.scale, kind.top, kind.second_axis, levels))
    return panels
