"""Lessons of the lab as files: text beside a network that runs, things to try, questions with their answers.

A lesson is a TOML file; docs/guides/teaching.md has all keys, with an example. Everything is checked when it is read,
the scenarios of its steps and the parameters of its sliders among it: a class should not be the first to find a fault.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CellrateError, ScenarioError
from ..scenario import Scenario

MOST_OCTETS = 1_000_000
"""A longer file is not a lesson."""

Check = Callable[[Any, str], Any]


def lesson(path: str | Path) -> dict[str, Any]:
    """Read a lesson, and give it as the page takes it: scenarios as texts, settings as pairs.

    Its name, in addresses too, is that of the file without its ending.

    Raises
    ------
    CellrateError
        If there is no such file, it is not TOML, or it is not a lesson: with the file, the key, what was given and what
        is allowed.
    ScenarioError
        If the scenario of a step cannot be read, or does not have what a slider or a button sets.
    """
    place = Path(path)
    try:
        with place.open("rb") as file:
            octets = file.read(MOST_OCTETS + 1)
    except OSError as error:
        raise CellrateError(f"{place}: {error.strerror}. Give the path of a lesson, a TOML file.") from None
    if len(octets) > MOST_OCTETS:
        raise CellrateError(f"{place} has more than {MOST_OCTETS} octets, and is not a lesson")
    if not re.fullmatch(r"[\w-]{1,60}", place.stem, re.ASCII):
        raise CellrateError(
            f"{place}: the name of a lesson is that of its file, and has letters, digits, - and _ alone"
        )
    try:
        content = tomllib.loads(octets.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CellrateError(f"{place}: this is not TOML: {error}") from None
    except RecursionError:
        raise CellrateError(f"{place}: tables within tables within tables; a lesson has three levels") from None
    read = _Reader(place)
    head = read.table(content, "", {"title": read.text, "about": read.text, "step": read.steps})
    return {"id": place.stem, "title": head["title"], "about": head["about"], "steps": head["step"]}


class _Reader:
    """The keys of one file, each checked where it stands."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def wrong(self, key: str, message: str) -> CellrateError:
        return CellrateError(f"{self._place}: {key}: {message}")

    def table(self, given: Any, key: str, known: Mapping[str, Check], optional: Sequence[str] = ()) -> dict[str, Any]:
        """Check the keys of a table, and give their values by name; of those that may be left out None."""
        if not isinstance(given, dict):
            raise self.wrong(key, f"a table is due here, not {given!r}")
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f'Did you mean "{near[0]}"? ' if near else ""
                raise self.wrong(_below(key, name), f"there is no such key. {hint}Known here: {', '.join(known)}.")
        for name in known:
            if name not in given and name not in optional:
                raise self.wrong(_below(key, name), "this key is missing")
        return {name: check(given[name], _below(key, name)) if name in given else None for name, check in known.items()}

    def text(self, given: Any, key: str) -> str:
        if not isinstance(given, str) or not given.strip():
            raise self.wrong(key, f"a text is due here, not {given!r}")
        return given.strip()

    def paragraphs(self, given: Any, key: str) -> list[str]:
        """Give the paragraphs of a text, which empty lines divide."""
        return [" ".join(part.split()) for part in re.split(r"\n\s*\n", self.text(given, key))]

    def tables(self, given: Any, key: str) -> list[Any]:
        if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
            raise self.wrong(key, f"one table or more is due here, each below [[{re.sub('[^a-z.]', '', key)}]]")
        return given

    def steps(self, given: Any, key: str) -> list[dict[str, Any]]:
        return [self.step(one, f"{key}[{number}]") for number, one in enumerate(self.tables(given, key), 1)]

    def step(self, given: dict[str, Any], key: str) -> dict[str, Any]:
        known: dict[str, Check] = {
            "title": self.text,
            "text": self.paragraphs,
            "scenario": self.scenario,
            "settings": self.settings,
            "sliders": self.sliders,
            "try": self.tries,
            "question": self.questions,
        }
        step = self.table(given, key, known, ("settings", "sliders", "try", "question"))
        scenario: Scenario = step["scenario"]
        settings = step["settings"] or []
        shown = self.with_settings(scenario, settings, f"{key}.settings")
        sliders = step["sliders"] or []
        for number, path in enumerate(sliders, 1):
            self.can_slide(shown, path, f"{key}.sliders[{number}]")
        tries = step["try"] or []
        for number, one in enumerate(tries, 1):
            self.with_settings(scenario, one["settings"], f"{key}.try[{number}].settings")
        return {
            "title": step["title"],
            "text": step["text"],
            "scenario": scenario.toml,
            "settings": settings,
            "sliders": sliders,
            "tries": tries,
            "questions": step["question"] or [],
        }

    def scenario(self, given: Any, key: str) -> Scenario:
        """Give a scenario of this name: a file beside the lesson, or a ready one."""
        name = self.text(given, key)
        beside = self._place.parent / name
        return Scenario.load(beside if beside.is_file() else name)

    def settings(self, given: Any, key: str) -> list[tuple[str, str]]:
        """Give pairs of path and value, values as `--set` takes them."""
        if not isinstance(given, dict):
            raise self.wrong(key, f'a table is due here, such as {{ "defaults.abr.nrm" = "16" }}, not {given!r}')
        for path, value in given.items():
            if not isinstance(value, str | int | float):
                raise self.wrong(
                    _below(key, path), f"a text or a number is due here, not {value!r}; quote the whole path"
                )
        return [(path, str(value).lower() if isinstance(value, bool) else str(value)) for path, value in given.items()]

    def sliders(self, given: Any, key: str) -> list[str]:
        if not isinstance(given, list) or not all(isinstance(path, str) for path in given):
            raise self.wrong(key, f'a list of paths is due here, such as ["defaults.abr.nrm"], not {given!r}')
        return given

    def tries(self, given: Any, key: str) -> list[dict[str, Any]]:
        known: dict[str, Check] = {"label": self.text, "settings": self.settings}
        return [self.table(one, f"{key}[{number}]", known) for number, one in enumerate(self.tables(given, key), 1)]

    def questions(self, given: Any, key: str) -> list[dict[str, Any]]:
        known: dict[str, Check] = {"question": self.text, "answer": self.paragraphs}
        return [self.table(one, f"{key}[{number}]", known) for number, one in enumerate(self.tables(given, key), 1)]

    def with_settings(self, scenario: Scenario, settings: Sequence[tuple[str, str]], key: str) -> Scenario:
        """Give the scenario with these settings, which can be run with them."""
        try:
            changed = scenario.set(dict(settings))
            changed.points()
        except ScenarioError as error:
            raise self.wrong(key, f"{error.key}: {error.message}. {error.remedy or ''}".strip()) from None
        return changed

    def can_slide(self, scenario: Scenario, path: str, key: str) -> None:
        """Check that there is a value at this path: it refuses a list, and not because there is no such path."""
        try:
            scenario.set({path: "[]"})
        except ScenarioError as error:
            if error.column == 1 or error.message.startswith("a table"):
                raise self.wrong(key, f"{path}: {error.message}. {error.remedy or ''}".strip()) from None
        else:
            raise self.wrong(key, f"{path} is a list; a slider moves a value")


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
