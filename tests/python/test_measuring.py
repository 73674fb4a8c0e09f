"""A warm-up and windows: what is measured over which time, and that it stands in the result."""

from __future__ import annotations

import pytest

import cellrate
from cellrate.recorded.summaries import report
from cellrate.recorded.table import print_summary
from conftest import PAIR

SATURATED = """\
name = "saturated"
duration = "20 ms"
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "sw" }]
link = [{ between = ["a", "sw"] }, { between = ["b", "sw"] }, { between = ["sw", "c"] }]
vc = [
    { name = "long", path = ["a", "sw", "c"], traffic = { type = "constant", rate = "100000 cells/s" } },
    { name = "short", path = ["b", "sw", "c"], traffic = { type = "constant", rate = "100000 cells/s", end = "5 ms" } },
]
defaults.vc.category = "cbr"
defaults.link = { rate = "100000 cells/s", length = "0 km" }
"""
"""Two sources of the line's rate each, 100 cells per ms: 500 cells queue up in 5 ms, and stay until the end."""


def ports(result: cellrate.Result) -> dict[str, dict[str, object]]:
    return {row["port"]: row for row in result.summary["ports"]}


def test_a_queue_that_stands_when_the_warm_up_ends_counts_with_its_length() -> None:
    scenario = cellrate.Scenario.parse(SATURATED)
    whole = cellrate.run(scenario).summary
    assert whole["run"]["measured_from_s"] == 0
    measured = cellrate.run(scenario.set({"warm_up": "10 ms"}))
    port = ports(measured)["sw->c"]
    # One cell comes and one leaves each 10 us: the queue stands at 500, within a cell.
    assert port["max_queue"] == pytest.approx(500, abs=1)
    assert port["mean_queue"] == pytest.approx(500, abs=1)
    assert port["utilization"] == 1.0
    assert port["transmitted"] == 1000
    vcs = {row["vc"]: row for row in measured.summary["vcs"]}
    assert vcs["short"]["sent"] == 0, "it has ended, and its row stays"
    # Each waits 5 ms, and nothing of the beginning is left in the quantiles.
    assert vcs["long"]["p50_delay_s"] == pytest.approx(5e-3, rel=0.02)
    whole_row = next(row for row in whole["vcs"] if row["vc"] == "long")
    assert whole_row["mean_delay_s"] < vcs["long"]["mean_delay_s"]
    assert measured.summary["run"]["measured_from_s"] == 0.01


def test_windows_add_up_to_the_run_and_stand_beside_it() -> None:
    scenario = cellrate.Scenario.parse(
        SATURATED
        + """
window = [
    { name = "first", until = "7 ms" },
    { name = "rest", from = "7 ms" },
    { name = "middle", from = "3 ms", until = "9 ms" },
]
"""
    )
    result = cellrate.run(scenario)
    rows = {(row["window"], row["vc"]): row for row in result.summary["vc_windows"]}
    for row in result.summary["vcs"]:
        for key in ("sent", "delivered", "dropped"):
            assert rows["first", row["vc"]][key] + rows["rest", row["vc"]][key] == row[key]
    queues = {row["window"]: row["max_queue"] for row in result.summary["port_windows"] if row["port"] == "sw->c"}
    assert queues["first"] == pytest.approx(500, abs=2)
    table = cellrate.tidy([result], "vc_windows")
    assert table.column("window").to_pylist()[:2] == ["first", "first"]
    assert table.column("from_s").to_pylist()[-1] == 0.003
    # Without windows all else is the same.
    plain = cellrate.run(cellrate.Scenario.parse(SATURATED)).summary
    assert plain["vcs"] == result.summary["vcs"]
    assert plain["ports"] == result.summary["ports"]


def test_the_terminal_says_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    text = SATURATED + 'window = [{ name = "end", from = "15 ms" }]\n'
    result = cellrate.run(cellrate.Scenario.parse(text).set({"warm_up": "10 ms"}))
    print_summary(result.summary, result.set)
    out = capsys.readouterr().out
    assert "Figures from 0.01 s on." in out
    assert "VC in end," in out
    assert "0.015 to 0.02 s" in out
    # Tables fit a terminal; a sentence is broken where it is shown.
    assert max(len(line) for line in out.splitlines()[:-1] if not line.startswith("Overbooked: ")) <= 82
    assert "Figures from 0.01 s on." in result._repr_html_()


WEIGHTED = """\
name = "weighted"
duration = "200 ms"
warm_up = "100 ms"
defaults.link = { rate = "149.76 Mbps", length = "1 km" }
defaults.switch.algorithm = { type = "erica", target_utilization = "90 %", interval = "1 ms", fairness = "weighted" }
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "sw" }]
link = [{ between = ["a", "sw"] }, { between = ["b", "sw"] }, { between = ["sw", "c"] }]
vc = [{ name = "one", path = ["a", "sw", "c"] }, { name = "three", path = ["b", "sw", "c"], abr = { weight = 3 } }]
"""


def test_fairness_goodput_and_efficiency_are_rows_of_any_result() -> None:
    scenario = cellrate.Scenario.parse(WEIGHTED)
    summary = cellrate.run(scenario).summary
    shares = {row["vc"]: row for row in summary["shares"]}
    assert set(shares) == {"one", "three"} == {share.vc for share in scenario.fair()}
    assert all(row["of_fair_share"] == pytest.approx(1, abs=0.07) for row in shares.values()), shares
    (abr,) = summary["fairness"]
    # Weights make throughputs uneven, (1 + 3)^2 / (2 (1 + 9)) = 0.8, and shares of what is due even.
    assert abr["vcs"] == 2
    assert abr["jain"] == pytest.approx(0.8, abs=0.02)
    assert abr["jain_of_fair_shares"] > 0.999
    lines = {row["port"]: row for row in summary["efficiency"]}
    goodput = sum(row["goodput_bps"] for row in shares.values())
    assert lines["sw->c"]["goodput_bps"] == pytest.approx(goodput)
    assert lines["sw->c"]["efficiency"] == pytest.approx(0.9 * 31 / 32 * 48 / 53, rel=0.07)


@pytest.mark.parametrize("nrm", [4, 8, 32])
def test_of_what_comes_back_every_nrm_th_cell_is_a_forward_rm_cell_and_fair_knows(nrm: int) -> None:
    """A cell comes back for every Nrm - 1 (TM 4.0, source behaviour 3): two flows share a link with the other's."""
    text = PAIR.replace("[[vc]]", '[[vc]]\nname = "back"\npath = ["b", "sw", "a"]\n\n[[vc]]', 1)
    scenario = cellrate.Scenario.parse(text).set({"defaults.abr.nrm": nrm, "duration": "200 ms"})
    rows = {row["vc"]: row["sent"] for row in cellrate.run(scenario).summary["vcs"]}
    for vc in ("vc1", "back"):
        assert rows[f"{vc} (back)"] == pytest.approx(rows[vc] / (nrm - 1), rel=0.01)
    expected = 0.95 * 155.52e6 / 424 * (nrm - 1) / nrm
    assert [share.rate for share in scenario.fair(utilization=0.95)] == pytest.approx([expected, expected])


def test_who_comes_and_goes_is_held_to_the_time_in_which_it_sends() -> None:
    result = cellrate.run("two-source-transient", set={"duration": "300 ms"})
    (row,) = result.summary["fairness"]
    assert (row["category"], row["vcs"], row["jain"]) == ("abr", 2, None)
    assert row["jain_of_fair_shares"] > 0.95
    (line,) = [part for part in report(result.summary) if isinstance(part, str) and part.startswith("Jain")]
    assert line.endswith("of 2 ABR directions over max-min shares, each of the time in which it sends.")
    # While all send, their throughputs are held to each other as they are.
    (row,) = cellrate.run("two-source-transient", set={"duration": "100 ms", "vc.vc2.traffic.start": "0 ms"}).summary[
        "fairness"
    ]
    assert row["jain"] > 0.99


def test_without_fair_shares_there_is_no_index_of_who_comes_and_goes() -> None:
    scenario = ubr()
    (row,) = cellrate.run(scenario).summary["fairness"]
    assert (row["category"], row["jain"], row["jain_of_fair_shares"]) == ("ubr", None, None)
    parts = report(cellrate.run(scenario).summary)
    assert "Jain's index: none of 2 UBR directions, which do not all send all the time." in parts


def ubr() -> cellrate.Scenario:
    """Give two connections of which one sends for half of the time."""
    text = PAIR.partition("[[probe]]")[0]
    kind = 'category = "ubr"\npcr = "20 Mbps"\ntraffic = { type = "greedy"'
    first = text.replace('name = "vc1"\n', f'name = "vc1"\n{kind} }}\n')
    second = text[text.index("[[vc]]") :].replace('name = "vc1"\n', f'name = "vc2"\n{kind}, end = "10 ms" }}\n')
    return cellrate.Scenario.parse(f"{first}\n{second}")
