"""Families of networks made by rule: ring, leaf-spine, fat tree, random."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from ..errors import CellrateError
from .topology import Line, Node, Topology

MOST_NODES = 10_000
"""Switches that a generated network may have."""


def ring(nodes: int) -> Topology:
    """Make a ring: each switch has a line to the next, the last one to the first.

    Parameters
    ----------
    nodes
        Its switches, 3 or more.
    """
    _check("nodes", nodes, 3, MOST_NODES)
    names = [f"sw{number}" for number in range(1, nodes + 1)]
    lines = [Line((name, names[number % nodes])) for number, name in enumerate(names, 1)]
    return Topology(f"ring-{nodes}", [Node(name, name) for name in names], lines, length_km=100.0)


def leaf_spine(leaves: int, spines: int) -> Topology:
    """Make a leaf-spine network: every leaf has a line to every spine; connections are between leaves.

    Parameters
    ----------
    leaves
        2 or more.
    spines
        1 or more.
    """
    _check("leaves", leaves, 2, MOST_NODES // 2)
    _check("spines", spines, 1, MOST_NODES // 2)
    lower = [f"leaf{number}" for number in range(1, leaves + 1)]
    upper = [f"spine{number}" for number in range(1, spines + 1)]
    lines = [Line((leaf, spine)) for leaf in lower for spine in upper]
    nodes = [Node(name, name) for name in (*lower, *upper)]
    return Topology(f"leaf-spine-{leaves}-{spines}", nodes, lines, endpoints=lower, length_km=0.1)


def fat_tree(k: int) -> Topology:
    """Make a fat tree of switches with k ports (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 3).

    There are k pods with k/2 edge and k/2 aggregation switches each, and (k/2)^2 core switches: core switch (i, j) has
    a line to the aggregation switch i of every pod. Connections are between edge switches.

    Parameters
    ----------
    k
        Ports of a switch, an even number from 2 to 48.
    """
    _check("k", k, 2, 48)
    if k % 2:
        raise CellrateError(f"a fat tree with k = {k}: k must be even")
    half = range(1, k // 2 + 1)
    edges = [f"edge{pod}-{place}" for pod in range(1, k + 1) for place in half]
    upper = [f"aggregation{pod}-{place}" for pod in range(1, k + 1) for place in half]
    core = [f"core{row}-{place}" for row in half for place in half]
    lines = [
        Line((f"edge{pod}-{edge}", f"aggregation{pod}-{place}"))
        for pod in range(1, k + 1)
        for edge in half
        for place in half
    ]
    lines += [
        Line((f"aggregation{pod}-{row}", f"core{row}-{place}"))
        for pod in range(1, k + 1)
        for row in half
        for place in half
    ]
    nodes = [Node(name, name) for name in (*edges, *upper, *core)]
    return Topology(f"fat-tree-{k}", nodes, lines, endpoints=edges, length_km=0.1)


def random_network(nodes: int, *, side_km: float, alpha: float, beta: float, seed: int) -> Topology:
    """Make a random network: places in a square, and lines the likelier the shorter (Waxman, IEEE JSAC 6(9), 1988).

    Two places at a distance d have a line with probability beta exp(-d / (alpha L)), L being the longest distance there
    is between two of them. What is then in several parts is joined by the shortest lines between them.

    Parameters
    ----------
    nodes
        Its switches, 2 to 1000.
    side_km
        Side of the square [km].
    alpha, beta
        Waxman's parameters [above 0 to 1].
    seed
        Of places and lines.
    """
    _check("nodes", nodes, 2, 1000)
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0.0 < value <= 1.0:
            raise CellrateError(f"{name} is {value:g}; it must be above 0 and at most 1")
    drawing = random.Random(seed)
    names = [f"sw{number}" for number in range(1, nodes + 1)]
    places = [(drawing.uniform(0, side_km), drawing.uniform(0, side_km)) for _ in names]
    distances = sorted(
        (math.dist(places[one], places[other]), one, other) for one in range(nodes) for other in range(one)
    )
    longest = distances[-1][0] or 1.0
    drawn = [(one, other) for d, one, other in distances if drawing.random() < beta * math.exp(-d / (alpha * longest))]
    part = list(range(nodes))

    def root(place: int) -> int:
        while part[place] != place:
            part[place] = part[part[place]]
            place = part[place]
        return place

    for one, other in drawn:
        part[root(one)] = root(other)
    for _, one, other in distances:
        if root(one) != root(other):
            part[root(one)] = root(other)
            drawn.append((one, other))
    degrees = 180 / (math.pi * 6371.0)
    # A square near the equator, where a degree is as long in both directions.
    put = [Node(name, name, (x * degrees, y * degrees)) for name, (x, y) in zip(names, places, strict=True)]
    return Topology(f"random-{nodes}", put, [Line((names[one], names[other])) for one, other in drawn])


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise CellrateError(f"{name} is {value:,}; it must be from {least:,} to {most:,}")


GENERATORS: dict[str, Callable[..., Topology]] = {
    "ring": ring,
    "leaf-spine": leaf_spine,
    "fat-tree": fat_tree,
    "random": random_network,
}
"""By name on the command line."""
