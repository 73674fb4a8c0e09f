"""GML and GraphML, read by networkx: nodes are known by their ids, and parallel lines stay several."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ..errors import CellrateError
from .topology import Line, Node, Topology, TopologyError

UNITS = {"": 1.0, "bps": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""By first letter of `LinkSpeedUnits`, as in "Gbps": what a unit of `LinkSpeed` is [bit/s]."""


def looks_like_gml(text: str) -> bool:
    """Say whether a text has a GML graph in it."""
    return re.search(r"^\s*graph\s*\[", text, re.MULTILINE) is not None


def from_gml(text: str, name: str) -> Topology:
    """Read GML, in the form of the Internet Topology Zoo and others.

    Files say neither `multigraph` nor `directed` although many have several lines between the same nodes; labels
    repeat. So nodes are known by their ids, and every edge is a line.
    """
    networkx = _networkx()
    # 6e-05, as igraph writes it, has no point, and would be read as 6 and a key "e".
    text = re.sub(r'"[^"]*"|(?<!\S)([+-]?\d+)([eE][+-]?\d+)(?!\S)', _with_point, text)
    plain = re.sub(r"^\s*(multigraph|directed)\s+\d+\s*$", "", text, flags=re.MULTILINE)
    several = re.sub(r"^(\s*graph\s*\[)", r"\1\n  multigraph 1", plain, count=1, flags=re.MULTILINE)
    try:
        # Keys of edges would have to be unique for each pair of nodes; these are none.
        graph = networkx.parse_gml(re.sub(r"^(\s*)key\s", r"\1edgekey ", several, flags=re.MULTILINE), label="id")
    except (networkx.NetworkXError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TopologyError(f"this is not valid GML: {error}") from None
    return _topology(graph, name)


def _with_point(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else f"{found[1]}.0{found[2]}"


def from_graphml(text: str, name: str) -> Topology:
    """Read GraphML, in the form of the Internet Topology Zoo and others."""
    import xml.etree.ElementTree as ElementTree

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TopologyError("it declares a document type or entities, which no topology needs")
    networkx = _networkx()
    try:
        graph = networkx.parse_graphml(text.encode(), force_multigraph=True)
    except (networkx.NetworkXError, ElementTree.ParseError, ValueError, KeyError, TypeError) as error:
        raise TopologyError(f"this is not valid GraphML: {error}") from None
    return _topology(graph, name)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise CellrateError("GML and GraphML are read with networkx: pip install 'cellrate[import]'") from None
    return networkx


def _topology(graph: Any, name: str) -> Topology:
    nodes = [Node(str(key), _label(key, data), _position(data)) for key, data in graph.nodes(data=True)]
    lines, loops = [], 0
    pairs = set()
    for one, other, data in graph.edges(data=True):
        if one == other:
            loops += 1
            continue
        pair = (str(one), str(other))
        if graph.is_directed():
            # Both directions of a line, each an edge of its own, are one line.
            if pair[::-1] in pairs:
                pairs.discard(pair[::-1])
                continue
            pairs.add(pair)
        lines.append(Line(pair, _rate(data)))
    if not nodes:
        raise TopologyError("it has no nodes")
    remarks = [f"{loops} lines from a node to itself are left out"] if loops else []
    return Topology(str(graph.graph.get("Network") or graph.graph.get("label") or name), nodes, lines, remarks=remarks)


def _label(key: object, data: Mapping[str, Any]) -> str:
    label = data.get("label", data.get("name", ""))
    return str(label).strip() or str(key)


def _position(data: Mapping[str, Any]) -> tuple[float, float] | None:
    lowered = {name.lower(): value for name, value in data.items()}
    try:
        longitude, latitude = float(lowered["longitude"]), float(lowered["latitude"])
    except (KeyError, TypeError, ValueError):
        return None
    sound = math.isfinite(longitude) and math.isfinite(latitude) and abs(latitude) <= 90 and abs(longitude) <= 360
    return (longitude, latitude) if sound else None


def _rate(data: Mapping[str, Any]) -> float | None:
    raw = data.get("LinkSpeedRaw")
    if raw is None and "LinkSpeed" in data:
        unit = UNITS.get(str(data.get("LinkSpeedUnits", ""))[:1])
        try:
            raw = None if unit is None else float(data["LinkSpeed"]) * unit
        except (TypeError, ValueError):
            raw = None
    try:
        rate = float(raw) if raw is not None else None
    except (TypeError, ValueError):
        return None
    return rate if rate is not None and math.isfinite(rate) and rate > 0 else None
