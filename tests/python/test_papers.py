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
from cellrate.papers import load_paper, mark, ready_papers
from cellrate.papers.counts import COUNTS, marks, record_counts, written
from cellrate.papers.experiment import CAUSES, KINDS, Claim, Finding
from cellrate.papers.judging import FIGURES, JUDGED, NEAR, NEITHER, SPREAD, VERDICTS, WITHIN, printed
from cellrate.papers.paper import experiment_of
from cellrate.papers.report import Report, read_report
from conftest import command

KEYS = {"id", "text", "source", "published", "measured", "verdict", "judged", "off", "seeds", "cause", "rows", "why"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("paper") / "report"
    return load_paper("abr-parameters").run(folder), folder


def test_every_claim_is_measured_and_every_measurement_is_a_claim(report: tuple[Report, Path]) -> None:
    measured = [claim.id for claim in report[0].claims]
    assert len(measured) == len(set(measured))
    assert set(measured) == set(load_paper("abr-parameters").published)


def test_what_is_not_near_says_why(report: tuple[Report, Path]) -> None:
    for claim in report[0].claims:
        assert claim.verdict in VERDICTS or claim.kind != "claim", claim.id
        assert claim.verdict in (NEAR, SPREAD) or claim.why, claim.id
        assert claim.measured not in (None, ""), claim.id


def test_a_miss_has_a_cause_and_nothing_else_has(report: tuple[Report, Path]) -> None:
    for claim in report[0].claims:
        missed = claim.kind == "claim" and claim.verdict == NEITHER
        assert (claim.cause in CAUSES) if missed else claim.cause is None, claim.id
        # A row that decides a cause is in the report.
        assert set(claim.rows) <= {row.id for row in report[0].claims if row.kind == "sensitivity"}
    counts = report[0].count()
    assert counts.claims == counts.near + counts.spread + counts.neither
    assert counts.neither == counts.open + counts.undecided + counts.unexplained
    assert counts.silent == 0
    assert counts.text() in (report[1] / "report.html").read_text()


def test_figures_11_and_12_have_two_readings_that_nothing_decides(report: tuple[Report, Path]) -> None:
    found = {claim.id: claim for claim in report[0].claims}
    assert all(found[id].verdict == NEAR for id in ("tbe.queue-128", "tbe.queue-512", "tbe.512-above-128"))
    hardly = found["tbe.rule-6-hardly-matters"]
    # 19 % less with TBE 128.
    assert (hardly.verdict, hardly.cause) == (NEITHER, "undecided")
    assert hardly.rows == ["tbe.interval-20-ms", "tbe.interval-30-ms"]
    assert found["crm.throughput-825-1200"].verdict == NEAR
    assert found["crm.throughput-275-825"].cause == "unexplained"
    # Two rows that were tried, and none of them has it.
    assert found["trm.idle"].cause == "unexplained"


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
        if said.get("kind", "claim") == "claim":
            assert said["judged"] in JUDGED, claim
            assert "published" in said, claim
            figure = printed(said) if said["judged"] in FIGURES else None
            assert (figure is not None and figure.spread is not None) == (said["judged"] == "printed spread"), claim
            assert figure is None or (figure.unit == "%") == (said["judged"] == "per cent"), claim
        else:
            assert "judged" not in said, claim
        assert experiment_of(claim) in names, claim


@pytest.mark.parametrize("name", ready_papers())
def test_a_readme_is_what_the_last_report_found(name: str) -> None:
    paper = load_paper(name)
    readme = (paper.folder / "README.md").read_text()
    content = json.loads((paper.folder / COUNTS).read_text())
    assert written(paper, readme, content) == readme
    claims = [id for id, said in paper.published.items() if said.get("kind", "claim") == "claim"]
    assert content["claims"] + content["silent"] == len(claims)
    assert content["errata"] == sum(said.get("kind") == "erratum" for said in paper.published.values())
    assert {"date", "runs", "by_experiment"} <= content.keys()
    if not content["quick"]:
        assert set(content["rows"]) == set(paper.published)
    # One that is not what its own figures say would be stale or written by hand.
    for id in claims:
        row, said = content["rows"][id], paper.published[id]
        if "mean" in row:
            figure = printed(said)
            assert row["off"] == pytest.approx(figure.off(row["mean"]))
            assert row["verdict"] != NEAR or abs(row["off"]) <= WITHIN, id


def test_a_readme_with_another_number_is_found(tmp_path: Path, report: tuple[Report, Path]) -> None:
    paper = dataclasses.replace(load_paper("abr-parameters"), folder=tmp_path)
    begin, end = marks("counts")
    quotation = "Idle: <!--=trm.idle-->9 ms<!--=-->."
    (tmp_path / "README.md").write_text(f"# A\n\n{begin}\n{end}\n\n{quotation}\n")
    told = record_counts(paper, report[1])
    readme = (tmp_path / "README.md").read_text()
    content = json.loads((tmp_path / COUNTS).read_text())
    assert told in readme
    assert f"Idle: <!--=trm.idle-->{content['rows']['trm.idle']['measured']}<!--=-->." in readme
    assert written(paper, readme, content) == readme
    for old, new in ((str(content["near"]), str(content["near"] + 1)), ("ms of 20", "ms of 21")):
        assert written(paper, readme.replace(old, new, 1), content) == readme != readme.replace(old, new, 1)
    with pytest.raises(CellrateError, match=r"quotes trm\.idel"):
        written(paper, readme.replace("=trm.idle", "=trm.idel"), content)


def test_counts_are_recorded_of_all_of_a_paper_only(report: tuple[Report, Path], tmp_path: Path) -> None:
    paper = load_paper("abr-parameters")
    own = tmp_path / "abr-parameters"
    shutil.copytree(paper.folder, own)
    there = dataclasses.replace(paper, folder=own)
    assert report[0].count().text() in record_counts(there, report[1])
    (own / "README.md").write_text("# No marks\n")
    with pytest.raises(CellrateError, match="has no lines"):
        record_counts(there, report[1])
    with pytest.raises(CellrateError, match="not on uili"):
        record_counts(load_paper("uili"), report[1])
    part = tmp_path / "part"
    paper.run(part, only=["arithmetic"])
    with pytest.raises(CellrateError, match="a part of"):
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
    with pytest.raises(CellrateError, match="not an experiment, table or claim of paper abr-parameters"):
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
    assert row.verdict == NEAR, row


def test_the_report_is_one_file_that_needs_no_other(report: tuple[Report, Path]) -> None:
    page = (report[1] / "report.html").read_text()
    assert 'src="http' not in page
    assert page.count("data:image/png;base64,") == len(list((report[1] / "figures").glob("*.png")))
    for claim in report[0].claims:
        assert claim.id in page


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


def test_a_claim_that_is_not_near_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="gives no reason"):
        Claim("a.b", "text", "source", "1", "2", NEITHER, "", "claim")
    with pytest.raises(ValueError, match="kinds are"):
        Claim("a.b", "text", "source", "1", "2", NEAR, "", "guess")


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

    assert command("paper", "new", folder).returncode == 0
    again = command("paper", "new", folder)
    assert (again.returncode, "there already" in again.stderr) == (2, True)
    assert command("paper", "new", tmp_path / "My Study").returncode == 2
    run = command("paper", "run", folder, "--out", tmp_path / "report", "--json")
    assert run.returncode == 0, run.stderr
    (claim,) = json.loads(run.stdout)["claims"]
    assert (claim["id"], claim["verdict"]) == ("target.utilization", NEAR)
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
        ({"head": 'title = "x"\nsays = 3'}, "says must be a text"),
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


def test_a_printed_figure_is_a_mark_and_a_range_a_band() -> None:
    folder = load_paper("abr-parameters").folder
    asked = mark(folder, "crm.asked", "ER")
    assert (asked.value, asked.high, asked.label) == (140.0, None, "ER, published: 140 Mbps")
    queue = mark(folder, "tbe.queue-512", "largest", scale=0.001, span=(0.0, 0.1))
    assert (queue.value, queue.high, queue.span) == (2.5, 3.0, (0.0, 0.1))
    assert queue.label == "largest, published: 2500 to 3000 cells"
    with pytest.raises(ValueError, match="not a printed figure"):
        mark(folder, "crm.oscillates", "ACR")
    with pytest.raises(KeyError, match=r"crm\.nothing"):
        mark(folder, "crm.nothing", "ACR")
