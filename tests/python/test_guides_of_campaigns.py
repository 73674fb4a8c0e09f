"""The guides on campaigns and tuning, followed word by word: every command and every block of Python, in order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrate.command_line.main import status
from test_clusters import Cluster

GUIDES = Path(__file__).parents[2] / "docs" / "guides"

pytest.importorskip("distributed")
pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.end()


def steps(page: str) -> list[tuple[str, str]]:
    """Give commands and blocks of Python."""
    found = re.finditer(r"^```python\n(.*?)^```$|^    (cellrate [^\n]*)$", page, re.MULTILINE | re.DOTALL)
    return [("python", match[1]) if match[1] is not None else ("command", match[2]) for match in found]


@pytest.mark.parametrize("name", ["campaigns", "tuning"])
def test_a_guide_does_what_it_says(
    name: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (GUIDES / f"{name}.md").read_text()
    done = 0
    for kind, text in steps(page):
        if kind == "python":
            exec(compile(text, f"{name}.md", "exec"), {})
        else:
            words = shlex.split(text.replace("tcp://127.0.0.1:8786", cluster.address))[1:]
            assert status(words) == 0, (text, capsys.readouterr())
        done += 1
    assert done >= {"campaigns": 10, "tuning": 1}[name]
    # What there is of files is in folders that the page names.
    assert {entry.name for entry in tmp_path.iterdir()} == {"results"}
