"""Scenarios before they run: load, set values, write out the points of a sweep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import ScenarioError
from .places import folder

if TYPE_CHECKING:
    from .figures import Drawn


class Scenario:
    """A scenario document: what a TOML file says, with settings applied. Never changed in place.

    Examples
    --------
    >>> s = Scenario.load("two-source-transient")             # doctest: +SKIP
    >>> faster = s.set({"defaults.abr.nrm": 8})               # doctest: +SKIP
    """

    __slots__ = ("_checked", "_file", "_native")

    def __init__(self, native: _native.Scenario, file: str) -> None:
        self._native = native
        self._file = file
        self._checked: tuple[str, str, float, int] | None = None

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a file, or the ready scenario of that name (see `ready_scenarios`).

        Raises
        ------
        ScenarioError
            If there is no such file, it cannot be read, or it is no TOML; or a file that it refers to cannot be read.
        """
        place = Path(path)
        if not place.is_file() and str(path) in ready_scenarios():
            place = ready_scenarios()[str(path)]
        try:
            text = place.read_bytes()
        except OSError as error:
            message = f"{error.strerror or error}"
            remedy = "Give the path of a TOML file, or a name from `cellrate list`."
            raise ScenarioError(
                f"{path}: {message}. {remedy}", file=str(path), message=message, remedy=remedy
            ) from None
        return cls(_native.Scenario.parse(text, str(path), str(place.parent)), str(path))

    @classmethod
    def parse(cls, text: str, *, file: str = "<text>") -> Scenario:
        """Read a scenario from TOML text; `file` is the name that errors give.

        Files that it refers to, such as traces of frames, are looked for where `file` is; without it, in the working
        directory.

        Raises
        ------
        ScenarioError
            If it is no TOML, or a file that it refers to cannot be read.
        """
        return cls(_native.Scenario.parse(text.encode(), file, str(Path(file).parent)), file)

    def set(self, settings: Mapping[str, object]) -> Scenario:
        """Give a copy with other values.

        Parameters
        ----------
        settings
            From dotted path to value: a number, a truth value, a text with its unit ("5 ms"), or a list of these.

        Raises
        ------
        ScenarioError
            If there is nothing at the path.
        """
        pairs = [(path, as_toml(value)) for path, value in settings.items()]
        return Scenario(self._native.with_set(pairs), self._file)

    def points(self) -> list[SweepPoint]:
        """Write out the sweep: one point per combination, a single one that sets nothing without a sweep."""
        return [SweepPoint(dict(settings), Scenario(native, self._file)) for settings, native in self._native.points()]

    def check(self) -> None:
        """Raise `ScenarioError` unless every point of the sweep can be run."""
        for point in self.points():
            point.scenario._facts()

    def fair(self, *, utilization: float = 1.0) -> list[FairShare]:
        """Give the weighted max-min fair rates of the ABR flows with traffic, each taken as greedy.

        Parameters
        ----------
        utilization
            Share of each line that is handed out [above 0 to 1].

        Raises
        ------
        ScenarioError
            If the scenario is not sound, or the MCRs through a port exceed what it has.
        ValueError
            If `utilization` is out of range.
        """
        if not 0.0 < utilization <= 1.0:
            raise ValueError(f"utilization is {utilization}; it must be above 0 and at most 1")
        return [FairShare(*row) for row in self._native.fair(utilization)]

    def draw(self) -> Drawn:
        """Draw the network: switches with their algorithms, hosts, links, and the ways that connections take.

        Hosts and connections that are alike are drawn as one. A notebook shows the figure; `savefig` writes it.

        Raises
        ------
        ScenarioError
            If the scenario is not sound.
        CellrateError
            If it is too large to be drawn.
        """
        from .network import draw

        return draw(json.loads(self._native.topology()), self.name)

    @property
    def file(self) -> str:
        """What the scenario was read from."""
        return self._file

    @property
    def name(self) -> str:
        """Short name."""
        return self._facts()[0]

    @property
    def purpose(self) -> str:
        """What the scenario is for."""
        return self._facts()[1]

    @property
    def duration_s(self) -> float:
        """Network time of a run [s]."""
        return self._facts()[2]

    @property
    def seed(self) -> int:
        """Seed of all randomness."""
        return self._facts()[3]

    @property
    def customs(self) -> list[tuple[str, str]]:
        """Kind ("algorithm", "policy" or "traffic") and name of what is not built in; a run has to be given each."""
        return self._native.customs()

    @property
    def toml(self) -> str:
        """The document as TOML, settings applied."""
        return self._native.to_toml()

    @property
    def hash(self) -> str:
        """A hash of everything in the document that bears on the result."""
        return self._native.hash()

    def _facts(self) -> tuple[str, str, float, int]:
        if self._checked is None:
            self._checked = self._native.check()
        return self._checked

    def __repr__(self) -> str:
        return f"<Scenario {self._file!r} {self.hash[:12]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross a process border as TOML text."""
        return (_parse, (self.toml, self._file))


@dataclass(frozen=True)
class SweepPoint:
    """One combination of a sweep."""

    set: dict[str, str]
    """From dotted path to the value there, as text."""
    scenario: Scenario
    """The scenario with these values."""


@dataclass(frozen=True)
class FairShare:
    """What a flow is entitled to."""

    vc: str
    """Name of the VC."""
    backward: bool
    """Whether the direction from the last host of the path to the first is meant."""
    rate: float
    """With the forward RM cells of the flow [cells/s]."""
    bottleneck: str | None
    """The port that keeps it from more ("sw1->sw2"); None where that is its own PCR."""


def ready_scenarios() -> dict[str, Path]:
    """Give the scenarios that come with the package: name and file, by name; those for live runs as `live/NAME`."""
    top = folder("scenarios")
    simulated = {file.stem: file for file in sorted(top.glob("*.toml"))}
    return simulated | {f"live/{file.stem}": file for file in sorted((top / "live").glob("*.toml"))}


def schema() -> dict[str, Any]:
    """Give the JSON Schema of scenario documents, for editors."""
    loaded: dict[str, Any] = json.loads(_native.schema())
    return loaded


def as_toml(value: object) -> str:
    """Write a Python value the way a scenario's setting is written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    return str(value)


def _quoted(item: object) -> str:
    return json.dumps(item) if isinstance(item, str) else as_toml(item)


def _parse(toml: str, file: str) -> Scenario:
    return Scenario.parse(toml, file=file)
