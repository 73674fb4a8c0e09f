"""SNDlib's networks: its native form and its XML, with coordinates, capacities and demands."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from .topology import Demand, Line, Node, Topology, TopologyError, positions

MBITPERSEC = 1e6
"""Unit of a capacity or demand where the file does not say otherwise [bit/s]."""


def from_native(text: str, name: str) -> Topology:
    """Read SNDlib's native form: sections NODES, LINKS and DEMANDS in parentheses, a line for each entry."""
    nodes: list[Node] = []
    lines: list[Line] = []
    demands: list[Demand] = []
    section: str | None = None
    for number, row in enumerate(text.splitlines()[1:], 2):
        line = row.split("#", 1)[0].strip()
        if not line:
            continue
        if section is None:
            opened = re.fullmatch(r"([A-Z_]+)\s*\(", line)
            if opened is not None:
                section = opened[1]
            continue
        if line == ")":
            section = None
            continue
        try:
            words = line.replace("(", " ").replace(")", " ").split()
            match section:
                case "NODES":
                    nodes.append(_node(words[0], *(words[1:3] if len(words) > 2 else ("", ""))))
                case "LINKS":
                    modules = re.findall(r"\(([^()]*)\)\s*$", line)
                    capacity = _capacity(words[3], modules[0].split() if modules else [])
                    lines.append(Line((words[1], words[2]), capacity, row=number))
                case "DEMANDS":
                    demands.append(Demand((words[1], words[2]), _demanded(words[4])))
        except (IndexError, ValueError):
            raise TopologyError(f"line {number} is not an entry of {section}: {line[:80]}") from None
    return _checked(name, nodes, lines, demands)


def from_xml(text: str, name: str) -> Topology:
    """Read SNDlib's XML."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TopologyError("it declares a document type or entities, which no topology needs")
    try:
        root = ElementTree.fromstring(re.sub(r'\sxmlns="[^"]*"', "", text, count=1).encode())
    except ElementTree.ParseError as error:
        raise TopologyError(f"this is not valid XML: {error}") from None
    placed = root.find(".//nodes")
    geographical = placed is None or placed.get("coordinatesType", "geographical") == "geographical"
    nodes, lines, demands = [], [], []
    try:
        for node in root.iterfind(".//nodes/node"):
            x, y = (node.findtext(f"coordinates/{axis}") or "" for axis in "xy")
            nodes.append(_node(node.attrib["id"], *((x, y) if geographical else ("", ""))))
        for link in root.iterfind(".//links/link"):
            modules = [
                word
                for module in link.iterfind("additionalModules/addModule")
                for word in (module.findtext("capacity") or "0", module.findtext("cost") or "0")
            ]
            capacity = _capacity(link.findtext("preInstalledModule/capacity") or "0", modules)
            lines.append(Line((_word(link, "source"), _word(link, "target")), capacity))
        for demand in root.iterfind(".//demands/demand"):
            rate = _demanded(_word(demand, "demandValue"))
            demands.append(Demand((_word(demand, "source"), _word(demand, "target")), rate))
    except (KeyError, ValueError) as error:
        raise TopologyError(f"an entry of its network lacks something: {error}") from None
    return _checked(name, nodes, lines, demands)


def _word(element: ElementTree.Element, name: str) -> str:
    found = element.findtext(name)
    if found is None:
        raise ValueError(f"{element.tag} {element.get('id')} has no {name}")
    return found.strip()


def _node(key: str, longitude: str, latitude: str) -> Node:
    try:
        x, y = float(longitude), float(latitude)
    except ValueError:
        return Node(key, key)
    return Node(key, key, (x, y) if math.isfinite(x) and math.isfinite(y) else None)


def _demanded(value: str) -> float:
    rate = float(value) * MBITPERSEC
    if not 0 <= rate < math.inf:
        raise ValueError(f"a demand of {value}")
    return rate


def _capacity(installed: str, modules: list[str]) -> float | None:
    """Give what is installed, or else the largest module that could be [bit/s]; None where there is neither."""
    sizes = [float(installed)] if float(installed) > 0 else [float(size) for size in modules[::2]]
    most = max((size for size in sizes if math.isfinite(size) and size > 0), default=None)
    return None if most is None else most * MBITPERSEC


def _checked(name: str, nodes: list[Node], lines: list[Line], demands: list[Demand]) -> Topology:
    if not nodes:
        raise TopologyError("it has no nodes")
    keys = {node.key for node in nodes}
    if len(keys) < len(nodes):
        raise TopologyError("two of its nodes have the same id")
    for kind, entries in (("link", lines), ("demand", demands)):
        for entry in entries:
            for end in entry.ends:
                if end not in keys:
                    raise TopologyError(f'a {kind} has "{end}" as one of its ends, which is not a node')
    placed, moved = positions({node.key: node.position for node in nodes})
    nodes = [Node(node.key, node.label, placed[node.key]) for node in nodes]
    kept = [line for line in lines if line.ends[0] != line.ends[1]]
    loops = len(lines) - len(kept)
    remarks = [f"{loops} lines from a node to itself are left out"] if loops else []
    wanted = [demand for demand in demands if demand.ends[0] != demand.ends[1] and demand.rate_bps != 0]
    nothing = sum(demand.rate_bps == 0 for demand in demands)
    remarks += [f"{nothing} demands of nothing are left out"] if nothing else []
    remarks += moved
    return Topology(name, nodes, kept, wanted, remarks=remarks)
