"""Panels: series on one axis, in which unit and colour, alike in plots and on the page that shows a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..quantities import CELL_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Kind:
    """A kind of quantity."""

    probes: tuple[str, ...]
    axis: str
    """Label of the axis, with the unit."""
    scale: float = 1.0
    """Factor from the unit of the series to the unit of the axis."""
    top: float | None = None
    """Upper end of the axis; by the data when None."""
    second_axis: str | None = None
    """Label of the axis at the right: the same values in thousands of the unit of the series."""


KINDS = (
    Kind(("acr",), "ACR [Mbps]", CELL_BITS / 1e6, None, "[1000 cells/s]"),
    Kind(("source_rate",), "source rate [Mbps]", CELL_BITS / 1e6, None, "[1000 cells/s]"),
    Kind(("queue", "abr_queue", "guaranteed_queue", "ubr_queue"), "queue [cells]"),
    Kind(("utilization",), "utilization [%]", 100.0, 105.0),
    Kind(("delay", "max_delay"), "cell delay [ms]", 1e3),
    Kind(("goodput",), "goodput [Mbps]", 1e-6),
    Kind(("round_trip",), "round trip [ms]", 1e3),
    Kind(("received",), "cells received"),
    Kind(("concurrent",), "flows under way"),
)
"""Kinds of probes with an axis of their own; any other probe has one by its name and unit."""


def grouped(series: Sequence[tuple[str, str]]) -> Iterator[tuple[Kind, list[int]]]:
    """Give the kinds that these series have, from top to bottom, each with the places of its series.

    Parameters
    ----------
    series
        Probe and unit of each.
    """
    for kind in KINDS:
        places = [place for probe in kind.probes for place, (of, _) in enumerate(series) if of == probe]
        if places:
            yield kind, places
    known = {probe for kind in KINDS for probe in kind.probes}
    for probe in dict.fromkeys(of for of, _ in series if of not in known):
        places = [place for place, (of, _) in enumerate(series) if of == probe]
        unit = series[places[0]][1]
        name = probe.replace("_", " ")
        yield Kind((probe,), f"{name} [{unit}]" if unit else name), places


Level = list[tuple[float, float | None]]
"""Instants [s], and the rate [cells/s] from each on; None while the flow has nothing to send."""


def fair_levels(toml: str) -> dict[str, Level]:
    """Give the max-min fair rates in time of a scenario's ABR flows, by the names of their series.

    Those share that send, by the starts and stops of sources and the spans in which links are down; each is taken as
    greedy as long as it sends. Of each line they share what the algorithm of its port hands out. Empty where a port's
    MCRs exceed what it has.
    """
    from ..errors import ScenarioError
    from ..scenario import Scenario

    try:
        spans = Scenario.parse(toml).fair_over_time()
    except ScenarioError:
        return {}
    named = [
        (at_s, {f"{share.vc} (back)" if share.backward else share.vc: share.rate for share in shares})
        for at_s, shares in spans
    ]
    levels: dict[str, Level] = {}
    for name in dict.fromkeys(name for _, rates in named for name in rates):
        level: Level = []
        for at_s, rates in named:
            rate = rates.get(name)
            if not level or level[-1][1] != rate:
                level.append((at_s, rate))
        levels[name] = level
    return levels


def thin(
    times: NDArray[np.float64], values: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give a series as a picture needs it: of each of `bins` spans the first, least, largest and last value."""
    if len(times) <= 4 * bins:
        return times, values
    edges = np.searchsorted(times, np.linspace(times[0], times[-1], bins + 1)[:-1])
    edges = np.unique(edges)
    ends = np.append(edges[1:], len(times))
    kept = [edges, ends - 1]
    for of_span, none in ((np.minimum, np.inf), (np.maximum, -np.inf)):
        # Where there was nothing to measure, nothing is least or largest.
        filled = np.where(np.isnan(values), none, values)
        places = np.flatnonzero(filled == np.repeat(of_span.reduceat(filled, edges), ends - edges))
        # The first of each span that has the value.
        kept.append(places[np.searchsorted(places, edges)])
    index = np.unique(np.concatenate(kept))
    return times[index], values[index]
