"""Advised sets against the defaults, and the command that shows both."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellrate
from cellrate import trial
from cellrate.advice.advisor import advise
from cellrate.advice.situation import Situation
from cellrate.choices import Application
from cellrate.command_line.asking import Answers, bits_per_s, situation
from cellrate.plotting.panels import fair_levels
from cellrate.plotting.runs import figure, panels_of
from cellrate.trial.figures import is_worse
from conftest import command, output

CASES = {
    "campus": Situation(link_bps=155.52e6, round_trip_s=20e-6),
    "wan": Situation(link_bps=155.52e6, round_trip_s=0.01),
    "satellite": Situation(link_bps=622.08e6, round_trip_s=0.0, satellite_hops=1),
    "video": Situation(link_bps=155.52e6, round_trip_s=0.01, application="video"),
    "t1": Situation(link_bps=1.544e6, round_trip_s=0.01, application="interactive"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_advised_set_is_as_good_as_the_defaults_or_says_which_guideline_is_to_blame(case: str) -> None:
    comparison = trial.compare(advise(CASES[case]))
    needed = [row for row in comparison.figures if row.needed]
    assert needed
    assert not [row for row in needed if row.worse]
    assert all(row.blame for row in comparison.figures if row.worse)


SATELLITES = [
    Situation(link_bps=599.04e6, round_trip_s=0.0, satellite_hops=1, switches="efci"),
    Situation(link_bps=1.536e6, round_trip_s=0.0, satellite_hops=1, switches="efci", application="interactive"),
]


@pytest.mark.parametrize("situation", SATELLITES, ids=["bulk", "interactive"])
def test_with_efci_over_a_satellite_it_never_ends_below_the_defaults(situation: Situation) -> None:
    advised = advise(situation)
    comparison = trial.compare(advised)
    assert not [row for row in comparison.figures if row.needed and row.worse]
    if comparison.taken_back:
        assert "Taken back to the default" in comparison.verdict
        assert comparison.kept.settings() != advised.settings()
        assert comparison.kept["CRM"].value == -(-comparison.kept["TBE"].value // comparison.kept["Nrm"].value)
    # What is kept is what ran.
    text = cellrate.Scenario.parse(trial.scenario_text(comparison.kept))
    assert cellrate.run(text).summary["vcs"] == comparison.results[1].summary["vcs"]


@pytest.mark.parametrize(
    ("line", "cells_per_s"),
    [
        # ATM_25_PCR, ATM_OC3_PCR, ATM_OC12_PCR, ATM_DS3_PCR of Linux (include/linux/atmdev.h); else ITU-T G.804.
        ("ATM-25", 59_111),
        ("OC-3", 353_207),
        ("STM-1", 353_207),
        ("OC-12", 1_412_830),
        ("DS3-PLCP", 96_000),
        ("DS3", 104_268),
        ("T1", 3_622),
        ("E1", 4_528),
        ("E3", 80_000),
        ("DS0", 150),
        ("155.52 Mbps", 366_792),
    ],
)
def test_a_line_by_name_has_the_cells_that_it_carries(line: str, cells_per_s: int) -> None:
    assert int(bits_per_s(line) / 424) == cells_per_s
    if line != "DS0":
        assert advise(link_bps=bits_per_s(line), round_trip_s=0.01)["PCR"].value == cells_per_s


def test_worse_is_more_than_a_hundredth() -> None:
    assert not is_worse(99.0, 100.0, larger_is_better=True)
    assert is_worse(98.9, 100.0, larger_is_better=True)
    assert is_worse(101.1, 100.0, larger_is_better=False)
    assert not is_worse(101.0, 100.0, larger_is_better=False)
    assert is_worse(1.0, 0.0, larger_is_better=False)
    assert is_worse(None, 5.0, larger_is_better=False), "it never came back"
    assert not is_worse(5.0, None, larger_is_better=False)


@pytest.mark.parametrize("switches", ["efci", "relative", "erica"])
def test_the_scenario_it_leaves_runs_with_the_advised_parameters(switches: str) -> None:
    advised = advise(link_bps=155.52e6, round_trip_s=0.002, switches=switches, number_of_switches=3)
    scenario = cellrate.Scenario.parse(trial.scenario_text(advised))
    # FRTT of the scenario is that of the advice: the two agree on ICR.
    result = cellrate.run(scenario.set({"duration": "1 ms"}))
    assert result.series("acr", vc="vc1").values[0] == advised["ICR"].value


def test_the_command_prints_the_set_and_leaves_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "set.toml"
    base = ("advise", "--link", "OC-3", "--distance", "1000 km", "--application", "bulk", "--switches", "explicit")
    done = command(*base, "--write", file)
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("PCR", "353,207 cells/s", "(149.8 Mbps)", "Trm", "6.2.1", "Warning: Nrm"):
        assert text in done.stdout
    assert cellrate.Scenario.load(file).name == "set"
    printed = output(*base, "--json")
    rows = {row["parameter"]: row for row in printed["parameters"]}
    assert (rows["FRTT"]["code"], rows["Nrm"]["code"], rows["RIF"]["code"]) == (10_000, 7, 0)
    assert printed["simulation"] is None


T1 = ("advise", "--link", "T1", "--round-trip", "10 ms", "--application", "bulk", "--switches", "efci")


def test_the_network_of_many_with_video_beside_them_is_written_and_keeps_what_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "wan.toml"
    asked = ["--link", "OC-3", "--distance", "1000 km", "--application", "bulk", "--switches", "erica"]
    many = [*asked, "--rate", "3 Mbps", "--sources", "30", "--video", "45 Mbps", "--write", str(file)]
    found = output("advise", *many, "--json")
    values = {row["parameter"]: row for row in found["parameters"]}
    # 90 % of 104.76 Mbps among 30, of which one cell in 256 is an RM cell.
    assert values["ICR"]["value"] == pytest.approx(0.9 * (353_207 - 45e6 / 424) / 30, rel=1e-3)
    assert "what video leaves" in values["ICR"]["reason"]
    summary = cellrate.run(file, set={"duration": "1 s"}).summary
    rows = {row["vc"]: row for row in summary["vcs"]}
    forward = [rows[f"vc{number}"] for number in range(1, 31)]
    assert rows["video"]["throughput_bps"] == pytest.approx(45e6, rel=0.1)
    assert all(row["throughput_bps"] > 2.9e6 for row in forward)
    assert len(summary["tcp"]) == 30
    assert not summary["overbooked"]
    assert not summary["refused"]
    # Five of 25 Mbps do not fit beside it, and the run says so.
    crowd = [*asked, "--rate", "25 Mbps", "--sources", "5", "--video", "45 Mbps", "--write", str(file)]
    assert "do not fit beside the video" in command("advise", *crowd).stdout.replace("\n", " ")
    assert cellrate.run(file, set={"duration": "50 ms"}).summary["refused"]


@pytest.mark.parametrize("application", ["bulk", "interactive", "transaction", "video", "voice"])
@pytest.mark.parametrize(("sources", "switches", "video_bps"), [(1, 2, 0), (7, 1, 0), (2, 3, 20e6), (7, 1, 20e6)])
def test_every_network_that_is_written_runs(
    application: Application, sources: int, switches: int, video_bps: float, tmp_path: Path
) -> None:
    known = Situation(
        link_bps=149.76e6,
        round_trip_s=0.01,
        application=application,
        sources=sources,
        number_of_switches=switches,
        video_bps=video_bps,
    )
    file = tmp_path / "net.toml"
    trial.write_scenario(advise(known), file)
    summary = cellrate.run(file, set={"duration": "250 ms"}).summary
    sent = {row["vc"] for row in summary["vcs"] if row["data_delivered"] and "(back)" not in row["vc"]}
    video = {"video"} if video_bps else set()
    # Of two without video it is the scenario of the trial.
    assert sent == {f"vc{number}" for number in range(1, sources + 1)} | video


def test_a_scenario_that_was_advised_before_is_replaced_and_a_link_to_it_stays(tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to("set.toml")
    for buffer in ("1000", "2000"):
        done = command(*T1, "--buffer", buffer, "--write", tmp_path / "link.toml")
        assert (done.returncode, done.stderr) == (0, "")
    assert '"2000 cells"' in (tmp_path / "set.toml").read_text()
    assert (tmp_path / "link.toml").is_symlink()
    assert {entry.name for entry in tmp_path.iterdir()} == {"set.toml", "link.toml"}


@pytest.mark.parametrize("content", ["", "years of work", "# Parameters", '# Mine.\nname = "mine"\n'])
def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(content)
    done = command(*T1, "--write", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--write {file} is there already, and was not written by cellrate advise" in done.stderr
    assert file.read_text() == content


def test_a_place_that_cannot_be_written_to_is_told_with_option_and_file(tmp_path: Path) -> None:
    done = command(*T1, "--write", tmp_path / "nowhere" / "set.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == f"cellrate: --write {tmp_path}/nowhere/set.toml cannot be written: No such file or directory\n"
    )
    done = command(*T1, "--write", tmp_path)
    assert done.returncode == 2
    assert f"--write {tmp_path} is not a plain file" in done.stderr


def test_any_name_of_a_file_is_one_of_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / 'a "set" \\ größer.toml'
    assert command(*T1, "--write", file).returncode == 0
    assert cellrate.Scenario.load(file).name == 'a "set" \\ größer'


def test_the_command_simulates() -> None:
    printed = output(
        *("advise", "--link", "10 Mbps", "--round-trip", "1 ms", "--application", "transaction"),
        *("--switches", "relative", "--simulate", "--json"),
    )
    names = [row["name"] for row in printed["simulation"]["figures"]]
    assert "mean time of a request [ms]" in names
    assert printed["simulation"]["verdict"]


REST = ("--application", "bulk", "--switches", "efci")
"""Further options that advise has to be given."""


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--link", "OC-3"), "--distance or --round-trip, --application, --switches are missing"),
        ((), "--link, --distance or --round-trip, --application, --switches are missing"),
        (("--link", "fast", "--distance", "1 km", *REST), "'fast' is not a rate"),
        (("--link", "OC-3", "--distance", "1 km", "--round-trip", "1 ms"), "not both"),
        (("--link", "OC-3", "--distance", "1 ms", *REST), "'1 ms' is not a length"),
    ],
)
def test_what_is_missing_or_makes_no_sense_is_told(arguments: tuple[str, ...], word: str) -> None:
    done = command("advise", *arguments)
    assert done.returncode == 2
    assert word in done.stderr


def test_requests_that_never_end_are_no_success() -> None:
    # Three cells of buffer, and EFCI that comes a round trip late: some cell of some request is lost with either set.
    lossy = advise(
        link_bps=1.544e6, round_trip_s=0.05, buffer_cells=3, switches="efci", application="transaction", sources=10
    )
    comparison = trial.compare(lossy)
    assert comparison.verdict.startswith("With neither set is there any mean time of a request")


def test_eprca_is_advised_and_simulated() -> None:
    advised = advise(link_bps=155.52e6, round_trip_s=0.01, switches="eprca")
    assert 'type = "eprca", threshold = "512 cells"' in trial.scenario_text(advised)
    comparison = trial.compare(advised)
    assert comparison.verdict
    assert (
        comparison.content() != trial.compare(advise(link_bps=155.52e6, round_trip_s=0.01, switches="erica")).content()
    )


def test_on_a_terminal_it_asks_and_asks_again() -> None:
    said = iter(["nonsense", "T1", "", "1", "voice", ""])
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        return next(said)

    asked = situation(
        Answers(buffer=100),
        interactive=True,
        ask=ask,
    )
    assert (asked.link_bps, asked.satellite_hops, asked.application, asked.switches) == (1.536e6, 1, "voice", "erica")
    assert asked.round_trip_s == pytest.approx(0.01)
    assert len(questions) == 6
    assert bits_per_s("1000 cells/s") == 424_000


def rates_at(at_s: float, toml: str) -> dict[str, float | None]:
    """Give the max-min rate that each connection has in plots at an instant."""
    return {
        name: next(rate for begin_s, rate in reversed(level) if begin_s <= at_s)
        for name, level in fair_levels(toml).items()
    }


@pytest.mark.parametrize(
    ("algorithm", "share"),
    [
        ('{ type = "consistent-marking" }', 0.95),
        ('{ type = "consistent-marking", target_utilization = "80 %" }', 0.8),
        ('{ type = "consistent-marking", target_utilization = "19/20" }', 0.95),
        ('{ type = "capc" }', 0.95),
        ('{ type = "phantom" }', 10 / 11),
        ('{ type = "erica" }', 0.9),
        ('{ type = "erica+" }', 1.0),
        ('{ type = "relative-rate", threshold = "250 cells" }', 1.0),
    ],
)
def test_fair_shares_behind_acr_are_of_what_the_algorithm_hands_out(algorithm: str, share: float) -> None:
    scenario = cellrate.Scenario.load("two-source-transient").set({"defaults.switch.algorithm": algorithm})
    assert list(rates_at(0.15, scenario.toml).values()) == pytest.approx([share * 155.52e6 / 424 / 2] * 2)


def test_fair_shares_are_of_what_each_port_hands_out() -> None:
    text = (
        REFUSED.replace("admission = true", "admission = false").replace("6 Mbps", "1 Mbps").replace("5 Mbps", "1 Mbps")
    )
    settings = {"defaults.switch.algorithm": '{ type = "erica", target_utilization = "80 %" }'}
    scenario = cellrate.Scenario.parse(text).set(settings)
    assert rates_at(0.0, scenario.toml) == pytest.approx({"first": 8e6 / 424 / 2, "second": 8e6 / 424 / 2})
    assert scenario.fair(utilization=1.0)[0].rate == pytest.approx(10e6 / 424 / 2)
    # What a port is given takes the place of what is common to all.
    own = text.replace(
        'switch = [{ name = "sw"', 'switch = [{ name = "sw", ports = { b = { algorithm = { type = "capc" } } }'
    )
    assert own != text
    scenario = cellrate.Scenario.parse(own).set(settings)
    assert list(rates_at(0.15, scenario.toml).values()) == pytest.approx([0.95 * 10e6 / 424 / 2] * 2)


def test_plots_draw_the_fair_shares_behind_acr() -> None:
    result = cellrate.run(cellrate.Scenario.load("two-source-transient").set({"duration": "5 ms"}))
    # 90 % of 155.52 Mbps for two.
    levels = fair_levels(result.toml)
    # The second begins when the run has ended.
    assert list(levels) == ["vc1"]
    assert levels["vc1"] == [(0.0, pytest.approx(0.9 * 155.52e6 / 424, rel=0.04))]  # type: ignore[comparison-overlap]
    panels = panels_of(result)
    assert panels[0].levels == levels
    assert not panels[1].levels
    axes = figure(panels, "title", "stamp").axes[0]
    behind = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in behind[:1]] == pytest.approx([139.968], rel=0.04)  # type: ignore[index]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["vc1", "vc2", "max-min of those that send"]


def test_fair_shares_are_of_the_whole_line_without_an_algorithm_and_none_where_mcrs_do_not_fit() -> None:
    text = REFUSED.replace("admission = true", "admission = false")
    result = cellrate.run(cellrate.Scenario.parse(text).set({"duration": "1 ms"}))
    assert fair_levels(result.toml) == {}
    fitting = text.replace("6 Mbps", "1 Mbps").replace("5 Mbps", "1 Mbps")
    levels = rates_at(0.0, cellrate.Scenario.parse(fitting).toml)
    assert levels == pytest.approx({"first": 10e6 / 424 / 2, "second": 10e6 / 424 / 2})


REFUSED = """
name = "full"
duration = "5 ms"
admission = true
defaults = { link = { rate = "10 Mbps", length = "1 km" } }
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "sw", negotiation = { rif = "1/64" } }]
link = [{ between = ["a", "sw"] }, { between = ["sw", "b"] }]

[[vc]]
name = "first"
path = ["a", "sw", "b"]
abr = { mcr = "6 Mbps" }

[[vc]]
name = "second"
path = ["a", "sw", "b"]
abr = { mcr = "6 Mbps" }
mcr_min = "5 Mbps"
"""


def test_a_refused_connection_is_reported_and_does_not_run(tmp_path: Path) -> None:
    file = tmp_path / "full.toml"
    file.write_text(REFUSED)
    printed = output("run", file, "--json")
    assert [row["vc"] for row in printed["vcs"]] == ["first", "first (back)"]
    assert [row["vc"] for row in printed["refused"]] == ["second"]
    assert "at a: its MCR must be at least 11792 cells/s" in printed["refused"][0]["reason"]
    changed = [row for row in printed["negotiated"] if row["vc"] == "first" and row["parameter"] == "rif"]
    assert changed == [
        {"vc": "first", "node": "sw", "parameter": "rif", "from": "1/16", "to": "1/64", "why": "its own limit"}
    ]
    done = command("run", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Refused: abr connection second" in done.stdout
    assert f"Set-up changed {len(printed['negotiated'])} parameters of 2 directions" in done.stdout
