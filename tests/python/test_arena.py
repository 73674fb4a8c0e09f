"""The arena: cards that closed forms give, who may take part, what is kept after an interruption, the report."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import cellrate
from cellrate import _native
from cellrate.comparing.cards import Card, of_scenarios, of_seeds
from cellrate.comparing.choosing import choosing
from cellrate.comparing.columns import COLUMNS
from cellrate.comparing.entrants import APART, REQUIRED, VARIANTS
from cellrate.comparing.page import page, write
from cellrate.comparing.phases import phases_of, varying
from cellrate.comparing.suite import DRAWN, SUITE, suite
from conftest import command
from lab_pages import opened

LINE = 149.76e6 / 424
"""Rate of most lines of the suite [cells/s]."""

FILES = Path(__file__).parents[2] / "scenarios" / "arena"


class Everybody(cellrate.SwitchAlgorithm):
    """Grants everybody the ICR of the suite, 2 Mb/s."""

    def __init__(self, port: cellrate.Port, note: str = "") -> None:
        self.note = note

    def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
        return 2e6 / 424


class OfTwenty(Everybody):
    """An algorithm that does so, and means to hand out no more than a fifth of a line."""

    target_utilization = 0.2


class BeatsDown(cellrate.SwitchAlgorithm):
    """Grants a quarter of a line between switches, and a part of that to the first connection, the long one."""

    def __init__(self, port: cellrate.Port, part: float = 0.5) -> None:
        self.share = port.link_rate / 4
        self.part = part if "->sw" in port.name else 1.0

    def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
        return self.share * (self.part if vc == 0 else 1)


def one(algorithm: str, scenario: str, algorithms: Mapping[str, type[cellrate.SwitchAlgorithm]] | None = None) -> Card:
    """Give the card of an algorithm in a scenario."""
    found = cellrate.arena([algorithm], algorithms=algorithms, only=[scenario], costs=False, progress=False, workers=1)
    return found.card(algorithm, scenario)


def test_erica_finds_the_shares_of_one_line_and_stays_there() -> None:
    card = one("erica", "single-bottleneck")
    # ER is a code of 9 bits: 0.2 %.
    assert card.worst_error is not None
    assert card.worst_error < 0.002
    assert (card.phases, card.settled, card.loss, card.beat_down, card.response_s) == (1, 1, 0.0, None, None)
    assert card.settling_s is not None
    assert 0.0 < card.settling_s < 0.1
    assert 0.88 < card.utilization < 0.91


def test_who_grants_everybody_icr_is_as_far_off_as_icr_is_from_the_share() -> None:
    card = one("everybody", "single-bottleneck", {"everybody": Everybody})
    granted = 2e6 / 424
    assert card.mean_error == pytest.approx(1 - granted / (LINE / 10), rel=0.001)
    assert card.worst_error == pytest.approx(card.mean_error)
    assert (card.settled, card.phases, card.settling_s, card.loss) == (0, 1, None, 0.0)
    # The ten send a cell at the same instants at first.
    assert card.max_queue <= 10
    assert card.utilization == pytest.approx(10 * granted / LINE, rel=0.01)


def test_an_algorithm_is_held_against_what_it_means_to_hand_out() -> None:
    card = one("everybody", "single-bottleneck", {"everybody": OfTwenty})
    # Cells are counted: one in some 1,400 is on the edge of the time that counts.
    assert card.mean_error == pytest.approx(1 - (2e6 / 424) / (0.2 * LINE / 10), abs=0.003)


@pytest.mark.parametrize("part", [0.5, 0.25])
def test_the_long_way_is_told_by_its_share(part: float) -> None:
    own = {"down": BeatsDown}
    name = f"down {{ part = {part} }}"
    found = cellrate.arena([name], algorithms=own, only="parking-lot", costs=False, progress=False, workers=1)
    card = found.card(name, "parking-lot")
    assert card.beat_down == pytest.approx(part, rel=0.004)
    assert card.worst_error == pytest.approx(1 - part, rel=0.004)
    # One of 22.
    assert card.mean_error == pytest.approx((1 - part) / 22, abs=0.003)
    assert card.utilization == pytest.approx((3 + part) / 4, abs=0.03)


def test_phases_change_with_who_sends() -> None:
    rates = [
        {round(rate / LINE, 3) for rate in phase.shares.values()}
        for phase in phases_of(suite(["joining-leaving"])["joining-leaving"], {}, 1.0)
    ]
    assert rates == [{0.5}, {0.1}, {0.25}]


def test_nobody_judges_shares_while_clients_go_by_their_own_rhythm() -> None:
    first, second = phases_of(suite(["bursty-clients"])["bursty-clients"], {}, 1.0)
    assert (first.begin_s, first.end_s, first.shares) == (0.0, 0.6, {})
    assert {round(rate / LINE, 3) for rate in second.shares.values()} == {0.25}
    assert first.bottlenecks == second.bottlenecks == ("sw1->sw2",)


def test_vbr_counts_with_the_rate_that_it_had() -> None:
    scenario = suite(["vbr-background"])["vbr-background"]
    assert varying(scenario) == ["vbr"]
    (phase,) = phases_of(scenario, {"vbr": 0.4 * LINE}, 0.9)
    assert list(phase.shares.values()) == pytest.approx([0.5 * LINE / 5] * 5)
    card = one("erica", "vbr-background")
    assert card.mean_error is not None
    assert card.mean_error < 0.05
    # Nothing settles beside it.
    assert (card.phases, card.settling_s) == (0, None)


def card(scenario: str, algorithm: str = "a", **figures: object) -> Card:
    """Give a card with some figures, and as little as possible of all else."""
    plain: dict[str, object] = dict.fromkeys(("mean_error", "worst_error", "settling_s", "beat_down", "long_trip"))
    plain |= dict.fromkeys(("cheat_share", "cheat_loss", "response_s", "slowdown", "p99_slowdown"))
    plain |= dict.fromkeys(("mean_queue", "p99_queue", "max_queue", "utilization", "loss"), 0.0)
    return Card(algorithm, scenario, 1, **(plain | {"phases": 0, "settled": 0} | figures))  # type: ignore[arg-type]


def test_cards_of_several_scenarios_are_one() -> None:
    first = card("x", mean_error=0.1, worst_error=0.3, phases=1, settled=1, settling_s=0.02, mean_queue=10.0, loss=0.2)
    second = card("y", phases=3, settled=1, settling_s=0.05, beat_down=0.7, mean_queue=20.0, utilization=0.9)
    both = of_scenarios([[first], [second]])
    assert (both.scenario, both.mean_error, both.worst_error, both.beat_down) == (None, 0.1, 0.3, 0.7)
    assert (both.settled, both.phases, both.settling_s, both.response_s) == (2, 4, 0.05, None)
    assert (both.mean_queue, both.loss, both.runs, both.half_widths) == (15.0, 0.1, 2, {})


def test_intervals_are_over_the_seeds_of_what_is_random() -> None:
    drawn = [card("x", mean_queue=queue, slowdown=2.0) for queue in (10.0, 12.0, 14.0)]
    one = of_seeds(drawn)
    # Student's t with two degrees of freedom: 4.303 x 2 / sqrt(3); what all seeds give alike has no interval.
    assert (one.mean_queue, one.runs) == (12.0, 3)
    assert one.half_widths == {"mean_queue": pytest.approx(4.303 * 2 / 3**0.5, rel=1e-3)}
    # Beside a scenario that ran once the mean over scenarios varies by half as much.
    both = of_scenarios([drawn, [card("y", mean_queue=30.0)]])
    assert (both.mean_queue, both.runs) == (21.0, 4)
    assert both.half_widths == {"mean_queue": pytest.approx(4.303 / 3**0.5, rel=1e-3)}


def test_best_and_worst_are_marked_but_for_what_cannot_be_told_apart() -> None:
    columns = {column.head: column for column in COLUMNS}
    queue, used = columns["mean queue [cells]"], columns["utilization"]
    cards = [
        card("x", str(i), mean_queue=value, utilization=value / 100) for i, value in enumerate((5.0, 50.0, 5.2, 20.0))
    ]
    # 5.2 looks like 5; of utilization more is better.
    assert queue.marks(cards) == ["best", "worst", "best", ""]
    assert used.marks(cards) == ["worst", "best", "", ""]
    assert queue.marks(cards[:1]) == [""]
    assert queue.marks([cards[0], cards[2]]) == ["", ""]
    wide = [
        card("x", mean_queue=5.0),
        card("x", mean_queue=9.0, half_widths={"mean_queue": 4.5}),
        card("x", mean_queue=20.0),
    ]
    assert queue.marks(wide) == ["best", "best", "worst"]
    # How many have settled counts before how soon.
    settled = [card("x", phases=2, settled=2, settling_s=3.0), card("x", phases=2, settled=1, settling_s=0.01)]
    assert columns["settled"].marks(settled) == ["best", "worst"]
    # It is no praise that nothing is said of an algorithm.
    assert columns["ports unsettled"].marks(cards) == ["", "", "", ""]
    # A long way that has all that it is due is not the worse for another that has more.
    trips = [card("x", long_trip=trip) for trip in (1.09, 1.0, 0.7)]
    assert columns["long trip"].marks(trips) == ["best", "best", "worst"]
    assert columns["long trip"].marks(trips[:2]) == ["", ""]


def test_the_suite_is_what_the_folder_has_and_all_have_the_same_sources() -> None:
    assert sorted(SUITE) == sorted(file.stem for file in FILES.glob("*.toml"))
    assert {f"arena/{name}" for name in SUITE} <= set(cellrate.ready_scenarios())
    documents = [tomllib.loads((FILES / f"{name}.toml").read_text()) for name in SUITE]
    assert [document["name"] for document in documents] == list(SUITE)
    # Flows of a size have RIF 1: else it is their sources that set the pace.
    defaults = [
        (document["defaults"]["abr"] | {"rif": "1/64"}, document["defaults"]["switch"]) for document in documents
    ]
    assert all(one == defaults[0] for one in defaults)
    others = [
        name for name, document in zip(SUITE, documents, strict=True) if document["defaults"]["abr"]["rif"] != "1/64"
    ]
    assert others == ["flow-completion"]
    assert not any("abr" in vc for document in documents for vc in document.get("vc", []))
    assert list(suite(["satellite", "gfc-1"])) == ["gfc-1", "satellite"]


def test_every_built_in_algorithm_takes_part_or_is_said_not_to() -> None:
    required = dict(_native.built_in_algorithms())
    assert {name for name, keys in required.items() if keys} <= REQUIRED.keys() | APART.keys()
    found = cellrate.arena(only="single-bottleneck", progress=False)
    assert [name for name in found.algorithms if "{" not in name] == [name for name in required if name not in APART]
    assert {name for name in found.algorithms if "{" in name} == {name for names in VARIANTS.values() for name in names}
    # All of them are timed, too.
    assert [cost.algorithm for cost in found.costs] == list(found.algorithms)
    assert min(cost.rm_cell_ratio for cost in found.costs) == 1.0
    assert all(cost.rm_cell_ratio >= 1.0 for cost in found.costs)
    without = {cost.algorithm for cost in found.costs if cost.interval_ns is None}
    assert without == {"relative-rate", "eprca"}
    # What swings by its nature does not settle; what hands out a rate does.
    assert (found.card("relative-rate").settled, found.card("consistent-marking").settled) == (0, 1)


def test_own_algorithms_are_timed_and_run_beside_built_in_ones(tmp_path: Path) -> None:
    found = cellrate.arena(
        ["erica"],
        algorithms={"everybody": Everybody, "down": BeatsDown},
        only="single-bottleneck",
        out=tmp_path / "arena",
        progress=False,
    )
    assert list(found.algorithms) == ["erica", "everybody", "down"]
    python, rust = (cost for cost in found.costs if cost.algorithm in ("everybody", "erica"))
    assert {python.algorithm, rust.algorithm} == {"everybody", "erica"}
    assert next(cost for cost in found.costs if cost.algorithm == "everybody").interval_ns is None


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["errica"], 'there is no algorithm "errica"; did you mean erica? There are relative-rate, eprca, aprc'),
        (["none"], 'there is no algorithm "none"'),
        (["stop-and-go"], "stop-and-go cannot take part: its sources have RIF, RDF and CDF 1"),
        (["erica { delta = }"], "its parameters are not a table in TOML"),
        (['erica { type = "capc" }'], "write parameters alone"),
        (["erica", " erica "], "erica is there twice"),
        ([""], "write a name, such as erica"),
    ],
)
def test_who_cannot_take_part_is_refused(names: list[str], said: str) -> None:
    with pytest.raises(cellrate.CellrateError, match=re.escape(said)):
        cellrate.arena(names, progress=False)


def test_what_an_algorithm_does_not_take_is_refused_before_anything_runs() -> None:
    with pytest.raises(cellrate.ScenarioError, match="treshold"):
        cellrate.arena(['eprca { treshold = "3 cells" }'], progress=False)
    with pytest.raises(cellrate.CellrateError, match='the arena has no scenario "satelite"; did you mean satellite'):
        cellrate.arena(["erica"], only=["satelite"])
    with pytest.raises(cellrate.CellrateError, match='"phantom" is built in'):
        cellrate.arena(algorithms={"phantom": Everybody})
    with pytest.raises(cellrate.CellrateError, match="seeds is 0"):
        cellrate.arena(["erica"], seeds=0)

    class Wrong(Everybody):
        target_utilization = 1.5

    with pytest.raises(cellrate.CellrateError, match=r"wrong: target_utilization is 1\.5"):
        cellrate.arena(algorithms={"wrong": Wrong})


def written(folder: Path) -> set[tuple[int, int]]:
    """Give each point's file and when it was written; its folder may be renamed when points are added."""
    return {((found := file.stat()).st_ino, found.st_mtime_ns) for file in folder.glob("point-*/summary.json")}


def test_an_interrupted_arena_goes_on(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def end(fraction: float) -> None:
        if fraction >= 0.5:
            raise EnoughError

    names, only = ["erica", "capc"], ["single-bottleneck", "joining-leaving"]
    with pytest.raises(EnoughError) as raised:
        cellrate.arena(names, only=only, out=tmp_path / "a", workers=1, progress=end)
    assert re.search(r"of 4 points are in .*; the same command goes on", raised.value.__notes__[0])
    kept = written(tmp_path / "a")
    assert 0 < len(kept) < 4
    assert not (tmp_path / "a" / "report.html").exists()
    went_on = cellrate.arena(names, only=only, out=tmp_path / "a", costs=False, progress=False)
    assert kept < written(tmp_path / "a")
    in_memory = cellrate.arena(names, only=only, costs=False, progress=False, workers=2)
    assert went_on.content() == in_memory.content()
    assert json.loads((tmp_path / "a" / "arena.json").read_text()) == in_memory.content()
    # One algorithm more: what is there stays.
    more = cellrate.arena([*names, "erica+"], only=only, out=tmp_path / "a", costs=False, progress=False)
    assert kept < written(tmp_path / "a")
    assert len(written(tmp_path / "a")) == 6
    assert more.card("capc", only[0]) == in_memory.card("capc", only[0])
    with pytest.raises(KeyError, match="no card"):
        more.card("phantom")


def test_a_share_is_what_arrives_and_losses_of_who_obeys_stand_apart() -> None:
    result = cellrate.run("arena/misbehaving-source")
    arrived = {row["vc"]: row["data_delivered"] / 0.6 for row in result.summary["vcs"]}
    found = one("erica", "misbehaving-source")
    # Over the whole run here, and in its second half on the card.
    due = 0.9 * LINE / 10 * 31 / 32
    honest = [1 - arrived[f"vc{i}"] / due for i in range(1, 10)]
    assert found.mean_error == pytest.approx(sum(honest) / 9, abs=0.12)
    assert found.cheat_share == pytest.approx(arrived["vc0"] / due, rel=0.2)
    assert found.mean_error is not None
    assert found.mean_error > 0.4
    cheat = [row for row in result.summary["vcs"] if row["vc"].split()[0] == "vc0"]
    others = [row for row in result.summary["vcs"] if row["vc"].split()[0] != "vc0"]
    for told, rows in ((found.loss, others), (found.cheat_loss, cheat)):
        assert told == sum(row["dropped"] for row in rows) / sum(row["sent"] for row in rows)
    assert found.loss != found.cheat_loss
    # What the run says of itself stands on the card.
    assert [(one.port, one.by) for one in found.unsettled] == [("sw1->sw2", "run")]
    assert "vc0 is" in found.unsettled[0].said


def test_round_trips_and_flows_have_columns_of_their_own() -> None:
    far = one("osu", "unequal-round-trips")
    assert far.beat_down is None
    assert far.long_trip is not None
    assert far.long_trip == pytest.approx(1.0, abs=0.05)
    flows = one("erica", "flow-completion")
    assert (flows.mean_error, flows.phases, flows.runs) == (None, 0, 3)
    assert flows.slowdown is not None
    assert flows.p99_slowdown is not None
    assert 1.0 < flows.slowdown < flows.p99_slowdown
    assert flows.half_widths.keys() >= {"slowdown", "p99_slowdown", "utilization"}
    # Six tenths of the line are asked for, give or take some.
    assert 0.4 < flows.utilization < 0.8


def test_what_draws_numbers_is_known() -> None:
    def first(name: str, seed: int) -> list[dict[str, object]]:
        scenario = suite([name])[name].set({"duration": "100 ms", "seed": seed} | end)
        return [row | {"p50_slowdown": None} for row in cellrate.run(scenario).summary["ports"]]

    for name in SUITE:
        end = {"vc.client{i}.traffic.end": "90 ms"} if name == "bursty-clients" else {}
        assert (first(name, 1) != first(name, 2)) == (name in DRAWN), name


def test_choosing_names_the_best_and_what_it_costs() -> None:
    found = cellrate.arena(
        ["erica", "relative-rate", "osu"], only=["parking-lot", "single-bottleneck"], costs=False, progress=False
    )
    said = choosing(found)
    assert any(line.startswith("Equal shares on the whole, by mean error: osu (") for line in said)
    assert any(line.startswith("Short queues, by mean queue [cells]: osu (") for line in said)
    # Nothing is said of what no scenario asks.
    assert not any("slow-down" in line or "cheat" in line for line in said)
    alone = cellrate.arena(["erica"], only="single-bottleneck", costs=False, progress=False)
    assert choosing(alone) == []


def test_seeds_matter_where_something_is_random() -> None:
    one_seed, two = (
        cellrate.arena(["capc"], only=["vbr-background", "gfc-1"], seeds=seeds, costs=False, progress=False)
        for seeds in (1, 2)
    )
    # All else runs once, whatever the number of seeds, and its card says so.
    assert two.card("capc", "gfc-1") == one_seed.card("capc", "gfc-1")
    assert (two.card("capc", "gfc-1").runs, two.card("capc", "gfc-1").half_widths) == (1, {})
    drawn, single = two.card("capc", "vbr-background"), one_seed.card("capc", "vbr-background")
    assert drawn.mean_queue != single.mean_queue
    assert (drawn.runs, single.runs, single.half_widths) == (2, 1, {})
    assert "mean_queue" in drawn.half_widths
    text = page(two)
    assert "vbr-background drew random numbers with 2 seeds" in text
    assert text.count("One run: nothing in it is random.") == 1
    assert "Means of 2 seeds" in text


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import cellrate\n\n\nclass Own(cellrate.SwitchAlgorithm):\n    def on_backward_rm(self, now, vc, queue):\n"
        "        return 2e6 / 424\n"
    )
    asked: list[str | Path] = [
        "arena",
        "erica",
        "--only",
        "single-bottleneck",
        "--algorithm",
        f"own={own}:Own",
        "--out",
        tmp_path / "out",
    ]
    done = command(*asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    assert printed["algorithms"] == ["erica", "own"]
    assert [(card["scenario"], card["algorithm"]) for card in printed["cards"]] == [
        ("single-bottleneck", "erica"),
        ("single-bottleneck", "own"),
    ]
    assert set(printed["overall"][0]) == set(Card.__annotations__)
    told = command(*asked)
    assert (told.returncode, told.stderr) == (0, "")
    assert f"The report is {tmp_path / 'out' / 'report.html'}" in told.stdout
    table = command(*asked, "--markdown").stdout.splitlines()
    assert table[0].startswith("| algorithm | mean error | worst error |")
    assert [line.split(" | ")[0] for line in table[2:4]] == ["| erica", "| own"]
    wrong = command("arena", "errica", "--out", tmp_path / "out")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean erica?" in wrong.stderr
    both = command(*asked, "--json", "--markdown")
    assert (both.returncode, both.stdout) == (2, "")


def test_the_report_needs_nothing_else_and_fits_a_narrow_screen(tmp_path: Path) -> None:
    found = cellrate.arena(
        ["erica", "erica { effective_number = true }", 'everybody { note = "<b>" }'],
        algorithms={"everybody": Everybody},
        only=["parking-lot", "bursty-clients"],
        costs=True,
        progress=False,
    )
    text = page(found)
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert not re.search(r"https?:|src=|@import|url\(", text)
    assert found._repr_html_().count("<table") == 3
    assert "<script" not in found._repr_html_()
    write(found, tmp_path)
    for width in (420, 1200):
        for scheme in ("light", "dark"):
            viewport = {"width": width, "height": 900}
            with opened(f"file://{tmp_path}/report.html", viewport=viewport, color_scheme=scheme) as seen:
                assert seen.value("document.documentElement.scrollWidth") == width
                ground = seen.value("getComputedStyle(document.body).backgroundColor")
                assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
                # On a narrow screen each cell says what it is.
                shown = seen.value("getComputedStyle(document.querySelector('td'), '::before').content")
                assert (shown == '"mean error"') == (width == 420)
                # A head sorts its table, up and down by turns; what has no figure stays at the end.
                rows = "[...document.querySelector('table').tBodies[0].rows]"
                names = f"{rows}.map(row => row.cells[0].textContent).join('|')"
                before = seen.value(names)
                queue = max(found.overall, key=lambda card: card.mean_queue).algorithm
                for turn in (-1, 0):
                    seen.value("[...document.querySelectorAll('button')].find(b => b.textContent[5] === 'q').click()")
                    assert seen.value(names).split("|")[turn] == queue
                assert sorted(seen.value(names).split("|")) == sorted(before.split("|"))
