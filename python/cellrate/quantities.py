"""Numbers with units as text, "155.52 Mbps" or "5 ms": the units of scenario files, and what they mean there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

from .errors import CellrateError

CELL_BITS = 424
"""A cell of 53 octets [bit]."""


@dataclass(frozen=True)
class Dimension:
    """Dimension that a number with a unit can measure."""

    noun: str
    """Noun for it in messages."""
    example: str
    units: Mapping[str, tuple[float, int]]
    """By name, the factor to the base unit: a whole number, and a power of ten that multiplies it."""

    @property
    def how(self) -> str:
        """How one is written: its units, each under its first name, and an example."""
        first: dict[tuple[float, int], str] = {}
        for name, factor in self.units.items():
            first.setdefault(factor, name)
        return f"write a number and its unit ({', '.join(first.values())}), such as {self.example}"


TIME = Dimension(
    "time",
    "30 ms",
    {
        "ps": (1.0, -12),
        "ns": (1.0, -9),
        "us": (1.0, -6),
        "\u00b5s": (1.0, -6),
        "\u03bcs": (1.0, -6),
        "ms": (1.0, -3),
        "s": (1.0, 0),
        "min": (60.0, 0),
    },
)
"""The base unit is the second. Both letters for micro that keyboards have are known."""

RATE = Dimension(
    "rate",
    "155.52 Mbps",
    {
        "bps": (1.0, 0),
        "kbps": (1.0, 3),
        "Mbps": (1.0, 6),
        "Gbps": (1.0, 9),
        "Tbps": (1.0, 12),
        "bit/s": (1.0, 0),
        "kbit/s": (1.0, 3),
        "Mbit/s": (1.0, 6),
        "Gbit/s": (1.0, 9),
        "b/s": (1.0, 0),
        "kb/s": (1.0, 3),
        "Mb/s": (1.0, 6),
        "Gb/s": (1.0, 9),
        "cells/s": (424.0, 0),
    },
)
"""The base unit is the bit per second."""

LENGTH = Dimension("length", "1000 km", {"km": (1.0, 0), "m": (1.0, -3)})
"""The base unit is the kilometre."""

SIZE = Dimension(
    "size",
    "1 GB",
    {
        "octets": (1.0, 0),
        "octet": (1.0, 0),
        "B": (1.0, 0),
        "kB": (1.0, 3),
        "MB": (1.0, 6),
        "GB": (1.0, 9),
        "KiB": (2.0**10, 0),
        "MiB": (2.0**20, 0),
        "GiB": (2.0**30, 0),
    },
)
"""The base unit is the octet."""

_RATIO_NUMBER = r"\+?[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?"
_NUMBER = r"\+?([0-9][0-9_]*(?:\.[0-9][0-9_]*)?)(?:[eE]([+-]?[0-9]+))?"


def read(text: str, dimension: Dimension) -> float:
    """Read a number with its unit, and give it in the base unit of its dimension.

    The decimal point is moved before the number is rounded: "0.3 ms" is the double 0.0003 s.

    Raises
    ------
    CellrateError
        If the text is no such quantity; it says how one is written.
    """
    match = re.fullmatch(rf"\s*{_NUMBER}\s*(\S*)\s*", text)
    if match is None:
        raise CellrateError(f"{text!r} is not a {dimension.noun}; {dimension.how}")
    digits, exponent, unit = match[1].replace("_", ""), int(match[2] or 0), match[3]
    if not unit:
        raise CellrateError(f"{text!r} has no unit; {dimension.how}")
    if unit not in dimension.units:
        near = next((f'; "{name}"?' for name in dimension.units if name.lower() == unit.lower()), "")
        raise CellrateError(f'{text!r} is not a {dimension.noun}: "{unit}" is not a unit of one{near}; {dimension.how}')
    factor, shift = dimension.units[unit]
    value = float(f"{digits}e{exponent + shift}") * factor
    if not math.isfinite(value):
        raise CellrateError(f"{text!r} is out of all range")
    return value


def read_ratio(text: str) -> float:
    """Read a ratio, "90 %", "0.9" or "1/16".

    Raises
    ------
    CellrateError
        If the text is none.
    """
    found = re.fullmatch(rf"\s*([-+]?{_RATIO_NUMBER})\s*(?:(%)|/\s*({_RATIO_NUMBER}))?\s*", text)
    if found is not None:
        # The decimal point is moved before the number is rounded: "0.3 %" is the double 0.003.
        number = found[1].replace("_", "")
        mantissa, _, exponent = number.lower().partition("e")
        value = float(f"{mantissa}e{int(exponent or 0) - 2}" if found[2] else number)
        divisor = float(found[3].replace("_", "")) if found[3] else 1.0
        if divisor and math.isfinite(value / divisor):
            return value / divisor
    raise CellrateError(f"{text!r} is not a ratio; write one such as 90 %, 0.9 or 1/16")


def is_number(value: object) -> bool:
    """Say whether it is a number, which True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)
