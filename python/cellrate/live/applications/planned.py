"""Planned applications: their surroundings, and the programs that they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..process import HostLike, Program, Running


@dataclass(frozen=True)
class Application:
    """An `[[application]]` of a scenario, checked."""

    name: str
    kind: str
    host: str
    peer: str | None
    start_s: float
    end_s: float
    settings: dict[str, Any]


@dataclass(frozen=True)
class Surroundings:
    """Surroundings of an application when it is planned."""

    number: int
    """Its place among the applications, from 0: ports follow from it."""
    host: HostLike
    peer: HostLike
    """The host itself for a command without a peer."""
    folder: Path
    """A folder of its own."""
    scenario_folder: Path
    """Where the scenario is; paths in it are seen from there."""
    adapters: Path
    """The socket at which adapters tell their ACR (`adapters`)."""
    mtu_octets: int
    """The smaller MTU of the two hosts."""
    run_end_s: float
    """When the network stops."""


@dataclass
class Plan:
    """Programs that run for an application."""

    background: list[Program] = field(default_factory=list)
    """Servers and receivers: ready before the network's time begins, stopped after `foreground`."""
    foreground: list[Program] = field(default_factory=list)
    """From `start` on."""
    prepare: Callable[[], None] = lambda: None
    """Makes files, before anything is started."""
    result: Callable[[Mapping[str, Running]], dict[str, Any]] = lambda _: {}
    """Reads the result from what was started, by title, when all has ended."""
    needs: list[str] = field(default_factory=list)
    """Programs that must be installed."""
    own: Path | str | None = None
    """A program that the scenario names: a place, or a name on PATH."""
    scratch: list[Path] = field(default_factory=list)
    """Files and folders that are not worth keeping."""


def program_words(name: str, *arguments: object) -> list[str]:
    """Give the command for one of the package's own programs, which need no more of it than their one file."""
    import os
    import sys

    file = Path(__file__).resolve().parent.parent / "programs" / f"{name}.py"
    # With neither packages nor user folders there is no need to go through the environment, whose folder may be closed.
    return [os.path.realpath(sys.executable), "-I", "-S", str(file), *map(str, arguments)]
