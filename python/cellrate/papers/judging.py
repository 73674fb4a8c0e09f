"""Rules by which claims of papers are judged, one for each kind; docs/guides/judging.md has them as a table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..sweeps.replications import mean_of, student_975

NEAR, SPREAD, NEITHER = "near", "spread", "neither"
VERDICTS = (NEAR, SPREAD, NEITHER)
"""Verdicts on a claim. Near: within a tenth, or as said; spread: not near, but within what runs differ by; neither."""

WITHIN = 0.1
"""A measured value is near a printed one if it is off by this part of it at most."""

LEAST_SEEDS = 3
"""A prediction interval needs so many seeds: that of two is nine times as wide as what they differ by."""

FIGURES = ("figure", "per cent", "printed spread")
"""Kinds of claims that print a figure."""

STATEMENTS = ("order", "bound", "hardly", "statement")
"""Kinds of claims that say something of figures without printing one."""

JUDGED = (*FIGURES, *STATEMENTS)
"""Kinds of claims: `judged` in published.toml."""

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_PRINTED = re.compile(
    rf"(?:about |around |of the order of )?(?P<low>{_NUMBER})"
    rf"(?:(?: ± (?P<spread>{_NUMBER}))|(?: to (?P<high>{_NUMBER})))?(?: (?P<unit>\S+))?"
)


@dataclass(frozen=True)
class Printed:
    """A figure as a paper prints it."""

    low: float
    high: float
    """Upper end of a range; `low` where none is printed."""
    unit: str
    spread: float | None = None
    """Printed behind ±."""
    step: float = 0.0
    """Half of the last printed digit."""

    def off(self, value: float) -> float:
        """Give by what part of the printed figure, or of the nearer end of a range, a value is off; 0 within."""
        said = min(max(value, self.low), self.high)
        return (value - said) / said if said else math.copysign(math.inf, value) if value else 0.0


def printed(said: Mapping[str, Any]) -> Printed:
    """Read the figure of an entry of published.toml.

    It is `published` if that is a number, with its `unit` beside it, or a text such as "4.2 ± 0.8 ms", "2500 to 3000
    cells" or "about 140 Mbps"; otherwise `value` is the number.

    Raises
    ------
    ValueError
        If there is no figure in it.
    """
    number = said.get("value", said.get("published"))
    if isinstance(number, int | float):
        text, unit = str(number), said.get("unit")
        found = _PRINTED.fullmatch(text)
    else:
        found = _PRINTED.fullmatch(str(number))
        unit = found and (said.get("unit") or found["unit"])
    if found is None or not unit:
        raise ValueError(f'{number!r} is not a printed figure; write a number with its unit, such as "7.7 Mbps"')
    low = _value(found["low"])
    return Printed(
        low=low,
        high=_value(found["high"]) if found["high"] else low,
        unit=unit,
        spread=_value(found["spread"]) if found["spread"] else None,
        step=0.5 * 10.0 ** -len(found["low"].partition(".")[2]),
    )


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def is_predicted(values: Sequence[float], low: float, high: float) -> bool:
    """Whether one more run could give a value from `low` to `high`: the 95 % prediction interval of the seeds has one.

    Parameters
    ----------
    values
        One of each seed. Fewer than `LEAST_SEEDS` predict nothing.
    """
    if len(values) < LEAST_SEEDS:
        return False
    mean, half = prediction(values)
    return low - half <= mean <= high + half


def prediction(values: Sequence[float]) -> tuple[float, float]:
    """Give the mean of two or more values, and half of the 95 % prediction interval of one more."""
    n = len(values)
    mean = mean_of(values).mean
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return mean, student_975(n - 1) * math.sqrt(variance * (1 + 1 / n))


def judge_figure(kind: str, said: Printed, values: Sequence[float]) -> str:
    """Judge measured values against a printed figure.

    Parameters
    ----------
    kind
        One of `FIGURES`.
    said
        As the paper prints it.
    values
        One of each seed, in the printed unit.
    """
    mean = mean_of(values).mean
    if math.isnan(mean):
        return NEITHER
    close = abs(said.off(mean)) <= WITHIN
    if kind == "printed spread":
        assert said.spread is not None
        inside = abs(mean - said.low) <= said.spread + said.step
        return (NEAR if close else SPREAD) if inside else NEITHER
    if kind == "per cent":
        rest = Printed(100 - said.high, 100 - said.low, said.unit)
        close = close and abs(rest.off(100 - mean)) <= WITHIN
    if close:
        return NEAR
    return SPREAD if is_predicted(values, said.low, said.high) else NEITHER


def judge_order(differences: Sequence[float]) -> str:
    """Judge an order by differences of the same seeds, above 0 where they are as said.

    It is as said if the differences are above 0 by more than the 95 % interval of their mean, and within the spread if
    that interval does not exclude it. Of a single run, or of fewer than `LEAST_SEEDS`, the sign of the mean decides.
    """
    found = mean_of(differences)
    half = found.half_width if found.half_width is not None and found.n >= LEAST_SEEDS else 0.0
    if found.mean > half:
        return NEAR
    return SPREAD if found.mean > -half else NEITHER


def judge_hardly(changes: Sequence[float]) -> str:
    """Judge that something hardly changes: by a tenth at most, in each case [parts of 1]."""
    return NEAR if all(abs(change) <= WITHIN for change in changes) else NEITHER
