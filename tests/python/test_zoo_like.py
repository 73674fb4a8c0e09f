"""Files as the Internet Topology Zoo has them, drawn with all that is unusual in some of its 276 networks.

The Zoo itself is not here: six of its files are what cellrate was tried with by hand. Whatever was seen in those, and
is told of the others, is drawn at random here, written as GML and as GraphML, and held against what was drawn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellrate import Scenario
from cellrate.topologies.building import Choices, scenario_text
from cellrate.topologies.connections import chosen_pairs
from cellrate.topologies.reading import read_topology
from cellrate.topologies.topology import Topology

Value = str | int | float

LABELS = [
    "Lisbon", "Lisbon", "São Paulo", "Zürich", "Łódź", "東京", "Αθήνα", "?", "", "None", "0", "-1", "vc1", "from2",
    "to3", "line1", "node", "Lisbon-2", "St. John's", 'the "hub"', "a & b", "[DE] <Frankfurt>", "x" * 70, "Ext_1",
    "é" "\u0301",
]  # fmt: skip

SPEEDS: list[tuple[dict[str, Value], float | None]] = [
    ({}, None),
    ({"LinkSpeedRaw": 2500000000.0}, 2.5e9),
    ({"LinkSpeedRaw": 10000000, "LinkSpeed": "10", "LinkSpeedUnits": "M"}, 1e7),
    # None is said by 0, and by what is no number.
    ({"LinkSpeedRaw": 0.0}, None),
    ({"LinkSpeedRaw": -1.0}, None),
    ({"LinkSpeedRaw": ""}, None),
    ({"LinkSpeed": "155", "LinkSpeedUnits": "Mbps"}, 155e6),
    ({"LinkSpeed": "2.5", "LinkSpeedUnits": "G"}, 2.5e9),
    ({"LinkSpeed": "34", "LinkSpeedUnits": ""}, 34.0),
    ({"LinkSpeed": "< 10", "LinkSpeedUnits": "G"}, None),
    ({"LinkSpeed": "10", "LinkSpeedUnits": "?"}, None),
    ({"LinkLabel": "OC-48", "LinkNote": "Planned (2012) ]", "LinkType": "Fibre"}, None),
]


@dataclass(frozen=True)
class Drawn:
    """A network."""

    about: Mapping[str, Value]
    nodes: list[dict[str, Value]]
    edges: list[tuple[int, int, int]]
    """Numbers of the two nodes and of the speed."""
    keyed: bool
    """Whether edges have keys, which repeat."""

    @property
    def lines(self) -> list[tuple[tuple[str, str], float | None]]:
        """Lines that are to be read of the edges."""
        return [((str(a), str(b)), SPEEDS[speed][1]) for a, b, speed in self.edges if a != b]

    def position(self, number: int) -> tuple[float, float] | None:
        """Place of a node that is to be read."""
        node = self.nodes[number]
        place = node.get("Longitude"), node.get("Latitude")
        return (place[0], place[1]) if all(isinstance(one, float) for one in place) else None  # type: ignore[return-value]


@st.composite
def networks(draw: st.DrawFn) -> Drawn:
    """Draw a network with any of it: parts, parallel lines, loops, nodes outside, labels again, no places."""
    count = draw(st.integers(1, 12))
    nodes: list[dict[str, Value]] = []
    for _ in range(count):
        node: dict[str, Value] = {"label": draw(st.sampled_from(LABELS)), "Country": "Ελλάδα"}
        if draw(st.booleans()):
            node["Longitude"] = draw(st.floats(-180, 180).map(lambda x: round(x, 5)))
            if draw(st.integers(0, 9)):
                node["Latitude"] = draw(st.floats(-90, 90).map(lambda x: round(x, 5)))
        kind = draw(st.sampled_from(["Internal", "External", "hyperedge", "none"]))
        node |= {"External": {"Internal": 0}, "hyperedge": {"hyperedge": 1, "Internal": 1}}.get(kind, {"Internal": 1})
        nodes.append(node)
    ends = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(0, len(SPEEDS) - 1)), max_size=20))
    about: dict[str, Value] = draw(
        st.sampled_from(
            [
                {},
                {"Network": "Tiny", "Creator": "Topology Zoo Toolset", "Developed": 0, "Version": "1.0"},
                {"label": "Réseau", "Note": "nodes & graph [ of 2009 ]", "directed": 0, "Latitude": "N/A"},
                {"multigraph": 1, "Source": "http://a.example/?b=1&c=2", "GeoExtent": 'Country "x"'},
            ]
        )
    )
    return Drawn(about, nodes, edges, draw(st.booleans()))


def gml(drawn: Drawn, *, entities: bool) -> str:
    """Write GML as networkx does, which the Zoo's tools are made with: entities, or letters as they are."""

    def value(given: Value) -> str:
        if not isinstance(given, str):
            return str(given)
        plain = given.replace("&", "&amp;").replace('"', "&quot;")
        return f'"{plain.encode("ascii", "xmlcharrefreplace").decode() if entities else plain}"'

    def rows(given: Mapping[str, Value], indent: str) -> str:
        return "".join(f"{indent}{name} {value(one)}\n" for name, one in given.items())

    parts = ["graph [\n", rows(drawn.about, "  ")]
    for number, node in enumerate(drawn.nodes):
        parts.append(f"  node [\n    id {number}\n{rows(node, '    ')}  ]\n")
    for number, (one, other, speed) in enumerate(drawn.edges):
        key = "    key 0\n" if drawn.keyed else ""
        more = rows({**SPEEDS[speed][0], "id": f"e{number}"}, "    ")
        parts.append(f"  edge [\n    source {one}\n    target {other}\n{key}{more}  ]\n")
    return "".join([*parts, "]\n"])


def graphml(drawn: Drawn) -> str:
    """Write GraphML with a key for each attribute and kind of value."""
    keys: dict[tuple[str, str, str], str] = {}

    def data(given: Mapping[str, Value], whose: str) -> str:
        rows = []
        for name, one in given.items():
            kind = {str: "string", int: "int", float: "double"}[type(one)]
            number = keys.setdefault((whose, name, kind), f"d{len(keys)}")
            rows.append(f'<data key="{number}">{escape(str(one))}</data>')
        return "".join(rows)

    # In GraphML these are attributes of elements.
    about = {name: one for name, one in drawn.about.items() if name not in ("directed", "multigraph")}
    body = data(about, "graph")
    body += "".join(f'<node id="{i}">{data(node, "node")}</node>\n' for i, node in enumerate(drawn.nodes))
    for number, (one, other, speed) in enumerate(drawn.edges):
        name = f' id="e{number}"' if drawn.keyed else ""
        body += f'<edge source="{one}" target="{other}"{name}>{data(SPEEDS[speed][0], "edge")}</edge>\n'
    declared = "".join(
        f'<key attr.name="{name}" attr.type="{kind}" for="{whose}" id="{number}"/>\n'
        for (whose, name, kind), number in keys.items()
    )
    space = "http://graphml.graphdrawing.org/xmlns"
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="{space}">{declared}'
        f'<graph edgedefault="undirected">{body}</graph></graphml>\n'
    )


def read(text: str, encoding: str = "utf-8") -> Topology:
    """Read a text as a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "net"
        file.write_bytes(text.encode(encoding))
        return read_topology(file)


def hold(topology: Topology, drawn: Drawn) -> None:
    """Hold what was read against what was drawn, and have a scenario of it."""
    assert [node.key for node in topology.nodes] == [str(number) for number in range(len(drawn.nodes))]
    assert [node.label for node in topology.nodes] == [
        str(node["label"]).strip() or str(number) for number, node in enumerate(drawn.nodes)
    ]
    assert [node.position for node in topology.nodes] == [drawn.position(i) for i in range(len(drawn.nodes))]
    assert sorted((sorted(line.ends), line.rate_bps or 0) for line in topology.lines) == sorted(
        (sorted(ends), rate or 0) for ends, rate in drawn.lines
    )
    loops = len(drawn.edges) - len(drawn.lines)
    assert bool(topology.remarks) == bool(loops)
    assert sum(map(len, topology.parts())) == len(drawn.nodes)
    if len(topology.parts()[0]) < 2:
        return
    choices = Choices(length="10 km", duration="1 ms", all_rates="149.76 Mbps")
    scenario = Scenario.parse(scenario_text(topology, chosen_pairs(topology, "3", seed=1), choices, purpose="p"))
    scenario.check()
    document = scenario.to_dict()
    # Each node is a switch with a name of its own, each line a link; six hosts have one each.
    assert len({entry["name"] for entry in document["switch"]}) == len(drawn.nodes)
    assert len(document["link"]) == len(drawn.lines) + 6


@pytest.mark.parametrize("form", ["gml", "gml with entities", "graphml"])
def test_whatever_a_file_of_the_zoo_has_is_read_and_becomes_a_scenario(form: str) -> None:
    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(networks())
    def holds(drawn: Drawn) -> None:
        text = graphml(drawn) if form == "graphml" else gml(drawn, entities="entities" in form)
        hold(read(text), drawn)

    holds()


def test_rates_of_the_file_are_those_of_the_links() -> None:
    """A rate that is 0 or no number is that of lines without one."""
    speeds = [0, 1, 3, 6, 9]
    edges = [(place, place + 1, speed) for place, speed in enumerate(speeds)]
    drawn = Drawn({}, [{"label": f"n{i}", "Longitude": float(i), "Latitude": 0.5} for i in range(6)], edges, False)
    topology = read(gml(drawn, entities=True))
    text = scenario_text(topology, chosen_pairs(topology, "1", seed=1), Choices(), purpose="p")
    rates = [link["rate"] for link in Scenario.parse(text).to_dict()["link"][:5]]
    assert rates == ["149.76 Mbps", "2500000000 bps", "149.76 Mbps", "155000000 bps", "149.76 Mbps"]


def test_a_file_in_latin_1_has_its_letters() -> None:
    drawn = Drawn({}, [{"label": "Zürich"}, {"label": "Orléans"}], [(0, 1, 0)], False)
    assert [node.label for node in read(gml(drawn, entities=False), "latin-1").nodes] == ["Zürich", "Orléans"]


def test_both_directions_of_a_line_are_one_line() -> None:
    drawn = Drawn({"directed": 1}, [{"label": "a"}, {"label": "b"}], [(0, 1, 1), (1, 0, 1)], False)
    assert len(read(gml(drawn, entities=False)).lines) == 2
    text = graphml(drawn).replace('edgedefault="undirected"', 'edgedefault="directed"')
    assert len(read(text).lines) == 1
