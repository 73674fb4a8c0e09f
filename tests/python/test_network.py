"""Pictures of networks: what is drawn as one, where things stand, and what is said of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.network.layout import placed
from cellrate.network.topology import Network, shortened

HEAD = """name = "drawn"
duration = "1 s"

[defaults]
link = { rate = "155.52 Mbps", delay = "1 ms" }
switch.algorithm = { type = "erica" }
"""


def scenario(
    switches: int, trunks: list[tuple[int, int]], paths: list[tuple[int, ...]], more: str = ""
) -> cellrate.Scenario:
    """A connection with hosts of its own over each path of switches, counted from 1."""
    text = HEAD + "".join(f'\n[[switch]]\nname = "sw{number}"\n' for number in range(1, switches + 1))
    text += "".join(f'\n[[link]]\nbetween = ["sw{a}", "sw{b}"]\n' for a, b in trunks)
    for number, path in enumerate(paths, start=1):
        for host, switch in ((f"a{number}", path[0]), (f"b{number}", path[-1])):
            text += f'\n[[host]]\nname = "{host}"\n\n[[link]]\nbetween = ["{host}", "sw{switch}"]\n'
        way = ", ".join(f'"sw{switch}"' for switch in path)
        text += f'\n[[vc]]\nname = "v{number}"\npath = ["a{number}", {way}, "b{number}"]\n'
    return cellrate.Scenario.parse(text + more)


def network(of: cellrate.Scenario) -> Network:
    return Network(json.loads(of._native.topology()))


def test_hosts_and_connections_that_are_alike_are_drawn_as_one() -> None:
    drawn = network(cellrate.Scenario.load("greedy-15"))
    assert [drawn.label(place) for place in range(4)] == [
        ("sw1", "ERICA"),
        ("sw2", "ERICA"),
        ("s1 ... s15", ""),
        ("d1 ... d15", ""),
    ]
    (way,) = drawn.ways
    assert (len(way.vcs), way.category, way.path) == (15, "abr", (2, 0, 1, 3))
    # Another category, another way or another link is another host.
    drawn = network(cellrate.Scenario.load("cbr-and-abr"))
    assert [drawn.label(place)[0] for place in range(2, 6)] == ["s1, s2", "s3", "d1, d2", "d3"]
    assert [(way.category, shortened(way.vcs)) for way in drawn.ways] == [("abr", "abr1, abr2"), ("cbr", "cbr")]
    drawn = network(scenario(3, [(1, 2), (2, 3)], [(1, 2), (1, 2, 3), (1, 2)]))
    assert [drawn.label(place)[0] for place in range(3, 7)] == ["a1, a3", "b1, b3", "a2", "b2"]


def test_what_switches_do_is_said() -> None:
    drawn = network(cellrate.Scenario.load("efci"))
    assert drawn.label(0)[1] == "EFCI"
    ports = (
        '\n[[switch]]\nname = "own"\nalgorithm = { type = "custom", name = "mine" }\nefci = { high = "300 cells" }\n'
    )
    ports += '\n[[link]]\nbetween = ["own", "sw1"]\n'
    drawn = network(scenario(1, [], [(1,)], ports))
    assert ("own", "mine, EFCI") in [drawn.label(place) for place in range(len(drawn.core))]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b"], "a, b"),
        (["s1", "s2", "s15"], "s1 ... s15"),
        (["vc1-a", "vc2-a", "vc3-a"], "vc1-a ... vc3-a"),
        (["tcp", "video", "voice"], "tcp, video, voice"),
        (["tcp", "video", "voice", "web"], "tcp, video ... (4)"),
        (["a-long-name", "another-one", "the-last"], "a-long-name, another-one ... (3)"),
    ],
)
def test_many_names_become_few(names: list[str], text: str) -> None:
    assert shortened(names) == text


def distances(of: cellrate.Scenario) -> tuple[Network, np.ndarray]:
    drawn = network(of)
    spots = placed(drawn)
    return drawn, np.linalg.norm(spots[:, None] - spots[None], axis=2)


def test_a_chain_is_a_line_and_goes_from_left_to_right() -> None:
    chain = scenario(4, [(2, 1), (3, 2), (3, 4)], [(4, 3, 2, 1), (2, 1)])
    drawn, apart = distances(chain)
    spots = placed(drawn)
    core = spots[:4]
    assert np.abs(core[:, 1]).max() < 1e-6
    assert core[:, 0] == pytest.approx([1.5, 0.5, -0.5, -1.5], abs=1e-3)
    names = [drawn.label(place)[0] for place in range(len(spots))]
    assert spots[names.index("a1")] == pytest.approx([-2.5, 0.0], abs=1e-3)
    assert spots[names.index("b1")] == pytest.approx([2.5, 0.0], abs=1e-3)
    assert spots[names.index("a2")][1] > 0.6, "a source in the middle is above"
    assert (apart + np.eye(len(apart))).min() > 0.5


def test_a_ring_is_round_and_what_is_not_linked_stands_apart() -> None:
    ring = scenario(6, [(number, number % 6 + 1) for number in range(1, 7)], [(1, 2, 3)])
    drawn, apart = distances(ring)
    core = apart[:6, :6]
    linked = [core[place, (place + 1) % 6] for place in range(6)]
    across = [core[place, (place + 3) % 6] for place in range(6)]
    assert np.ptp(linked) < 1e-3
    assert across == pytest.approx([2 * linked[0]] * 6, rel=1e-3), "a hexagon"
    drawn, apart = distances(scenario(4, [(1, 2), (3, 4)], [(1, 2), (3, 4)]))
    assert min(apart[one, other] for one in (0, 1) for other in (2, 3)) > 1.5
    assert len(drawn.ways) == 2


def test_no_host_covers_anything() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        trunks = [(place, int(rng.integers(1, place))) for place in range(2, 11)]
        _, apart = distances(scenario(10, trunks, [trunks[place] for place in range(6)]))
        assert (apart + np.eye(len(apart))).min() > 0.3


@pytest.mark.parametrize("name", sorted(cellrate.ready_scenarios()))
def test_every_ready_scenario_can_be_drawn(name: str) -> None:
    scenario = cellrate.Scenario.load(name).points()[0].scenario
    figure = scenario.draw()
    texts = {text.get_text().split("\n")[0] for text in figure.axes[0].texts}
    switches = [entry["name"] for entry in scenario.to_dict()["switch"]]
    assert texts & {name.replace("{i}", "1") for name in switches}
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_two_hosts_without_a_switch_are_drawn_too() -> None:
    text = 'name = "t"\nduration = "1 s"\nhost = [{ name = "a" }, { name = "b" }]\n'
    text += 'link = [{ between = ["a", "b"], rate = "10 Mbps", delay = "50 us" }]\n'
    text += 'vc = [{ name = "v", path = ["a", "b"] }]\n'
    figure = cellrate.Scenario.parse(text).draw()
    assert [text.get_text() for text in figure.texts] == ["t", "all links 10 Mb/s, 50 us", "v: ABR"]


def test_the_command_writes_a_picture_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["draw", "parking-lot"]) == 0
    assert capsys.readouterr().out == "parking-lot.png\n"
    for name in ("one.svg", "other.svg", "a.pdf"):
        assert status(["draw", "parking-lot", "--out", name]) == 0
    assert Path("one.svg").read_bytes() == Path("other.svg").read_bytes()
    capsys.readouterr()
    for words, said in (
        (["parking-lot", "--out", "a.gif"], "a.gif: a picture is a file that ends in .png, .svg, .pdf"),
        (["parking-lot", "--out", "nowhere/a.png"], "nowhere/a.png cannot be written: No such file or directory"),
        (["no-such"], "no-such: it is neither a file nor the name of a ready scenario"),
    ):
        assert status(["draw", *words]) == 2
        assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "one.svg", "other.svg", "parking-lot.png"]


def test_what_nobody_could_read_is_not_drawn() -> None:
    large = scenario(801, [(number, number + 1) for number in range(1, 801)], [(1, 2)])
    with pytest.raises(cellrate.CellrateError, match=r"drawn has 801 switches .* a picture has 800 at most"):
        large.draw()


def test_links_of_the_usual_kind_have_no_words_of_their_own() -> None:
    def words(of: cellrate.Scenario) -> list[str]:
        drawn = of.draw()
        return [
            text.get_text()
            for text in (*drawn.texts, *drawn.axes[0].texts)
            if re.search(r"(Mb/s|ms)\b", text.get_text())
        ]

    alike = scenario(3, [(1, 2), (2, 3)], [(1, 2), (1, 2, 3)])
    (said,) = words(alike)
    assert said.startswith("all links ")
    usual = said.removeprefix("all links ")
    other = words(alike.set({"link.sw1-sw2.rate": "50 Mbps"}))
    assert other[0] == f"links {usual} where nothing else is said"
    assert other[1:] == ["50 Mb/s", usual.split(", ")[1]]
    # Where no kind is that of most links, all have their words.
    mixed = {f"link.{name}.rate": f"{rate} Mbps" for name, rate in (("sw1-sw2", 50), ("sw2-sw3", 60), ("a1-sw1", 70))}
    assert not any("links" in text for text in words(alike.set(mixed)))
