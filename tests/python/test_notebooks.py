"""The notebooks of docs/notebooks say what their cells give today."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

import cellrate

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def run(source: str, names: dict[str, Any]) -> tuple[str, object]:
    """What a cell prints, and what its last line gives."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_cell_prints_and_shows_what_is_kept_of_it(file: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for cell in cells:
        source = "".join(cell["source"])
        printed, value = run(source, names)
        kept = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")
        assert printed == kept, source
        shown = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        assert len(shown) == (value is not None), source
        for data in shown:
            assert ("text/html" if isinstance(value, cellrate.Result) else "image/png") in data, source


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
