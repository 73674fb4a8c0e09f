"""Scenarios made of dicts are those that files would be."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import cellrate
from cellrate.places import folder
from cellrate.toml import document
from conftest import PAIR

FILES = [*sorted(folder("scenarios").rglob("*.toml")), *sorted(folder("papers").rglob("scenarios/*.toml"))]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8)


@given(st.dictionaries(TEXTS, VALUES))
def test_a_document_is_read_back_as_it_was(content: dict[str, Any]) -> None:
    assert tomllib.loads(document(content)) == content


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_scenario_goes_to_a_dict_and_back(file: Path) -> None:
    scenario = cellrate.Scenario.load(file)
    assert cellrate.Scenario.from_dict(scenario.to_dict(), file=str(file)).hash == scenario.hash


def test_a_network_built_in_python_runs_as_its_file_does(result: cellrate.Result) -> None:
    built = cellrate.Scenario.from_dict(
        {
            "purpose": "Two hosts and a switch.",
            "name": "pair",
            "duration": "20 ms",
            "seed": 7,
            "defaults": {
                "link": {"rate": "155.52 Mbps", "length": "1 km"},
                "switch": {"algorithm": {"type": "erica"}},
            },
            "host": [{"name": name} for name in "ab"],
            "switch": [{"name": "sw"}],
            "link": [{"between": [name, "sw"] if name == "a" else ["sw", name]} for name in "ab"],
            "vc": [{"name": "vc1", "path": ("a", "sw", "b")}],
            "probe": [
                {"record": ["acr"], "every": "change"},
                {"record": ["received", "queue", "utilization"], "every": "1 ms"},
            ],
        }
    )
    assert built.hash == cellrate.Scenario.parse(PAIR).hash
    assert cellrate.run(built).summary["vcs"] == result.summary["vcs"]


def test_an_error_names_the_key_and_shows_its_line() -> None:
    content = cellrate.Scenario.parse(PAIR).to_dict()
    content["link"][1]["length"] = 5
    with pytest.raises(cellrate.ScenarioError) as caught:
        cellrate.Scenario.from_dict(content)
    assert (caught.value.file, caught.value.key) == ("<dict>", "link.sw-b.length")
    assert "| length = 5\n" in str(caught.value)


def test_what_no_document_can_hold_is_said_with_its_place() -> None:
    with pytest.raises(TypeError, match=r"host\[1\]\.name is set to None"):
        cellrate.Scenario.from_dict({"host": [{"name": "a"}, {"name": None}]})
    with pytest.raises(TypeError, match="the document has the key 1, of type int; keys are texts"):
        cellrate.Scenario.from_dict({1: 2})  # type: ignore[dict-item]
