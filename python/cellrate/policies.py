"""Use-it-or-lose-it policies of your own, in Python.

A scenario says which sources have one, by a name of its choice:

    abr.uili = { type = "custom", name = "halving", parameters = { after = 0.1 } }

and a run is given what the name stands for:

    cellrate.run("my.toml", policies={"halving": Halving})

An object of the class is made for each such source. Python is called for in-rate forward RM cells and backward RM cells
only, never for a data cell. docs/guides/sources.md has a whole example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from .errors import CellrateError, shown
from .plugin_classes import SendingEnd, being_made, check_methods, made, overrides
from .quantities import is_number

MakePolicy = Callable[..., "UiliPolicy"]
"""A class, or whatever else makes a `UiliPolicy`: called with a `SendingEnd`, and the scenario's parameters by name."""

Policies = Mapping[str, MakePolicy]
"""By the names that scenarios have for them."""


@dataclass(frozen=True, slots=True)
class ForwardRm:
    """State of a source when an in-rate FRM is about to leave."""

    now: float
    """When it leaves [s]."""
    acr: float
    """ACR after rules 5 and 6 [cells/s]."""
    decreased: bool
    """Whether rule 5 or 6 has just lowered it."""
    icr: float
    """ICR in force [cells/s]."""
    cells: int
    """In-rate cells since the last FRM, this one included [cells]."""
    elapsed: float
    """T, the time since the last in-rate FRM [s]."""

    @property
    def source_rate(self) -> float:
        """SR, the rate of the source since the last FRM [cells/s]; infinite where no time has passed."""
        return self.cells / self.elapsed if self.elapsed > 0.0 else inf


@dataclass(frozen=True, slots=True)
class BackwardRm:
    """State of a source when a BRM has arrived."""

    now: float
    """When it arrives [s]."""
    acr: float
    """ACR before rules 8 and 9 [cells/s]."""
    er: float
    """ER of the cell [cells/s]."""
    increase: bool
    """Whether the network asks for an increase: CI = NI = 0."""


class UiliPolicy:
    """Use-it-or-lose-it policy of a source (source rule 13): a base for your own, which does nothing.

    It may lower ACR before an FRM, and forbid an increase at a BRM. It never raises ACR, nor lowers it below MCR, and a
    decrease that the network orders is always obeyed. The first in-rate FRM is not asked about. Times are instants of
    the network [s], rates are in cells/s. The methods of one object are called in the order of time.
    """

    def __init__(self, end: SendingEnd) -> None:
        """Begin at `end`; a class of yours may take parameters beside it, by their names in the scenario."""

    def on_forward_rm(self, frm: ForwardRm) -> float | None:
        """Give ACR [cells/s, 0 or more] before an FRM leaves; None leaves it, and so does more than it is."""
        return None

    def on_backward_rm(self, brm: BackwardRm) -> bool:
        """Say whether the source may follow an increase that this BRM asks for."""
        return True


@dataclass(frozen=True, slots=True)
class Calls:
    """The methods of a policy that have anything to do, for the compiled module."""

    on_forward_rm: Callable[[float, float, bool, float, int, float], float | None] | None
    on_backward_rm: Callable[[float, float, float, bool], bool] | None


Maker = Callable[[str, float, float, float, int, Mapping[str, object]], Calls]
"""Name of the direction, PCR, MCR, the rate that it begins with [cells/s], seed and parameters."""


def maker(name: str, make: MakePolicy) -> Maker:
    """Give what the compiled module makes the policy of this name with."""

    def for_end(end: str, pcr: float, mcr: float, icr: float, seed: int, parameters: Mapping[str, object]) -> Calls:
        what = f'the policy "{name}" of connection {end}'
        with being_made(what):
            return _calls(made(what, UiliPolicy, make, SendingEnd(end, pcr, mcr, icr, seed), parameters))

    return for_end


def _calls(policy: UiliPolicy) -> Calls:
    kind = type(policy)
    check_methods(policy, UiliPolicy, ("on_forward_rm", "on_backward_rm"))

    def lowered(now: float, acr: float, decreased: bool, icr: float, cells: int, elapsed: float) -> float | None:
        given: Any = policy.on_forward_rm(ForwardRm(now, acr, decreased, icr, cells, elapsed))
        if given is not None and not (is_number(given) and given >= 0.0):
            raise CellrateError(
                f"{kind.__name__}.on_forward_rm gave {shown(given)}; it must be a rate of 0 cells/s or more, or None"
            )
        return None if given is None else float(given)

    def follows(now: float, acr: float, er: float, increase: bool) -> bool:
        given = policy.on_backward_rm(BackwardRm(now, acr, er, increase))
        if not isinstance(given, bool):
            raise CellrateError(f"{kind.__name__}.on_backward_rm gave {shown(given)}; it must be True or False")
        return given

    return Calls(
        on_forward_rm=lowered if overrides(policy, UiliPolicy, "on_forward_rm") else None,
        on_backward_rm=follows if overrides(policy, UiliPolicy, "on_backward_rm") else None,
    )
