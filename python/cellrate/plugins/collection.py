"""Plugins of a run: switch algorithms, use-it-or-lose-it policies of sources, traffic.

A scenario names it, `{ type = "custom", name = ... }`, and a run is given what the name stands for, each kind by a
keyword of its own. `cellrate.algorithms`, `policies` and `traffic` say what such a class is told and what it may do.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from .. import algorithms as _algorithms
from .. import policies as _policies
from .. import traffic as _traffic
from ..algorithms import Algorithms, SwitchAlgorithm
from ..errors import CellrateError
from ..plugin_classes import contained
from ..policies import Policies, UiliPolicy
from ..traffic import Traffic, TrafficSource

if TYPE_CHECKING:
    from ..scenario import Scenario

Make = Callable[..., object]
"""A class, or whatever else makes something of one kind."""

_BASES = {"algorithm": SwitchAlgorithm, "policy": UiliPolicy, "traffic": TrafficSource}
_PLURALS = {"algorithm": "algorithms", "policy": "policies", "traffic": "traffic"}
_OWNERS = {
    "algorithm": "no port has a custom algorithm",
    "policy": "no source has a custom policy",
    "traffic": "no connection has custom traffic",
}


@dataclass(frozen=True)
class PluginMakers:
    """Functions by which the compiled module makes plugins, by the names that scenarios have for them."""

    algorithms: Mapping[str, _algorithms.Maker]
    policies: Mapping[str, _policies.Maker]
    traffic: Mapping[str, _traffic.Maker]


class Keywords(TypedDict):
    """Plugins as the keywords of functions that run something take them."""

    algorithms: Algorithms
    policies: Policies
    traffic: Traffic


@dataclass(frozen=True)
class Plugins:
    """Plugins of a run, by the names that scenarios have for them."""

    algorithms: Algorithms = field(default_factory=dict)
    policies: Policies = field(default_factory=dict)
    traffic: Traffic = field(default_factory=dict)

    @classmethod
    def of(cls, algorithms: Algorithms | None, policies: Policies | None, traffic: Traffic | None) -> Plugins:
        """Give what the keywords of a function say."""
        return cls(dict(algorithms or {}), dict(policies or {}), dict(traffic or {}))

    def keywords(self) -> Keywords:
        """Give the keywords of a function that say this (`of`)."""
        return {"algorithms": self.algorithms, "policies": self.policies, "traffic": self.traffic}

    def __bool__(self) -> bool:
        """Say whether there is anything."""
        return bool(self.algorithms or self.policies or self.traffic)

    def all(self) -> list[tuple[str, str, Make]]:
        """Give kind ("algorithm", "policy" or "traffic"), name, and what makes it."""
        kinds: dict[str, Mapping[str, Make]] = {
            "algorithm": self.algorithms,
            "policy": self.policies,
            "traffic": self.traffic,
        }
        return [(kind, name, make) for kind, makes in kinds.items() for name, make in makes.items()]

    def check(self, scenarios: Iterable[Scenario]) -> None:
        """Look whether each is used, in one of the scenarios at least; no further than until all are found.

        Raises
        ------
        CellrateError
            If one of them is not used.
        """
        if not self:
            return
        here = {(kind, name) for kind, name, _ in self.all()}
        wanted: dict[tuple[str, str], None] = {}
        for scenario in scenarios:
            wanted |= dict.fromkeys(scenario.customs)
            if here <= wanted.keys():
                return
        for kind, name, _ in self.all():
            if (kind, name) not in wanted:
                there_are = ", ".join(other for of, other in wanted if of == kind) or "none"
                raise CellrateError(f'{_OWNERS[kind]} called "{name}"; those of the scenario: {there_are}')

    def makers(self) -> PluginMakers:
        """Give what the compiled module makes it with."""
        return PluginMakers(
            {name: _algorithms.maker(name, make) for name, make in self.algorithms.items()},
            {name: _policies.maker(name, make) for name, make in self.policies.items()},
            {name: _traffic.maker(name, make) for name, make in self.traffic.items()},
        )

    def named(self) -> dict[str, dict[str, str]]:
        """Give names in Python, by keyword and by name in the scenario; only of the kinds that there are."""
        named: dict[str, dict[str, str]] = {}
        for kind, name, make in self.all():
            named.setdefault(_PLURALS[kind], {})[name] = _named(make)
        return named


def _named(make: Make) -> str:
    try:
        return f"{make.__module__}.{getattr(make, '__qualname__', type(make).__qualname__)}"
    except Exception:
        # A class of others may answer for its own name, and fail.
        return f"?.{type(make).__qualname__}"


NOTHING = Plugins()
"""For runs without."""


def load(
    algorithms: Sequence[str] | None, policies: Sequence[str] | None = None, traffic: Sequence[str] | None = None
) -> Plugins:
    """Read lists of NAME=FILE.py:CLASS, or NAME=MODULE:CLASS, as the options of the command line have them.

    Raises
    ------
    CellrateError
        If one is written in another way, there is no such file, module or class, or a name is there twice.
    """
    return Plugins(_all("algorithm", algorithms), _all("policy", policies), _all("traffic", traffic))


def _all(kind: str, texts: Sequence[str] | None) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for text in texts or []:
        name, make = _one(kind, text)
        if name in made:
            raise CellrateError(f'--{kind} gives "{name}" twice')
        made[name] = make
    return made


def _one(kind: str, text: str) -> tuple[str, Make]:
    name, equals, place = text.partition("=")
    source, colon, attribute = place.rpartition(":")
    if not (name and equals and source and colon and attribute):
        raise CellrateError(f"--{kind} {text}: write NAME=FILE.py:CLASS, such as mine=mine.py:Mine")
    module = _module_of_file(kind, Path(source)) if source.endswith(".py") else _module(kind, source)
    try:
        make: Make = getattr(module, attribute)
    except AttributeError:
        base = _BASES[kind]
        classes = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, base) and value is not base
        ]
        there_are = ", ".join(classes) or "none"
        raise CellrateError(f'{source} has no "{attribute}"; {_PLURALS[kind]} in it: {there_are}') from None
    return name, make


def _module_of_file(kind: str, file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise CellrateError(f"--{kind}: there is no file {file}")
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        # Several options may name one file: its classes are the same ones then.
        return known
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses and pickle look for it; a module of that name that is there already stays what it is.
    sys.modules.setdefault(file.stem, module)
    with _reading(kind, str(file)):
        spec.loader.exec_module(module)
    return module


def _module(kind: str, name: str) -> Any:
    try:
        with _reading(kind, name):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise CellrateError(f"--{kind}: {error}") from None


@contextlib.contextmanager
def _reading(kind: str, place: str) -> Iterator[None]:
    """Have what a module prints as it is read go to stderr, and what it fails with say that it was being read.

    Raises
    ------
    CellrateError
        If it is not Python, or exits.
    Exception
        Whatever else it raises, with a note.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SyntaxError as error:
        said = f"{error.filename}:{error.lineno}: {error.msg}"
        raise CellrateError(f"--{kind}: {place} is not Python that can be read: {said}") from None
    except Exception as error:
        error.add_note(f"when --{kind} read {place}")
        raise
    except BaseException as error:
        if contained(error) is error:
            raise
        raise CellrateError(f"--{kind}: {place} left with {type(error).__name__}: {error} when it was read") from None
