"""Manifest of a campaign: campaign.json, which says which point is in which folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _native
from ..errors import CellrateError, shown
from ..folders.replaceable import CAMPAIGN
from ..folders.stored_json import stored_json
from ..folders.within import is_name
from ..plain_files import plain_octets
from ..running.points import Point
from ..sweeps.settings import SCENARIO
from .builds import build

FORMAT = 1

POINT = "point-"
"""Beginning of the name of a point's folder, in front of its number."""

KEY = re.compile(r"[0-9a-f]{24}")
"""Key of a point."""

_FOLDER = re.compile(POINT + r"[0-9]{3,9}")
_HASH = re.compile(r"[0-9a-f]{64}")


class NotAManifestError(CellrateError):
    """A file that ought to be the manifest of a campaign, and is damaged: cut off, emptied, or other octets."""


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
    scenarios: dict[str, str] = field(default_factory=dict)
    """By name, each scenario of a study of several, as text; not in the file where there is one."""
    durations_s: list[float] = field(default_factory=list, compare=False)
    """Network time of each point, for who runs them; not in the file."""

    @classmethod
    def of(cls, points: Sequence[Point], plugins: str) -> Manifest:
        """Make the manifest of points, with the digest of its plugins."""
        entries: list[Entry] = []
        places: dict[str, int] = {}
        durations: list[float] = []
        scenarios: dict[str, str] = {}
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
            if SCENARIO in settings and settings[SCENARIO] not in scenarios:
                scenarios[settings[SCENARIO]] = scenario.toml
            entries.append(Entry(f"{POINT}{place + 1:03d}", key, found, dict(settings)))
        first = points[0][0]
        return cls(
            first.name,
            _native.version(),
            build(),
            first.toml,
            entries,
            scenarios=scenarios,
            durations_s=durations,
        )

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest in a folder.

        Raises
        ------
        NotAManifestError
            If it is not JSON.
        CellrateError
            If it is of another format, or has a text that must not become a name of a file; said with its place.
        FileNotFoundError
            If there is none.
        """
        file = folder / CAMPAIGN
        try:
            content = stored_json(plain_octets(file))
        except ValueError as error:
            raise NotAManifestError(f"{file} is not a manifest of a campaign: {error}") from None
        try:
            if content["campaign"] != FORMAT:
                raise CellrateError(
                    f"{file} is of format {content['campaign']!r}; this cellrate ({_native.version()}) reads {FORMAT}"
                )
            scenario, version, made_by, toml = (
                _text(content[key], key) for key in ("scenario", "version", "build", "toml")
            )
            points, earlier, moving = content["points"], content["earlier"], content["moving"]
            return cls(
                scenario,
                version,
                made_by,
                toml,
                _points(points),
                _earlier(earlier),
                _moving(moving),
                _scenarios(content.get("scenarios", {})),
            )
        except (KeyError, TypeError, ValueError) as error:
            said = f"it has no {error}" if isinstance(error, KeyError) else error
            raise CellrateError(f"{file} is not a manifest of a campaign: {said}") from None

    def text(self) -> str:
        """Give the file's text: a line for each point."""
        head: Mapping[str, Any] = {
            "campaign": FORMAT,
            **{key: getattr(self, key) for key in ("scenario", "version", "build", "toml", "earlier", "moving")},
        }
        if self.scenarios:
            head = {**head, "scenarios": self.scenarios}
        # `asdict` copies what is in a dataclass, which takes longer than all else here.
        rows = ",\n".join(json.dumps(vars(entry)) for entry in self.points)
        return json.dumps(head, indent=1)[:-2] + ',\n "points": [\n' + rows + "\n]}\n"

    @property
    def digest(self) -> str:
        """Give the digest of the points, by which tables say which ones they have."""
        told = json.dumps([(entry.key, entry.set) for entry in self.points])
        return hashlib.sha256(told.encode()).hexdigest()[:24]


def _points(rows: object) -> list[Entry]:
    """Check the points of a manifest: their texts name folders.

    Raises
    ------
    ValueError
        If one of them is not as `Manifest.of` makes it.
    """
    if not isinstance(rows, list):
        raise ValueError(f"points is {shown(rows)}, and must be a list")
    points = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or row.keys() != {"folder", "key", "hash", "set"}:
            raise ValueError(f"point {number} is {shown(row)}, and must have folder, key, hash and set")
        entry = Entry(**row)
        place = f"of point {number}"
        _matching(entry.folder, _FOLDER, f"folder {place}", "point- and its number")
        _matching(entry.key, KEY, f"key {place}", "24 hexadecimal digits")
        _matching(entry.hash, _HASH, f"hash {place}", "64 hexadecimal digits")
        if not isinstance(entry.set, dict) or not all(isinstance(value, str) for value in entry.set.values()):
            raise ValueError(f"set {place} is {shown(entry.set)}, and must have a text for each path")
        points.append(entry)
    for what in ("folder", "key"):
        found = [getattr(entry, what) for entry in points]
        if len(set(found)) < len(found):
            twice = next(one for one in found if found.count(one) > 1)
            raise ValueError(f"two points have the {what} {twice}")
    return points


def _earlier(kept: object) -> dict[str, dict[str, str]]:
    if not isinstance(kept, dict):
        raise ValueError(f"earlier is {shown(kept)}, and must be a table by keys of points")
    for key, about in kept.items():
        _matching(key, KEY, "a key in earlier", "24 hexadecimal digits")
        if not isinstance(about, dict) or about.keys() != {"version", "build"}:
            raise ValueError(f"earlier.{key} is {shown(about)}, and must have version and build")
        for what, text in about.items():
            _text(text, f"{what} in earlier.{key}")
    return kept


def _scenarios(texts: object) -> dict[str, str]:
    if not isinstance(texts, dict):
        raise ValueError(f"scenarios is {shown(texts)}, and must be a table of texts by name")
    for name, text in texts.items():
        _text(text, f"scenarios.{name}")
    return texts


def _moving(names: object) -> list[str]:
    if not isinstance(names, list) or not all(map(is_name, names)):
        raise ValueError(f"moving is {shown(names)}, and must be a list of names of files and folders in this one")
    return names


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {shown(value)}, and must be a text")
    return value


def _matching(value: object, expression: re.Pattern[str], what: str, wanted: str) -> None:
    if not isinstance(value, str) or not expression.fullmatch(value):
        raise ValueError(f"{what} is {shown(value)}, and must be {wanted}")
