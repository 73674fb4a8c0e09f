"""Numbers with units as text, "155.52 Mbps" or "5 ms": the units of scenario files, read as those are read."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from . import _native

CELL_BITS = 424
"""A cell of 53 octets [bit]."""


@dataclass(frozen=True)
class Dimension:
    """Dimension that a number with a unit can measure."""

    name: str
    """Name of it in `_native.quantity`."""

    @property
    def units(self) -> list[str]:
        """Its units, in the order of the parser's table."""
        return _native.units(self.name)


TIME = Dimension("time")
"""The base unit is the second. Both letters for micro that keyboards have are known."""

RATE = Dimension("rate")
"""The base unit is the bit per second."""

LENGTH = Dimension("length")
"""The base unit is the kilometre."""

SIZE = Dimension("size")
"""The base unit is the octet."""

CELLS = Dimension("cells")
"""The base unit is the cell; octets are counted 53 to one."""

RATIO = Dimension("ratio")
"""A part or a factor."""


def read(text: str, dimension: Dimension) -> float:
    """Read a number with its unit, and give it in the base unit of its dimension.

    The decimal point is moved before the number is rounded: "0.3 ms" is the double 0.0003 s.

    Raises
    ------
    CellrateError
        If the text is no such quantity; it says how one is written.
    """
    return _native.quantity(text, dimension.name)


def read_ratio(text: str) -> float:
    """Read a ratio, "90 %", "0.9" or "1/16"; it may be negative.

    Raises
    ------
    CellrateError
        If the text is none.
    """
    return read(text, RATIO)


def is_number(value: object) -> bool:
    """Say whether it is a number, which True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)
