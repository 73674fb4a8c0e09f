"""The notebooks of docs/notebooks say what their cells give today."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import cellrate

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def run(source: str, names: dict[str, Any]) -> tuple[str, object]:
    """Give the text that a cell prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


@pytest.fixture(autouse=True)
def _settings_of_figures() -> Iterator[None]:
    """Undo what a notebook sets for its figures."""
    with mpl.rc_context():
        yield


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_cell_prints_and_shows_what_is_kept_of_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[int] = []

    def show() -> None:
        """Take note of the figures that a notebook would show, and forget them as it does."""
        figures.extend(plt.get_fignums())
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    assert not [output for cell in cells for output in cell["outputs"] if output.get("name") == "stderr"]
    for cell in cells:
        source = "".join(cell["source"])
        printed, value = run(source, names)
        kept = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")
        assert printed == kept, source
        shown = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        assert len(shown) == (value is not None), source
        pictures = [output["data"] for output in cell["outputs"] if output["output_type"] == "display_data"]
        assert len(pictures) == len(figures), source
        assert all("image/png" in data for data in pictures), source
        figures.clear()
        for data in shown:
            assert ("text/html" if isinstance(value, cellrate.Result | cellrate.Sweep) else "image/png") in data, source


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 5
