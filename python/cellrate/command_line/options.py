"""Options that several commands have, and what is meant by what they are given."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ..errors import CellrateError, ScenarioError
from ..toml import value_of
from .typed import Parameter

if TYPE_CHECKING:
    from ..plugins.collection import Plugins
    from ..results import Result
    from ..scenario import Scenario
    from ..wireshark.capture import Capture

Settings = Annotated[
    list[str] | None,
    Parameter(name="--set", help="Change a value first: dotted.path=value. May be given again."),
]
Sweeps = Annotated[
    list[str] | None,
    Parameter(
        name="--sweep",
        help="Run every value of a list: dotted.path=[value, value]; texts and names of algorithms need no quotes. May "
        "be given again: all combinations.",
    ),
]
Seeds = Annotated[
    int | None,
    Parameter(help="Run each point with so many seeds: the scenario's own or --seed, and those that follow it."),
]
Points = Annotated[
    list[str] | None,
    Parameter(
        name="--point",
        help="Only this point of a sweep: its number from 1 on, or a value that it sets, dotted.path=value. Values may "
        "be given again for other paths.",
    ),
]
Record = Annotated[
    list[str] | None,
    Parameter(
        name="--record",
        help="Record these quantities too, of all that have them: acr,queue,delay. May be given again.",
    ),
]
Seed = Annotated[int | None, Parameter(help="Seed of all randomness, instead of the scenario's own.")]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON instead of tables.")]
Each = Annotated[
    bool,
    Parameter(
        help="Show each member of a group that the scenario makes by count; from six members on they are one row."
    ),
]
Folder = Annotated[Path, Parameter(help="A folder of results, as `cellrate run --out` writes it.")]
Folders = Annotated[
    list[Path],
    Parameter(help="A folder of results, as `cellrate run --out` writes it. Several are one study, with a key result."),
]
Out = Annotated[
    Path | None,
    Parameter(
        help="Folder for the results: of a run whole or not there at all, of a sweep with each point that is done."
    ),
]
Cluster = Annotated[
    str | None,
    Parameter(help="Run the points on a cluster of Dask: tcp://HOST:8786, or the scheduler's file scheduler.json."),
]
Until = Annotated[
    list[str] | None,
    Parameter(
        help="Add seeds, at most --seeds (100 by default), until half the 95 % interval of a figure is so small a "
        "share of its mean: 'vcs.throughput: 1 %'. May be given again."
    ),
]
Fresh = Annotated[bool, Parameter(help="Run all points of a sweep again, whatever the folder keeps of them.")]
File = Annotated[str, Parameter(help="A TOML file, or the name of a ready scenario (cellrate list).")]
Files = Annotated[
    list[str],
    Parameter(help="A TOML file, or the name of a ready scenario (cellrate list). Several make one study of them."),
]
Start = Annotated[
    str | None,
    Parameter(help="When the network's time begins, the same for all: 2026-11-21T12:00:00+00:00, or ns since 1970."),
]
AllowCommands = Annotated[
    bool,
    Parameter(help="Run the scenario's commands (cellrate validate lists them) though others could have written it."),
]
AllowFiles = Annotated[
    list[Path] | None,
    Parameter(help="The scenario may name traces in this folder, too, not in its own alone. May be given again."),
]
Key = Annotated[
    Path | None,
    Parameter(help="With nodes elsewhere: a file, the same for all, that nobody else can read; any 16 octets or more."),
]
Workers = Annotated[int | None, Parameter(help="Processes for sweeps; the number of processors by default.")]

Algorithm = Annotated[
    list[str] | None,
    Parameter(help="A custom algorithm of the scenario: NAME=FILE.py:CLASS. May be given again."),
]
Plot = Annotated[bool, Parameter(help="Draw plots into the folder of the results, into the default one without --out.")]
Csv = Annotated[bool, Parameter(help="Write the series, and the rows of VCs and ports, as CSV too.")]
Host = Annotated[
    str, Parameter(help="Address of this machine to serve at, such as 0.0.0.0 for all of them: for a class.")
]
Port = Annotated[int, Parameter(help="Port of the page; a free one by default.")]
Threads = Annotated[int, Parameter(help="Threads per run, for large networks; the result does not depend on it.")]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Scenario that is to run, with the changes to it."""

    set: Settings = None
    seed: Seed = None
    point: Points = None
    record: Record = None

    def scenario(
        self, file: str, plugins: Plugins, allow_files: Sequence[Path] | None = None, *, is_drawn: bool = False
    ) -> Scenario:
        """Prepare a scenario, where plugins may be told by their bare names; if it is drawn, with series to draw."""
        from ..scenario import prepare
        from ..sweeps.naming import all_in_full, own_names
        from .output import with_something_to_draw

        changes, recorded = all_in_full(settings_of(self.set), own_names(plugins.all())), recorded_of(self.record)
        scenario = prepare(file, set=changes, seed=self.seed, allow_files=allow_files or (), record=recorded)
        return with_something_to_draw(scenario) if is_drawn else scenario


@dataclass(frozen=True, kw_only=True)
class Custom:
    """Algorithms, policies and traffic of the user's own."""

    algorithm: Algorithm = None
    policy: Annotated[
        list[str] | None,
        Parameter(help="A custom use-it-or-lose-it policy of the scenario: NAME=FILE.py:CLASS. May be given again."),
    ] = None
    traffic: Annotated[
        list[str] | None, Parameter(help="Custom traffic of the scenario: NAME=FILE.py:CLASS. May be given again.")
    ] = None

    def load(self) -> Plugins:
        """Import the classes."""
        from ..plugins.collection import load

        return load(self.algorithm, self.policy, self.traffic)


@dataclass(frozen=True, kw_only=True)
class Captured:
    """A capture of a run."""

    capture: Annotated[
        Path | None, Parameter(help="Write every cell that leaves a port into this folder, for Wireshark.")
    ] = None
    capture_port: Annotated[
        list[str] | None, Parameter(help="Only at this port, such as sw1->sw2. May be given again.")
    ] = None
    capture_from: Annotated[str | None, Parameter(help="Only from this instant on, such as 10ms.")] = None
    capture_until: Annotated[str | None, Parameter(help="Only before this instant.")] = None
    capture_kind: Annotated[
        Literal["cells", "pdus"] | None, Parameter(help="Only cells, or only AAL5 PDUs (both by default).")
    ] = None
    capture_limit: Annotated[
        str | None, Parameter(help="Most that a file of the capture may hold, such as 200MB (1 GB by default).")
    ] = None

    def read(self) -> Capture | None:
        """Give the capture that is asked for."""
        if self.capture is None:
            given = [name for name, value in vars(self).items() if value is not None]
            if given:
                raise CellrateError(f"--{given[0].replace('_', '-')} needs --capture and a folder")
            return None
        from ..wireshark.capture import DEFAULT_LIMIT_OCTETS, Capture
        from .asking import octets, seconds

        return Capture(
            folder=self.capture,
            ports=self.capture_port,
            start_s=0.0 if self.capture_from is None else seconds(self.capture_from),
            end_s=None if self.capture_until is None else seconds(self.capture_until),
            cells=self.capture_kind != "pdus",
            pdus=self.capture_kind != "cells",
            limit_octets=DEFAULT_LIMIT_OCTETS if self.capture_limit is None else octets(self.capture_limit),
        )


def settings_of(pairs: list[str] | None) -> dict[str, object]:
    """Read what `--set` was given: paths, each with a value as text."""
    settings: dict[str, object] = {}
    for pair in pairs or []:
        path, equals, value = pair.partition("=")
        if not equals or not path.strip():
            raise ScenarioError(f"--set {pair}: write a dotted path, = and a value, such as duration=200ms")
        settings[path.strip()] = value.strip()
    return settings


def recorded_of(texts: list[str] | None) -> list[str]:
    """Read what `--record` was given: names, with commas between them."""
    names = [name.strip() for text in texts or [] for name in text.split(",")]
    if "" in names:
        given = ",".join(texts or [])
        raise ScenarioError(f"--record {given}: write names with commas between them, such as acr,queue")
    return names


def point_of(texts: list[str] | None) -> int | dict[str, object] | None:
    """Read what `--point` was given: a number, or paths, each with a value as text."""
    if not texts:
        return None
    if len(texts) == 1 and re.fullmatch(r"\s*[+-]?[0-9]+\s*", texts[0]):
        return int(texts[0])
    settings: dict[str, object] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise CellrateError(f"--point {text}: write a number, or a path, = and a value, such as defaults.abr.nrm=8")
        settings[path.strip()] = value.strip()
    return settings


def picked(folder: Path, results: Sequence[Result], point: list[str]) -> Result:
    """Give the result of the point that is meant."""
    from ..sweeps.overview import settings_in
    from ..sweeps.picking import place_of

    meant = point_of(point)
    assert meant is not None
    return results[place_of(settings_in(results), meant, str(folder))]


def lists_of(pairs: list[str] | None) -> dict[str, list[object]]:
    """Read what `--sweep` was given: paths, each with a list of values, as TOML or as bare words."""
    how = "write a dotted path, = and a list of values, such as defaults.abr.nrm=[8, 32] or duration=[1 s, 2 s]"
    lists: dict[str, list[object]] = {}
    for pair in pairs or []:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not path:
            raise ScenarioError(f"--sweep {pair}: {how}")
        if path in lists:
            raise ScenarioError(f"--sweep {pair}: {path} is swept over already; give all its values in one list")
        values = value_of(text)
        if not isinstance(values, list):
            values = _bare_list(text)
        if values is None:
            raise ScenarioError(f"--sweep {pair}: this is not a list; {how}")
        lists[path] = values
    return lists


_WORDS = re.compile(
    r"""
    (?: "(?:[^"\\]|\\.)*"           # a text in quotes
      | '[^']*'
      | (?P<open>[\[{])
      | (?P<close>[\]}])
      | (?P<comma>,)
      | [^"'\[\]{},]+ )
    """,
    re.VERBOSE,
)


def _bare_list(text: str) -> list[object] | None:
    """Read a list some of whose values are words without quotes; None where it is not a list."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    inner, parts, depth, at = text[1:-1], [""], 0, 0
    while at < len(inner):
        found = _WORDS.match(inner, at)
        if found is None:
            return None
        at = found.end()
        depth += (found["open"] is not None) - (found["close"] is not None)
        if depth < 0:
            return None
        if found["comma"] and depth == 0:
            parts.append("")
        else:
            parts[-1] += found[0]
    # A comma may stand behind the last value, as in TOML.
    values = [part.strip() for part in (parts[:-1] if len(parts) > 1 and not parts[-1].strip() else parts)]
    if depth != 0 or "" in values:
        return None
    return [value_of(value) for value in values]


KEY_OCTETS = 16, 4096
"""Length of a key, least and most [octets]."""


def key_in(file: Path | None) -> bytes | None:
    """Read the file that `--key` names.

    Raises
    ------
    CellrateError
        If it cannot be read, is too short or too long, or others may read it.
    """
    if file is None:
        return None
    least, most = KEY_OCTETS
    try:
        with file.open("rb") as content:
            found = os.fstat(content.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise CellrateError(f"--key {file}: is not a regular file")
            if found.st_mode & 0o077:
                raise CellrateError(f"--key {file}: others may read or write it; chmod 600 keeps it to you")
            key = content.read(most + 1)
    except OSError as error:
        raise CellrateError(f"--key {file}: {error.strerror}") from None
    if not least <= len(key) <= most:
        held = f"more than {most}" if len(key) > most else f"{len(key)}"
        raise CellrateError(f"--key {file}: has {held} octets; a key has from {least} to {most}")
    return key


def unix_ns(start: str | None) -> int | None:
    """Read what `--start` was given: an instant, in ns since 1970."""
    if start is None or start.isdigit():
        return None if start is None else int(start)
    from datetime import datetime

    try:
        instant = datetime.fromisoformat(start)
    except ValueError:
        raise CellrateError(f"--start {start}: write an instant such as 2026-11-21T12:00:00+00:00") from None
    return int(instant.timestamp() * 1e9)
