"""Topology that is drawn: places, which are nodes or hosts that are alike, links, and the ways of connections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

WayThrough = tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """A link of the scenario."""

    ends: tuple[int, int]
    rate_bps: int
    delay_s: float
    label: str | None = None
    """Label that tells it from the others between its nodes, if there are any."""


@dataclass(frozen=True)
class Bundle:
    """Hosts that are drawn as one, and what they are at."""

    members: tuple[int, ...]
    at: int
    starts: bool
    """Whether connections begin there."""


@dataclass(frozen=True)
class Way:
    """Connections of one category that take the same way through the picture."""

    vcs: tuple[str, ...]
    category: str
    path: WayThrough
    """Places of the picture."""
    over: tuple[str, ...] = ()
    """The links that it takes where there are several between two places, as far as they have names."""


class Network:
    """Topology of a scenario as it is drawn: places, which are nodes or bundles of hosts, and ways between them."""

    def __init__(self, topology: dict[str, Any]) -> None:
        self.nodes: list[dict[str, Any]] = topology["nodes"]
        self.links = [
            Link((a, b), one["rate_bps"], one["delay_s"], one["label"])
            for one in topology["links"]
            for a, b in [one["ends"]]
        ]
        self.vcs: list[dict[str, Any]] = topology["vcs"]
        self.beside: list[list[Link]] = [[] for _ in self.nodes]
        for link in self.links:
            for end in link.ends:
                self.beside[end].append(link)

    @cached_property
    def core(self) -> list[int]:
        """Nodes that are drawn one by one."""
        return [node for node in range(len(self.nodes)) if not self._is_leaf(node)]

    def _is_leaf(self, node: int) -> bool:
        if not self.nodes[node]["is_host"] or len(self.beside[node]) != 1:
            return False
        (link,) = self.beside[node]
        return not self.nodes[sum(link.ends) - node]["is_host"]

    @cached_property
    def bundles(self) -> list[Bundle]:
        """Hosts with one link, those that are alike together."""
        placed = set(self.core)
        ways: list[list[tuple[str, bool, WayThrough]]] = [[] for _ in self.nodes]
        for vc in self.vcs:
            core = tuple(node for node in vc["path"] if node in placed)
            ways[vc["path"][0]].append((vc["category"], True, core))
            ways[vc["path"][-1]].append((vc["category"], False, core))
        alike: dict[Any, list[int]] = {}
        for node in range(len(self.nodes)):
            if node not in placed:
                (link,) = self.beside[node]
                kind = (sum(link.ends) - node, link.rate_bps, link.delay_s, frozenset(ways[node]))
                alike.setdefault(kind, []).append(node)
        return [
            Bundle(tuple(members), kind[0], any(starts for _, starts, _ in kind[3])) for kind, members in alike.items()
        ]

    @cached_property
    def place_of(self) -> list[int]:
        """By node, its place: those of the core first, then the bundles."""
        places = [0] * len(self.nodes)
        for place, node in enumerate(self.core):
            places[node] = place
        for number, bundle in enumerate(self.bundles):
            for node in bundle.members:
                places[node] = len(self.core) + number
        return places

    @cached_property
    def ways(self) -> list[Way]:
        """Ways, in the order of their first connections."""
        alike: dict[tuple[str, WayThrough, tuple[str, ...]], list[str]] = {}
        for vc in self.vcs:
            path = tuple(self.place_of[node] for node in vc["path"])
            over = tuple(label for port in vc["ports"] for label in [self.links[port // 2].label] if label is not None)
            alike.setdefault((vc["category"], path, over), []).append(vc["name"])
        return [Way(tuple(vcs), category, path, over) for (category, path, over), vcs in alike.items()]

    @cached_property
    def edges(self) -> dict[tuple[int, int], list[Link]]:
        """Links by the two places that they join, the smaller first."""
        joined: dict[tuple[int, int], list[Link]] = {}
        for link in self.links:
            a, b = sorted(self.place_of[end] for end in link.ends)
            joined.setdefault((a, b), []).append(link)
        return joined

    def is_parallel(self, edge: tuple[int, int]) -> bool:
        """Whether several links join the same two nodes there, and not hosts that are drawn as one."""
        return any(link.label is not None for link in self.edges[edge])

    def label(self, place: int) -> tuple[str, str]:
        """Give the two texts at a place: the name, and its congestion control."""
        if place < len(self.core):
            node = self.nodes[self.core[place]]
            return node["name"], "\n".join(node["control"])
        return shortened([self.nodes[node]["name"] for node in self.bundles[place - len(self.core)].members]), ""


def shortened(names: Sequence[str]) -> str:
    """Give few names as they are, and of many the first and the last, or how many they are."""
    if len(names) <= 2:
        return ", ".join(names)
    patterns = {re.sub(r"\d+", "#", name) for name in names}
    if len(patterns) == 1:
        return f"{names[0]} ... {names[-1]}"
    if len(names) == 3 and sum(map(len, names)) <= 20:
        return ", ".join(names)
    return f"{names[0]}, {names[1]} ... ({len(names)})"
