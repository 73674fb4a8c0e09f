"""Manifest of a campaign: campaign.json, which says which point is in which folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _native
from ..errors import CellrateError
from ..folders.replaceable import CAMPAIGN
from ..running.points import Point
from .builds import build

FORMAT = 1

POINT = "point-"
"""Beginning of the name of a point's folder, in front of its number."""


@dataclass(frozen=True)
class Entry:
    """A point that was asked for."""

    folder: str
    key: str
    """A digest of the scenario's hash (its seed included), the build, and algorithms of one's own."""
    hash: str
    set: dict[str, str]

    @property
    def number(self) -> int:
        """Give the number that the folder has in its name."""
        return int(self.folder.removeprefix(POINT))


@dataclass
class Manifest:
    """Points that were asked for last, in order, and those that are kept beside."""

    scenario: str
    version: str
    build: str
    toml: str
    """The scenario of the first point."""
    points: list[Entry]
    earlier: dict[str, dict[str, str]] = field(default_factory=dict)
    """By key of a point that was asked for earlier and is not now: version and build."""
    moving: list[str] = field(default_factory=list)
    """Results that were there before this was a campaign, on their way out of sight."""
    durations_s: list[float] = field(default_factory=list, compare=False)
    """Network time of each point, for who runs them; not in the file."""

    @classmethod
    def of(cls, points: Sequence[Point], plugins: str) -> Manifest:
        """Make the manifest of points, with the digest of what is not built in."""
        entries: list[Entry] = []
        places: dict[str, int] = {}
        durations: list[float] = []
        rest = f"\n{build()}\n{plugins}"
        for place, (scenario, settings) in enumerate(points):
            found = scenario.hash
            durations.append(scenario.duration_s)
            key = hashlib.sha256((found + rest).encode()).hexdigest()[:24]
            if key in places:
                raise CellrateError(
                    f"points {places[key] + 1} and {place + 1} of the sweep are the same scenario with the same seed; "
                    "give each value once"
                )
            places[key] = place
            entries.append(Entry(f"{POINT}{place + 1:03d}", key, found, dict(settings)))
        first = points[0][0]
        return cls(first.name, _native.version(), build(), first.toml, entries, durations_s=durations)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest in a folder.

        Raises
        ------
        CellrateError
            If it is none.
        FileNotFoundError
            If there is none.
        """
        file = folder / CAMPAIGN
        try:
            content = json.loads(file.read_bytes())
            if content["campaign"] != FORMAT:
                raise CellrateError(
                    f"{file} is of format {content['campaign']!r}; this cellrate ({_native.version()}) reads {FORMAT}"
                )
            points = [Entry(**row) for row in content["points"]]
            if not all(entry.folder.removeprefix(POINT).isdecimal() for entry in points):
                raise ValueError("a point's folder lies elsewhere")
            return cls(
                content["scenario"],
                content["version"],
                content["build"],
                content["toml"],
                points,
                content["earlier"],
                content["moving"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CellrateError(f"{file} is not a manifest of a campaign: {error}") from None

    def text(self) -> str:
        """Give the file's text: a line for each point."""
        head: Mapping[str, Any] = {
            "campaign": FORMAT,
            **{key: getattr(self, key) for key in ("scenario", "version", "build", "toml", "earlier", "moving")},
        }
        # `asdict` copies what is in a dataclass, which takes longer than all else here.
        rows = ",\n".join(json.dumps(vars(entry)) for entry in self.points)
        return json.dumps(head, indent=1)[:-2] + ',\n "points": [\n' + rows + "\n]}\n"

    @property
    def digest(self) -> str:
        """Give the digest of the points, by which tables say which ones they have."""
        told = json.dumps([(entry.key, entry.set) for entry in self.points])
        return hashlib.sha256(told.encode()).hexdigest()[:24]
