"""Groups that a scenario makes by `count`, which tables and pictures fold into one row or band each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

LEAST = 6
"""Members from which on a group is folded: fewer are shown one by one."""

DRAWN = ("vc", "host", "flows")
"""Tables whose groups are bands in pictures: which port of a chain of switches has the queue is what one looks for."""

Groups = Mapping[str, str]
"""From the name of a member to that of its group, "tcp1 ... tcp30"."""


def groups_of(toml: str, kinds: Sequence[str] = ("vc", "host", "switch", "flows")) -> Groups:
    """Give the groups of a scenario's connections, hosts, switches and flows that have `LEAST` members or more.

    Parameters
    ----------
    toml
        The scenario.
    kinds
        Its tables whose entries fold; pictures have those of `DRAWN`.
    """
    if "count" not in toml:
        return {}
    found: dict[str, str] = {}
    for kind in kinds:
        for entry in tomllib.loads(toml).get(kind, []):
            names = _names(entry)
            if len(names) >= LEAST:
                found |= dict.fromkeys(names, f"{names[0]} ... {names[-1]}")
    return found


def _names(entry: Mapping[str, Any]) -> list[str]:
    name, count = entry.get("name"), entry.get("count")
    if not isinstance(name, str) or not isinstance(count, int):
        return []
    pattern = re.fullmatch(r"([^{}]*)\{i(?:([+-])(\d+))?\}([^{}]*)", name.replace(" ", ""))
    if pattern is None:
        return []
    before, sign, shift, after = pattern.groups()
    first = 1 + int(f"{sign}{shift}" if sign else 0)
    return [f"{before}{number}{after}" for number in range(first, first + count)]


_BETWEEN = re.compile(r"(->| \(back\)| #\d+| \([^)]*\)| at |, )")
"""Signs between names in the name of a row: "s1->sw1", "tcp1 (back)", "vc1 at sw2"."""


def folded_name(name: str, groups: Groups) -> str:
    """Give the name of the group that a row belongs to: "s1 ... s30->sw1" for "s1->sw1"; its own without one."""
    return "".join(groups.get(part, part) for part in _BETWEEN.split(name))


def folded(names: Sequence[str], groups: Groups) -> dict[str, list[int]]:
    """Give the places of names by the name of their group, in the order of the first of each.

    What is alone in its group has its own name.
    """
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(folded_name(name, groups) if groups else name, []).append(place)
    return {(group if len(places) > 1 else names[places[0]]): places for group, places in found.items()}
