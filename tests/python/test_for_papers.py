"""Tables in LaTeX and Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellrate
from cellrate.sweeps.for_papers import latex, markdown
from conftest import PAIR, command

TABLE = (
    ["key_1", "text", "rate\n\nMbps", "share\n%"],
    [["a|b", "<x>", "1,234.50 ± 0.10", ""], [r"50% \{c}", "8", "-2", "12.5"]],
)


def test_latex_has_letters_that_mean_something_there_in_full() -> None:
    assert latex(TABLE).splitlines() == [
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r" &  & rate &  \\",
        r" &  &  & share \\",
        r"key\_1 & text & Mbps & \% \\",
        r"\midrule",
        r"a\textbar{}b & \textless{}x\textgreater{} & 1,234.50 $\pm$ 0.10 &  \\",
        r"50\% \textbackslash{}\{c\} & 8 & -2 & 12.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_markdown_has_a_heading_of_one_line() -> None:
    assert markdown(TABLE).splitlines() == [
        r"| key\_1 | text | rate Mbps | share % |",
        "| :--- | :--- | ---: | ---: |",
        r"| a\|b | \<x\> | 1,234.50 ± 0.10 |  |",
        r"| 50% \\{c} | 8 | -2 | 12.5 |",
    ]


@pytest.mark.parametrize(("option", "begin"), [("--latex", r"\begin{tabular}"), ("--markdown", "| ")])
def test_the_command_prints_a_study_and_a_run_for_a_paper(tmp_path: Path, option: str, begin: str) -> None:
    scenario = cellrate.Scenario.parse(PAIR.replace('"20 ms"', '"2 ms"'))
    cellrate.sweep(scenario, over={"defaults.abr.nrm": [8, 32]}, out=tmp_path / "study")
    study = command("show", "study", option, cwd=tmp_path).stdout
    assert study.startswith(begin)
    rows = [line for line in study.splitlines() if line.lstrip("| ").startswith(("8 ", "32 "))]
    assert len(rows) == 2
    one = command("show", "study", option, "--point", "2", cwd=tmp_path).stdout
    assert one.count(begin if option == "--latex" else "| :---") == 2
    refused = command("show", "study", option, "--csv", cwd=tmp_path)
    assert refused.returncode != 0
    assert f"--csv and {option} are two forms of one table" in refused.stderr
