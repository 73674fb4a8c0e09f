"""Settings of a sweep's points, which are text, as numbers and as labels that tell points apart."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import quantities
from ..errors import CellrateError

_DIMENSIONS = (
    (quantities.TIME, "s"),
    (quantities.RATE, "bit/s"),
    (quantities.LENGTH, "km"),
    (quantities.SIZE, "octets"),
    (quantities.CELLS, "cells"),
)
"""Each with the name of its base unit."""

_NUMBER = r"\+?[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?"

SCENARIO = "scenario"
"""The setting that says which of several scenarios a point is of; no scenario has a key of this name."""

FOLDER = "result"
"""The setting that says which of several folders of results a point is from."""

APART = (SCENARIO, FOLDER)
"""Settings that tell networks or studies apart, which have no mean in common."""

AS_IT_IS = "as it is"
"""Value of a key at a point whose scenario does not vary it, as others of the study do."""

MOST_NAMED = 4
"""Scenarios whose names a heading has; of more it says how many they are."""

LONG = 24
"""A label of more characters is shortened, unless that takes away what tells it from others."""


@dataclass(frozen=True)
class Numbers:
    """Texts that all are quantities of one dimension."""

    values: list[float]
    unit: str
    """Unit of all: "s", "bit/s", "km", "octets", "cells"; "1" for ratios, which have none."""


def numbers_of(texts: Sequence[str]) -> Numbers | None:
    """Read quantities, with units or as ratios ("80 %", "1/16", "0.5"); None unless all are of one dimension."""
    try:
        return Numbers([quantities.read_ratio(text) for text in texts], "1")
    except CellrateError:
        pass
    for dimension, unit in _DIMENSIONS:
        try:
            return Numbers([quantities.read(text, dimension) for text in texts], unit)
        except CellrateError:
            continue
    return None


def as_written(texts: Sequence[str]) -> tuple[list[str], str] | None:
    """Take quantities apart into numbers, as they are written, and their unit; None unless all have the same."""
    found = [re.fullmatch(rf"\s*({_NUMBER})\s*(.*?)\s*", text) for text in texts]
    units = {match[2] for match in found if match is not None}
    if None in found or len(units) != 1 or "/" in (unit := units.pop())[:1]:
        return None
    return [match[1] for match in found if match is not None], unit


def names_of(paths: Sequence[str]) -> dict[str, str]:
    """Give each path the shortest end of it that tells it from the others: "nrm", or "vc1.abr.nrm"."""
    names = {}
    for path in paths:
        parts = path.split(".")
        ends = [".".join(parts[-length:]) for length in range(1, len(parts) + 1)]
        rest = [other for other in paths if other != path]
        names[path] = next((end for end in ends if not any(f".{other}".endswith(f".{end}") for other in rest)), path)
    return names


def with_those_apart(settings: Mapping[str, str], keys: Sequence[str]) -> list[str]:
    """Give keys with those in front that tell networks apart, as far as there are any."""
    return [*(key for key in APART if key in settings and key not in keys), *keys]


def paths_of(settings: Mapping[str, str], keys: Sequence[str]) -> list[str]:
    """Give the paths that keys name, each its whole path or an end of it: "nrm" is defaults.abr.nrm.

    Raises
    ------
    CellrateError
        If a key names none of the paths that were varied, or several.
    """
    paths = []
    for key in keys:
        found = [path for path in settings if path == key] or [
            path for path in settings if f".{path}".endswith(f".{key}")
        ]
        if len(found) != 1:
            there_are = ", ".join(settings) or "nothing"
            raise CellrateError(
                f"{key} names {len(found) or 'none'} of the keys that were varied, which are {there_are}"
            )
        paths += found
    return paths


def labels_of(texts: Sequence[str]) -> dict[str, str]:
    """Give each text a label of its own: itself, or of a table its type, with the keys in which others differ."""
    distinct = list(dict.fromkeys(texts))
    tables = {text: table for text in distinct if (table := _table(text)) is not None}
    labels = {}
    for text in distinct:
        if text not in tables:
            labels[text] = text if len(text) <= LONG else text[: LONG - 3] + "..."
            continue
        kind = _kind(tables[text])
        alike = [table for table in tables.values() if _kind(table) == kind]
        keys = list(dict.fromkeys(key for table in alike for key in table))
        distinguishing = [key for key in keys if len({repr(table.get(key)) for table in alike}) > 1]
        shown = [_pair(key, tables[text][key]) for key in distinguishing if key in tables[text]]
        labels[text] = ", ".join(filter(None, [str(kind), *shown])) or text
    # What is still alike is shown whole.
    found = list(labels.values())
    return {text: label if found.count(label) == 1 else text for text, label in labels.items()}


def filled(settings: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Give settings in which every point has all keys: scenarios of one study may vary different ones."""
    paths = list(dict.fromkeys(path for one in settings for path in one))
    return [{path: one.get(path, AS_IT_IS) for path in paths} for one in settings]


def plain_label(text: str) -> str:
    """Give the type of a table that says nothing else, or the name of something custom; any other text as it is."""
    table = _table(text)
    if table is None or table.keys() != {"type", *(["name"] if table.get("type") == "custom" else [])}:
        return text
    return str(_kind(table))


def named(first: Mapping[str, Any], settings: Sequence[Mapping[str, str]]) -> str:
    """Give the heading of several points: the name of their scenario, or of those of a study, and how many they are.

    Parameters
    ----------
    first
        Summary of the first point.
    settings
        Settings of all points.
    """
    names = list(dict.fromkeys(one[SCENARIO] for one in settings if SCENARIO in one)) or [first["run"]["scenario"]]
    said = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} scenarios"
    return f"{said}: {len(settings)} points"


def names_by_settings(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Name points by what they set, as far as that differs; by number where that tells too little."""
    paths = list(dict.fromkeys(path for one in settings for path in one))
    told = [path for path in paths if len({one.get(path) for one in settings}) > 1]
    short = names_of(told)
    labels = {path: labels_of([one[path] for one in settings if path in one]) for path in told}
    names = [", ".join(f"{short[path]} {labels[path][one[path]]}" for path in told if path in one) for one in settings]
    if len(set(names)) == len(names) and all(names):
        return names
    return [f"run {number}" for number in range(1, len(settings) + 1)]


def _table(text: str) -> dict[str, object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return _flat(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return None


def _kind(table: Mapping[str, Any]) -> object:
    """Give the type of a table; of something custom the name that its owner gave it."""
    kind = table.get("type", "")
    return table.get("name", kind) if kind == "custom" else kind


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {before + key: value}
    return flat


def _pair(key: str, value: object) -> str:
    if isinstance(value, bool):
        return key if value else f"no {key}"
    return f"{key} {value}"
