"""Imports within the package: never in a circle, not inside functions or for types either, and results know nothing
above.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import cellrate

PACKAGE = Path(cellrate.__file__).parent

ABOVE = {
    "errors": {"results", "running", "campaigns", "plotting", "scenario", "live", "command_line"},
    "results": {"campaigns", "sweeps", "command_line", "watching", "papers", "live", "comparing"},
    "running": {"command_line", "watching", "papers", "live", "comparing"},
    "campaigns": {"command_line", "watching", "papers", "live", "comparing"},
    "plotting": {"command_line", "running", "papers", "live", "comparing"},
}
"""By package or module: what it may not import."""

EXCEPT = {("results.writing", "sweeps.tidy")}
"""Tables of several runs are written by what writes one."""


def modules() -> dict[str, Path]:
    """Give every module of the package by its name below it."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def statements(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """Give imports from within the package, those that only types need, too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.level:
            yield child
        yield from statements(child)


def imports() -> dict[str, set[str]]:
    """Give what each module imports of the package."""
    known = modules()
    found: dict[str, set[str]] = {}
    for name, file in known.items():
        package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
        for statement in statements(ast.parse(file.read_text())):
            base = [*package[: len(package) - statement.level + 1], *filter(None, [statement.module])]
            for alias in statement.names:
                whole = ".".join([*base, alias.name])
                target = whole if whole in known else ".".join(base)
                # The package itself is what all of it is in, and `_native` is no module of Python.
                if target and target in known and target != name:
                    found.setdefault(name, set()).add(target)
    return found


def test_nothing_imports_in_a_circle() -> None:
    found = imports()
    assert len(found) > 150
    graphlib.TopologicalSorter(found).prepare()


def test_nothing_imports_what_is_above_it() -> None:
    wrong = {
        (name, target)
        for name, targets in imports().items()
        for target in targets
        if target.split(".")[0] in ABOVE.get(name.split(".")[0], set())
    }
    assert wrong == EXCEPT
