"""Where things are drawn.

Switches, and hosts with several links, are placed so that their distances are as far as possible those in links between
them (stress majorization: Gansner, Koren, North, Graph Drawing 2004): a chain becomes a line, a ring a circle. Hosts
stand around their switch, where there is room.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .topology import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOST_AT = (1.0, 0.7)
"""How far hosts are from their switch, where two switches are 1 apart; the second where the first finds no room."""

CLEAR = 0.5
"""Between two places, if there is room."""

DIRECTIONS = [float(angle) for angle in np.deg2rad(np.arange(-180, 180, 15))]
"""In which hosts may stand [rad]."""


def placed(network: Network) -> NDArray[np.float64]:
    """Give where places are drawn: two numbers each, switches that are linked 1 apart."""
    core = _core_placed(network)
    spots: NDArray[np.float64] = np.vstack([core, np.zeros((len(network.bundles), 2))])
    taken: dict[int, list[float]] = {}
    for a, b in network.edges:
        if b < len(core):
            for one, other in ((a, b), (b, a)):
                taken.setdefault(one, []).append(_angle(core[other] - core[one]))
    # Those with connections of both kinds are counted as sources.
    for number, bundle in enumerate(network.bundles):
        at = network.place_of[bundle.at]
        there = spots[: len(core) + number]
        around = taken.setdefault(at, [])
        choices = [(angle, reach) for angle in DIRECTIONS for reach in HOST_AT]
        spot = {choice: core[at] + choice[1] * np.array([np.cos(choice[0]), np.sin(choice[0])]) for choice in choices}
        unfit = [_unfit(*choice, spot[choice], there, around, starts=bundle.starts) for choice in choices]
        best = choices[int(np.argmin(unfit))]
        around.append(best[0])
        spots[len(core) + number] = spot[best]
    return spots


def _unfit(
    angle: float,
    reach: float,
    spot: NDArray[np.float64],
    there: NDArray[np.float64],
    around: Sequence[float],
    *,
    starts: bool,
) -> float:
    """How unfit a spot is: away from the side that is wished, or near to what is there already."""
    # Sources at the left or above, others at the right or below.
    first, second = (np.pi, np.pi / 2) if starts else (0.0, -np.pi / 2)
    wish = min(_apart(angle, first), 0.3 + _apart(angle, second))
    crowd = sum(max(0.0, np.deg2rad(50) - _apart(angle, other)) for other in around)
    over = np.maximum(0.0, CLEAR - np.linalg.norm(there - spot, axis=1)).sum()
    return float(wish + 20 * crowd + 20 * over + HOST_AT[0] - reach)


def _apart(one: float, other: float) -> float:
    return abs((one - other + np.pi) % (2 * np.pi) - np.pi)


def _angle(along: NDArray[np.float64]) -> float:
    return float(np.arctan2(along[1], along[0]))


def _core_placed(network: Network) -> NDArray[np.float64]:
    count = len(network.core)
    beside: list[list[int]] = [[] for _ in range(count)]
    for a, b in network.edges:
        if b < count:
            beside[a].append(b)
            beside[b].append(a)
    apart = np.array([_links_from(place, beside) for place in range(count)])
    # What no link leads to stands apart.
    reach = apart[np.isfinite(apart)].max(initial=0.0)
    apart[~np.isfinite(apart)] = reach + 2.0
    spots = _stress_majorized(apart)
    # The longest extent lies flat, and connections go from left to right as far as possible.
    spots -= spots.mean(axis=0)
    spots = np.asarray(spots @ np.linalg.svd(spots, full_matrices=True)[2].T)
    ends = [
        [way.path[1 if len(way.path) > 2 else 0], way.path[-2 if len(way.path) > 2 else -1]] for way in network.ways
    ]
    forward = sum(spots[b][0] - spots[a][0] for a, b in ends if a < count and b < count)
    if forward < 0:
        spots[:, 0] *= -1
    if count and spots[0][1] < 0:
        spots[:, 1] *= -1
    return spots


def _links_from(place: int, beside: list[list[int]]) -> list[float]:
    """The fewest links to each other place; infinite where there is no way."""
    found = [float("inf")] * len(beside)
    found[place] = 0.0
    waiting = deque([place])
    while waiting:
        here = waiting.popleft()
        for there in beside[here]:
            if found[there] == float("inf"):
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def _stress_majorized(apart: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places in the plane whose distances are near to those given, a near one counting more."""
    count = len(apart)
    if count < 2:
        return np.zeros((count, 2))
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centre @ apart**2 @ centre)
    spots: NDArray[np.float64] = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0))
    # Places that are as far from all others, as leaves of one switch are, would stay one upon the other.
    upon = np.linalg.norm(spots[:, None] - spots[None], axis=2) < 1e-6
    turned = np.where(np.tril(upon, -1).any(axis=1), np.arange(count), 0)
    spots = spots + 0.1 * np.column_stack([np.sin(turned), 1 - np.cos(turned)])
    weights = np.zeros_like(apart)
    np.divide(1.0, apart**2, out=weights, where=apart > 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    # Each step takes time with the square of their number, and many need fewer for a picture.
    for _ in range(300 if count <= 100 else 60):
        distances = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        pulls = np.zeros_like(apart)
        np.divide(weights * apart, distances, out=pulls, where=distances > 1e-9)
        moved = inverse @ (np.diag(pulls.sum(axis=1)) - pulls) @ spots
        still = np.abs(moved - spots).max() < 1e-4
        spots = moved
        if still:
            break
    return spots
