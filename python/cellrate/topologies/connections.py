"""Which nodes of a topology are connected, and the way that each connection takes: the shortest by length."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import CellrateError
from .topology import Topology

MOST = 100_000
"""Connections that a topology may be given."""


@dataclass(frozen=True)
class Pair:
    """A connection to be: from a node to another, and what it carries."""

    ends: tuple[str, str]
    rate_bps: float | None = None
    """Rate that it sends at [bit/s]; None for as much as it may."""


@dataclass(frozen=True)
class Way:
    """The nodes that a connection passes, and the line that it takes behind each but the last."""

    nodes: tuple[str, ...]
    lines: tuple[int, ...]
    """Places in the topology's list of lines."""


def chosen_pairs(topology: Topology, vcs: str | None, *, seed: int) -> list[Pair]:
    """Give the connections that a text asks for.

    Parameters
    ----------
    topology
        Where they are.
    vcs
        "demands" for those that the file has; "all" for each node to each other; a number, such as "40", for as many
        drawn at random; or pairs by label or id, "Denver:Atlanta, Seattle:Houston". None is "demands".
    seed
        Of what is drawn.

    Raises
    ------
    CellrateError
        If the text is none of these, names no node, or there are no such pairs.
    """
    if vcs is None:
        if not topology.demands:
            raise CellrateError(
                f"{topology.name} has no demands; say which nodes are connected: --vcs 40 draws forty pairs, --vcs all "
                "takes each node to each other, --vcs 'A:B, C:D' names them"
            )
        vcs = "demands"
    wanted = None if topology.endpoints is None else set(topology.endpoints)
    within = ([key for key in part if wanted is None or key in wanted] for part in topology.parts())
    parts = [part for part in within if len(part) > 1]
    ordered = sum(len(part) * (len(part) - 1) for part in parts)
    if vcs.strip() == "demands":
        if not topology.demands:
            raise CellrateError(f"{topology.name} has no demands")
        return _within_parts([Pair(demand.ends, demand.rate_bps) for demand in topology.demands], topology)
    if not ordered:
        raise CellrateError(f"{topology.name} has no two nodes with a line between them")
    if vcs.strip() == "all":
        if ordered > MOST:
            raise CellrateError(f"--vcs all of {topology.name} are {ordered:,} connections; {MOST:,} is the most")
        return [Pair((one, other)) for part in parts for one in part for other in part if one != other]
    if vcs.strip().isdecimal():
        number = int(vcs)
        if not 1 <= number <= MOST:
            raise CellrateError(f"--vcs {vcs}: a number of connections is from 1 to {MOST:,}")
        return _drawn(parts, ordered, number, seed)
    return _within_parts([_named(topology, word) for word in vcs.split(",")], topology)


def _drawn(parts: Sequence[Sequence[str]], ordered: int, number: int, seed: int) -> list[Pair]:
    drawing = random.Random(seed)
    # A pair is drawn again only when there are fewer pairs than connections.
    places = drawing.sample(range(ordered), min(number, ordered))
    places += [drawing.randrange(ordered) for _ in range(number - len(places))]
    pairs = []
    for drawn in places:
        place = drawn
        for part in parts:
            within = len(part) * (len(part) - 1)
            if place < within:
                one, other = divmod(place, len(part) - 1)
                pairs.append(Pair((part[one], part[other + (other >= one)])))
                break
            place -= within
    return pairs


def _named(topology: Topology, word: str) -> Pair:
    ends = [end.strip() for end in word.split(":")]
    if len(ends) != 2 or not all(ends):
        raise CellrateError(
            f"--vcs {word.strip()}: write demands, all, a number, or pairs of nodes such as Denver:Atlanta"
        )
    keys = []
    for end in ends:
        found = [node.key for node in topology.nodes if node.label == end] or [
            node.key for node in topology.nodes if node.key == end
        ]
        if not found:
            raise CellrateError(f'--vcs {word.strip()}: {topology.name} has no node "{end}"')
        if len(found) > 1:
            ids = ", ".join(found)
            raise CellrateError(
                f'--vcs {word.strip()}: {topology.name} has {len(found)} nodes "{end}"; give an id: {ids}'
            )
        keys += found
    if keys[0] == keys[1]:
        raise CellrateError(f"--vcs {word.strip()}: both ends are the same node")
    return Pair((keys[0], keys[1]))


def _within_parts(pairs: list[Pair], topology: Topology) -> list[Pair]:
    part_of = {key: place for place, part in enumerate(topology.parts()) for key in part}
    for pair in pairs:
        one, other = pair.ends
        if part_of[one] != part_of[other]:
            names = " and ".join(f'"{topology.by_key[key].label}"' for key in pair.ends)
            raise CellrateError(f"no line leads from {names.replace(' and ', ' to ')}: they are in different parts")
    return pairs


def shortest_ways(topology: Topology, lengths_km: Sequence[float], pairs: Sequence[Pair], *, seed: int) -> list[Way]:
    """Give the shortest way of each pair; of ways equally long with as few lines, one drawn at random.

    Parameters
    ----------
    topology
        Where they are.
    lengths_km
        Of each of its lines [km].
    pairs
        Each within one part of the topology.
    seed
        Of what is drawn.
    """
    leaving: dict[str, list[tuple[int, str]]] = {node.key: [] for node in topology.nodes}
    for place, line in enumerate(topology.lines):
        one, other = line.ends
        leaving[one].append((place, other))
        leaving[other].append((place, one))
    drawing = random.Random(seed)
    trees: dict[str, Mapping[str, list[tuple[str, int]]]] = {}
    ways = []
    for pair in pairs:
        start, end = pair.ends
        if start not in trees:
            trees[start] = _last_steps(start, leaving, lengths_km)
        nodes, lines = [end], []
        while nodes[-1] != start:
            before, line_taken = drawing.choice(trees[start][nodes[-1]])
            nodes.append(before)
            lines.append(line_taken)
        ways.append(Way(tuple(reversed(nodes)), tuple(reversed(lines))))
    return ways


def _last_steps(
    start: str, leaving: Mapping[str, list[tuple[int, str]]], lengths_km: Sequence[float]
) -> dict[str, list[tuple[str, int]]]:
    """Give by node the last steps of its shortest ways from the start: the node before, and the line from there."""
    steps: dict[str, list[tuple[str, int]]] = {}
    # Millimetres: sums of lengths in another order are still equal.
    best = {start: (0, 0)}
    waiting: list[tuple[int, int, int, str]] = [(0, 0, 0, start)]
    order, done = 0, set()
    while waiting:
        length, hops, _, key = heapq.heappop(waiting)
        if key in done:
            continue
        done.add(key)
        for line, other in leaving[key]:
            found = (length + round(lengths_km[line] * 1e6), hops + 1)
            if other in best and found == best[other]:
                steps[other].append((key, line))
            elif other not in best or found < best[other]:
                best[other] = found
                steps[other] = [(key, line)]
                order += 1
                heapq.heappush(waiting, (*found, order, other))
    return steps
