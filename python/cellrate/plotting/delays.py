"""Distributions of delays drawn: the share of data cells that took at most so long, a line for each connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import CellrateError
from ..recorded.delays import pooled
from ..recorded.groups import folded, groups_of
from .distributions import Of, drawn

if TYPE_CHECKING:
    from ..drawing.figures import Drawn
    from ..recorded.delays import Delays
    from ..recorded.run import Recorded


def figure(results: Mapping[str, Recorded], vcs: Sequence[str] = (), *, each: bool = False) -> Drawn:
    """Draw distributions of delays, of one run or of several by name, on an axis of time that is logarithmic.

    A group that a scenario makes by `count` has one line, of the cells of all its members, unless `each` has one.

    Raises
    ------
    CellrateError
        If one of `vcs` delivered no data cell in any of the runs, or there is nothing to draw.
    """
    lines = [
        (": ".join(filter(None, [name, vc])), delays)
        for name, result in results.items()
        for vc, delays in _folded(result, each=each or bool(vcs)).items()
        if not vcs or vc in vcs
    ]
    there_are = list(dict.fromkeys(vc for result in results.values() for vc in result.delays))
    missing = [vc for vc in vcs if vc not in there_are]
    if missing or not lines:
        asked = f"{missing[0]} has no distribution of delays" if missing else "there are no delays to draw"
        raise CellrateError(
            f"{asked}: no data cell arrived, or it is a point of a sweep that records no delay (--record delay); "
            f"VCs with delays are {', '.join(there_are) or 'none'}"
        )
    return drawn(lines, results, Of("delay of data cells", "delay [ms]", "data cells [%]"))


def _folded(result: Recorded, *, each: bool) -> Mapping[str, Delays]:
    """Give the distributions by connection, or by group of connections."""
    delays = result.delays
    groups = {} if each else groups_of(result.toml)
    if not groups:
        return delays
    names = list(delays)
    return {
        name: delays[names[places[0]]] if len(places) == 1 else pooled(name, [delays[names[place]] for place in places])
        for name, places in folded(names, groups).items()
    }
