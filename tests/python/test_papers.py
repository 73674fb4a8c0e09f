from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from abr_parameters.arithmetic import inter_rm_time
from abr_parameters.common import rising
from cellrate import CellrateError
from cellrate.papers import load_paper, ready_papers
from cellrate.papers.experiment import Claim, Finding
from cellrate.papers.report import Report, read_report

KEYS = {"id", "text", "source", "published", "measured", "holds", "why"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("paper") / "report"
    return load_paper("abr-parameters").run(folder), folder


def test_every_claim_is_measured_and_every_measurement_is_a_claim(report: tuple[Report, Path]) -> None:
    measured = [claim.id for claim in report[0].claims]
    assert len(measured) == len(set(measured))
    assert set(measured) == set(load_paper("abr-parameters").published)


def test_what_does_not_hold_says_why(report: tuple[Report, Path]) -> None:
    for claim in report[0].claims:
        assert claim.holds is True or claim.why, claim.id
        assert claim.measured not in (None, ""), claim.id


def test_withheld_values_are_measured_and_not_judged(report: tuple[Report, Path]) -> None:
    withheld = [claim for claim in report[0].claims if claim.kind == "withheld"]
    assert len(withheld) == 2
    for claim in withheld:
        assert (claim.published, claim.holds) == (None, None)
        assert isinstance(claim.measured, float)


@pytest.mark.parametrize(
    "claim",
    [
        "nrm.settles", "nrm.halves", "nrm.returns", "nrm.climb", "rif.steps", "rif.jump", "crm.initial",
        "crm.first-cut", "crm.feedback", "crm.seen", "crm.oscillates", "crm.full", "tbe.no-bound", "tbe.start-queue",
        "cutoff.geometric",
    ],
)  # fmt: skip
def test_what_the_protocol_makes_certain_holds(report: tuple[Report, Path], claim: str) -> None:
    (row,) = [row for row in report[0].claims if row.id == claim]
    assert row.holds is True, row


def test_the_report_is_one_file_that_needs_no_other(report: tuple[Report, Path]) -> None:
    page = (report[1] / "report.html").read_text()
    assert 'src="http' not in page
    assert page.count("data:image/png;base64,") == len(list((report[1] / "figures").glob("*.png")))
    for claim in report[0].claims:
        assert f"<code>{claim.id}</code>" in page


def test_the_json_has_the_documented_keys_and_reads_back(report: tuple[Report, Path]) -> None:
    content = json.loads((report[1] / "report.json").read_text())
    assert content["paper"] == "abr-parameters"
    for row in content["claims"]:
        assert set(row) >= KEYS
    assert read_report(report[1]).content() == report[0].content()


def test_a_quick_run_leaves_out_only_the_choices_of_ours() -> None:
    paper = load_paper("abr-parameters")
    for experiment in paper.experiments:
        quick = {key for key, point in experiment.points.items() if not point.extra}
        assert quick or not experiment.points, experiment.name


@pytest.mark.parametrize("name", ready_papers())
def test_a_paper_has_its_folder_and_sound_scenarios(name: str) -> None:
    paper = load_paper(name)
    assert (paper.folder / "README.md").is_file()
    for experiment in paper.experiments:
        for point in experiment.points.values():
            scenario = paper.scenario(point)
            scenario.check()
            assert scenario.purpose


def test_a_claim_that_does_not_hold_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="says not why"):
        Claim("a.b", "text", "source", "1", "2", False, "", "claim")
    with pytest.raises(ValueError, match="kinds are"):
        Claim("a.b", "text", "source", "1", "2", True, "", "guess")


def test_a_finding_holds_or_does_not() -> None:
    with pytest.raises(TypeError, match="must be a bool or None"):
        Finding("a.b", "1", 1)  # type: ignore[arg-type]


def test_inter_rm_time_is_nrm_cells_of_424_bits() -> None:
    # 32 x 424 / 1.55 Mbps = 8.753 ms; 8 x 424 / 64 kbps = 53 ms.
    assert inter_rm_time(32, 1.55e6) == pytest.approx(8.753e-3, rel=1e-3)
    assert inter_rm_time(8, 64e3) == pytest.approx(53e-3)


def test_rising_is_strict() -> None:
    assert rising([1, 2, 3])
    assert not rising([1, 2, 2])


def test_a_paper_of_ones_own_runs_as_it_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "my-study"

    def cellrate_(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cellrate", "paper", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert cellrate_("new", folder).returncode == 0
    again = cellrate_("new", folder)
    assert (again.returncode, "there already" in again.stderr) == (2, True)
    assert cellrate_("new", tmp_path / "My Study").returncode == 2
    run = cellrate_("run", folder, "--out", tmp_path / "report", "--json")
    assert run.returncode == 0, run.stderr
    (claim,) = json.loads(run.stdout)["claims"]
    assert (claim["id"], claim["holds"]) == ("target.utilization", True)
    assert (tmp_path / "report" / "figures" / "target-acr.png").is_file()


def paper_at(folder: Path, **files: str) -> Path:
    folder.mkdir()
    (folder / "paper.toml").write_text(files.pop("head", 'title = "A study"\n'))
    for name, text in files.items():
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"head": "title = 3"}, "title must be a text"),
        ({"head": 'title = "x"\nauthor = "y"'}, "author is not known"),
        ({"head": 'title = "x"\npackage = "a.b"'}, "must be the name of a Python package"),
        ({"head": "title ="}, "paper.toml"),
        ({}, "has no plain/__init__.py"),
        ({"plain": "1 / 0"}, "does not load: ZeroDivisionError"),
        ({"plain": "EXPERIMENTS = 3"}, "EXPERIMENTS must be a tuple"),
        ({"head": 'title = "x"\npackage = "json"', "json": ""}, "there is another module json"),
    ],
)
def test_a_folder_that_is_no_paper_says_why(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        load_paper(paper_at(tmp_path / "plain", **files))
    sys.modules.pop("plain", None)


def test_a_name_that_is_none_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(CellrateError, match="there is no paper 'nothing'; there are: abr-parameters"):
        load_paper("nothing")
