"""Results that are damaged, lack a file or are of another version are told with the file, by every way to read them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.command_line.main import status
from conftest import PAIR, SWEEP


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a sweep."""
    place = tmp_path_factory.mktemp("stored")
    (place / "sweep.toml").write_text(SWEEP)
    cellrate.run(cellrate.Scenario.parse(PAIR)).write(place / "run", plots=False)
    assert status(["run", str(place / "sweep.toml"), "--out", str(place / "sweep"), "--workers", "1"]) == 0
    return place


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil(file: Path) -> None:
    """Change the middle of a file, so that its end is whole."""
    octets = bytearray(file.read_bytes())
    middle = len(octets) // 3
    octets[middle : middle + 60] = bytes(octet ^ 0x55 for octet in octets[middle : middle + 60])
    file.write_bytes(octets)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def become_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES = (cut, spoil, empty, Path.unlink, become_a_folder)


def commands(folder: Path) -> list[list[str]]:
    drawn = ["--out", str(folder.parent / "drawn.png")]
    return [
        ["show", str(folder)],
        ["show", str(folder), "--json"],
        ["plot", str(folder), "--probe", "acr", *drawn],
    ]


def look(folder: Path, capsys: pytest.CaptureFixture[str], file: Path) -> list[int]:
    """Read results in every way, and see that what fails names the file; give the exit statuses."""
    found = []
    for words in commands(folder):
        found.append(status(words))
        told = capsys.readouterr().err
        assert found[-1] in (0, 2), (words, told)
        # Where a summary of several is damaged, what belongs to it is not looked for.
        named = str(file) in told or str(folder / "campaign.json") in told
        assert found[-1] == 0 or named or (str(folder) in told and file.name in told), (words, told)
    for load in (cellrate.load, cellrate.load_sweep):
        failed = ""
        try:
            results = load(folder)
            for result in [results] if isinstance(results, cellrate.Result) else results:
                for probe, _ in result.series_names:
                    result.all_series(probe)
        except cellrate.CellrateError as error:
            failed = str(error)
        assert not failed or str(folder) in failed
    return found


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["summary.json", "scenario.toml", "series/acr.parquet"])
def test_a_damaged_run_is_told(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(stored / "run", tmp_path / "run")
    damage(folder / name)
    if name == "series/acr.parquet" and damage is Path.unlink:
        # Nothing says that there was one; what there is is named.
        assert status(["plot", str(folder), "--probe", "acr"]) == 2
        assert "received of vc1" in capsys.readouterr().err
        return
    assert 2 in look(folder, capsys, folder / name)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["campaign.json", "point-002/summary.json", "point-002/series/acr.parquet"])
def test_a_damaged_sweep_is_told(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(stored / "sweep", tmp_path / "sweep")
    damage(folder / name)
    look(folder, capsys, folder / name)


def paths(content: Any, depth: int = 2) -> list[tuple[str | int, ...]]:
    """Give the way to each value of a JSON document, down to some depth."""
    pairs = list(content.items()) if isinstance(content, dict) else list(enumerate(content[:1]))
    found: list[tuple[str | int, ...]] = []
    for key, value in pairs:
        found.append((key,))
        if depth and isinstance(value, dict | list):
            found += [(key, *rest) for rest in paths(value, depth - 1)]
    return found


@pytest.mark.parametrize("value", [None, "text", [], {}, -1])
def test_a_summary_with_other_values_is_shown_or_told(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], value: object
) -> None:
    folder = shutil.copytree(stored / "run", tmp_path / "run")
    whole = (folder / "summary.json").read_text()
    for path in paths(json.loads(whole)):
        content = json.loads(whole)
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        if value is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        (folder / "summary.json").write_text(json.dumps(content))
        found = status(["show", str(folder)])
        told = capsys.readouterr().err
        assert found == 0 or (found == 2 and str(folder / "summary.json") in told), (path, told)


@pytest.mark.parametrize("what", ["nowhere", "file", "empty"])
def test_what_is_no_folder_of_results_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    assert look(tmp_path / what, capsys, tmp_path / what) == [2, 2, 2]


def test_half_of_a_surrogate_pair_is_told_with_its_file(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON has an escape for what no file and no terminal can hold."""
    folder = shutil.copytree(stored / "run", tmp_path / "run")
    text = (folder / "summary.json").read_text()
    for half in ("\\ud800", "\\uDFFF"):
        (folder / "summary.json").write_text(text.replace('"vc1"', f'"{half}"'))
        for call in (
            ["show", str(folder)],
            ["show", str(folder), "--json"],
            ["export", str(folder), "-o", str(tmp_path / "ex")],
        ):
            assert status(call) == 2
            assert f"{folder / 'summary.json'} is not JSON: a text in it has half of" in capsys.readouterr().err
    (folder / "summary.json").write_text(text.replace('"vc1"', '"\\ud83d\\ude00"'))
    assert cellrate.load(folder).summary["vcs"][0]["vc"] == "\N{GRINNING FACE}"


@pytest.mark.parametrize("octets", [b"[" * 100_000, b"\xff{}", b'{"run": "\xed\xa0\x80"}', b"\xfe\xff\0{\0}"])
def test_json_that_is_none_is_told_with_its_file(stored: Path, tmp_path: Path, octets: bytes) -> None:
    folder = shutil.copytree(stored / "run", tmp_path / "run")
    (folder / "summary.json").write_bytes(octets)
    with pytest.raises(cellrate.CellrateError, match=r"summary\.json is not JSON"):
        cellrate.load(folder)


@pytest.mark.parametrize("name", ["series/acr.parquet", "delays.parquet"])
@pytest.mark.parametrize(("key", "value"), [(b"hash\xff", b"x"), (b"unit", b"\xff"), (b"series", b"[{}]")])
def test_metadata_of_tables_are_told_with_their_file(
    stored: Path, tmp_path: Path, name: str, key: bytes, value: bytes
) -> None:
    import pyarrow.parquet

    folder = shutil.copytree(stored / "run", tmp_path / "run")
    if not (folder / name).exists() or (name == "delays.parquet" and key == b"series"):
        pytest.skip("nothing of that is recorded or read")
    table = pyarrow.parquet.read_table(folder / name)
    changed = table.replace_schema_metadata({**(table.schema.metadata or {}), key: value})
    pyarrow.parquet.write_table(changed, folder / name)
    with pytest.raises(
        cellrate.CellrateError, match=rf"{re.escape(str(folder))}.*(UTF-8|is damaged or of another version)"
    ):
        assert cellrate.load(folder).delays


def test_whatever_arrow_raises_at_a_damaged_schema_is_told_with_its_file(stored: Path, tmp_path: Path) -> None:
    """Some of Arrow's errors derive from neither `OSError` nor `ValueError`."""
    folder = shutil.copytree(stored / "run", tmp_path / "run")
    file = folder / "series" / "acr.parquet"
    octets = file.read_bytes()
    first = octets.index(b"ARROW:schema")
    told: list[str] = []
    for place in range(first, len(octets)):
        damaged = bytearray(octets)
        damaged[place] = ord("K")
        file.write_bytes(damaged)
        try:
            cellrate.load(folder)
        except cellrate.CellrateError as error:
            told.append(str(error))
    assert all(str(folder) in text for text in told)
    assert any("not implemented" in text for text in told)


NAMES = ["summary.json", "scenario.toml", "series/acr.parquet", "files.json"]
OF_SWEEPS = ["campaign.json", "summary.json", "files.json", "point-002/summary.json", "point-002/scenario.toml"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize(
    ("kind", "name"), [*(("run", name) for name in NAMES), *(("sweep", name) for name in OF_SWEEPS)]
)
def test_pipes_and_devices_in_a_folder_of_results_are_not_read(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str
) -> None:
    """Reading would wait for ever, or until memory is full."""
    for pipe in (True, False):
        folder = shutil.copytree(stored / kind, tmp_path / str(pipe) / kind)
        (folder / name).unlink(missing_ok=True)
        if pipe:
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("/dev/zero")
        found = look(folder, capsys, folder / name)
        assert name == "files.json" or name.endswith("parquet") or 2 in found or kind == "sweep"


@pytest.mark.parametrize("load", [cellrate.load, cellrate.load_sweep, cellrate.read_capture, cellrate.Scenario.load])
def test_what_no_file_can_be_called_is_told(load: Callable[[str], object]) -> None:
    with pytest.raises(cellrate.CellrateError, match="null byte"):
        load("a\0b")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_a_scenario_without_an_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellrate.scenario.MOST_OCTETS", 1000)
    with pytest.raises(cellrate.ScenarioError, match="/dev/zero: it has more than 1,000 octets"):
        cellrate.Scenario.load("/dev/zero")
