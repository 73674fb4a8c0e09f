"""Switch algorithms of your own, in Python.

A scenario says which ports have one, by a name of its choice:

    switch.algorithm = { type = "custom", name = "phantom", figures = ["macr"], parameters = { factor = 5 } }

and a run is given what the name stands for:

    cellrate.run("my.toml", algorithms={"phantom": Phantom})

An object of the class is made for each such port and told what happens there; what its methods give goes into the
backward RM cells. Python is called for RM cells and averaging intervals only, never for a data cell.
docs/guides/algorithms.md has a whole example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import CellrateError, shown
from .plugin_classes import being_made, check_methods, made, overrides
from .quantities import is_number

MakeAlgorithm = Callable[..., "SwitchAlgorithm"]
"""A class, or whatever else makes a `SwitchAlgorithm`: called with a `Port`, and the scenario's parameters by name."""

Algorithms = Mapping[str, MakeAlgorithm]
"""By the names that scenarios have for them."""


@dataclass(frozen=True, slots=True)
class Port:
    """The output port of a switch that an algorithm is made for."""

    name: str
    """As results call it: "sw1->sw2"."""
    link_rate: float
    """Rate of its line [cells/s]; at the beginning, where its link changes."""


@dataclass(frozen=True, slots=True)
class Load:
    """Cells that went through a port in one averaging interval."""

    start: float
    """When the interval began [s]."""
    end: float
    """When it ended [s]."""
    length: float
    """How long it was [s, above 0]."""
    abr_cells: int
    """ABR cells that arrived, RM cells included [cells]."""
    guaranteed_cells: int
    """CBR and VBR cells that arrived [cells]."""
    active: int
    """Connections of which an ABR cell arrived."""
    abr_queue: int
    """ABR queue when it ended [cells]."""
    vc_cells: Sequence[int]
    """By connection, ABR cells that arrived [cells]; empty unless the algorithm `counts_vcs`."""
    terms: Sequence[tuple[float, float]]
    """Service that the scheduler leaves ABR, as `available` reads it: of each pair the part [above 0, at most 1] that
    ABR has of the rest of a rate behind the second [cells/s].

    One pair by strict priority, several with `class_weights`.
    """
    round_trip: float | None = None
    """Mean round trip of the connections from which ABR cells came, weighted by cells [s].

    Set-up tells it for each connection (FRTT; TM 4.0, 5.10.3), so queues are not in it. None unless the algorithm
    `counts_vcs`, and where no ABR cell came.
    """
    longest_round_trip: float | None = None
    """The longest of these round trips [s]; None as `round_trip`."""

    def available(self, rate: float) -> float:
        """Give what ABR may have of `rate`, the line's or the part of it that is handed out [cells/s, 0 or more].

        By strict priority it is what CBR and VBR, and the MCRs of GFR and UBR, leave of it; with `class_weights` ABR's
        part, and what the others do not use of theirs. The algorithms that are built in ask the same.
        """
        return max(0.0, *(part * (rate - first) for part, first in self.terms))

    @property
    def abr_rate(self) -> float:
        """ABR cells over the length [cells/s]."""
        return self.abr_cells / self.length

    @property
    def guaranteed_rate(self) -> float:
        """CBR and VBR cells over the length [cells/s]."""
        return self.guaranteed_cells / self.length


@dataclass(frozen=True, slots=True)
class Running:
    """Cells that have gone through a port since the averaging interval began."""

    start: float
    """When it began [s]."""
    abr_cells: int
    """ABR cells that have arrived, RM cells included [cells]."""
    guaranteed_cells: int
    """CBR and VBR cells that have arrived [cells]."""
    active: int
    """Connections of which an ABR cell has arrived."""
    own_cells: int
    """ABR cells of the connection whose RM cell it is [cells]."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback for a backward RM cell: ER can be lowered, CI and NI be set, and nothing else (TM 4.0, 5.10.6)."""

    er: float | None = None
    """ER at most [cells/s, 0 or more], rounded down to a rate that an RM cell can carry; None leaves it."""
    ci: bool = False
    """Whether CI is set."""
    ni: bool = False
    """Whether NI is set."""


class SwitchAlgorithm:
    """Congestion control of one output port: a base for algorithms of your own, which does nothing.

    Times are instants of the network [s], rates are in cells/s. Connections are numbered from 0 on as they are set up
    through the port, in the order of the scenario; each direction is one of its own. Methods are called in the order of
    time.

    Attributes
    ----------
    interval : float or None
        An averaging interval is at most so long [s, at least 1e-6, or the time of a cell on the line where that is
        shorter]; None when no time ends one.
    interval_cells : int or None
        It also ends with so many ABR cells [at least 1]; None when no number does.
    counts_vcs : bool
        Whether `Load.vc_cells` and the round trips of a `Load` are wanted.
    sees_running : bool
        Whether `running` is wanted.
    target_utilization : float
        Share of its line that it means to hand out [above 0 to 1]. Only `cellrate.arena` asks, which holds its rates
        against that.
    running : Running
        Within `on_forward_rm` and `on_backward_rm`, where `sees_running`: what has come since the interval began.
    """

    interval: float | None = None
    interval_cells: int | None = None
    counts_vcs: bool = False
    sees_running: bool = False
    target_utilization: float = 1.0
    running: Running

    def __init__(self, port: Port) -> None:
        """Begin at `port`; a class of yours may take parameters beside it, by their names in the scenario."""

    def on_connect(self, vc: int, pcr: float, mcr: float, weight: float) -> None:
        """Hear of a connection that is set up through the port, with its PCR and MCR [cells/s] and its weight."""

    def on_forward_rm(self, now: float, vc: int, ccr: float) -> None:
        """Hear of a forward RM cell that passes at `now` [s] and claims `ccr` [cells/s]."""

    def on_link_rate(self, link_rate: float) -> None:
        """Hear that the line takes `link_rate` [cells/s] from now on, where the link changes in time."""

    def on_interval_end(self, load: Load) -> None:
        """Hear of an averaging interval that has ended."""

    def on_backward_rm(self, now: float, vc: int, queue: int) -> Feedback | float | None:
        """Answer a backward RM cell that passes at `now` [s], with `queue` ABR cells at the port.

        Gives what becomes of the cell; a number is short for `Feedback(er=number)`, None leaves it as it is.
        """
        return None

    def figures(self) -> Mapping[str, float]:
        """Give figures for probes, by the names that the scenario lists under `figures`."""
        return {}


@dataclass(frozen=True, slots=True)
class Calls:
    """The methods of an algorithm that have anything to do, for the compiled module."""

    interval_s: float | None
    interval_cells: int | None
    counts_vcs: bool
    sees_running: bool
    on_connect: Callable[[int, float, float, float], None] | None
    on_forward_rm: Callable[..., None] | None
    on_link_rate: Callable[[float], None] | None
    on_interval_end: Callable[[Load], None] | None
    on_backward_rm: Callable[..., object] | None
    answer: Callable[[object], tuple[float | None, bool, bool] | None]
    """Check the answer of `on_backward_rm`: ER at most, CI and NI. A float of 0 or more needs no check."""
    figures: Callable[[], list[float]]


Maker = Callable[[str, float, Mapping[str, object], Sequence[str]], Calls]
"""Port, its link rate [cells/s], parameters and names of figures."""


def maker(name: str, make: MakeAlgorithm) -> Maker:
    """Give what the compiled module makes the algorithm of this name with."""

    def for_port(port: str, link_rate: float, parameters: Mapping[str, object], figures: Sequence[str]) -> Calls:
        what = f'the algorithm "{name}" of port {port}'
        with being_made(what):
            return _calls(made(what, SwitchAlgorithm, make, Port(port, link_rate), parameters), figures)

    return for_port


_METHODS = ("on_connect", "on_forward_rm", "on_link_rate", "on_interval_end", "on_backward_rm", "figures")


def _calls(algorithm: SwitchAlgorithm, figures: Sequence[str]) -> Calls:
    kind, sees_running = type(algorithm), bool(algorithm.sees_running)
    check_methods(algorithm, SwitchAlgorithm, _METHODS)
    _check_interval(algorithm)

    def own(method: str) -> Any:
        """Give the method, if it is not the one that does nothing."""
        return getattr(algorithm, method) if overrides(algorithm, SwitchAlgorithm, method) else None

    on_forward_rm, on_backward_rm = own("on_forward_rm"), own("on_backward_rm")

    def told(now: float, vc: int, ccr: float, running: tuple[float, int, int, int, int]) -> None:
        algorithm.running = Running(*running)
        on_forward_rm(now, vc, ccr)

    def answered_running(now: float, vc: int, queue: int, running: tuple[float, int, int, int, int]) -> object:
        algorithm.running = Running(*running)
        return on_backward_rm(now, vc, queue)

    def answer(given: object) -> tuple[float | None, bool, bool] | None:
        return _answer(given, kind)

    def in_order() -> list[float]:
        given = algorithm.figures()
        try:
            return [float(given[figure]) for figure in figures]
        except KeyError as error:
            raise CellrateError(
                f"the scenario lists the figure {error} of {kind.__name__}, whose figures() gives "
                f"{', '.join(given) or 'none'}"
            ) from None

    return Calls(
        interval_s=algorithm.interval,
        interval_cells=algorithm.interval_cells,
        counts_vcs=bool(algorithm.counts_vcs),
        sees_running=sees_running,
        on_connect=own("on_connect"),
        on_forward_rm=told if sees_running and on_forward_rm is not None else on_forward_rm,
        on_link_rate=own("on_link_rate"),
        on_interval_end=own("on_interval_end"),
        on_backward_rm=answered_running if sees_running and on_backward_rm is not None else on_backward_rm,
        answer=answer,
        figures=in_order,
    )


def _check_interval(algorithm: SwitchAlgorithm) -> None:
    kind, interval, cells = type(algorithm).__name__, algorithm.interval, algorithm.interval_cells
    # How short one may be depends on the line: the compiled module looks.
    if interval is not None and not (is_number(interval) and 0.0 < interval < float("inf")):
        raise CellrateError(f"{kind}.interval is {interval!r}; it must be a time in seconds, above 0, or None")
    if cells is not None and not (isinstance(cells, int) and 1 <= cells < 2**32):
        raise CellrateError(
            f"{kind}.interval_cells is {cells!r}; it must be a whole number from 1 to 2^32 - 1, or None"
        )
    if overrides(algorithm, SwitchAlgorithm, "on_interval_end") and interval is None and cells is None:
        raise CellrateError(f"{kind} has on_interval_end, but no interval ends: set interval [s] or interval_cells")


def _answer(given: object, kind: type) -> tuple[float | None, bool, bool] | None:
    """Give ER at most, CI and NI."""
    if given is None:
        return None
    feedback = given if isinstance(given, Feedback) else None
    er: Any = given if feedback is None else feedback.er
    if er is not None and not is_number(er):
        raise CellrateError(
            f"{kind.__name__}.on_backward_rm gave {shown(given)}, which is neither a rate nor a Feedback nor None"
        )
    if er is not None and not er >= 0.0:
        raise CellrateError(f"{kind.__name__}.on_backward_rm gave an ER of {er} cells/s; it must be 0 or more")
    return None if er is None else float(er), bool(feedback and feedback.ci), bool(feedback and feedback.ni)
