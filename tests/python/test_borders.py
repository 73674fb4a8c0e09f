"""Imports within the package: never in a circle, and from one layer down into another, not up.

An import counts wherever it stands: inside a function and where only types need it, too.
"""

from __future__ import annotations

import graphlib

import pytest

architecture = pytest.importorskip("architecture", reason="not a clone")

LAYERS = (
    ("texts", "errors", "seam", "choices"),
    ("places", "plain_files", "quantities", "toml", "terminal", "drawing", "plugin_classes"),
    ("advice", "algorithms", "policies", "traffic", "network", "topologies", "hurst"),
    ("scenario",),
    ("folders", "plugins"),
    ("wireshark", "captures"),
    ("recorded",),
    ("sweeps",),
    ("plotting",),
    ("results",),
    ("running", "watching"),
    ("campaigns", "live"),
    ("trial", "papers", "comparing"),
    ("command_line",),
    ("__main__",),
)
"""Packages and modules of `cellrate` from the bottom up: each imports of rows below its own only."""


def test_nothing_imports_in_a_circle() -> None:
    found = architecture.imports()
    assert len(found) > 150
    graphlib.TopologicalSorter(found).prepare()


def test_every_part_has_its_layer() -> None:
    assert sorted(architecture.packages()) == sorted(part for layer in LAYERS for part in layer)


def test_parts_import_of_layers_below_only() -> None:
    height = {part: height for height, layer in enumerate(LAYERS) for part in layer}
    upwards = [
        f"{name} imports {target or 'cellrate'}"
        for name, targets in architecture.imports().items()
        for target in targets
        # The package itself, at the top, imports what scripts need.
        if name and not within(name, target) and (not target or height[part(target)] >= height[part(name)])
    ]
    assert upwards == []


def test_the_picture_shows_what_the_code_is() -> None:
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture.picture(), "draw it anew: python docs/images/architecture.py"


def part(module: str) -> str:
    """Give the package, or module at the top, that a module is in."""
    return module.split(".")[0]


def within(module: str, other: str) -> bool:
    """Whether two modules are in the same part of the package."""
    return bool(other) and part(module) == part(other)
