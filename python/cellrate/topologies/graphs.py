"""GML, and GraphML by networkx: nodes are known by their ids, and parallel lines stay several."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError
from .gml import parsed
from .topology import Line, Node, Topology, TopologyError, positions

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

UNITS = {"": 1.0, "bps": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""By first letter of `LinkSpeedUnits`, as in "Gbps": what a unit of `LinkSpeed` is [bit/s]."""


def looks_like_gml(text: str) -> bool:
    """Say whether a text has a GML graph in it."""
    return re.search(r"^[^\S\n]*graph\s*\[", text, re.MULTILINE) is not None


def from_gml(text: str, name: str) -> Topology:
    """Read GML, in the form of the Internet Topology Zoo, topohub and others.

    Files say neither `multigraph` nor `directed` although many have several lines between the same nodes; labels
    repeat. So nodes are known by their ids, and every edge is a line.
    """
    graph = parsed(text)
    for kind, needed in (("node", ("id",)), ("edge", ("source", "target"))):
        for entry in graph.get(kind, []):
            if lacks := [key for key in needed if key not in entry]:
                raise TopologyError(f"this is not valid GML: row {entry.row}: {kind} without {lacks[0]}")
    nodes = [(str(entry["id"]), entry) for entry in graph.get("node", [])]
    edges = [(str(entry["source"]), str(entry["target"]), entry, entry.row) for entry in graph.get("edge", [])]
    _check_ends([key for key, _ in nodes], [end for edge in edges for end in edge[:2]])
    return _topology(graph, name, nodes, edges, directed=False)


def from_graphml(text: str, name: str) -> Topology:
    """Read GraphML, in the form of the Internet Topology Zoo and others."""
    import xml.etree.ElementTree as ElementTree

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TopologyError("it declares a document type or entities, which no topology needs")
    networkx = _networkx()
    try:
        _check_graphml(ElementTree.fromstring(text.encode()))
        graph = networkx.parse_graphml(text.encode(), force_multigraph=True)
    except (networkx.NetworkXError, ElementTree.ParseError, ValueError, KeyError, TypeError) as error:
        raise TopologyError(f"this is not valid GraphML: {error}") from None
    nodes = [(str(key), data) for key, data in graph.nodes(data=True)]
    edges = [(str(one), str(other), data, None) for one, other, data in graph.edges(data=True)]
    return _topology(graph.graph, name, nodes, edges, directed=graph.is_directed())


def _check_ends(nodes: Iterable[str], ends: Iterable[str]) -> None:
    """See that nodes are declared once, and that every end of an edge is one."""
    known: set[str] = set()
    for key in nodes:
        if key in known:
            raise TopologyError(f'two of its nodes have the id "{key}"')
        known.add(key)
    for end in ends:
        if end not in known:
            raise TopologyError(f'an edge has "{end}" as one of its ends, which is not a node')


def _check_graphml(root: Element) -> None:
    """Look at nodes and ends before networkx does, which makes what is missing."""
    graph = next((element for element in root if element.tag.rpartition("}")[2] == "graph"), None)
    if graph is None:
        return
    named = [(element.tag.rpartition("}")[2], element) for element in graph]
    nodes = (element.get("id", "") for kind, element in named if kind == "node")
    _check_ends(
        nodes, (element.get(end, "") for kind, element in named if kind == "edge" for end in ("source", "target"))
    )


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise CellrateError("GraphML is read with networkx: pip install 'cellrate[import]'") from None
    return networkx


def _topology(
    attributes: Mapping[str, Any],
    name: str,
    found: Sequence[tuple[str, Mapping[str, Any]]],
    edges: Sequence[tuple[str, str, Mapping[str, Any], int | None]],
    *,
    directed: bool,
) -> Topology:
    placed, moved = positions({key: _coordinates(data) for key, data in found})
    nodes = [Node(key, _label(key, data), placed[key]) for key, data in found]
    lines, loops = [], 0
    pairs = set()
    for one, other, data, row in edges:
        if one == other:
            loops += 1
            continue
        pair = (one, other)
        if directed:
            # Both directions of a line, each an edge of its own, are one line.
            if pair[::-1] in pairs:
                pairs.discard(pair[::-1])
                continue
            pairs.add(pair)
        lines.append(Line(pair, _rate(data), _length(data), row))
    if not nodes:
        raise TopologyError("it has no nodes")
    remarks = [f"{loops} lines from a node to itself are left out"] if loops else []
    remarks += moved
    return Topology(str(attributes.get("Network") or attributes.get("label") or name), nodes, lines, remarks=remarks)


def _label(key: object, data: Mapping[str, Any]) -> str:
    label = data.get("label", data.get("name", ""))
    return str(label).strip() or str(key)


COORDINATES = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"))
"""Names of longitude and latitude, in lower case: those of the Internet Topology Zoo, of topohub, of maps."""


def _coordinates(data: Mapping[str, Any]) -> tuple[float, float] | None:
    lowered = {name.lower(): value for name, value in data.items()}
    for longitude, latitude in COORDINATES:
        if longitude in lowered and latitude in lowered:
            place = _number(lowered[longitude]), _number(lowered[latitude])
            return None if place[0] is None or place[1] is None else (place[0], place[1])
    return None


def _length(data: Mapping[str, Any]) -> float | None:
    """Give the length of an edge as topohub has it, `dist` in kilometres."""
    length = _number(data.get("dist"))
    return length if length is not None and length > 0 else None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _rate(data: Mapping[str, Any]) -> float | None:
    raw = data.get("LinkSpeedRaw")
    if raw is None and "LinkSpeed" in data:
        unit = UNITS.get(str(data.get("LinkSpeedUnits", ""))[:1])
        try:
            raw = None if unit is None else float(data["LinkSpeed"]) * unit
        except (TypeError, ValueError):
            raw = None
    rate = _number(raw)
    return rate if rate is not None and rate > 0 else None
