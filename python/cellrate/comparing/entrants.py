"""Who takes part in the arena: algorithms with their parameters, built in or of one's own."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .. import _native
from ..algorithms import Algorithms, MakeAlgorithm
from ..errors import CellrateError, shown
from ..quantities import is_number

REQUIRED: Mapping[str, Mapping[str, object]] = {
    "relative-rate": {"threshold": "250 cells"},
    "eprca": {"threshold": "250 cells"},
    "aprc": {"high_threshold": "1000 cells"},
}
"""Parameters without a default, as the ready scenarios `algorithms` and `bottlenecks` have them."""

APART: Mapping[str, str] = {
    "stop-and-go": "its sources have RIF, RDF and CDF 1, and in the arena all have the same sources",
}
"""Built-in algorithms that cannot take part, and why."""

VARIANTS: Mapping[str, Sequence[str]] = {
    "aprc": ['aprc { growth_threshold = "2 cells" }'],
    "erica": ["erica { effective_number = true }"],
}
"""Entrants beside an algorithm where none is named."""


@dataclass(frozen=True)
class Entrant:
    """An algorithm with its parameters."""

    name: str
    """As it was asked for: `erica`, or `erica { effective_number = true }`."""
    setting: Mapping[str, object]
    """Setting of the algorithm in a scenario, under `switch.algorithm`."""
    target: float | None = None
    """Share of the lines that it means to hand out [above 0 to 1]; None where that is known of a built-in one."""
    make: MakeAlgorithm | None = field(default=None, compare=False)
    """Makes one of one's own."""


def entrants_of(names: Sequence[str] | None, algorithms: Algorithms) -> list[Entrant]:
    """Give who takes part: those named, or all that are built in, and in any case those of one's own.

    Parameters
    ----------
    names
        Each the name of an algorithm, perhaps with an inline table of parameters behind it.
    algorithms
        Those of one's own, by name.

    Raises
    ------
    CellrateError
        If there is none of a name, it cannot take part, its parameters are no table, or it is named twice.
    """
    required = dict(_native.built_in_algorithms())
    for name in algorithms:
        if name in required:
            raise CellrateError(f'"{name}" is built in; give your own algorithm another name')
    texts = list(names or [])
    if not texts:
        for name in required:
            if name not in APART:
                texts += [name, *VARIANTS.get(name, [])]
    found: list[Entrant] = []
    for text in texts:
        one = _entrant(text, required, algorithms)
        if any(other.name == one.name for other in found):
            raise CellrateError(f"{one.name} is there twice")
        found.append(one)
    entered = {one.setting.get("name") for one in found}
    return found + [_own(name, name, {}, make) for name, make in algorithms.items() if name not in entered]


def _entrant(text: str, required: Mapping[str, Sequence[str]], algorithms: Algorithms) -> Entrant:
    if not isinstance(text, str):
        raise CellrateError(f'an algorithm is a text, such as "erica", not {shown(text)}')
    split = re.fullmatch(r"\s*([^\s{]+)\s*(\{.*\})?\s*", text, re.DOTALL)
    if split is None:
        raise CellrateError(f"{shown(text)}: write a name, such as erica, or {VARIANTS['erica'][0]}")
    name, table = split[1], split[2]
    parameters = _table(name, table) if table else {}
    shown_as = name if table is None else f"{name} {table}"
    if name in algorithms:
        return _own(shown_as, name, parameters, algorithms[name])
    if name not in required:
        there_are = [*(one for one in required if one not in APART), *algorithms]
        similar = difflib.get_close_matches(name, there_are, n=1)
        meant = f"; did you mean {similar[0]}?" if similar else ";"
        raise CellrateError(
            f'there is no algorithm "{name}"{meant} There are {", ".join(there_are)}, and those of your own '
            "(--algorithm NAME=FILE.py:CLASS)"
        )
    if name in APART:
        raise CellrateError(f"{name} cannot take part: {APART[name]}")
    setting = {"type": name, **REQUIRED.get(name, {}), **parameters}
    missing = [key for key in required[name] if key not in setting]
    if missing:
        raise CellrateError(f"{name} needs {' and '.join(missing)}: write {name} {{ {missing[0]} = ... }}")
    return Entrant(shown_as, setting)


def _own(shown_as: str, name: str, parameters: Mapping[str, object], make: MakeAlgorithm) -> Entrant:
    target = getattr(make, "target_utilization", 1.0)
    if not is_number(target) or not 0.0 < target <= 1.0:
        raise CellrateError(
            f"{name}: target_utilization is {shown(target)}; it is the share of its line that the algorithm hands out, "
            "above 0 and at most 1"
        )
    setting: dict[str, object] = {"type": "custom", "name": name}
    if parameters:
        setting["parameters"] = dict(parameters)
    return Entrant(shown_as, setting, float(target), make)


def _table(name: str, text: str) -> dict[str, object]:
    try:
        found = tomllib.loads(f"table = {text}")
    except tomllib.TOMLDecodeError as error:
        raise CellrateError(f"{name} {text}: its parameters are not a table in TOML: {error}") from None
    if list(found) != ["table"] or not isinstance(found["table"], dict) or "type" in found["table"]:
        raise CellrateError(f"{name} {text}: write parameters alone, such as {VARIANTS['erica'][0]}")
    return dict(found["table"])
