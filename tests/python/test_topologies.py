"""Topology files and generated networks as scenarios."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from cellrate import CellrateError, Scenario, run
from cellrate.command_line.main import status
from cellrate.topologies.building import Choices, scenario_text
from cellrate.topologies.connections import Pair, chosen_pairs, shortest_ways
from cellrate.topologies.families import made
from cellrate.topologies.reading import read_topology
from cellrate.topologies.topology import Line, Node, Topology, great_circle_km
from conftest import command

ZOO = """graph [
  label "Tiny"
  Network "Tiny"
  node [ id 0 label "S&#227;o Paulo" Longitude -46.63611 Latitude -23.5475 Internal 1 ]
  node [ id 1 label "Lisbon" Longitude -9.13333 Latitude 38.71667 Internal 1 ]
  node [ id 2 label "Lisbon" Longitude -9.14 Latitude 38.72 Internal 0 ]
  node [ id 3 label "?" Internal 1 ]
  node [ id 4 label "alone" hyperedge 1 ]
  edge [ source 0 target 1 LinkLabel "OC-48" LinkSpeed "2.5" LinkSpeedUnits "G" LinkSpeedRaw 2500000000.0 id "e1" ]
  edge [ source 1 target 2 LinkSpeed "155" LinkSpeedUnits "M" id "e2" ]
  edge [ source 2 target 1 id "e3" ]
  edge [ source 2 target 3 id "e4" ]
  edge [ source 1 target 1 id "e5" ]
]
"""

GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d0"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="d1"/>
  <key attr.name="label" attr.type="string" for="node" id="d2"/>
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d3"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="d0">52.52</data><data key="d1">13.405</data><data key="d2">Berlin</data></node>
    <node id="1"><data key="d0">48.8566</data><data key="d1">2.3522</data><data key="d2">Paris</data></node>
    <edge source="0" target="1"><data key="d3">622080000.0</data></edge>
    <edge source="0" target="1"/>
  </graph>
</graphml>
"""

NATIVE = """?SNDlib native format; type: network; version: 1.0
# a comment
META (
  granularity = 5min
)
NODES (
  A ( 13.40 52.52 )
  B ( 2.35 48.86 )
  C ( -0.13 51.51 )
)
LINKS (
  L1 ( A B ) 155.00 0.00 0.00 0.00 ( 622.00 1.00 )
  L2 ( B C ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 160.00 4.00 )
  L3 ( A C ) 0.00 0.00 0.00 0.00 ( )
)
DEMANDS (
  A_B ( A B ) 1 12.50 UNLIMITED
  B_A ( C A ) 1 3.00 UNLIMITED
)
"""

XML = """<?xml version="1.0"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="A"><coordinates><x>13.40</x><y>52.52</y></coordinates></node>
   <node id="B"><coordinates><x>2.35</x><y>48.86</y></coordinates></node>
  </nodes>
  <links><link id="L"><source>A</source><target>B</target>
   <additionalModules><addModule><capacity>40.0</capacity><cost>1</cost></addModule></additionalModules></link></links>
 </networkStructure>
 <demands><demand id="D"><source>B</source><target>A</target><demandValue>7.0</demandValue></demand></demands>
</network>
"""


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_of_the_zoo_keeps_parallel_lines_and_repeated_labels(tmp_path: Path) -> None:
    topology = read_topology(written(tmp_path, "tiny.gml", ZOO))
    assert [node.label for node in topology.nodes] == ["São Paulo", "Lisbon", "Lisbon", "?", "alone"]
    assert [line.ends for line in topology.lines] == [("0", "1"), ("1", "2"), ("2", "1"), ("2", "3")]
    assert [line.rate_bps for line in topology.lines] == [2.5e9, 155e6, None, None]
    assert [len(part) for part in topology.parts()] == [4, 1]
    assert "1 lines from a node to itself" in topology.remarks[0]


def test_a_node_without_coordinates_asks_for_a_length(tmp_path: Path) -> None:
    topology = read_topology(written(tmp_path, "tiny.gml", ZOO))
    pairs = chosen_pairs(topology, "4", seed=1)
    with pytest.raises(CellrateError, match=r"1 of 4 lines .* without coordinates .2 of 5 nodes.*--length"):
        scenario_text(topology, pairs, Choices(), purpose="p")


def test_the_scenario_of_a_file_runs(tmp_path: Path) -> None:
    topology = read_topology(written(tmp_path, "tiny.gml", ZOO))
    pairs = chosen_pairs(topology, "all", seed=1)
    assert len(pairs) == 12
    text = scenario_text(topology, pairs, Choices(length="3 km", duration="2 ms"), purpose="A network.")
    scenario = Scenario.parse(text)
    document = scenario.to_dict()
    assert [entry["name"] for entry in document["switch"]] == ["São-Paulo", "Lisbon", "Lisbon-2", "node", "alone"]
    first, between, beside = document["link"][:3]
    # The cosine of the angle between two places, by the sines and cosines of their latitudes.
    (a, b), (c, d) = ((math.radians(x) for x in place) for place in ((-23.5475, -46.63611), (38.71667, -9.13333)))
    angle = math.acos(math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(b - d))
    assert (first["rate"], first["length"]) == ("2500000000 bps", f"{round(6371 * angle, 3)} km")
    assert "name" not in first
    assert (between["name"], beside["name"]) == ("line2", "line3")
    taken = {vc["path"][2] for vc in document["vc"] if vc["path"][1] == "Lisbon" and vc["path"][-2] == "Lisbon-2"}
    assert taken
    assert taken <= {"line2", "line3"}
    scenario.check()


def test_graphml_has_the_same_lines(tmp_path: Path) -> None:
    topology = read_topology(written(tmp_path, "two.graphml", GRAPHML))
    assert [line.rate_bps for line in topology.lines] == [622080000.0, None]
    one, other = (node.position for node in topology.nodes)
    assert one == (13.405, 52.52)
    assert other is not None
    # 878 km, as tables of distances have it.
    assert great_circle_km(one, other) == pytest.approx(878, abs=1)


@pytest.mark.parametrize(("name", "text"), [("net.txt", NATIVE), ("net.xml", XML)])
def test_sndlib_brings_its_demands(tmp_path: Path, name: str, text: str) -> None:
    topology = read_topology(written(tmp_path, name, text))
    pairs = chosen_pairs(topology, None, seed=1)
    assert [pair.rate_bps for pair in pairs] == ([12.5e6, 3e6] if name == "net.txt" else [7e6])
    assert topology.lines[-1].rate_bps == (None if name == "net.txt" else 40e6)
    scenario = Scenario.parse(scenario_text(topology, pairs, Choices(duration="1 ms"), purpose="p"))
    scenario.check()
    assert scenario.to_dict()["vc"][0]["traffic"]["type"] == "limited"


def test_xml_is_recognised_behind_any_number_of_blank_lines(tmp_path: Path) -> None:
    head, rest = GRAPHML.split("\n", 1)
    (tmp_path / "blank.graphml").write_text(head + "\n" * 50_000 + rest)
    (tmp_path / "tiny.graphml").write_text(GRAPHML)
    assert read_topology(tmp_path / "blank.graphml").lines == read_topology(tmp_path / "tiny.graphml").lines


def test_a_capacity_is_what_is_installed_or_the_largest_module(tmp_path: Path) -> None:
    topology = read_topology(written(tmp_path, "net.txt", NATIVE))
    assert [line.rate_bps for line in topology.lines] == [155e6, 160e6, None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a topology that can be read"),
        ("hello", "not a topology that can be read"),
        ("graph [\n node [ id 0 ]\n edge [ source 0 target 1 ]\n]", '"1" as one of its ends, which is not a node'),
        ("graph [\n node [ id 0", "not valid GML"),
        ("graph [\n]", "no nodes"),
        ("graph [\n node [ id 0 ]\n\n node [ id 0 ]\n]", 'two of its nodes have the id "0"'),
        ("graph [\n node [ id 0 ]\n\n node [ label 0 ]\n]", "row 4: node without id"),
        ('graph [\n node [ id 0 label "x ]\n]', "row 2: a text has no end"),
        ("graph [\n node [ id 0 size big ]\n]", "row 2: big is neither a number nor a text"),
        ("graph [\n node [ id ]\n]", "row 2: id has no value"),
        ("graph [\n]\ngraph [\n]", "it has 2 graphs, not one"),
        (GRAPHML.replace('target="1"/>', 'target="7"/>'), '"7" as one of its ends, which is not a node'),
        (GRAPHML.replace('<node id="1">', '<node id="0">'), 'two of its nodes have the id "0"'),
        (NATIVE.replace("12.50", "-1"), "line 17 is not an entry of DEMANDS"),
        (NATIVE.replace("12.50", "nan"), "line 17 is not an entry of DEMANDS"),
        ("<graphml><graph></graph>", "not valid GraphML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "document type or entities"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><network/>', "document type or entities"),
        ("<network><a></network>", "not valid XML"),
        (NATIVE.replace("( A B ) 155.00", "( A Z ) 155.00"), '"Z" as one of its ends'),
        (NATIVE.replace("12.50", "much"), "line 17 is not an entry of DEMANDS"),
    ],
)
def test_a_file_that_is_no_topology_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        read_topology(written(tmp_path, "x", text))


def gml(nodes: dict[str, str], edges: list[str]) -> str:
    rows = [f'node [ id {place} label "{name}" {rest} ]' for place, (name, rest) in enumerate(nodes.items())]
    rows += [f"edge [ source {place} target {place + 1} {rest} ]" for place, rest in enumerate(edges)]
    return "graph [\n" + "\n".join(rows) + "\n]\n"


@pytest.mark.parametrize(("x", "y"), [("lon", "lat"), ("lng", "lat"), ("Longitude", "Latitude"), ("LONG", "LAT")])
def test_coordinates_have_the_names_that_files_give_them(tmp_path: Path, x: str, y: str) -> None:
    text = gml({"Aachen": f"{x} 6.04 {y} 50.76", "Koeln": f"{x} 6.96 {y} 50.94"}, [""])
    topology = read_topology(written(tmp_path, "x.gml", text))
    assert [node.position for node in topology.nodes] == [(6.04, 50.76), (6.96, 50.94)]


def test_a_length_that_the_file_gives_comes_before_coordinates(tmp_path: Path) -> None:
    nodes = {"a": "lon 6 lat 50", "b": "lon 7 lat 50", "c": "", "d": ""}
    topology = read_topology(written(tmp_path, "x.gml", gml(nodes, ["dist 100", 'dist "40.5"', "dist 12"])))
    text = scenario_text(topology, [], Choices(stretch=1.5), purpose="x")
    assert [f'length = "{km} km"' in text for km in ("150.0", "60.75", "18.0")] == [True] * 3


def test_coordinates_that_are_not_on_the_earth_are_left_out_for_all_nodes(tmp_path: Path) -> None:
    pixels = {"a": "lon 10 lat 20", "b": "lon 30 lat 600", "c": "lon 12 lat 40"}
    topology = read_topology(written(tmp_path, "x.gml", gml(pixels, ["", ""])))
    assert [node.position for node in topology.nodes] == [None] * 3
    assert '"1" is at 30, 600, which is not on the Earth' in topology.remarks[0]
    with pytest.raises(CellrateError, match="2 of 2 lines"):
        scenario_text(topology, [], Choices(), purpose="x")
    native = NATIVE.replace("( 2.35 48.86 )", "( 2.35 480.86 )")
    assert [node.position for node in read_topology(written(tmp_path, "x.txt", native)).nodes] == [None] * 3
    one_place = gml({"a": "lon 0 lat 0", "b": "lon 0 lat 0"}, [""])
    assert "at the same place" in read_topology(written(tmp_path, "x.gml", one_place)).remarks[0]


def test_coordinates_that_are_exchanged_are_taken_as_they_are_meant(tmp_path: Path) -> None:
    exchanged = {"Tokyo": "lon 35.68 lat 139.69", "Lisbon": "lon 38.7 lat -9.1"}
    topology = read_topology(written(tmp_path, "x.gml", gml(exchanged, [""])))
    assert [node.position for node in topology.nodes] == [(139.69, 35.68), (-9.1, 38.7)]
    assert "exchanged" in topology.remarks[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            gml({"a": "lon 1 lat 1", "b": "lon 2 lat 2"}, ["LinkSpeedRaw 1e15"]),
            'row 4, the line from "a" to "b" has 1e',
        ),
        (
            gml({"a": "lon 1 lat 1", "b": "lon 2 lat 2"}, ["LinkSpeedRaw 0.25"]),
            'row 4, the line from "a" to "b" has 0.25',
        ),
        (NATIVE.replace("155.00", "1e12"), 'row 12, the line from "A" to "B" has 1e'),
        (NATIVE.replace("12.50", "1e12"), 'the demand from "'),
    ],
)
def test_a_rate_that_no_line_may_have_names_the_line_of_the_file(tmp_path: Path, text: str, said: str) -> None:
    topology = read_topology(written(tmp_path, "x", text))
    pairs = chosen_pairs(topology, "demands" if topology.demands else "1", seed=1)
    with pytest.raises(CellrateError, match=said):
        scenario_text(topology, pairs, Choices(length="1 km"), purpose="x")
    if "demand" not in said:
        assert "1 Gbps" in scenario_text(topology, pairs, Choices(length="1 km", all_rates="1 Gbps"), purpose="x")


def test_gml_is_read_in_time_that_grows_with_its_length(tmp_path: Path) -> None:
    # Rows without anything once took their square: these three hours.
    topology = read_topology(written(tmp_path, "x.gml", "\n" * 400_000 + ZOO.replace("\n", "\n" * 50_000)))
    assert len(topology.nodes) == 5
    with pytest.raises(CellrateError, match="not a topology"):
        read_topology(written(tmp_path, "x.gml", "\n" * 2_000_000))


def test_gml_has_texts_comments_numbers_and_lists(tmp_path: Path) -> None:
    text = """# made by hand
graph [ directed 0
  node [ id -1 label "a [ # ]
     b" graphics [ x 1e3 w .5 ] lon +1.5 lat 6e-05 ]  # the first
  node [ id two label Two lon NAN lat 2 ]
  edge [ source -1 target two LinkSpeed "2.5" LinkSpeedUnits "G" ]
]"""
    topology = read_topology(written(tmp_path, "x.gml", text))
    assert [(node.key, node.label, node.position) for node in topology.nodes] == [
        ("-1", "a [ # ] b", (1.5, 6e-05)),
        ("two", "Two", None),
    ]
    assert (topology.lines[0].rate_bps, topology.lines[0].row) == (2.5e9, 6)


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    for path in ("/dev/zero", tmp_path):
        with pytest.raises(CellrateError, match=f"{path} is not a plain file"):
            read_topology(path)
    with pytest.raises(CellrateError, match="No such file"):
        read_topology(tmp_path / "absent.gml")


def test_ways_are_the_shortest() -> None:
    generator = random.Random(5)
    for _ in range(30):
        nodes = [f"n{place}" for place in range(8)]
        lines = [Line((generator.choice(nodes), generator.choice(nodes))) for _ in range(16)]
        lines = [line for line in lines if line.ends[0] != line.ends[1]]
        lengths = [float(generator.randint(1, 9)) for _ in lines]
        topology = Topology("random", [Node(name, name) for name in nodes], lines)
        # Floyd and Warshall's distances.
        distance = {(a, b): 0.0 if a == b else math.inf for a in nodes for b in nodes}
        for line, length in zip(lines, lengths, strict=True):
            for a, b in (line.ends, line.ends[::-1]):
                distance[a, b] = min(distance[a, b], length)
        for k in nodes:
            for a in nodes:
                for b in nodes:
                    distance[a, b] = min(distance[a, b], distance[a, k] + distance[k, b])
        pairs = [Pair((a, b)) for a in nodes for b in nodes if a != b and distance[a, b] < math.inf]
        for pair, way in zip(pairs, shortest_ways(topology, lengths, pairs, seed=3), strict=True):
            assert (way.nodes[0], way.nodes[-1]) == pair.ends
            assert sum(lengths[line] for line in way.lines) == distance[pair.ends]
            for place, a, b in zip(way.lines, way.nodes, way.nodes[1:], strict=False):
                assert set(lines[place].ends) == {a, b}


def test_equally_short_ways_are_all_taken() -> None:
    topology, _ = made("fat-tree", {"k": 4}, seed=1)
    pairs = [Pair(("edge1-1", "edge2-1"))] * 64
    ways = shortest_ways(topology, [0.1] * len(topology.lines), pairs, seed=1)
    assert {len(way.lines) for way in ways} == {4}
    assert {way.nodes[2] for way in ways} == {"core1-1", "core1-2", "core2-1", "core2-2"}


@pytest.mark.parametrize(
    ("family", "nodes", "lines"),
    # A fat tree of k = 4: 5 k^2 / 4 switches, k^3 / 2 lines between them.
    [("ring", 8, 8), ("leaf-spine", 6, 8), ("fat-tree", 20, 32)],
)
def test_a_family_has_the_size_that_its_rule_says(family: str, nodes: int, lines: int) -> None:
    topology, _ = made(family, {}, seed=1)
    assert (len(topology.nodes), len(topology.lines)) == (nodes, lines)
    assert len(topology.parts()) == 1


def test_a_random_network_is_in_one_part_and_hangs_on_its_seed() -> None:
    one, other, again = (made("random", {"nodes": 40}, seed=seed)[0] for seed in (1, 2, 1))
    assert len(one.parts()) == len(other.parts()) == 1
    assert one.lines == again.lines != other.lines


@pytest.mark.parametrize(
    ("vcs", "said"),
    [
        (None, "say which nodes are connected"),
        ("0", "from 1 to"),
        ("sw1:nowhere", 'no node "nowhere"'),
        ("sw1:sw1", "the same node"),
        ("sw1", "write demands, all, a number, or pairs"),
        ("demands", "no demands"),
    ],
)
def test_connections_that_cannot_be_are_errors(vcs: str | None, said: str) -> None:
    topology, _ = made("ring", {}, seed=1)
    with pytest.raises(CellrateError, match=said):
        chosen_pairs(topology, vcs, seed=1)


def test_drawn_connections_differ_while_there_are_others() -> None:
    topology, _ = made("ring", {"nodes": 5}, seed=1)
    pairs = chosen_pairs(topology, "20", seed=4)
    assert len({pair.ends for pair in pairs}) == 20
    assert len(chosen_pairs(topology, "50", seed=4)) == 50
    assert chosen_pairs(topology, "7", seed=4) != chosen_pairs(topology, "7", seed=5)


def test_the_commands(tmp_path: Path) -> None:
    file, out = written(tmp_path, "tiny.gml", ZOO), tmp_path / "tiny.toml"

    missing = command("import", file, "--vcs", "3")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "--length" in missing.stderr
    made = command("import", file, "--vcs", "São Paulo:3", "--length", "5 km", "--out", out)
    assert made.returncode == 0, made.stderr
    assert "5 nodes, 4 lines, 1 connections" in made.stderr
    assert "2 parts of 4, 1 nodes" in made.stderr
    assert command("validate", out).returncode == 0
    again = command("import", file, "--vcs", "3", "--length", "5 km", "--out", out)
    assert again.returncode == 2
    assert "there already" in again.stderr
    printed = command("generate", "leaf-spine", "--leaves", "3", "--vcs", "all")
    assert Scenario.parse(printed.stdout).to_dict()["vc"][5]["path"][1] == "leaf3"
    wrong = command("generate", "ring", "--k", "4", "--vcs", "all")
    assert "--k is not a parameter of ring, which has --nodes" in wrong.stderr


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("gfc-1", {"a": 50 / 9, "b": 100 / 9, "c": 100 / 3, "d": 50 / 9, "e": 100 / 9, "f": 50}),
        ("gfc-2", {"a": 10, "b": 5, "c": 35, "d": 35, "e": 35, "f": 10, "g": 5, "h": 52.5}),
    ],
)
def test_generic_fairness_configurations_have_their_published_rates(name: str, shares: dict[str, float]) -> None:
    fair = Scenario.load(name).fair(utilization=1.0)
    rates = {share.vc: share.rate * 424e-6 for share in fair if not share.backward}
    assert {name[0] for name in rates} == set(shares)
    for vc, rate in rates.items():
        assert rate == pytest.approx(shares[vc[0]], rel=1e-3), vc


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("ring", {"vc": 149.76 / 2}),
        ("leaf-spine", {"spread": 622.08, "met": 622.08 / 2}),
        # One cell of 32 on each line is a BRM of who sends the other way.
        ("fat-tree", {"from-pod": 622.08 * 31 / 32}),
    ],
)
def test_ready_topologies_settle_at_the_shares_that_they_say(name: str, shares: dict[str, float]) -> None:
    scenario = Scenario.load(name)
    fair = {share.vc: share.rate * 424e-6 for share in scenario.fair(utilization=1.0) if not share.backward}
    result = run(scenario)
    for vc, rate in fair.items():
        [expected] = [share for begin, share in shares.items() if vc.startswith(begin)]
        assert rate == pytest.approx(expected, rel=1e-3), vc
        # The target utilization of their switches is 95 %.
        acr = result.series("acr", vc=vc)
        settled = acr.mean(0.8 * acr.end_s, acr.end_s) * 424e-6
        assert settled == pytest.approx(0.95 * expected, rel=0.01), vc


def test_the_ready_random_network_settles_near_max_min() -> None:
    scenario = Scenario.load("random")
    fair = {share.vc: share.rate for share in scenario.fair(utilization=0.95) if not share.backward}
    assert len(fair) == 16
    # Nobody made them even: the shares are of several bottlenecks.
    assert len({round(rate) for rate in fair.values()}) >= 3
    result = run(scenario)
    for vc, rate in fair.items():
        acr = result.series("acr", vc=vc)
        assert acr.mean(0.8 * acr.end_s, acr.end_s) == pytest.approx(rate, rel=0.01), vc


def test_a_dumbbell_is_the_network_that_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wan.toml"
    options = ["--sources", "30", "--mcr", "2 Mbps", "--carries", "tcp", "--video", "40 Mbps", "--length", "500 km"]
    assert status(["generate", "dumbbell", *options, "--duration", "50 ms", "--out", str(file)]) == 0
    result = run(Scenario.load(file))
    forward = [row for row in result.summary["vcs"] if row["category"] == "abr" and not row["vc"].endswith("(back)")]
    assert [row["vc"] for row in forward] == [f"vc{number}" for number in range(1, 31)]
    assert {row["vc"] for row in result.summary["vcs"] if row["category"] == "cbr"} == {"video"}
    assert len(result.summary["tcp"]) == 30
    # 30 MCRs of 2 Mb/s and the video fit; twice as much does not, and that is said before a run.
    assert Scenario.load(file).overbooked() == []
    capsys.readouterr()
    assert status(["generate", "dumbbell", *options[:2], "--mcr", "6 Mbps"]) == 0
    assert [row["port"] for row in Scenario.parse(capsys.readouterr().out).overbooked()] == ["sw1->sw2"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["dumbbell", "--nodes", "3"], "--nodes is not a parameter of dumbbell"),
        (["dumbbell", "--vcs", "all"], "--vcs is not a parameter of dumbbell"),
        (["dumbbell", "--sources", "0"], "1 to 10,000 sources, not 0"),
        (["dumbbell", "--carries", "mail"], '"mail" is no traffic of a dumbbell'),
        (["ring", "--sources", "3"], "--sources is not a parameter of ring"),
    ],
)
def test_what_a_dumbbell_does_not_have_is_refused(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["generate", *options]) == 2
    assert said in capsys.readouterr().err
