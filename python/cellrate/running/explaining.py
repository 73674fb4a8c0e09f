"""Why a source has the ACR that it has: `cellrate.explain`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _native
from ..algorithms import Algorithms
from ..errors import CellrateError, with_own_lines
from ..plugins.collection import Plugins
from ..policies import Policies
from ..recorded.instants import Instant, seconds
from ..results import Result
from ..scenario import Scenario, prepare
from ..sweeps.picking import one_point
from ..traffic import Traffic

STEPS = 8
"""Steps that are given unless said otherwise."""


@dataclass(frozen=True)
class Passage:
    """A BRM as it left a port on its way back."""

    port: str
    """The port."""
    at_s: float
    """When its last bit left [s]."""
    node: str
    """The node that it left."""
    control: str | None
    """The port at that node in the other direction, whose control answers the BRM; None at a host."""
    er_cells_per_s: float
    """ER that it left with."""
    ci: bool
    """CI that it left with."""
    ni: bool
    """NI that it left with."""


@dataclass(frozen=True)
class ReturnedCell:
    """A BRM as it came back to its source, and its way."""

    er_cells_per_s: float
    """ER."""
    ccr_cells_per_s: float
    """CCR: the ACR with which the FRM left."""
    mcr_cells_per_s: float
    """MCR."""
    ci: bool
    """Congestion indication."""
    ni: bool
    """No increase."""
    bn: bool
    """BN = 1: a switch or the destination originated it."""
    out_of_rate: bool
    """CLP = 1: it came out of rate."""
    efci_from: str | None
    """The port that had marked the data (EFCI) because of which the destination set CI; None where it did not."""
    way: tuple[Passage, ...]
    """Ports that it left, from the node where it began to the source."""


@dataclass(frozen=True)
class RateStep:
    """A step of ACR, or a BRM that left it where it was."""

    at_s: float
    """The instant [s]."""
    event: str
    """"brm", or at an FRM "idle", "missing_brms" or "unused", or "set_up" where a connection began anew."""
    rules: tuple[int, ...]
    """Source rules of TM 4.0, 5.10.4, that changed ACR, in the order in which they did; 9 may take back what 8 gave."""
    before_cells_per_s: float
    """ACR before."""
    indicated_cells_per_s: float | None
    """ACR after rule 8, which rule 9 had still to limit; of BRMs alone."""
    after_cells_per_s: float
    """ACR after."""
    brm: ReturnedCell | None
    """The BRM that came, if one did."""

    @property
    def moves(self) -> bool:
        """Whether ACR is another one after it."""
        return self.before_cells_per_s != self.after_cells_per_s


@dataclass(frozen=True)
class Explanation:
    """The last steps of the ACR of a source up to an instant."""

    scenario: str
    """Name of the scenario."""
    vc: str
    """The VC, or the direction of one."""
    at_s: float
    """The instant [s]."""
    steps: tuple[RateStep, ...]
    """Steps up to then, in the order of instants; before them, where none of them moved ACR, the last one that did."""
    words: tuple[str, ...]
    """Lines about the last step, and about the last that moved ACR, if that is another one."""

    @property
    def last_move(self) -> RateStep | None:
        """The last step that moved ACR; None where nothing has moved it."""
        return next((step for step in reversed(self.steps) if step.moves), None)


def explain(
    what: Scenario | Result | str | Path,
    vc: str,
    at: Instant | None = None,
    *,
    steps: int = STEPS,
    algorithms: Algorithms | None = None,
    policies: Policies | None = None,
    traffic: Traffic | None = None,
) -> Explanation:
    """Say which rules of TM 4.0 moved the ACR of a source, and which switches wrote what into the RM cells behind them.

    The run is repeated up to the instant, with a journal at the source and a look at the ports on the connection's way;
    its results are the same, and a run that is not explained has nothing of this.

    Parameters
    ----------
    what
        A `Scenario`, a file, the name of a ready scenario, or a `Result`, which keeps its scenario.
    vc
        An ABR connection by its name, "vc1"; "vc1 (back)" for the direction from the last host to the first.
    at
        The instant: a number [s], or a text such as "120 ms"; the end of the run when None.
    steps
        How many steps to give, 1 or more.
    algorithms, policies, traffic
        As for `cellrate.run`.

    Returns
    -------
    Explanation
        Steps with instants [s] and rates [cells/s].

    Raises
    ------
    CellrateError
        If no ABR source is called so, the instant is after the end, or it is a sweep.
    ValueError, TypeError
        If `at` is not a time.
    """
    if steps < 1:
        raise CellrateError(f"steps is {steps}; it must be at least 1")
    if isinstance(what, Result):
        scenario = Scenario.parse(what.toml)
    else:
        scenario = one_point(prepare(what), None, "ACR is explained of one run").scenario
    at_s = scenario.duration_s if at is None else seconds(at)
    if at_s > scenario.duration_s:
        raise CellrateError(f"{scenario.name} ends at {scenario.duration_s:g} s; there is nothing at {at_s:g} s")
    plugins = Plugins.of(algorithms, policies, traffic)
    plugins.check([scenario])
    with with_own_lines():
        text = _native.explain(scenario._native, vc, at_s, steps, plugins.makers())
    told = json.loads(text)
    return Explanation(scenario.name, vc, at_s, tuple(map(_step, told["steps"])), tuple(told["words"]))


def _step(told: Mapping[str, Any]) -> RateStep:
    brm = told["brm"]
    if brm is not None:
        brm = ReturnedCell(**{**brm, "way": tuple(Passage(**passage) for passage in brm["way"])})
    return RateStep(**{**told, "rules": tuple(told["rules"]), "brm": brm})
