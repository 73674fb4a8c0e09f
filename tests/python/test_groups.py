"""Groups made by `count`: one row each in tables, with what they have together, and one band in pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellrate
from cellrate.recorded.groups import folded, folded_name, groups_of
from conftest import command, output

NETWORK = """
name = "many"
duration = "60 ms"

[defaults]
link = { rate = "155.52 Mbps", length = "10 km" }
switch.algorithm = { type = "erica" }

[[host]]
name = "s{i}"
count = 8
[[host]]
name = "d{i}"
count = 8
[[switch]]
name = "sw{i}"
count = 2
[[link]]
between = ["s{i}", "sw1"]
count = 8
[[link]]
between = ["sw1", "sw2"]
[[link]]
between = ["sw2", "d{i}"]
count = 8

[[vc]]
name = "tcp{i}"
count = 7
path = ["s{i}", "sw1", "sw2", "d{i}"]
traffic = { type = "tcp" }
[[vc]]
name = "video"
path = ["s8", "sw1", "sw2", "d8"]
category = "vbr"
traffic = { type = "on-off", rate = "20 Mbps", on = "5 ms", off = "5 ms" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "many.toml"
    found.write_text(NETWORK)
    return found


def row(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.strip().startswith(f"{name} ")]
    return line.split(name, 1)[1].split("  ")


def test_a_group_is_one_row_with_its_range_and_its_total(file: Path) -> None:
    told, rows = command("run", str(file)).stdout, output("run", str(file), "--json")["tcp"]
    goodputs = [one["goodput_bps"] for one in rows]
    assert len(goodputs) == 7
    assert f"{min(goodputs) / 1e6:.3f} to {max(goodputs) / 1e6:.3f}" in told
    assert f" {sum(goodputs) / 1e6:,.3f} " in told
    assert told.count("total of 7") >= 2
    assert "tcp1 ... tcp7" in told
    assert "\n tcp3 " not in told
    assert "\n video " in told
    assert " s1 ... s8->sw1" not in told or "sw1->sw2" in told


def test_each_shows_all_of_a_run_and_of_a_stored_result(file: Path, tmp_path: Path) -> None:
    told = command("run", str(file), "--each", "--out", str(tmp_path / "out")).stdout
    assert "..." not in told
    assert "total of" not in told
    assert "\n tcp3 " in told
    assert "tcp1 ... tcp7" in command("show", str(tmp_path / "out")).stdout
    assert "\n tcp3 " in command("show", str(tmp_path / "out"), "--each").stdout
    latex = command("show", str(tmp_path / "out"), "--latex").stdout
    assert "tcp1 ... tcp7" in latex
    assert "tcp3" not in latex
    assert "tcp1 ... tcp7" in cellrate.load(tmp_path / "out")._repr_html_()


def test_groups_are_those_that_count_makes_and_that_are_many() -> None:
    groups = groups_of(NETWORK)
    assert groups["tcp1"] == "tcp1 ... tcp7"
    assert groups["s8"] == "s1 ... s8"
    assert not {"sw1", "video"} & groups.keys()
    shifted = groups_of('[[vc]]\nname = "a{i+4}x"\ncount = 6\n')
    assert list(shifted) == ["a5x", "a6x", "a7x", "a8x", "a9x", "a10x"]
    assert shifted["a7x"] == "a5x ... a10x"
    # Those that were written one by one differ in more than their number.
    assert groups_of("".join(f'[[vc]]\nname = "v{n}"\n' for n in range(9))) == {}


def test_names_of_rows_fold_by_the_names_in_them() -> None:
    groups = groups_of(NETWORK)
    assert folded_name("s3->sw1", groups) == "s1 ... s8->sw1"
    assert folded_name("tcp2 (back)", groups) == "tcp1 ... tcp7 (back)"
    assert folded_name("tcp2 #4", groups) == "tcp1 ... tcp7 #4"
    names = ["tcp1", "tcp2", "video", "tcp3 (back)", "tcp7"]
    assert folded(names, groups) == {"tcp1 ... tcp7": [0, 1, 4], "video": [2], "tcp3 (back)": [3]}
    assert folded(names, {}) == {name: [place] for place, name in enumerate(names)}


def test_ten_thousand_members_fold_in_a_moment_and_keep_ties() -> None:
    groups = groups_of('[[vc]]\nname = "v{i}"\ncount = 10000\n')
    names = [f"v{number}" for number in range(1, 10_001)]
    assert [len(places) for places in folded(names, groups).values()] == [10_000]
