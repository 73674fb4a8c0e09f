"""The dumbbell as a scenario: like connections of as many hosts through one line between two switches."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CellrateError
from ..toml import document

MOST_SOURCES = 10_000
"""Connections that a dumbbell may have."""

TRAFFIC = ("greedy", "tcp")
"""Traffic that its connections may carry."""


@dataclass(frozen=True)
class Dumbbell:
    """Choices of a dumbbell; quantities as scenarios write them."""

    rate: str
    """Rate of every line."""
    length: str
    """Length of the line between the switches."""
    access: str
    """Length of the line of each host."""
    algorithm: str
    """Switch algorithm; "none" for none."""
    duration: str
    sources: int = 2
    mcr: str | None = None
    """MCR of each connection; 0 when None."""
    traffic: str = "greedy"
    video: str | None = None
    """Rate of a CBR connection beside them; none when None."""

    def scenario(self) -> str:
        """Give the text of the scenario.

        Raises
        ------
        CellrateError
            If there are too few or too many sources, or there is no such traffic.
        """
        if not 1 <= self.sources <= MOST_SOURCES:
            raise CellrateError(f"a dumbbell has 1 to {MOST_SOURCES:,} sources, not {self.sources:,}")
        if self.traffic not in TRAFFIC:
            raise CellrateError(f'"{self.traffic}" is no traffic of a dumbbell; there are {", ".join(TRAFFIC)}')
        beside = "" if self.video is None else f", with {self.video} of CBR beside them"
        of_each = {"count": self.sources}
        links = [
            {"between": ["s{i}", "sw1"], **of_each},
            {"between": ["sw1", "sw2"], "length": self.length},
            {"between": ["sw2", "d{i}"], **of_each},
        ]
        hosts: list[dict[str, object]] = [{"name": "s{i}", **of_each}, {"name": "d{i}", **of_each}]
        way = ["s{i}", "sw1", "sw2", "d{i}"]
        vcs: list[dict[str, object]] = [{"name": "vc{i}", **of_each, "path": way, "traffic": {"type": self.traffic}}]
        if self.video is not None:
            ends = ["video-in", "video-out"]
            hosts += [{"name": name} for name in ends]
            links += [{"between": ["video-in", "sw1"]}, {"between": ["sw2", "video-out"]}]
            traffic = {"type": "constant", "rate": self.video}
            path = [ends[0], "sw1", "sw2", ends[1]]
            vcs.append({"name": "video", "category": "cbr", "pcr": self.video, "path": path, "traffic": traffic})
        defaults: dict[str, object] = {"link": {"rate": self.rate, "length": self.access}}
        if self.algorithm != "none":
            defaults["switch"] = {"algorithm": {"type": self.algorithm}}
        if self.mcr is not None:
            defaults["abr"] = {"mcr": self.mcr}
        return document(
            {
                "name": f"dumbbell-{self.sources}",
                "duration": self.duration,
                "purpose": f"{self.sources} like connections share one line{beside}.",
                "defaults": defaults,
                "host": hosts,
                "switch": [{"name": "sw{i}", "count": 2}],
                "link": links,
                "vc": vcs,
                "probe": [
                    {"record": ["acr"], "every": "1 ms"},
                    {"record": ["queue", "utilization"], "of": ["sw1->sw2"], "every": "1 ms"},
                ],
            }
        )
