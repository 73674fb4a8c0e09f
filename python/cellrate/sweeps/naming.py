"""Algorithms, policies and traffic by their bare names, where a scenario has a table: `{ type = "erica+" }`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .. import _native

_KEYS = {"algorithm": "algorithm", "uili": "policy", "traffic": "traffic"}
"""Kind of plugin by the last key of the path where its table stands."""

Own = Mapping[str, Collection[str]]
"""Names of plugins by their kind: "algorithm", "policy", "traffic"."""


def own_names(every: Iterable[tuple[str, str, object]]) -> Own:
    """Give the names of plugins by kind, from what `Plugins.all` gives."""
    names: dict[str, list[str]] = {}
    for kind, name, _ in every:
        names.setdefault(kind, []).append(name)
    return names


def in_full(path: str, value: object, own: Own) -> object:
    """Give the table that a bare name stands for at a path; any other value as it is.

    At `...algorithm` the name of a built-in algorithm is `{ type = NAME }`. The name of a plugin, at `...algorithm`,
    `...uili` and `...traffic`, is `{ type = "custom", name = NAME }`. A built-in algorithm comes before a plugin of the
    same name.
    """
    kind = _KEYS.get(path.rpartition(".")[2])
    if kind is None or not isinstance(value, str):
        return value
    name = value.strip()
    if kind == "algorithm" and name in dict(_native.built_in_algorithms()):
        return {"type": name}
    return {"type": "custom", "name": name} if name in own.get(kind, ()) else value


def all_in_full(settings: Mapping[str, object], own: Own) -> dict[str, object]:
    """Give settings with their tables (`in_full`)."""
    return {path: in_full(path, value, own) for path, value in settings.items()}


def lists_in_full(lists: Mapping[str, Iterable[object]], own: Own) -> dict[str, Iterable[object]]:
    """Give lists of values, from path to values, with their tables (`in_full`); what is not a list as it is."""
    return {
        path: [in_full(path, value, own) for value in values] if isinstance(values, list | tuple) else values
        for path, values in lists.items()
    }
