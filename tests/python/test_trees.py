"""Trees: what a user sees of connections with several leaves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from conftest import PAIR

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "trees.md").read_text()
TREE = (
    PAIR.replace("[[host]]", '[[host]]\nname = "leaf"\n\n[[host]]', 1)
    + '\n[[link]]\nbetween = ["leaf", "sw"]\n'
    + '\n[[vc]]\nname = "tree"\npath = ["a", "sw", "b"]\nbranches = [["sw", "leaf"]]\n'
)


@pytest.fixture(scope="module")
def result() -> cellrate.Result:
    return cellrate.run(cellrate.Scenario.parse(TREE))


def test_the_measured_table_is_that_of_the_ready_scenario() -> None:
    table = {}
    for point in cellrate.Scenario.load("tree").points():
        summary = cellrate.run(point.scenario).summary
        row = summary["branch_points"][0]
        assert (row["vc"], row["switch"]) == ("tree", "sw1")
        queues = {row["port"]: row["max_queue"] for row in summary["ports"]}
        table[point.settings["defaults.switch.consolidation.type"].strip('"')] = [
            f"{row['backward_rm_sent'] / row['forward_rm']:.3f}",
            str(row["too_high"]),
            f"{row['mean_excess'] * 424 / 1e6:.2f} Mb/s",
            f"{row['mean_response_s'] * 1e3:.3f}, {row['max_response_s'] * 1e3:.3f} ms",
            f"{queues['sw2->far1']:,}",
            f"{queues['sw1->near']:,}",
        ]
    measured = GUIDE[GUIDE.index("## Measured") :].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `(?!type).*", measured, re.M)
    ]
    assert {row[0].strip("`"): row[1:] for row in rows} == table


def test_every_key_of_a_branch_point_is_in_the_reference(result: cellrate.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    [row] = result.summary["branch_points"]
    assert (row["vc"], row["switch"], row["branches"]) == ("tree", "sw", 2)
    assert {key for key in row if f"`{key}`" not in text} == set()


def test_leaves_and_branch_points_have_rows_of_their_own(
    result: cellrate.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {row["vc"]: row for row in result.summary["vcs"]}
    # Less what still waits at the host, which both VCs share.
    assert 1_000 < rows["tree to leaf"]["data_sent"] < rows["tree"]["data_sent"]
    assert rows["tree to leaf"]["mean_acr"] is None
    # What the tree got is what its least leaf got, and it counts once.
    shares = [row["vc"] for row in result.summary["shares"]]
    assert "tree" in shares
    assert "tree to leaf" not in shares
    assert "<td>tree at sw</td>" in result._repr_html_()
    file = tmp_path / "tree.toml"
    file.write_text(TREE)
    assert status(["run", str(file), "--out", str(tmp_path / "out"), "--csv"]) == 0
    assert "\n tree at sw " in capsys.readouterr().out
    assert (tmp_path / "out" / "branch_points.csv").read_text().startswith('"vc","switch","branches","forward_rm"')
    assert cellrate.run(cellrate.Scenario.parse(PAIR)).summary["branch_points"] == []


def test_a_drawing_has_a_way_to_each_leaf(tmp_path: Path) -> None:
    file = tmp_path / "tree.toml"
    file.write_text(TREE)
    assert status(["draw", str(file), "--out", str(tmp_path / "tree.svg")]) == 0
    assert (tmp_path / "tree.svg").stat().st_size > 5_000
    ways = {row["name"]: row["path"] for row in json.loads(cellrate.Scenario.parse(TREE)._native.topology())["vcs"]}
    # From the source on, like any other.
    assert ways["tree"][:2] == ways["tree to leaf"][:2]


def test_fair_rates_are_those_of_the_fullest_branch(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["fair", "tree", "--json"]) == 0
    assert "58452.8" in capsys.readouterr().out


def test_a_live_run_refuses_branches_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tree.toml"
    file.write_text(TREE)
    assert status(["live", "run", str(file)]) != 0
    assert "vc.tree.branches" in capsys.readouterr().err
