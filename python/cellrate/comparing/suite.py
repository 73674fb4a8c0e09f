"""The scenarios of the arena: files that anybody can read and run, in the order in which they are shown."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ..errors import CellrateError
from ..places import folder
from ..scenario import Scenario

SUITE = (
    "single-bottleneck",
    "joining-leaving",
    "upstream-bottleneck",
    "parking-lot",
    "gfc-1",
    "gfc-2",
    "bursty-clients",
    "vbr-background",
    "satellite",
    "unequal-round-trips",
    "flow-completion",
    "misbehaving-source",
    "abilene",
)
"""Names of the files in scenarios/arena; one more file and its name here are one more scenario."""

DRAWN = ("vbr-background", "flow-completion")
"""Scenarios that draw random numbers. A run of any other is the same with every seed."""


def suite(only: Sequence[str] | None = None) -> dict[str, Scenario]:
    """Give the scenarios by name, all of them or those of `only`, always in the order of the suite.

    Raises
    ------
    CellrateError
        If there is none of a name; it says what there is.
    """
    for name in only or ():
        if name not in SUITE:
            similar = difflib.get_close_matches(name, SUITE, n=1)
            meant = f"; did you mean {similar[0]}?" if similar else ";"
            raise CellrateError(f'the arena has no scenario "{name}"{meant} It has {", ".join(SUITE)}')
    top = folder("scenarios") / "arena"
    return {name: Scenario.load(top / f"{name}.toml") for name in SUITE if not only or name in only}
