"""Folders of results that a stranger has prepared: nothing outside of them is removed, renamed or written."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import cellrate
from cellrate import CellrateError
from cellrate.campaigns.running import sweep_into
from cellrate.command_line.main import status
from cellrate.folders.locks import Lock, LockFiles, Locks
from cellrate.folders.owned import area_of
from cellrate.folders.within import remove, within
from cellrate.sweeps.varying import Points
from conftest import SWEEP

SHORT = SWEEP.replace('"20 ms"', '"1 ms"')
ASKED = [(point.scenario, point.settings) for point in cellrate.Scenario.parse(SHORT).points()]
OTHERS = Points(cellrate.Scenario.parse(SHORT.replace("[8, 32, 256]", "[8, 64]")), None)

VICTIM, UP = "the victim", "../victim"
TEXTS = [VICTIM, UP, "..", "", "\0", "link", "\ud800"]
"""Texts that lead elsewhere as a path; the first one stands for an absolute one."""


def watched(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Give what is in a folder, as far as anything could be done to it."""
    return {
        str(entry.relative_to(folder)): (entry.lstat().st_ino, entry.read_bytes() if entry.is_file() else b"")
        for entry in [folder, *folder.rglob("*")]
    }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a campaign with points that are kept from before."""
    folder = tmp_path_factory.mktemp("stored")
    sweep_into(folder / "study", ASKED, csv=True, workers=1)
    sweep_into(folder / "study", ASKED[:2], csv=True, workers=1, complain=lambda _: None)
    return folder / "study"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give a folder with a victim in it."""
    (tmp_path / "victim" / "below").mkdir(parents=True)
    (tmp_path / "victim" / "file").write_text("precious")
    (tmp_path / "victim" / "point-001").mkdir()
    (tmp_path / "victim" / "below" / "vcs.parquet").write_text("precious")
    return tmp_path


def texts(content: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every text of a JSON document, keys of tables too, which end in "key of"."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*way, key, "key of")
            yield from texts(value, (*way, key))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from texts(value, (*way, number))
    elif isinstance(content, str):
        yield way


def with_text(content: Any, way: tuple[Any, ...], text: str) -> Any:
    changed = json.loads(json.dumps(content))
    inner = changed
    names_key = way[-1] == "key of"
    *before, last = way[:-1] if names_key else way
    for key in before:
        inner = inner[key]
    if names_key:
        inner[text] = inner.pop(last)
    else:
        inner[last] = text
    return changed


def tried(place: Path, stored: Path, file: str, octets: bytes, calls: list[Any]) -> None:
    """Put octets into a stored file, and see that whatever is then asked for leaves the victim alone."""
    study = place / "study"
    before = watched(place / "victim"), {entry.name for entry in place.iterdir()} | {"study"}
    for call in calls:
        shutil.rmtree(study, ignore_errors=True)
        shutil.copytree(stored, study)
        (study / file).write_bytes(octets)
        with contextlib.suppress(CellrateError):
            call(study)
        assert (watched(place / "victim"), {entry.name for entry in place.iterdir()}) == before, (file, octets[:300])


def run_others(study: Path) -> None:
    sweep_into(study, OTHERS, workers=1, complain=lambda _: None)


def run_same(study: Path) -> None:
    sweep_into(study, ASKED[:2], csv=True, workers=1, complain=lambda _: None)


def run_anew(study: Path) -> None:
    sweep_into(study, ASKED[:2], workers=1, fresh=True, complain=lambda _: None)


def read(study: Path) -> None:
    for result in cellrate.load_sweep(study):
        result.all_series()


def in_stored_files(stored: Path, pattern: str) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Give every text of a file, of many of a kind the first one."""
    for file in sorted(stored.glob(pattern)):
        content = json.loads(file.read_bytes())
        kinds: set[tuple[Any, ...]] = set()
        for way in texts(content):
            kind = tuple("n" if isinstance(key, int) else key for key in way)
            kind = ("file", *kind[2:]) if way[0] == "files" else kind
            if kind not in kinds:
                kinds.add(kind)
                yield str(file.relative_to(stored)), content, way


def test_no_text_of_a_manifest_leads_out_of_the_folder(place: Path, stored: Path) -> None:
    for file, content, way in in_stored_files(stored, "campaign.json"):
        for text in TEXTS:
            planted = with_text(content, way, text.replace(VICTIM, str(place / "victim")))
            tried(place, stored, file, json.dumps(planted).encode(), [run_others])


@pytest.mark.parametrize("moving", [["../victim"], ["/victim"], [".."], [""], ["a\0"], ["study/x"], "..", [{}], [1]])
def test_what_is_to_be_moved_has_names(place: Path, stored: Path, moving: object) -> None:
    content = json.loads((stored / "campaign.json").read_bytes()) | {"moving": moving}
    calls = [run_others, run_same, run_anew]
    tried(place, stored, "campaign.json", json.dumps(content).replace('"/victim', f'"{place}/victim').encode(), calls)
    study = shutil.copytree(stored, place / "other")
    (study / "campaign.json").write_text(json.dumps(content))
    with pytest.raises(
        CellrateError, match=r"moving is .* and must be a list of names of files and folders in this one"
    ):
        run_others(study)
    # All else can be thrown away without a hand.
    run_anew(study)
    assert len(cellrate.load_sweep(study)) == 2


@pytest.mark.parametrize("pattern", ["files.json", "point-001/files.json", "earlier/*/files.json"])
def test_no_text_of_an_inventory_leads_out_of_the_folder(place: Path, stored: Path, pattern: str) -> None:
    for file, content, way in in_stored_files(stored, pattern):
        for text in TEXTS:
            planted = with_text(content, way, text.replace(VICTIM, str(place / "victim")))
            tried(place, stored, file, json.dumps(planted).encode(), [run_others])


def of_this_summary(study: Path) -> None:
    """Have the inventory of the first point say that its summary is as it is, as a stranger would."""
    from cellrate.folders.inventory import Inventory

    known = Inventory.read(study / "point-001")
    assert known is not None
    Inventory.taken(study / "point-001", known.of).write(study / "point-001")
    (study / "files.json").unlink()


def test_no_text_of_a_summary_names_a_file_elsewhere(place: Path, stored: Path) -> None:
    def same(study: Path) -> None:
        of_this_summary(study)
        run_same(study)

    content = json.loads((stored / "point-001" / "summary.json").read_bytes())
    for way in texts({key: rows[:1] if isinstance(rows, list) else rows for key, rows in content.items()}):
        if way[-1] == "key of" and len(way) == 2:
            for text in TEXTS:
                planted = with_text(content, way, text.replace(VICTIM, str(place / "victim")))
                tried(place, stored, "point-001/summary.json", json.dumps(planted).encode(), [same])


@pytest.mark.parametrize("probe", ["../../../victim/file", "/abs", "", "queue"])
def test_a_probe_is_the_name_of_its_file(place: Path, stored: Path, probe: str) -> None:
    def planted(study: Path) -> None:
        file = study / "point-001" / "series" / "acr.parquet"
        table = pyarrow.parquet.read_table(file)
        about = {**(table.schema.metadata or {}), b"probe": probe.encode()}
        pyarrow.parquet.write_table(table.replace_schema_metadata(about), file)
        for csv in (study / "point-001").rglob("*.csv"):
            csv.unlink()
        of_this_summary(study)
        with pytest.raises(CellrateError, match=r"acr.parquet is damaged: it says that its probe is"):
            cellrate.load_sweep(study)[0]
        run_same(study)

    octets = (stored / "campaign.json").read_bytes()
    tried(place, stored, "campaign.json", octets, [planted])


def test_links_are_not_followed(place: Path, stored: Path) -> None:
    """The victim is behind a link in the folder, of each name in turn."""
    entries = [entry for entry in stored.rglob("*") if "point-002" not in entry.parts and entry.suffix != ".csv"]
    names = [*(str(entry.relative_to(stored)) for entry in entries), "earlier/before", "point-003"]
    before = watched(place / "victim")
    for name in names:
        for call in (run_others, run_anew):
            shutil.rmtree(place / "study", ignore_errors=True)
            study = shutil.copytree(stored, place / "study")
            to = study / name
            is_folder = to.is_dir() or not to.exists()
            if to.is_dir():
                shutil.rmtree(to)
            to.unlink(missing_ok=True)
            to.symlink_to(place / "victim" / ("" if is_folder else "file"))
            with contextlib.suppress(CellrateError, OSError):
                call(study)
            assert watched(place / "victim") == before, (name, call)


@pytest.mark.parametrize("name", ["", "campaign.lock", "points.lock", "point-001", "campaign.json", "new"])
def test_no_link_is_followed_where_locks_are(place: Path, name: str) -> None:
    area = area_of(place / "study")
    if name:
        area.mkdir()
    (area / name).symlink_to(place / "victim")
    before = watched(place / "victim")
    for call in (run_same, run_others):
        with contextlib.suppress(CellrateError, OSError):
            call(place / "study")
        assert watched(place / "victim") == before
    # A single run looks there for what killed processes have left.
    cellrate.run(ASKED[0][0]).write(place / "study", plots=False)
    assert watched(place / "victim") == before


def test_what_is_not_ours_stays_where_locks_are(place: Path) -> None:
    area = area_of(place / "study")
    area.mkdir()
    (area / "thesis.txt").write_text("precious")
    (area / "point-004").mkdir()
    run_same(place / "study")
    assert [entry.name for entry in area.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("kind", [Lock, Locks, LockFiles])
def test_a_link_is_no_lock(tmp_path: Path, kind: type[Lock | Locks | LockFiles]) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a-1.lock").symlink_to(tmp_path / "elsewhere")
    lock = kind(tmp_path / "a.lock")
    with pytest.raises(OSError, match=r"a(-1)?\.lock"):
        lock.take() if isinstance(lock, Lock) else lock.take(1)
    assert not (tmp_path / "elsewhere").exists()


def test_places_are_below_their_folder(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "study" / "link").symlink_to(tmp_path / "victim")
    for name in ["..", ".", "", "/x", "a/b", "a\\b", "\0", "C:x"]:
        with pytest.raises(CellrateError, match="leads elsewhere"):
            within(tmp_path / "study", name)
    with pytest.raises(CellrateError, match="is a link; nothing behind it is changed"):
        within(tmp_path / "study", "link", "x")
    remove(tmp_path / "study", "link")
    assert list((tmp_path / "study").iterdir()) == []
    assert (tmp_path / "victim").is_dir()


def test_the_command_refuses_a_planted_manifest(place: Path, stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = shutil.copytree(stored, place / "study")
    content = json.loads((study / "campaign.json").read_bytes())
    content["points"][1]["key"] = str(place / "victim")
    (study / "campaign.json").write_text(json.dumps(content))
    (place / "pair.toml").write_text(SHORT)
    assert status(["run", str(place / "pair.toml"), "--out", str(study)]) == 2
    said = capsys.readouterr().err
    assert "campaign.json is not a manifest of a campaign: key of point 2 is " in said
    assert "must be 24 hexadecimal digits; with --fresh" in said
    assert (place / "victim" / "file").read_text() == "precious"
