"""Scenarios before they run: load, set values, write out the points of a sweep."""

from __future__ import annotations

import errno
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import ScenarioError, at_point, shown
from .places import folder
from .toml import as_toml, values_of
from .toml import document as document_as_toml

if TYPE_CHECKING:
    from .drawing.figures import Drawn


USUAL = ("acr", "queue", "received")
"""Quantities that are recorded for pictures of a scenario that says nothing of it, as far as it has them."""


class Scenario:
    """A scenario document: what a TOML file says, with settings applied. Never changed in place.

    Examples
    --------
    >>> s = Scenario.load("two-source-transient")             # doctest: +SKIP
    >>> faster = s.set({"defaults.abr.nrm": 8})               # doctest: +SKIP
    """

    __slots__ = ("_checked", "_file", "_hash", "_native", "_origin", "_source")

    def __init__(self, native: _native.Scenario, file: str, source: Path | None = None) -> None:
        self._native = native
        self._file = file
        self._source = source
        self._checked: tuple[str, float, int] | None = None
        self._hash: str | None = None
        self._origin: tuple[Scenario, int] | None = None

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        set: Mapping[str, object] | None = None,
        allow_files: Sequence[str | Path] = (),
    ) -> Scenario:
        """Read a file, or the ready scenario of that name (see `ready_scenarios`).

        Parameters
        ----------
        path
            The file, or the name.
        set
            Values that stand in place of those of the file, as in `Scenario.set`. They are taken before files that the
            scenario refers to are read.
        allow_files
            Folders beside that of the scenario whose files it may refer to, such as one of published traces.

        Raises
        ------
        ScenarioError
            If there is no such file, it cannot be read, or it is no TOML; or a file that it refers to cannot be read.
        """
        if not isinstance(path, str | os.PathLike):
            raise TypeError(
                f"a scenario is a Scenario, a file, or the name of a ready one, not {shown(path)}; Scenario.from_dict "
                "makes one of a dict"
            )
        if "\n" in str(path):
            message = f"{shown(str(path))} is neither a file nor the name of a scenario"
            remedy = "Text in TOML is read by `Scenario.parse`."
            raise ScenarioError(f"{message}. {remedy}", message=message, remedy=remedy)
        place = Path(path)
        try:
            if not place.is_file() and str(path) in ready_scenarios():
                place = ready_scenarios()[str(path)]
            text = _octets(place)
        except (OSError, ValueError) as error:
            message = f"{(error.strerror if isinstance(error, OSError) else None) or error}"
            if isinstance(error, FileNotFoundError):
                message = "it is neither a file nor the name of a ready scenario"
            import difflib

            similar = difflib.get_close_matches(str(path), ready_scenarios(), n=1)
            remedy = (
                f"There is a ready scenario {similar[0]}."
                if similar
                else "Give the path of a TOML file; `cellrate list` has the names of those that are ready."
            )
            raise ScenarioError(
                f"{path}: {message}. {remedy}", file=str(path), message=message, remedy=remedy
            ) from None
        native = _native.Scenario.parse(text, str(path), str(place.parent), _pairs(set or {}), _folders(allow_files))
        return cls(native, str(path), place.absolute())

    @classmethod
    def parse(cls, text: str, *, file: str = "<text>", allow_files: Sequence[str | Path] = ()) -> Scenario:
        """Read a scenario from TOML text; `file` is the name that errors give.

        Files that it refers to, such as traces of frames, are looked for where `file` is; without it, in the working
        directory. `allow_files` are other folders whose files it may refer to.

        Raises
        ------
        ScenarioError
            If it is no TOML, or a file that it refers to cannot be read.
        """
        folders = _folders(allow_files)
        return cls(_native.Scenario.parse(text.encode(), file, str(Path(file).parent), [], folders), file)

    @classmethod
    def from_dict(cls, document: Mapping[str, object], *, file: str = "<dict>") -> Scenario:
        """Make a scenario of what a TOML file would hold, as dicts, lists, texts and numbers.

        Parameters
        ----------
        document
            As docs/scenarios.md has it: "name", "duration", "defaults" and so on; of "host", "switch", "link", "vc" and
            the other entries a list with a dict for each. Quantities are texts with units, {"length": "1000 km"}.
        file
            The name that errors give, which show the line in question as it would stand there. Files that the scenario
            refers to are looked for where it is; without it, in the working directory.

        Raises
        ------
        ScenarioError
            If a value is not what its key takes, or a file that it refers to cannot be read. What entries must know of
            each other is said when the scenario is checked or run.
        TypeError
            If something in it is nothing that a document can hold, such as None; it says at which path.

        Examples
        --------
        >>> sources = range(1, 6)
        >>> star = cellrate.Scenario.from_dict(                    # doctest: +SKIP
        ...     {
        ...         "name": "star",
        ...         "duration": "100 ms",
        ...         "defaults": {"link": {"rate": "155.52 Mbps"}, "switch": {"algorithm": {"type": "erica"}}},
        ...         "switch": [{"name": "sw"}],
        ...         "host": [{"name": name} for name in ("d", *(f"s{i}" for i in sources))],
        ...         "link": [{"between": ["sw", "d"], "length": "1 km"}]
        ...         + [{"between": [f"s{i}", "sw"], "length": f"{100 * i} km"} for i in sources],
        ...         "vc": [{"name": f"vc{i}", "path": [f"s{i}", "sw", "d"]} for i in sources],
        ...     }
        ... )
        """
        return cls.parse(document_as_toml(document), file=file)

    def to_dict(self) -> dict[str, Any]:
        """Give the document as dicts, lists, texts and numbers, settings applied: what `from_dict` takes."""
        return tomllib.loads(self.toml)

    def set(self, settings: Mapping[str, object]) -> Scenario:
        """Give a copy with other values.

        Parameters
        ----------
        settings
            From dotted path to value: a number, a truth value, a text ("5 ms"), or a list or dict of these; scalars of
            NumPy are numbers and truth values too. A dict is a table, {"type": "erica"}. A text is read as on the
            command line: as TOML, or else as it is.

        Raises
        ------
        ScenarioError
            If there is nothing at the path, or a value does not go there.
        TypeError
            If a value is none of these, such as None.
        """
        return Scenario(self._native.with_set(_pairs(settings)), self._file, self._source)

    def record(self, *quantities: str) -> Scenario:
        """Give a copy that records these quantities too, of everything that has them.

        They are those that `record` of a `[[probe]]` names. Each is recorded at a thousand instants, where the scenario
        does not record it itself already.

        Parameters
        ----------
        *quantities
            "acr", "queue", "delay", ... (docs/scenarios.md); none of them gives the scenario as it is.

        Raises
        ------
        ScenarioError
            If nothing in the scenario has one of them, or there is no such quantity.
        TypeError
            If one of them is no text.
        """
        for quantity in quantities:
            if not isinstance(quantity, str):
                raise TypeError(f'what is recorded is a text, such as "acr", not {shown(quantity)}')
        wanted = list(dict.fromkeys(quantities))
        if not wanted:
            return self
        own = {(probe, entity) for probe, entity, _, _ in self.points()[0].scenario._series()}
        alone = Scenario.from_dict({key: value for key, value in self.to_dict().items() if key != "probe"})
        probes: list[dict[str, object]] = []
        for quantity in wanted:
            try:
                first = alone._with_probes([{"record": [quantity]}], self._folder).points()[0].scenario
                found = [entity for _, entity, _, _ in first._series()]
            except ScenarioError as error:
                message = f"record {shown(quantity)}: {error.message}"
                text = f"{message}. {error.remedy}." if error.remedy else message
                raise ScenarioError(text, file=self._file, message=message, remedy=error.remedy) from None
            missing = [entity for entity in found if (quantity, entity) not in own]
            if len(missing) == len(found):
                probes.append({"record": [quantity]})
            elif missing:
                probes.append({"record": [quantity], "of": missing})
        return self._with_probes(probes, self._folder)

    def with_usual_probes(self) -> tuple[Scenario, list[str]]:
        """Give a copy that records ACR and queues, if the scenario records nothing, and the names of what it adds.

        Raises
        ------
        ScenarioError
            If the scenario cannot be run.
        """
        if self.points()[0].scenario._series():
            return self, []
        recording, added = self, []
        for quantity in USUAL:
            try:
                recording = recording.record(quantity)
            except ScenarioError:
                # Networks without ABR, or without switches, have none of it.
                continue
            added.append(quantity)
        return recording, added

    def _series(self) -> list[tuple[str, str, str, int | None]]:
        """Probe, entity, unit and interval [ps] of what probes record, in a simulation or, of a live scenario, live."""
        try:
            return self._native.series()
        except ScenarioError:
            # A simulation has no programs on hosts; what is wrong otherwise is wrong live too.
            return _native.live_series(self._native)

    @property
    def _folder(self) -> str:
        """Where files are that the scenario refers to."""
        return str(Path(self._file).parent if self._source is None else self._source.parent)

    def with_seed(self, seed: int) -> Scenario:
        """Give a copy with another seed: `set` of "seed" in a tenth of the time, for sweeps over many.

        Parameters
        ----------
        seed
            From 0 to 2^63 - 1.

        Raises
        ------
        ScenarioError
            If the scenario cannot be run.
        OverflowError
            If the seed is none that fits.
        """
        if seed < 0:
            raise OverflowError(f"seed is {seed}; it must be from 0 to 2^63 - 1")
        name, duration_s, _ = self._facts()
        seeded = Scenario(self._native.with_seed(seed), self._file, self._source)
        seeded._checked = (name, duration_s, seed)
        seeded._origin = (self, seed)
        return seeded

    @property
    def origin(self) -> tuple[Scenario, int | None]:
        """Give the scenario that `with_seed` made this one of, and the seed; itself and None of any other."""
        return self._origin or (self, None)

    def _with_probes(self, probes: list[dict[str, object]], folder: str) -> Scenario:
        if not probes:
            return self
        entries = "".join(document_as_toml({"probe": [probe]}) for probe in probes)
        native = _native.Scenario.parse(f"{self.toml}\n{entries}".encode(), self._file, folder, [])
        return Scenario(native, self._file, self._source)

    def points(self) -> list[SweepPoint]:
        """Write out the sweep: one point per combination, a single one that sets nothing without a sweep."""
        return [
            SweepPoint(dict(settings), Scenario(native, self._file, self._source))
            for settings, native in self._native.points()
        ]

    def checked_points(self) -> list[SweepPoint]:
        """Write out the sweep as `points` does, and see that every point can be run.

        Raises
        ------
        ScenarioError
            If one cannot; it says which.
        """
        return list(self.checking())

    def checking(self) -> Iterator[SweepPoint]:
        """Write out the sweep, and see point by point that each can be run: a generator of `checked_points`.

        Raises
        ------
        ScenarioError
            If one cannot; it says which.
        """
        for place, point in enumerate(self.points()):
            with at_point(place, point.settings):
                point.scenario._facts()
            yield point

    def check(self) -> None:
        """Raise `ScenarioError` unless every point of the sweep can be run."""
        self.checked_points()

    def fair(self, *, utilization: float | None = None, gmm: bool = False) -> list[FairShare]:
        """Give the weighted max-min fair rates of the ABR flows with traffic, each taken as greedy.

        A sweep is left out of account: `points` gives a scenario for each of its points.

        Parameters
        ----------
        utilization
            Share of each line that is handed out [above 0 to 1]; for each port what its algorithm hands out when None:
            the target utilization of ERICA, CAPC and consistent marking, all but the share of its phantom with Phantom,
            and the whole line elsewhere.
        gmm
            What an MCR means beside others. False: a flow has its MCR, and a share by weight of what all MCRs leave.
            True: it has the larger of its MCR and its share by weight (generalized max-min: Hou, Tzeng, Panwar, INFOCOM
            1998; TM 4.0, I.3, has both), as under algorithms that tell all flows one rate: RCP, FECN, CAPC, PI.

        Raises
        ------
        ScenarioError
            If the scenario is not sound, or the MCRs through a port exceed what it has.
        ValueError
            If `utilization` is out of range.
        """
        return [FairShare(*row) for row in self._native.fair(_share(utilization), gmm)]

    def fair_over_time(
        self, *, utilization: float | None = None, gmm: bool = False
    ) -> list[tuple[float, list[FairShare]]]:
        """Give the max-min fair rates in time: from each instant on at which it changes who sends, or what lines carry.

        Greedy sources send in their windows, on-off sources and those of constant rate from their start to their end;
        what leads over a link that is down does not. Links have the rates that are in force. Otherwise as `fair`.

        Parameters
        ----------
        utilization, gmm
            As `fair`.

        Returns
        -------
        list of (float, list of FairShare)
            Instants [s], the first one 0, and the rates from each on of the flows that then send; empty where there are
            more than 500.

        Raises
        ------
        ScenarioError
            If the scenario is not sound, or the MCRs through a port exceed what it has at one of the instants.
        ValueError
            If `utilization` is out of range.
        """
        spans = self._native.fair_over_time(_share(utilization), gmm)
        return [(at_s, [FairShare(*row) for row in rows]) for at_s, rows in spans]

    def cannot_settle(self) -> list[dict[str, Any]]:
        """Tell the ports of which is known before a run that the rates they hand out cannot settle.

        Returns
        -------
        list of dict
            A row for each port, by the stability rule of its algorithm (docs/algorithms): the rows of "unsettled" in
            a run's summary whose "by" is "rule". Nothing is known of algorithms without such a rule.
        """
        rows: list[dict[str, Any]] = json.loads(self._native.cannot_settle())
        return rows

    def overbooked(self) -> list[dict[str, Any]]:
        """Say which lines are promised more than once, before the run: [] where none is, or there is admission control.

        Returns
        -------
        list of dict
            A row for each output port at which MCRs of ABR, GFR and UBR, SCRs of VBR and PCRs of CBR sum to more than
            the line has: the rows of "overbooked" in a run's summary. A VBR connection without `scr` counts with its
            mean rate, where its traffic has one, or with its peak.
        """
        rows: list[dict[str, Any]] = json.loads(self._native.overbooked())
        return rows

    def ends_s(self) -> dict[str, float]:
        """Give when sources have sent their last, as far as the scenario says so [s].

        Returns
        -------
        dict
            By connection, "name (back)" for the direction from the last host to the first: the instant from which on
            it has no new data. Those that send to the end of the run are left out.
        """
        return {f"{vc} (back)" if backward else vc: at_s for vc, backward, at_s in self._native.ends()}

    def unkept(self) -> list[dict[str, Any]]:
        """Say where others may take the place of what is promised, before the run: [] where that cannot be.

        Returns
        -------
        list of dict
            A row for each output port of a switch, and for what is shared there ("queue" or "buffer"), at which a
            connection cannot have its MCR (ABR, GFR, UBR), SCR (VBR) or PCR (CBR) in the long run, although the line
            has room for all promises: others may bring more than they are promised, and nothing of the port goes by
            promises. With `admission`, too, which books rates. They are the rows of "unkept" in a run's summary.
        """
        rows: list[dict[str, Any]] = json.loads(self._native.unkept())
        return rows

    def draw(self) -> Drawn:
        """Draw the network: switches with their algorithms, hosts, links, and the ways that connections take.

        Hosts and connections that are alike are drawn as one. A notebook shows the figure; `savefig` writes it. A sweep
        is left out of account: `points` gives a scenario for each of its points.

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
        """Give the name of the file that the scenario was read from."""
        return self._file

    @property
    def source(self) -> Path | None:
        """The file that `load` read; None where the scenario came as text, as a dict or from another process."""
        return self._source

    @property
    def name(self) -> str:
        """Short name."""
        return self._facts()[0]

    @property
    def purpose(self) -> str:
        """Give the purpose of the scenario."""
        return self._native.purpose()

    @property
    def duration_s(self) -> float:
        """Network time of a run [s]."""
        return self._facts()[1]

    @property
    def seed(self) -> int:
        """Seed of all randomness."""
        return self._facts()[2]

    @property
    def customs(self) -> list[tuple[str, str]]:
        """Kind ("algorithm", "policy" or "traffic") and name of each plugin that a run has to be given."""
        return self._native.customs()

    @property
    def toml(self) -> str:
        """The document as TOML, settings applied."""
        return self._native.to_toml()

    @property
    def hash(self) -> str:
        """A hash of everything in the document that bears on the result."""
        if self._hash is None:
            self._hash = self._native.hash()
        return self._hash

    def _facts(self) -> tuple[str, float, int]:
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

    settings: dict[str, str]
    """From dotted path to the value there, as text."""
    scenario: Scenario
    """The scenario with these values."""

    @property
    def set(self) -> dict[str, Any]:
        """From dotted path to the value there: a number, a truth value, a text ("5 ms"), a list or a dict."""
        return values_of(self.settings)


@dataclass(frozen=True)
class FairShare:
    """Max-min fair share of a flow."""

    vc: str
    """Name of the VC."""
    backward: bool
    """Whether the direction from the last host of the path to the first is meant."""
    rate: float
    """With the forward RM cells of the flow [cells/s]."""
    bottleneck: str | None
    """The port that keeps it from more ("sw1->sw2"); None where that is its own PCR."""
    channels: list[tuple[str, float]] = field(default_factory=list)
    """Name and rate of each channel of a virtual path, without RM cells [cells/s]; [] of other connections."""


def _share(utilization: float | None) -> float | None:
    """Give a share of a line, if it is one."""
    if utilization is not None and not 0.0 < utilization <= 1.0:
        raise ValueError(f"utilization is {utilization}; it must be above 0 and at most 1")
    return utilization


def prepare(
    scenario: Scenario | str | Path,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    allow_files: Sequence[str | Path] = (),
    record: Sequence[str] | str | None = None,
) -> Scenario:
    """Load a scenario unless it is one, apply settings and seed, and have it record further quantities."""
    settings = dict(_mapping(set or {}))
    if seed is not None:
        settings["seed"] = seed
    if not isinstance(scenario, Scenario):
        prepared = Scenario.load(scenario, set=settings, allow_files=allow_files)
    else:
        prepared = scenario.set(settings) if settings else scenario
    return prepared.record(*([record] if isinstance(record, str) else record or []))


def ready_scenarios() -> dict[str, Path]:
    """Give the scenarios that come with the package: name and file, by name.

    Those of the arena are `arena/NAME`, those for live runs `live/NAME`.
    """
    top = folder("scenarios")
    ready = {file.stem: file for file in sorted(top.glob("*.toml"))}
    for group in ("arena", "live"):
        ready |= {f"{group}/{file.stem}": file for file in sorted((top / group).glob("*.toml"))}
    return ready


def schema() -> dict[str, Any]:
    """Give the JSON Schema of scenario documents, for editors."""
    loaded: dict[str, Any] = json.loads(_native.schema())
    return loaded


MOST_OCTETS = 1 << 28
"""The largest scenario that is read; a connection that is written out takes some hundred."""


def _octets(place: Path) -> bytes:
    """Read a scenario, from a pipe too, but no device without an end."""
    text = bytearray()
    with place.open("rb") as file:
        # Part by part, as a read of so many takes memory for all of them at once.
        while part := file.read(1 << 20):
            text += part
            if len(text) > MOST_OCTETS:
                raise OSError(errno.EFBIG, f"it has more than {MOST_OCTETS:,} octets")
    return bytes(text)


def _folders(folders: Sequence[str | Path]) -> list[str]:
    if isinstance(folders, str | os.PathLike):
        raise TypeError(f"allow_files is a list of folders, such as [{str(folders)!r}], not {shown(folders)}")
    return [str(folder) for folder in folders]


def _pairs(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(path, as_toml(value, path)) for path, value in _mapping(settings).items()]


def _mapping(settings: Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(settings, Mapping):
        raise TypeError(
            f'settings are a dict from dotted path to value, such as {{"duration": "5 ms"}}, not {shown(settings)}'
        )
    return settings


def _parse(toml: str, file: str) -> Scenario:
    return Scenario.parse(toml, file=file)
