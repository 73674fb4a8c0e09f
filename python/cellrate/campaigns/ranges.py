"""Ranges of a parameter that searches go through: what set-up can signal where it is one of TM 4.0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..errors import CellrateError
from ..quantities import TIME, read, read_ratio
from ..sweeps.settings import as_written

SIGNALLED = {key: values for key, _, values in _native.abr_parameters() if values is not None}
"""By the last part of a key, the values that TM 4.0 can signal at set-up, in rising order."""

ADTF_STEP_S = read(SIGNALLED["adtf"][0], TIME)
"""Step of ADTF, of whose multiples set-up signals the first 1023."""


@dataclass(frozen=True)
class Range:
    """Values of a key between two, each as a setting has it."""

    path: str
    values: Sequence[str] | None
    """All of them, where there are only so many."""
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = False
    """Whether they are whole numbers."""

    @classmethod
    def read(cls, text: str, option: str = "--vary") -> Range:
        """Read "KEY=LOW..HIGH".

        Raises
        ------
        CellrateError
            If it is written in another way, or a value between the two cannot be signalled.
        """
        path, equals, given = text.partition("=")
        path = path.strip()
        low, dots, high = (part.strip() for part in given.partition(".."))
        if not (path and equals and dots and low and high):
            raise CellrateError(
                f"{option} {text}: write a dotted path, = and two values with .. between, such as "
                "defaults.abr.nrm=2..256 or 'vc.vc1.pcr=1 Mbps..10 Mbps'"
            )
        name = path.rpartition(".")[2]
        if name == "adtf":
            return cls._of_adtf(path, low, high, f"{option} {text}")
        if name in SIGNALLED and (".abr." in f".{path}"):
            return cls(path, _between(SIGNALLED[name], low, high, f"{option} {text}"))
        written = as_written([low, high])
        if written is None:
            raise CellrateError(f"{option} {text}: write both values with the same unit, such as 1 Mbps..10 Mbps")
        numbers, unit = written
        first, last = (float(number.replace("_", "")) for number in numbers)
        if not first < last:
            raise CellrateError(f"{option} {text}: the first value must be the lower one")
        whole = all(number.replace("_", "").isdigit() for number in numbers) and (
            unit in ("", "cells") or name == "tbe"
        )
        return cls(path, None, first, last, unit, whole)

    @classmethod
    def _of_adtf(cls, path: str, low: str, high: str, said: str) -> Range:
        first, last = (read(text, TIME) for text in (low, high))
        steps = [round(value / ADTF_STEP_S) for value in (first, last)]
        if not 1 <= steps[0] < steps[1] <= len(SIGNALLED["adtf"]):
            raise CellrateError(f"{said}: ADTF is signalled from 10 ms to 10.23 s, in steps of 10 ms")
        return cls(path, SIGNALLED["adtf"][steps[0] - 1 : steps[1]])

    def at(self, share: float) -> str:
        """Give the value at a share of the way from the lowest to the highest [0 to 1]."""
        if self.values is not None:
            return self.values[round(share * (len(self.values) - 1))]
        value = self.low + share * (self.high - self.low)
        number = str(round(value)) if self.whole else f"{value:.6g}"
        return f"{number} {self.unit}" if self.unit and self.unit != "%" else f"{number}{self.unit}"

    def middle(self, low: float, high: float, tolerance: float) -> float | None:
        """Give the share between two others, None where nothing is left between or they are near enough."""
        if self.values is not None or self.whole:
            steps = len(self.values) - 1 if self.values is not None else round(self.high - self.low)
            first, last = round(low * steps), round(high * steps)
            return (first + last) // 2 / steps if last - first > 1 else None
        return (low + high) / 2 if high - low > tolerance else None

    def spread(self, number: int) -> list[float]:
        """Give about so many shares over all of it, both ends among them, none twice."""
        shares = [place / (number - 1) for place in range(number)]
        found: dict[str, float] = {}
        for share in shares:
            exact = share
            if self.values is not None or self.whole:
                steps = len(self.values) - 1 if self.values is not None else round(self.high - self.low)
                exact = round(share * steps) / steps if steps else 0.0
            found.setdefault(self.at(exact), exact)
        return list(found.values())


def _between(values: Sequence[str], low: str, high: str, said: str) -> list[str]:
    def number(text: str) -> float:
        try:
            return read_ratio(text)
        except CellrateError:
            return read(text, TIME)

    numbers = [number(value) for value in values]
    first, last = number(low), number(high)
    for text, value in ((low, first), (high, last)):
        if not any(math.isclose(value, one, rel_tol=1e-9, abs_tol=1e-12) for one in numbers):
            raise CellrateError(f"{said}: {text} cannot be signalled (TM 4.0); there are {', '.join(values)}")
    found = [
        text for text, value in zip(values, numbers, strict=True) if first * (1 - 1e-9) <= value <= last * (1 + 1e-9)
    ]
    if len(found) < 2:
        raise CellrateError(f"{said}: the first value must be the lower one")
    return found
