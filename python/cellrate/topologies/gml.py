"""GML: keys with values, texts and lists of the same in brackets (Himsolt, GML: A portable graph file format, 1997)."""

from __future__ import annotations

import html
import math
import re
from typing import Any

from .topology import TopologyError

_TOKENS = re.compile(r'"[^"]*"|[\[\]"]|#[^\n]*|[^\s\[\]"#]+')
"""Strings, brackets, comments, words; a quotation mark by itself is one whose string never ends."""

_REPEATED = {"graph", "node", "edge"}
_WORDS = {"id", "label", "source", "target"}
"""Keys whose values are written without quotation marks, too."""


class Entry(dict[str, Any]):
    """A list of keys and values; of a key that is there twice, the last value, but all nodes, edges and graphs."""

    row: int
    """Where it begins in the file, counted from 1."""


def parsed(text: str) -> Entry:
    """Read GML, and give its only graph.

    Returns
    -------
    Entry
        Keys and values of the graph; under "node" and "edge" lists of entries. Values are int, float, str or Entry.

    Raises
    ------
    TopologyError
        If it is not GML, or has not one graph; it says in which row.
    """
    document = Entry()
    inside, key = [document], None
    row, counted = 1, 0

    def wrong(said: str) -> TopologyError:
        return TopologyError(f"this is not valid GML: row {row}: {said}")

    for found in _TOKENS.finditer(text):
        token, start = found[0], found.start()
        row, counted = row + text.count("\n", counted, start), start
        if token[0] == "#":
            continue
        if token == '"':
            raise wrong("a text has no end")
        if key is None:
            if token == "]" and len(inside) > 1:
                inside.pop()
            elif token.isidentifier():
                key = token
            else:
                raise wrong(f"a key is due, not {token[:40]}")
            continue
        if token == "]":
            raise wrong(f"{key[:40]} has no value")
        value: Any
        if token == "[":
            value = Entry()
            value.row = row
        else:
            value = _value(token)
            if value is None and key not in _WORDS:
                raise wrong(f"{token[:40]} is neither a number nor a text in quotation marks")
            value = token if value is None else value
        if key in _REPEATED and isinstance(value, Entry):
            inside[-1].setdefault(key, []).append(value)
        else:
            inside[-1][key] = value
        if token == "[":
            inside.append(value)
        key = None
    if key is not None or len(inside) > 1:
        raise wrong("the file ends within a list")
    graphs = document.get("graph")
    if not isinstance(graphs, list) or len(graphs) != 1:
        raise TopologyError(f"it has {len(graphs) if isinstance(graphs, list) else 0} graphs, not one")
    graph: Entry = graphs[0]
    return graph


def _value(token: str) -> int | float | str | None:
    """Give a text or a number; None for a word."""
    if token[0] == '"':
        # Texts may go on in further rows, and have what is not ASCII as in HTML.
        plain = re.sub(r"[ \t\r]*\n\s*", " ", token[1:-1]) if "\n" in token else token[1:-1]
        return html.unescape(plain) if "&" in plain else plain
    if token in ("NAN", "INF", "+INF", "-INF"):
        return math.nan if token == "NAN" else float(token)
    if token[0] not in "+-.0123456789" or "_" in token:
        return None
    try:
        return int(token)
    except ValueError:
        pass
    try:
        return float(token)
    except ValueError:
        return None
