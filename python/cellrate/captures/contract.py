"""Arrivals held against the contract of their connection: which cells a policer would pass, tag or discard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _native
from ..choices import Coupling, Definition
from ..errors import CellrateError

if TYPE_CHECKING:
    from .arrivals import Arrivals


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Traffic contract of a connection of CBR, VBR or UBR (TM 4.0, 4.3).

    Stamps of captures count in nanoseconds, so a source at exactly its rate needs a tolerance of a nanosecond.
    """

    definition: Definition
    """CBR.1 and UBR.1: the peak alone. VBR.1: all cells count towards SCR; VBR.2: those with CLP = 0; VBR.3: the same,
    and what fails SCR is tagged. UBR.2: what has CLP = 0 is tagged."""
    pcr: float
    """Peak cell rate [cells/s]."""
    cdvt: float
    """Cell delay variation tolerance [s]."""
    scr: float | None = None
    """Sustainable cell rate [cells/s]; of VBR only."""
    mbs: int | None = None
    """Maximum burst size [cells]; of VBR only."""
    coupling: Coupling = "coupled"
    """How the buckets of VBR hang together: "coupled" as in the standard; "independent" or "serial" as equipment has
    it, too."""

    def __post_init__(self) -> None:
        """Refuse what VBR lacks, and what others do not have."""
        vbr = self.definition.startswith("VBR")
        for name, value in (("scr", self.scr), ("mbs", self.mbs)):
            if vbr and value is None:
                raise CellrateError(f"{self.definition} needs {name}")
            if not vbr and value is not None:
                raise CellrateError(f"{self.definition} has no {name}")
        if not self.cdvt >= 0.0:
            raise CellrateError(f"cdvt is {self.cdvt}; it must be 0 s or more")
        if self.mbs is not None and self.mbs < 1:
            raise CellrateError(f"mbs is {self.mbs}; it must be 1 or more")


@dataclass(frozen=True)
class Conformance:
    """Verdicts of a policer on cells."""

    cells: int
    tagged: int
    discarded: int
    first_s: float | None
    """When the first cell that does not conform came [s after the first arrival]; None where all conform."""

    @property
    def conforming(self) -> int:
        """Cells that conform."""
        return self.cells - self.tagged - self.discarded


def conformance(arrivals: Arrivals, contract: Contract) -> Conformance:
    """Hold arrivals against a contract, cell by cell, in the order of time.

    Cells that come at one instant, such as those of a packet, come one after the other without time between them.

    Raises
    ------
    CellrateError
        If a parameter of the contract is out of its range, or a cell comes more than 213 days after the first.
    """
    passed, tagged, discarded, first = _native.conformance(
        arrivals.times_ns.tolist(),
        arrivals.clp.tolist(),
        arrivals.cells.tolist(),
        contract.definition,
        contract.pcr,
        contract.cdvt,
        contract.scr or 0.0,
        contract.mbs or 0,
        contract.coupling,
    )
    times = arrivals.times_ns
    return Conformance(
        cells=passed + tagged + discarded,
        tagged=tagged,
        discarded=discarded,
        first_s=None if first is None else float(times[first] - times[0]) / 1e9,
    )


def contract_of(
    definition: Definition | None,
    *,
    pcr: str | None,
    cdvt: str | None,
    scr: str | None,
    mbs: int | None,
    coupling: Coupling | None,
) -> Contract | None:
    """Read a contract from words with units, as a command line gives them; None where there is none.

    Raises
    ------
    CellrateError
        If something is missing, or given without a definition, or no such quantity.
    """
    from ..quantities import CELL_BITS, RATE, TIME, read

    given = {"pcr": pcr, "cdvt": cdvt, "scr": scr, "mbs": mbs, "coupling": coupling}
    if definition is None:
        lone = next((name for name, value in given.items() if value is not None), None)
        if lone is not None:
            raise CellrateError(f"--{lone} belongs to a contract; give --contract, such as --contract CBR.1")
        return None
    if pcr is None or cdvt is None:
        raise CellrateError(f"--contract {definition} needs --{'pcr' if pcr is None else 'cdvt'}")
    return Contract(
        definition=definition,
        pcr=read(pcr, RATE) / CELL_BITS,
        cdvt=read(cdvt, TIME),
        scr=None if scr is None else read(scr, RATE) / CELL_BITS,
        mbs=mbs,
        coupling=coupling or "coupled",
    )
