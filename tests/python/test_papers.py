from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import pytest

from abr_parameters import satellite
from abr_parameters.arithmetic import inter_rm_time
from abr_parameters.common import PCR, rising
from cellrate import CellrateError
from cellrate.papers import load_paper, ready_papers
from cellrate.papers.counts import COUNTS, block, record_counts, with_counts
from cellrate.papers.experiment import CAUSES, KINDS, Claim, Finding
from cellrate.papers.paper import experiment_of
from cellrate.papers.report import Report, read_report
from conftest import command

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


def test_a_claim_that_does_not_hold_has_a_cause_and_nothing_else_has(report: tuple[Report, Path]) -> None:
    for claim in report[0].claims:
        missed = claim.kind == "claim" and claim.holds is False
        assert (claim.cause in CAUSES) if missed else claim.cause is None, claim.id
    counts = report[0].count()
    assert counts.claims == counts.hold + counts.open + counts.ours + counts.unexplained
    assert counts.text() in (report[1] / "report.html").read_text()


def test_figures_11_and_12_have_their_queues_with_the_interval_that_their_sum_asks_for(
    report: tuple[Report, Path],
) -> None:
    held = {claim.id: claim.holds for claim in report[0].claims}
    assert all(held[id] for id in ("tbe.queue-128", "tbe.queue-512", "tbe.512-above-128"))
    assert held["crm.throughput-825-1200"]
    assert not held["crm.throughput-275-825"]


def test_cells_without_feedback_are_those_of_the_paper_s_formula() -> None:
    # 1024 cells at 330,113 cells/s take 3.1 ms; then 32 cells at 15/16 of the rate, 32 at (15/16)^2, and so on.
    sent, spent, rate = 1024, 1024 / (0.9 * PCR), 0.9 * PCR
    while spent < 0.55:
        rate *= 15 / 16
        sent, spent = sent + 32, spent + 32 / rate
    assert satellite.cells_without_feedback(0.55) == pytest.approx(sent, rel=0.01)


@pytest.mark.parametrize("name", ready_papers())
def test_every_claim_says_what_is_published_and_belongs_to_an_experiment(name: str) -> None:
    paper = load_paper(name)
    names = {experiment.name for experiment in paper.experiments}
    for claim, said in paper.published.items():
        assert said.get("kind", "claim") in KINDS, claim
        assert said.get("kind", "claim") != "claim" or "published" in said, claim
        assert experiment_of(claim) in names, claim


@pytest.mark.parametrize("name", ready_papers())
def test_a_readme_has_the_counts_of_the_last_full_report(name: str) -> None:
    paper = load_paper(name)
    readme = (paper.folder / "README.md").read_text()
    content = json.loads((paper.folder / COUNTS).read_text())
    assert with_counts(readme, block(content)) == readme
    claims = [said for said in paper.published.values() if said.get("kind", "claim") == "claim"]
    assert content["claims"] == len(claims)
    assert content["errata"] == sum(said.get("kind") == "erratum" for said in paper.published.values())


def test_counts_are_recorded_of_full_reports_only(report: tuple[Report, Path], tmp_path: Path) -> None:
    paper = load_paper("abr-parameters")
    own = tmp_path / "abr-parameters"
    shutil.copytree(paper.folder, own)
    there = dataclasses.replace(paper, folder=own)
    assert record_counts(there, report[1]) == block(json.loads((own / COUNTS).read_text()))
    (own / "README.md").write_text("# No marks\n")
    with pytest.raises(CellrateError, match="has no lines"):
        record_counts(there, report[1])
    with pytest.raises(CellrateError, match="not on uili"):
        record_counts(load_paper("uili"), report[1])
    part = tmp_path / "part"
    paper.run(part, only=["arithmetic"])
    with pytest.raises(CellrateError, match="a part of the paper"):
        record_counts(there, part)
    # A report replaces the one before it.
    paper.run(part, only=["arithmetic"])


def test_only_what_is_asked_for_is_run_and_reported(tmp_path: Path) -> None:
    paper = load_paper("abr-parameters")
    part = paper.run(tmp_path / "part", only=["cutoff", "arithmetic.frtt"])
    assert {experiment.name for experiment in paper.only(["cutoff.first"]).experiments} == {"cutoff"}
    assert [claim.id for claim in part.claims if claim.id.startswith("arithmetic")] == ["arithmetic.frtt"]
    assert len(part.claims) > 1
    assert set(part.experiments) == {"cutoff", "arithmetic"}
    assert read_report(tmp_path / "part").only == ["cutoff", "arithmetic.frtt"]
    with pytest.raises(CellrateError, match="not an experiment of paper abr-parameters"):
        paper.run(tmp_path / "none", only=["cutof"])


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
    with pytest.raises(ValueError, match="gives no reason"):
        Claim("a.b", "text", "source", "1", "2", False, "", "claim")
    with pytest.raises(ValueError, match="kinds are"):
        Claim("a.b", "text", "source", "1", "2", True, "", "guess")


def test_a_finding_holds_or_does_not() -> None:
    with pytest.raises(ValueError, match="causes are open, ours, unexplained"):
        Finding("a.b", "1", False, "why", cause="bad luck")
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

    assert command("paper", "new", folder).returncode == 0
    again = command("paper", "new", folder)
    assert (again.returncode, "there already" in again.stderr) == (2, True)
    assert command("paper", "new", tmp_path / "My Study").returncode == 2
    run = command("paper", "run", folder, "--out", tmp_path / "report", "--json")
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
