"""A family of networks and its parameters, as a command line names them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from ..errors import CellrateError
from ..quantities import LENGTH, read
from .generators import GENERATORS
from .topology import Topology

DEFAULTS: dict[str, dict[str, object]] = {
    "ring": {"nodes": 8},
    "leaf-spine": {"leaves": 4, "spines": 2},
    "fat-tree": {"k": 4},
    "random": {"nodes": 20, "side": "1000 km", "alpha": 0.2, "beta": 0.4},
}
"""By family, the parameters that it has, and what they are where nothing is said."""


def made(family: str, given: Mapping[str, object], *, seed: int) -> tuple[Topology, str]:
    """Make a network of a family, and give it with the words that say how.

    Raises
    ------
    CellrateError
        If there is no such family, or a parameter is not one of the family's, or out of its range.
    """
    if family not in DEFAULTS:
        raise CellrateError(f'"{family}" is not a kind of network that can be made; there are {", ".join(DEFAULTS)}')
    known = DEFAULTS[family]
    for name, value in given.items():
        if value is not None and name not in known:
            own = ", ".join(f"--{name}" for name in known)
            raise CellrateError(f"--{name} is not a parameter of {family}, which has {own}")
    chosen = {name: default if given.get(name) is None else given[name] for name, default in known.items()}
    words = ", ".join([family, *(f"{name} {value}" for name, value in chosen.items())])
    if "side" in chosen:
        chosen["side_km"] = read(str(chosen.pop("side")), LENGTH)
    make = GENERATORS[family]
    if "seed" in inspect.signature(make).parameters:
        chosen["seed"] = seed
        words += f", seed {seed}"
    return make(**chosen), words
