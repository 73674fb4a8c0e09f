"""Python values as TOML, and the texts of settings as Python values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from . import _native


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
    return _native.document_toml(content)


def written(value: object, path: str) -> str:
    """Write a value as TOML, on one line; `path` is where it goes."""
    return _native.to_toml(value, path)


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
