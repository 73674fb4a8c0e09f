"""Traffic of your own, in Python.

A scenario says which connections have it, by a name of its choice:

    traffic = { type = "custom", name = "camera", parameters = { frames_per_second = 25 } }

and a run is given what the name stands for:

    cellrate.run("my.toml", traffic={"camera": Camera})

An object of the class is made for each such direction, and says one burst after the other what the application sends.
Python is called once for each burst, never for a cell. docs/guides/sources.md has a whole example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from .errors import CellrateError, shown
from .plugin_classes import SendingEnd, being_made, check_methods, made
from .quantities import is_number

MakeTraffic = Callable[..., "TrafficSource"]
"""A class, or whatever else makes a `TrafficSource`: called with a `SendingEnd`, and the scenario's parameters by
name."""

Traffic = Mapping[str, MakeTraffic]
"""By the names that scenarios have for it."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Cells that an application hands over to its source, where they wait until they may be sent."""

    at: float
    """When the first one comes [s]."""
    cells: int
    """How many, 1 to 2^32 - 1 [cells]."""
    rate: float | None = None
    """From the first on, so many a second [cells/s, above 0]; None where all come at once."""


class TrafficSource:
    """Traffic of an application in one direction of a connection: a base for traffic of your own, which sends nothing.

    Times are instants of the network [s], rates are in cells/s.
    """

    def __init__(self, end: SendingEnd) -> None:
        """Begin at `end`; a class of yours may take parameters beside it, by their names in the scenario."""

    def next_burst(self, now: float, acr: float, queue: int) -> Burst | None:
        """Give the next burst, or None where there is no more, ever.

        It is asked at 0, and from then on at the instant `now` at which the last cell of the burst before comes: ACR is
        `acr` then (the peak rate where it is not ABR), and `queue` cells wait. The first burst may begin at 0, every
        other one after `now`.
        """
        return None


Maker = Callable[
    [str, float, float, float, int, Mapping[str, object]],
    Callable[[float, float, int], tuple[float, int, float | None] | None],
]
"""Name of the direction, PCR, MCR, the rate that it begins with [cells/s], seed and parameters."""


def maker(name: str, make: MakeTraffic) -> Maker:
    """Give what the compiled module makes the traffic of this name with."""

    def for_end(
        end: str, pcr: float, mcr: float, icr: float, seed: int, parameters: Mapping[str, object]
    ) -> Callable[[float, float, int], tuple[float, int, float | None] | None]:
        what = f'the traffic "{name}" of connection {end}'
        with being_made(what):
            return _Asked(made(what, TrafficSource, make, SendingEnd(end, pcr, mcr, icr, seed), parameters))

    return for_end


class _Asked:
    """Traffic that the compiled module asks for its bursts."""

    def __init__(self, source: TrafficSource) -> None:
        check_methods(source, TrafficSource, ("next_burst",))
        self._source = source
        self._began = False

    def __call__(self, now: float, acr: float, queue: int) -> tuple[float, int, float | None] | None:
        given = self._source.next_burst(now, acr, queue)
        if given is None:
            return None
        self._check(given, now)
        self._began = True
        return float(given.at), int(given.cells), None if given.rate is None else float(given.rate)

    def _check(self, given: object, now: float) -> None:
        says = f"{type(self._source).__name__}.next_burst"
        if not isinstance(given, Burst):
            raise CellrateError(f"{says} gave {shown(given)}, which is neither a Burst nor None")
        at, cells, rate = given.at, given.cells, given.rate
        if not (is_number(at) and isfinite(at) and (at > now or (at == now and not self._began))):
            when = f"after {now} s, where the burst before it ends" if self._began else "0 s or later"
            raise CellrateError(f"{says} gave a burst at {shown(at)} s; it must begin {when}")
        if not (isinstance(cells, int) and not isinstance(cells, bool) and 1 <= cells < 2**32):
            raise CellrateError(f"{says} gave a burst of {shown(cells)} cells; a burst has from 1 to 2^32 - 1")
        if rate is not None and not (is_number(rate) and 0.0 < rate < float("inf")):
            raise CellrateError(f"{says} gave a burst at a rate of {shown(rate)} cells/s; it must be above 0, or None")
