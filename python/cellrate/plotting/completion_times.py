"""Distributions of completion times drawn: the share of flows of a size that took at most so long, a line per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import CellrateError
from .distributions import Of, drawn

if TYPE_CHECKING:
    from ..drawing.figures import Drawn
    from ..recorded.run import Recorded


def figure(results: Mapping[str, Recorded], flows: Sequence[str] = ()) -> Drawn:
    """Draw distributions of completion times, of one run or of several by name.

    Raises
    ------
    CellrateError
        If none of one of `flows` is complete in any of the runs, or there is nothing to draw.
    """
    found = [(name, times) for name, result in results.items() for times in result.completion_times.values()]
    there_are = list(dict.fromkeys(times.flows for _, times in found))
    missing = [one for one in flows if one not in there_are]
    if missing or not found:
        asked = f"{missing[0]} has no distribution of completion times" if missing else "there are none to draw"
        raise CellrateError(
            f"{asked}: no flow of a size is complete, or it is a point of a sweep that records no concurrent flows "
            f"(--record concurrent); entries with completion times are {', '.join(there_are) or 'none'}"
        )
    lines = [
        (": ".join(filter(None, [name, times.name])), times)
        for name, times in found
        if not flows or times.flows in flows
    ]
    return drawn(lines, results, Of("completion times of flows", "time [ms]", "flows [%]"))
