"""Files of Rust use one another in one direction, and so do folders: no circle of either within a crate.

A file may use what the `mod.rs` of its folder declares, or that of a folder above: that is the language of the folder.
Names are followed through what is handed on (`pub use`) to the file that defines them.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"
pytestmark = pytest.mark.skipif(not CRATES.is_dir(), reason="not a clone")

Module = tuple[str, ...]
"""Path of a module below its crate; () is the crate itself."""

DEFINITION = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:(?:unsafe|const|async)\s+)*"
    r"(?:struct|enum|union|fn|const|static|trait|type|macro_rules!)\s+(\w+)",
    re.MULTILINE,
)
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"\b(?:crate|super)(?:::\w+)+")
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)


def paths(use: str) -> Iterator[str]:
    """Give every path of a use declaration, groups written out."""
    before, brace, rest = use.strip().partition("{")
    if not brace:
        yield before.split(" as ")[0].strip()
        return
    depth, part = 0, ""
    for sign in rest.rstrip().removesuffix("}") + ",":
        if sign == "," and depth == 0:
            if part.strip():
                yield from paths(before + part.strip())
            part = ""
            continue
        depth += (sign == "{") - (sign == "}")
        part += sign


class Crate:
    """Files of a crate, and what each uses of the others."""

    def __init__(self, folder: Path) -> None:
        self.texts: dict[Module, str] = {}
        for file in folder.rglob("*.rs"):
            parts = file.relative_to(folder).with_suffix("").parts
            module = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
            self.texts[module] = TESTS.sub("", re.sub(r"//[^\n]*", "", file.read_text()))
        self.defined = {module: set(DEFINITION.findall(text)) for module, text in self.texts.items()}
        self.handed_on: dict[Module, dict[str, tuple[Module, str]]] = {module: {} for module in self.texts}
        self.whole: dict[Module, list[Module]] = {module: [] for module in self.texts}
        for module, text in self.texts.items():
            for _, use in USE.findall(text):
                for target, name in filter(None, (self.target(module, path) for path in paths(use))):
                    if name == "*":
                        self.whole[module].append(target)
                    else:
                        self.handed_on[module][name] = (target, name)

    def target(self, module: Module, path: str) -> tuple[Module, str] | None:
        """Give the file that a path leads to from a module and the name there, "*" for all; none outside the crate."""
        parts = [part.strip() for part in path.split("::")]
        at = module
        if parts[0] == "crate":
            at, parts = (), parts[1:]
        elif parts[0] in ("super", "self"):
            while parts and parts[0] in ("super", "self"):
                at = at[:-1] if parts[0] == "super" else at
                parts = parts[1:]
        elif (*module, parts[0]) not in self.texts:
            return None
        while parts and (*at, parts[0]) in self.texts:
            at, parts = (*at, parts[0]), parts[1:]
        return (at, parts[0] if parts else "*") if at in self.texts else None

    def home(self, module: Module, name: str, asked: frozenset[tuple[Module, str]] = frozenset()) -> Module | None:
        """Give the file that defines a name which a module has, defined there or handed on."""
        if (module, name) in asked:
            return None
        asked |= {(module, name)}
        if name in self.defined[module]:
            return module
        if name in self.handed_on[module]:
            return self.home(*self.handed_on[module][name], asked)
        return next(filter(None, (self.home(target, name, asked) for target in self.whole[module])), None)

    def uses(self) -> dict[Module, set[Module]]:
        """Give what each file uses, but for what it hands on and for the `mod.rs` of folders that it is in."""
        found: dict[Module, set[Module]] = {}
        for module, text in self.texts.items():
            named = [path for is_public, use in USE.findall(text) if not is_public for path in paths(use)]
            named += PATH.findall(USE.sub("", text))
            for target, name in filter(None, (self.target(module, path) for path in named)):
                home = (None if name == "*" else self.home(target, name)) or target
                if home != module[: len(home)]:
                    found.setdefault(module, set()).add(home)
        return found


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.glob("*")))
def test_no_files_of_a_crate_use_one_another_in_a_circle(crate: str) -> None:
    graphlib.TopologicalSorter(Crate(CRATES / crate / "src").uses()).prepare()


def folders(uses: dict[Module, set[Module]], within: Module = ()) -> dict[str, set[str]]:
    """Give what each folder of a folder, or file beside them, uses of the others; tests may use what they like."""
    depth = len(within)
    found: dict[str, set[str]] = {}
    for module, targets in uses.items():
        if len(module) > depth and module[:depth] == within and "tests" not in module:
            beside = {target[depth] for target in targets if len(target) > depth and target[:depth] == within}
            found.setdefault(module[depth], set()).update(beside - {module[depth]})
    return found


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.glob("*")))
def test_no_folders_use_one_another_in_a_circle(crate: str) -> None:
    uses = Crate(CRATES / crate / "src").uses()
    for within in {module[:depth] for module in uses for depth in range(len(module))}:
        graphlib.TopologicalSorter(folders(uses, within)).prepare()


def test_a_circle_of_folders_would_be_seen() -> None:
    uses: dict[Module, set[Module]] = {("low", "a"): {("high", "b")}, ("high", "c"): {("low", "d"), ("high", "b")}}
    within = {("top", *module): {("top", *target) for target in targets} for module, targets in uses.items()}
    assert folders(uses) == folders(within, ("top",)) == {"low": {"high"}, "high": {"low"}}
    assert folders(within) == {"top": set()}
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(folders(uses)).prepare()


def test_a_circle_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "low").mkdir()
    files = {
        "lib.rs": "mod high;\nmod low;\npub use low::Low;\n",
        "high.rs": "use crate::Low;\npub struct High(Low);\n",
        "low/mod.rs": "mod inner;\npub use inner::*;\npub struct Shared;\n",
        "low/inner.rs": "use super::Shared;\npub struct Low(Shared);\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert Crate(tmp_path).uses() == {("high",): {("low", "inner")}}
    (tmp_path / "low/inner.rs").write_text("use crate::high::{High};\npub struct Low(Box<High>);\n")
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(Crate(tmp_path).uses()).prepare()
