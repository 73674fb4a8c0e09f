"""A topology: places, the lines between them, and who wants to send how much to whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

EARTH_RADIUS_KM = 6371.0
"""Mean radius of the Earth [km]."""


class TopologyError(Exception):
    """Text that does not describe a network; it says where and what is wrong."""


@dataclass(frozen=True)
class Node:
    """A place of a network, which becomes a switch."""

    key: str
    """Identifies the node in its file; labels need not be unique."""
    label: str
    position: tuple[float, float] | None = None
    """Longitude and latitude [degrees]; None where the file gives none."""


@dataclass(frozen=True)
class Line:
    """A line between two nodes, the same in both directions. Two nodes may have several."""

    ends: tuple[str, str]
    """Keys of its nodes."""
    rate_bps: float | None = None
    """Rate [bit/s]; None where the file gives none."""
    length_km: float | None = None
    """Length that the file gives [km]; None where it gives none."""
    row: int | None = None
    """Row of the file that it is from, counted from 1; None where that is not known."""


@dataclass(frozen=True)
class Demand:
    """Traffic that one node has for another."""

    ends: tuple[str, str]
    """Keys of the node it comes from and of the node it goes to."""
    rate_bps: float | None = None
    """Mean rate [bit/s]; None where only the pair is known."""


@dataclass(frozen=True)
class Topology:
    """A network as a file of it, or a rule, describes it."""

    name: str
    nodes: Sequence[Node]
    lines: Sequence[Line]
    demands: Sequence[Demand] = ()
    endpoints: Sequence[str] | None = None
    """Keys of the nodes that connections may begin and end at; None for all."""
    length_km: float | None = None
    """Length of every line where a rule says it [km]; None where coordinates or the user do."""
    remarks: Sequence[str] = ()
    """Parts of the file that were left out, a sentence each."""

    @cached_property
    def by_key(self) -> dict[str, Node]:
        """Give the nodes by key."""
        return {node.key: node for node in self.nodes}

    def parts(self) -> list[list[str]]:
        """Give the keys of the nodes of each connected part, the largest part first."""
        neighbours: dict[str, list[str]] = {node.key: [] for node in self.nodes}
        for line in self.lines:
            one, other = line.ends
            neighbours[one].append(other)
            neighbours[other].append(one)
        parts, seen = [], set()
        for node in self.nodes:
            if node.key in seen:
                continue
            seen.add(node.key)
            part = [node.key]
            for key in part:
                new = [key for key in dict.fromkeys(neighbours[key]) if key not in seen]
                seen.update(new)
                part += new
            parts.append(part)
        return sorted(parts, key=len, reverse=True)


def positions(
    coordinates: Mapping[str, tuple[float, float] | None],
) -> tuple[dict[str, tuple[float, float] | None], list[str]]:
    """Say which coordinates of a file are places on the Earth: all of them, or none.

    Parameters
    ----------
    coordinates
        By node, what the file calls longitude and latitude; None where it gives none, or no numbers.

    Returns
    -------
    tuple
        Longitude and latitude of each node [degrees], None where there is none; and remarks on what was not taken as it
        stands. Coordinates of a picture are left out for all nodes alike, also for those whose numbers could be
        degrees; where only exchanging the two gives degrees everywhere, they are exchanged.
    """
    given = {key: place for key, place in coordinates.items() if place is not None}
    none: dict[str, tuple[float, float] | None] = dict.fromkeys(coordinates)
    strange = next((key for key, place in given.items() if not _is_on_earth(place)), None)
    if strange is not None:
        if all(_is_on_earth((y, x)) for x, y in given.values()):
            exchanged = {key: None if place is None else (place[1], place[0]) for key, place in coordinates.items()}
            return exchanged, [
                f'longitude and latitude are exchanged in the file ("{strange}"), and taken as they are meant'
            ]
        x, y = given[strange]
        said = f'"{strange}" is at {x:g}, {y:g}, which is not on the Earth: the coordinates of all nodes are left out'
        return none, [said]
    if len(given) > 1 and len(set(given.values())) == 1:
        return none, ["all nodes are at the same place: their coordinates are left out"]
    return dict(coordinates), []


def _is_on_earth(place: tuple[float, float]) -> bool:
    longitude, latitude = place
    return abs(latitude) <= 90 and abs(longitude) <= 360


def great_circle_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Give the distance of two places on a sphere [km], by the haversine formula.

    Parameters
    ----------
    one, other
        Longitude and latitude [degrees].
    """
    (longitude, latitude), (longitude_2, latitude_2) = (
        tuple(math.radians(degrees) for degrees in place) for place in (one, other)
    )
    half_chord = (
        math.sin((latitude_2 - latitude) / 2) ** 2
        + math.cos(latitude) * math.cos(latitude_2) * math.sin((longitude_2 - longitude) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half_chord)))
