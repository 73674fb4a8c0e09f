"""Python values as TOML: settings, and whole scenario documents."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping

from .errors import shown


def as_toml(value: object, path: str) -> str:
    """Write a Python value the way the setting at `path` is written: a text as it is, all else as TOML.

    Raises
    ------
    TypeError
        If it is nothing that a setting can be; it says at which path.
    """
    return str(value) if isinstance(value, str) else written(value, path)


def document(content: Mapping[str, object]) -> str:
    """Write a scenario document as a person would: plain values first, then tables and entries, a key on each line.

    Raises
    ------
    TypeError
        If something in it is nothing that a document can hold; it says at which path.
    """
    plain, parts = [], []
    for key, value in content.items():
        name = _key(key, "the document")
        if isinstance(value, Mapping):
            parts.append(_table(f"[{name}]", value, key))
        elif isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
            parts += [_table(f"[[{name}]]", item, f"{key}[{place}]") for place, item in enumerate(value)]
        else:
            plain.append(f"{name} = {written(value, key)}\n")
    return "\n".join(["".join(plain), *parts])


def written(value: object, path: str) -> str:
    """Write a value as TOML, on one line; `path` is where it goes."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    match value:
        case str():
            # What JSON escapes TOML does, and DEL besides.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return repr(float(value))
        case list() | tuple():
            return "[" + ", ".join(written(item, f"{path}[{place}]") for place, item in enumerate(value)) + "]"
        case Mapping():
            pairs = [f"{_key(key, path)} = {written(item, f'{path}.{key}')}" for key, item in value.items()]
            return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    raise TypeError(
        f"{path} is set to {shown(value)}, of type {type(value).__name__}; "
        'a setting is a number, True or False, a text such as "5 ms", or a list or dict of these'
    )


def value_of(text: str) -> object:
    """Read the text of a setting as `Scenario.set` does: as TOML, or else as it is."""
    import tomllib

    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = table["value"]
    plain = isinstance(value, str | int | list | dict) or (isinstance(value, float) and math.isfinite(value))
    return value if plain and len(table) == 1 else text


def values_of(settings: Mapping[str, str]) -> dict[str, object]:
    """Give settings with the values that their texts stand for."""
    return {path: value_of(text) for path, text in settings.items()}


def _table(head: str, table: Mapping[object, object], path: str) -> str:
    lines = [f"{_key(key, path)} = {written(value, f'{path}.{key}')}\n" for key, value in table.items()]
    return "".join([f"{head}\n", *lines])


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{path} has the key {shown(key)}, of type {type(key).__name__}; keys are texts")
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else written(key, path)
