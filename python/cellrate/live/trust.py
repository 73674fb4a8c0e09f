"""Which commands a scenario would run on its hosts, and whether it may.

A scenario is data, from anywhere. The one thing in it that names code is an application of kind "command": what it says
is run when the user allows it, or when the scenario is the user's own file, which no other user can have written.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import CellrateError
from ..places import folder
from ..scenario import Scenario
from ..texts import printable
from .applications import Application


@dataclass(frozen=True)
class Command:
    """A command that a scenario would run."""

    application: str
    host: str
    words: list[str]

    def line(self) -> str:
        """The command as one would type it, without anything that a terminal acts upon."""
        return printable(shlex.join(self.words))

    def content(self) -> dict[str, Any]:
        """Give it as JSON values."""
        return asdict(self)


def commands(applications: Sequence[Application]) -> list[Command]:
    """Give the commands among applications, in order."""
    return [Command(one.name, one.host, one.settings["words"]) for one in applications if one.kind == "command"]


def _all_commands(scenario: Scenario) -> list[Command]:
    """Give the commands at any point of a sweep, each once."""
    from .attempt import applications

    found = [one for point in scenario.points() for one in commands(applications(point.scenario))]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def commands_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Give what a live run of the scenario would run, as JSON values."""
    return [{**one.content(), "needs_leave": doubt_of(scenario) is not None} for one in _all_commands(scenario)]


def told_commands(scenario: Scenario) -> list[str]:
    """Say in lines what a live run of the scenario would run, and whether it may; nothing where it runs no commands."""
    found = _all_commands(scenario)
    if not found:
        return []
    doubt = doubt_of(scenario)
    leave = "they run: the file is yours alone" if doubt is None else f"only with --allow-commands: {doubt}"
    lines = [f"    {one.application} on {one.host}: {one.line()}" for one in found]
    return [f"A live run has commands ({leave}):", *lines]


def check_commands(scenario: Scenario, applications: Sequence[Application], *, allowed: bool) -> None:
    """Refuse a scenario whose commands may not run.

    Raises
    ------
    CellrateError
        If it has commands, they are not allowed, and it is not the user's own; it shows them all.
    """
    found = commands(applications)
    if not found or allowed:
        return
    doubt = doubt_of(scenario)
    if doubt is None:
        return
    listed = "".join(f"\n    {one.application} on {one.host}: {one.line()}" for one in found)
    raise CellrateError(
        f"{printable(scenario.file)} would run commands, and {doubt}:{listed}\n"
        "Give --allow-commands (allow_commands=True) if you know what they do, or keep the scenario in a file and "
        "folder of your own that nobody else can write to"
    )


def doubt_of(scenario: Scenario) -> str | None:
    """Say why the commands of a scenario do not run unless allowed; None where they do."""
    source = scenario.source
    if source is None:
        return "it was not read from a file"
    place = source.resolve()
    if any(place.is_relative_to(ready.resolve()) for ready in (folder("scenarios"), folder("papers"))):
        return None
    try:
        doubt = _doubt(place, stat.S_ISREG, sticky=False)
        for above in place.parents:
            doubt = doubt or _doubt(above, stat.S_ISDIR, sticky=above != place.parent)
    except OSError as error:
        return f"{printable(str(error.filename))}: {error.strerror}"
    return doubt


def _doubt(place: Path, is_kind: Any, *, sticky: bool) -> str | None:
    """Say who else could have written something; with `sticky`, a folder in which everybody has his own is as good."""
    found = place.lstat()
    if not is_kind(found.st_mode):
        return f"{printable(str(place))} is not a regular file or folder"
    if sys.platform == "win32":
        return f"{printable(str(place))} may belong to anybody: who may write to it is not looked at on Windows"
    if found.st_uid not in (os.geteuid(), 0):
        return f"{printable(str(place))} belongs to another user"
    if found.st_mode & 0o022 and not (sticky and found.st_mode & stat.S_ISVTX):
        return f"{printable(str(place))} can be written to by others"
    return None
