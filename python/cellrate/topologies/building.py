"""A topology as the text of a scenario: a switch for each node, two hosts for each connection."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..errors import CellrateError
from ..quantities import LENGTH, RATE, read
from ..toml import written
from .connections import Pair, Way, shortest_ways
from .topology import Line, Topology, great_circle_km

OC3 = "149.76 Mbps"
"""Rate that cells can have of an OC-3 line; the rate of lines whose file gives none."""


@dataclass(frozen=True)
class Choices:
    """Choices that a topology leaves open."""

    rate: str = OC3
    """Rate of lines whose file gives none."""
    all_rates: str | None = None
    """Rate of every line, whatever the file gives; None to keep the file's."""
    length: str | None = None
    """Length of lines for which the file gives neither a length nor coordinates of both ends; None where there are
    none."""
    stretch: float = 1.0
    """Length of a line over that in the file, or over the great circle between its ends; fibre has 1.2 to 2."""
    access: str = "1 km"
    """Length of the line between a host and its switch."""
    algorithm: str = "erica"
    """Switch algorithm of every switch, by its type with its defaults; "none" for none."""
    duration: str = "500 ms"
    seed: int = 1
    """Seed of ways that are drawn from several equally short ones."""


def scenario_text(topology: Topology, pairs: Sequence[Pair], choices: Choices, *, purpose: str) -> str:
    """Write the scenario of a topology and its connections.

    Every node becomes a switch, every line a link as long as the file says, or else as the great circle between its
    ends, times the stretch. Each connection has two hosts of its own, so that no line of a host is shared, and takes
    the shortest way.

    Raises
    ------
    CellrateError
        If a line has no length: an end without coordinates, and no `length` is chosen.
    """
    lengths = _lengths(topology, choices)
    names = _names(topology)
    ways = shortest_ways(topology, lengths, pairs, seed=choices.seed)
    fastest = _access_rate(topology, choices)
    link_names = _link_names(topology)
    links: list[dict[str, object]] = []
    vcs: list[dict[str, object]] = []
    for place, line in enumerate(topology.lines):
        one, other = (names[key] for key in line.ends)
        link: dict[str, object] = {"between": [one, other]}
        if link_names[place] is not None:
            link["name"] = link_names[place]
        link["rate"] = _rate(line.rate_bps, choices, partial(_line_name, topology, line))
        link["length"] = _shown_length(topology, place, lengths[place], choices)
        links.append(link)
    for number, (pair, way) in enumerate(zip(pairs, ways, strict=True), 1):
        source, sink = f"from{number}", f"to{number}"
        start, end = names[way.nodes[0]], names[way.nodes[-1]]
        for host, switch in ((source, start), (sink, end)):
            links.append({"between": [host, switch], "rate": fastest, "length": choices.access})
        vc: dict[str, object] = {"name": f"vc{number}", "path": [source, *_path(way, names, link_names), sink]}
        if pair.rate_bps is not None:
            _check_rate(pair.rate_bps, partial(_pair_name, topology, pair))
            vc["traffic"] = {"type": "limited", "rate": f"{_plain(pair.rate_bps)} bps"}
        vcs.append(vc)
    parts = [
        "".join(f"# {row}\n" for row in purpose.splitlines()),
        f"name = {written(_name(topology.name), 'name')}\n",
        f"duration = {written(choices.duration, 'duration')}\n\n",
        _entries("host", [{"name": name, "count": len(pairs)} for name in ("from{i}", "to{i}")]),
        _entries("switch", [{"name": names[node.key]} for node in topology.nodes]),
        _entries("link", links),
        _entries("vc", vcs),
        '[defaults.switch]\nalgorithm = { type = "' + choices.algorithm + '" }\n\n'
        if choices.algorithm != "none"
        else "",
        '[[probe]]\nrecord = ["acr"]\nevery = "5 ms"\n',
    ]
    return "".join(parts)


def _entries(kind: str, rows: Sequence[dict[str, object]]) -> str:
    lines = "".join(f"  {written(row, kind)},\n" for row in rows)
    return f"{kind} = [\n{lines}]\n\n"


def _path(way: Way, names: dict[str, str], link_names: Sequence[str | None]) -> list[str]:
    path = [names[way.nodes[0]]]
    for line, node in zip(way.lines, way.nodes[1:], strict=True):
        link = link_names[line]
        if link is not None:
            path.append(link)
        path.append(names[node])
    return path


def _lengths(topology: Topology, choices: Choices) -> list[float]:
    chosen = topology.length_km if choices.length is None else read(choices.length, LENGTH)
    lengths, unplaced = [], 0
    for line in topology.lines:
        one, other = (topology.by_key[key].position for key in line.ends)
        if line.length_km is not None:
            lengths.append(line.length_km * choices.stretch)
        elif one is not None and other is not None:
            lengths.append(great_circle_km(one, other) * choices.stretch)
        elif chosen is not None:
            lengths.append(chosen)
        else:
            unplaced += 1
    if unplaced:
        places = sum(node.position is None for node in topology.nodes)
        raise CellrateError(
            f"{unplaced} of {len(topology.lines)} lines of {topology.name} have an end without coordinates ({places} "
            f'of {len(topology.nodes)} nodes); say how long such lines are, for example --length "100 km"'
        )
    return lengths


def _shown_length(topology: Topology, place: int, length_km: float, choices: Choices) -> str:
    line = topology.lines[place]
    placed = line.length_km is not None or all(topology.by_key[key].position is not None for key in line.ends)
    # Two places that are one on the map are still a building apart.
    return choices.length if choices.length is not None and not placed else f"{max(round(length_km, 3), 0.1)} km"


def _plain(number: float) -> str:
    return f"{number:.3f}".rstrip("0").rstrip(".")


FASTEST_BPS = 10e12
"""The fastest line that a scenario may have [bit/s]."""


def _rate(rate_bps: float | None, choices: Choices, named: Callable[[], str]) -> str:
    if choices.all_rates is not None:
        return choices.all_rates
    if rate_bps is None:
        return choices.rate
    _check_rate(rate_bps, named)
    return f"{_plain(rate_bps)} bps"


def _check_rate(rate_bps: float, named: Callable[[], str]) -> None:
    if not 1.0 <= rate_bps <= FASTEST_BPS:
        raise CellrateError(
            f"{named()} has {rate_bps:g} bps; a scenario has lines of 1 bps to {FASTEST_BPS / 1e12:g} Tbps "
            "(--all-rates gives every line another rate than the file)"
        )


def _line_name(topology: Topology, line: Line) -> str:
    one, other = (topology.by_key[key].label for key in line.ends)
    row = "" if line.row is None else f"row {line.row}, "
    return f'{topology.name}: {row}the line from "{one}" to "{other}"'


def _pair_name(topology: Topology, pair: Pair) -> str:
    one, other = (topology.by_key[key].label for key in pair.ends)
    return f'{topology.name}: the demand from "{one}" to "{other}"'


def _access_rate(topology: Topology, choices: Choices) -> str:
    """Give the rate of lines of hosts: that of the fastest line, so that none of them is a bottleneck before it."""
    rates = [_rate(line.rate_bps, choices, partial(_line_name, topology, line)) for line in topology.lines]
    return max(dict.fromkeys(rates), key=lambda rate: read(rate, RATE), default=choices.rate)


def _names(topology: Topology) -> dict[str, str]:
    """Give each node a name that is its label as far as names of scenarios have letters for it, and its own."""
    names: dict[str, str] = {}
    # Hosts, connections and links are named by number; a label that looks like such a name makes way.
    taken: set[str] = set()
    for node in topology.nodes:
        base = _name(node.label)
        if re.fullmatch(r"(from|to|vc|line)\d+", base):
            base = f"node-{base}"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        names[node.key] = name
    return names


def _link_names(topology: Topology) -> list[str | None]:
    """Give names to lines whose two nodes have several, and None to the others."""
    number: dict[frozenset[str], int] = {}
    for line in topology.lines:
        number[frozenset(line.ends)] = number.get(frozenset(line.ends), 0) + 1
    given: list[str | None] = []
    for place, line in enumerate(topology.lines, 1):
        given.append(f"line{place}" if number[frozenset(line.ends)] > 1 else None)
    return given


def _name(label: str) -> str:
    composed = unicodedata.normalize("NFC", label)
    plain = re.sub(r"-{2,}", "-", "".join(c if c.isalnum() or c == "_" else "-" for c in composed)).strip("-")
    return plain[:48] or "node"
