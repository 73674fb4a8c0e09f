"""Every optional key of a table, changed alone in small networks in which it may act: a result differs.

`PLACES` says where a table stands, with what beside it, and in which networks. Values come from the schema. A key in
`CASES` acts in a network of its own. By hand, for some tables or all:

    python tests/python/keys_that_act.py erica police

Tables of whole networks are left out (links, hosts, connections, flows, files, trees, live runs and their programs):
their keys are what other tests are made of.
"""

from __future__ import annotations

import copy
import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import cellrate

Table = dict[str, Any]
Path = tuple[str | int, ...]

VALUES: Mapping[str, Sequence[Any]] = {
    "time": ("30 ms", "3 ms", "0.3 ms", "20 us", "300 ms"),
    "cell_rate": ("3 Mbps", "11 Mbps", "0.3 Mbps"),
    "amount_of_cells": ("40 cells", "3 cells", "700 cells"),
    "amount_of_octets": ("2 kB", "200 octets", "100 kB"),
    "ratio": (0.3, 0.04, 0.95, 1.6, 4),
}
"""Values that keys of a kind are tried with."""


def network(**switch: Any) -> Table:
    """Give two switches with a line of 20 Mb/s between them, and connections of all categories."""

    def vc(name: str, host: int, **keys: Any) -> Table:
        return {"name": name, "path": [f"s{host}", "A", "B", f"d{host}"], **keys}

    frames = {"type": "frames", "frames_per_second": 400, "size": "3 kB"}
    return {
        "name": "keys",
        "duration": "150 ms",
        "defaults": {
            "link": {"rate": "20 Mbps", "delay": "0.2 ms"},
            "abr": {"icr": "1 Mbps"},
            "switch": {"buffers": {"ubr": "300 cells", "abr": "300 cells"}, **switch},
        },
        "host": [{"name": f"{end}{i}"} for end in "sd" for i in range(1, 7)],
        "switch": [{"name": "A"}, {"name": "B"}],
        "link": [
            {"between": ["A", "B"]},
            *({"between": [f"s{i}", "A"]} for i in range(1, 7)),
            *({"between": ["B", f"d{i}"]} for i in range(1, 7)),
        ],
        "vc": [
            vc("v1", 1),
            vc("v2", 2, bidirectional=True, abr={"mcr": "4 Mbps", "icr": "5 Mbps"}),
            vc(
                "v3", 3, traffic={"type": "greedy", "windows": [{"start": "20 ms", "end": "50 ms"}, {"start": "90 ms"}]}
            ),
            vc("cbr", 4, category="cbr", traffic={"type": "constant", "rate": "2 Mbps"}),
            vc("vbr", 5, category="vbr", traffic={"type": "on-off", "rate": "15 Mbps", "on": "3 ms", "off": "8.3 ms"}),
            vc("ubr", 6, category="ubr", traffic=frames),
            vc("gfr", 4, category="gfr", mcr="1 Mbps", traffic=frames),
        ],
    }


def _put(made: Table, path: Path, value: Any) -> Table:
    """Give the network with `value` at `path`."""
    made = copy.deepcopy(made)
    place: Any = made
    for key in path[:-1]:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    place[path[-1]] = value
    return made


SWITCH: Path = ("defaults", "switch")
ERICA: Table = {"algorithm": {"type": "erica"}}
THRESHOLDS: Mapping[str, Table] = {
    "eprca": {"threshold": "100 cells"},
    "aprc": {"high_threshold": "150 cells"},
    "relative-rate": {"threshold": "100 cells", "off_threshold": "50 cells"},
    "stop-and-go": {"threshold": "100 cells"},
}
ALGORITHMS = ("aprc", "capc", "consistent-marking", "eprca", "erica", "erica+", "fecn", "osu", "phantom", "pi", "rcp")


def _tcp_alone(traffic: Table) -> Table:
    """Give a network with TCP alone, between hosts that are faster than the line."""
    alone = {"name": "v1", "path": ["s1", "A", "B", "d1"], "category": "ubr", "pcr": "90 Mbps", "traffic": traffic}
    made = _put(_put(network(), ("vc",), [alone]), ("link", 1, "rate"), "90 Mbps")
    return _put(made, ("link", 7, "rate"), "90 Mbps")


def _tcp(made: Table) -> Table:
    return _put(made, ("vc", 5, "traffic"), {"type": "tcp", "preset": "reno"})


Place = tuple[Path, Table, Sequence[Table]]
"""Where a table stands, keys that it has anyway, and networks, each tried until a result differs."""

TRAFFIC: Mapping[str, Table] = {
    "constant": {"rate": "14 Mbps"},
    "greedy": {},
    "limited": {"rate": "14 Mbps"},
    "minisources": {"count": 9, "rate": "3 Mbps", "on": "3 ms", "off": "4 ms"},
    "on-off": {"rate": "19 Mbps", "on": "3 ms", "off": "2 ms"},
    "poisson": {"rate": "12 Mbps"},
    "voice": {"count": 90},
    "mmpp": {"rates": ["2 Mbps", "18 Mbps"], "stays": ["3 ms", "4 ms"]},
    "mpeg2": {"rate": "8 Mbps"},
    "video": {"mean": "5 Mbps", "deviation": "3 Mbps"},
    "frames": {"frames_per_second": 400, "size": "3 kB"},
    "tcp": {"preset": "reno"},
}
"""Keys that a type of traffic has anyway."""

PLACES: Mapping[str, Place] = {
    **{
        f"algorithm_{name}": (
            (*SWITCH, "algorithm"),
            {"type": name, **THRESHOLDS.get(name, {})},
            [network(), _put(network(), ("vc", 3, "traffic", "rate"), "19.5 Mbps")],
        )
        for name in (*ALGORITHMS, "relative-rate")
    },
    "abr": (("defaults", "abr"), {"icr": "1 Mbps"}, [network(**ERICA), network(efci={"high": "30 cells"})]),
    "becn": ((*SWITCH, "becn"), {"threshold": "30 cells"}, [network()]),
    "buffers": ((*SWITCH, "buffers"), {}, [network(), _put(network(), ("vc", 5, "tagging"), {"every": 2})]),
    "class_weights": ((*SWITCH, "queueing", "class_weights"), {"ubr": 2}, [network(queueing={"type": "fifo"})]),
    "efci": ((*SWITCH, "efci"), {"high": "60 cells"}, [network()]),
    **{
        f"frame_discard_{name}": ((*SWITCH, "frame_discard"), keys | {"type": name}, [network(), _tcp(network())])
        for name, keys in {
            "early": {"threshold": "100 cells"},
            "selective": {"threshold": "100 cells"},
            "fair": {"threshold": "100 cells"},
            "double-early": {"threshold": "200 cells", "tagged_threshold": "100 cells"},
            "differential": {"low": "50 cells", "high": "200 cells"},
        }.items()
    },
    **{
        f"queueing_{name}": ((*SWITCH, "queueing"), {"type": name}, [network()])
        for name in ("round-robin", "deficit-round-robin", "weighted-fair")
    },
    "misbehaves": (
        ("vc", 0, "misbehaves"),
        {"ignores": ["er"]},
        [network(**ERICA), network(efci={"high": "30 cells"})],
    ),
    "police": (
        ("vc", 4, "police"),
        {"scr": "3 Mbps", "mbs": 20},
        [network(), _put(network(), ("vc", 4, "tagging"), {"every": 3})],
    ),
    "shaping": (("vc", 4, "shaping"), {"scr": "5 Mbps", "mbs": 20}, [network()]),
    "tagging": (("vc", 5, "tagging"), {}, [network(buffers={"ubr": "300 cells", "tagged": "50 cells"})]),
    "vs_vd": ((*SWITCH, "vs_vd"), {}, [network(**ERICA), network(algorithm={"type": "erica+"})]),
    **{
        f"uili_{name}": (
            ("defaults", "abr", "uili"),
            {"type": name},
            [_put(network(**ERICA), ("defaults", "abr", "adtf"), "10 s")],
        )
        for name in ("april-1995", "august-1995", "baseline", "count-based", "february-1995", "joint", "time-based")
    },
    "traffic_request-response": (
        ("vc", 0, "traffic"),
        {"type": "request-response", "response": "200 cells"},
        [network(**ERICA)],
    ),
    "aging": (
        (*SWITCH, "algorithm", "aging"),
        {},
        [
            _put(
                network(**ERICA),
                ("vc", 0, "traffic"),
                {"type": "on-off", "rate": "19 Mbps", "on": "3 ms", "off": "9 ms"},
            )
        ],
    ),
    "congested": (
        ("defaults", "abr", "congested", 0),
        {"during": ["20 ms", "60 ms"]},
        [_put(network(**ERICA), ("defaults", "abr", "congested"), [{"during": ["20 ms", "60 ms"]}])],
    ),
    "ecn_red": (
        (*SWITCH, "ecn"),
        {"type": "red", "minimum": "10 cells", "maximum": "60 cells", "weight": 0.2},
        [_tcp_alone({"type": "tcp", "preset": "reno", "ecn": True})],
    ),
    "pages": (
        ("vc", 0, "traffic", "pages"),
        {"objects": [{"response": "20 kB"}, {"response": "9 kB"}]},
        [_tcp_alone({"type": "tcp", "preset": "reno"})],
    ),
    "queueing_fifo": ((*SWITCH, "queueing"), {"type": "fifo"}, [network()]),
    "admission": (("admission",), {}, [_put(network(**ERICA), ("vc", 1, "abr"), {"mcr": "9 Mbps", "icr": "9 Mbps"})]),
    "negotiation": (
        (*SWITCH, "negotiation"),
        {},
        [_put(network(**ERICA), ("admission",), True)],
    ),
    **{
        f"traffic_{name}": (("vc", 5, "traffic"), {**keys, "type": name}, [network(**ERICA)])
        for name, keys in TRAFFIC.items()
    },
}


class Case(NamedTuple):
    """A smaller world for a key that acts in none of its table's: values that it is tried with, and what is changed."""

    values: Sequence[Any]
    """Values of the key."""
    beside: Table | None = None
    """All other keys of its table; None: those of its place."""
    before: Table | None = None
    """The table that it is compared with; None: the one without the key."""
    changes: Mapping[Path, Any] = {}
    """Other values of the network, by their paths."""
    switch: Mapping[str, Any] = {}
    """Other keys of all switches."""
    refused: bool = False
    """Whether what it does is to refuse what does not go with it."""
    path: Path | None = None
    """Its table's place, where that is another."""


def _frames(**keys: Any) -> Table:
    return {"type": "frames", "frames_per_second": 400, **keys}


def _alone(traffic: Table, **keys: Any) -> Mapping[Path, Any]:
    """Give a network with the first connection alone, which has this traffic."""
    first = {"name": "v1", "path": ["s1", "A", "B", "d1"], "traffic": traffic, **keys}
    return {("vc",): [first]}


HALF: Table = {"type": "limited", "rate": "3 Mbps"}
LIMITED: Table = {"type": "limited", "rate": "0.3 Mbps"}
ON_OFF: Table = {"type": "on-off", "rate": "19 Mbps", "on": "3 ms", "off": "2 ms"}
FULL: Mapping[Path, Any] = {("defaults", "abr", "icr"): "20 Mbps", ("vc", 1, "abr"): {"icr": "20 Mbps"}}
MARKS: Table = {"efci": {"high": "30 cells"}}
WEIGHTS: Table = {"guaranteed": 1, "abr": 1, "ubr": 3}
GREEDY_UBR: Mapping[Path, Any] = {("vc", 5, "traffic"): {"type": "greedy"}}
FRAMES_UBR: Mapping[Path, Any] = {("vc", 5, "traffic"): _frames(size="8 kB")}
TAGGED: Mapping[Path, Any] = {("vc", 5, "tagging"): {"every": 2, "of": "frames"}, **FRAMES_UBR}
TIGHT: Table = {"buffers": {"ubr": "400 cells", "abr": "300 cells"}}
TCP: Table = {"type": "tcp", "preset": "reno", "minimum_rto": "20 ms"}
PAGES: Table = {"objects": [{"response": "20 kB"}], "think_time": "50 ms", "connection": "persistent"}
OUTAGE: Mapping[Path, Any] = {("link", 0, "changes"): [{"at": "50 ms", "loss": 1}, {"at": "1 s", "loss": 0}]}
LOSS: Mapping[Path, Any] = {("link", 0, "changes"): [{"at": "0 ms", "loss": 0.003}]}
MPEG2: Table = {"type": "mpeg2", "rate": "8 Mbps"}
VIDEO: Table = {"type": "video", "mean": "5 Mbps", "deviation": "3 Mbps"}
RED: Table = {"type": "red", "minimum": "10 cells", "maximum": "60 cells"}
AGES: Table = {"floor": "0.1 Mbps"}
NO_ALGORITHM: Table = {"algorithm": {"type": "none"}}


def _tcp_case(
    *values: Any, changes: Mapping[Path, Any] | None = None, switch: Table = TIGHT, refused: bool = False, **keys: Any
) -> Case:
    """Give a case of TCP alone, from a host that is faster than the line, before which it has little room."""
    alone = _alone({"type": "none"}, category="ubr", pcr="90 Mbps")
    changes = {("duration",): "400 ms", ("link", 1, "rate"): "90 Mbps", **alone, **(changes or {})}
    return Case(values, {**TCP, **keys}, changes=changes, switch=switch, path=("vc", 0, "traffic"), refused=refused)


CASES: Mapping[tuple[str, str], Case] = {
    ("algorithm_capc", "eru"): Case([1.001]),
    ("algorithm_eprca", "high_threshold"): Case(["105 cells"]),
    ("algorithm_eprca", "mrf"): Case([0.5], {"type": "eprca", "threshold": "10 cells", "high_threshold": "20 cells"}),
    ("algorithm_fecn", "b"): Case([1.4], {"type": "fecn", "set_point": "20 cells"}, changes=FULL),
    ("algorithm_fecn", "c"): Case([0.9], {"type": "fecn", "set_point": "20 cells", "b": 2}, changes=FULL),
    **{
        (f"algorithm_{name}", key): case
        for name in ("erica", "erica+")
        for key, case in {
            "aging": Case([{"floor": "0.1 Mbps", "delta": 1, "used": 1}], changes=_alone(ON_OFF)),
            "bidirectional_counting": Case(
                [True],
                {"type": name, "interval": "0.3 ms"},
                changes={("vc", 0, "traffic"): LIMITED, ("defaults", "abr", "nrm"): 2},
            ),
            "claims_are_use": Case(
                [True], {"type": name, "effective_number": True}, changes={("vc", 0, "traffic"): LIMITED}
            ),
            "load_averaging": Case(["ratio"], {"type": name, "alpha": 0.3}),
            "immediate_fair_share": Case([True], {"type": name, "interval": "20 ms"}),
        }.items()
    },
    ("abr", "cdf"): Case(["1/2"], {"icr": "20 Mbps", "crm": 1, "tbe": "40 cells"}, changes={("duration",): "150 ms"}),
    ("abr", "congested"): Case([[{"during": ["20 ms", "60 ms"], "er": "0.1 Mbps"}]]),
    ("abr", "efci_state"): Case(["keep"], {"icr": "5 Mbps", "nrm": 2}, switch={**MARKS, "rm_cells": "first"}),
    ("abr", "frtt"): Case(["200 ms"], {"tbe": "100 cells"}),
    ("abr", "rdf"): Case(["1/512"], switch=MARKS),
    ("abr", "rif"): Case(["1/512"], switch=MARKS),
    ("abr", "trm"): Case(["0.78125 ms"], {"icr": "0.5 Mbps"}, switch=MARKS),
    ("frame_discard_double-early", "threshold"): Case(["250 cells"], changes=TAGGED),
    ("frame_discard_double-early", "tagged_threshold"): Case(["20 cells"], changes=TAGGED),
    ("frame_discard_differential", "high"): Case(["60 cells"], changes=FRAMES_UBR),
    ("frame_discard_differential", "low"): Case(["190 cells"], changes=FRAMES_UBR),
    **{
        (f"queueing_{name}", "class_weights"): Case([WEIGHTS], changes=GREEDY_UBR)
        for name in ("round-robin", "deficit-round-robin", "weighted-fair")
    },
    ("misbehaves", "ignores"): Case([["er"]], {}, {"rate_factor": 1.0001}),
    ("misbehaves", "tcr_factor"): Case(
        [100], {"ignores": ["ci"]}, changes={("defaults", "abr"): {"icr": "5 cells/s", "rif": "1/32768"}}
    ),
    ("police", "at"): Case([["B"]]),
    ("police", "coupling"): Case(["independent", "serial"], {"scr": "3 Mbps", "mbs": 20, "pcr": "4 Mbps"}),
    **{
        ("police", key): Case(
            [value],
            {"action": "count", "tau2": "40 ms"} if key == "tau3" else {"action": "count"},
            changes={("vc", 0, "misbehaves"): {"rate_factor": 1.5}},
            switch=ERICA,
            path=("vc", 0, "police"),
        )
        for key, value in {"tau2": "40 ms", "tau3": "30 ms"}.items()
    },
    ("tagging", "share"): Case([0.5], {}, {"every": 9}),
    ("tagging", "every"): Case([2], {}, {"every": 9}),
    ("tagging", "scr"): Case(["0.5 Mbps"], {"mbs": 5}, {"every": 9}),
    ("tagging", "mbs"): Case([500], {"scr": "0.5 Mbps"}, {"scr": "0.5 Mbps", "mbs": 1}),
    ("tagging", "of"): Case(["frames"], {"every": 2}),
    ("aging", "alpha"): Case([5], AGES),
    ("aging", "delta"): Case([9], AGES),
    ("aging", "used"): Case([1.5], AGES),
    ("aging", "weight"): Case([1], AGES),
    ("congested", "ci"): Case([True], {"during": ["20 ms", "60 ms"], "ni": True}),
    ("congested", "during"): Case([["30 ms", "90 ms"]]),
    ("ecn_red", "maximum"): Case(["600 cells"], {**RED, "weight": 0.5}),
    ("ecn_red", "gentle"): Case([False], {**RED, "maximum": "15 cells", "weight": 0.5}),
    ("ecn_red", "packet"): Case(
        ["2000 cells"],
        {**RED, "minimum": "2 cells", "weight": 0.02, "probability": 1},
        changes={
            ("duration",): "400 ms",
            ("vc", 0, "traffic"): {
                "type": "tcp",
                "preset": "reno",
                "ecn": True,
                "pages": {**PAGES, "think_time": "8 ms"},
            },
        },
    ),
    ("pages", "objects"): Case([[{"response": "50 kB"}]]),
    ("queueing_fifo", "class_weights"): Case([WEIGHTS], changes=GREEDY_UBR),
    ("traffic_mmpp", "rates"): Case([["1 Mbps", "3 Mbps"]]),
    ("traffic_mmpp", "stays"): Case([["9 ms", "9 ms"]]),
    ("traffic_request-response", "request_gap"): Case(
        ["5 ms"], {"type": "request-response", "response": "200 cells", "requests": 3}
    ),
    ("traffic_video", "reference_interval"): Case([["5 ms", "9 ms"]]),
    ("traffic_video", "sequence"): Case(["9 s"], {**VIDEO, "method": "paxson"}),
    **{
        ("traffic_mpeg2", key): Case([value], {**MPEG2, **more}, changes={("duration",): "700 ms"})
        for key, value, more in (
            ("b", "400 octets", {}),
            ("p", "9 kB", {}),
            ("gop", "IPB", {"i": "20 kB"}),
            ("pictures_per_second", 50, {}),
            ("rate", "4 Mbps", {}),
            ("reference_interval", ["20 ms", "25 ms"], {}),
            ("drains_in", "500 ms", {"rate_control": "buffer"}),
            ("clock_offset", "500 ppm", {}),
            ("decoder", {"buffer": "2 kB"}, {}),
        )
    },
    ("uili_april-1995", "tof"): Case([30]),
    ("uili_august-1995", "tof"): Case([30]),
    ("uili_august-1995", "tdff"): Case([0, "1/32768"]),
    ("uili_count-based", "pr5"): Case(
        [True],
        {"type": "count-based", "headroom": "0.1 Mbps"},
        changes={("vc", 0, "traffic"): HALF},
        switch=NO_ALGORITHM,
    ),
    ("uili_count-based", "tdf"): Case([0.9, 0]),
    ("uili_february-1995", "rdf"): Case([1.5, 400]),
    ("uili_time-based", "addf"): Case(
        [40], changes={("defaults", "abr", "tbe"): "10 cells", ("vc", 0, "traffic"): HALF}, switch=NO_ALGORITHM
    ),
    ("uili_time-based", "tof"): Case([30], {"type": "time-based", "floor": "multiple"}),
    ("admission", "charging"): Case([2]),
    ("admission", "equivalent_bandwidth"): Case([{"loss": 0.001}]),
    ("admission", "negotiate"): Case([False], before={"negotiate": True}),
    ("admission", "signal"): Case([["nrm"]]),
    ("negotiation", "cdf"): Case(["1/2"]),
    ("negotiation", "rdf"): Case(["1/4"]),
    ("negotiation", "rif"): Case(["1/64"]),
    ("negotiation", "rules"): Case([["rif", "tbe", "icr"]]),
    ("negotiation", "trm"): Case(["0.78125 ms"]),
    ("traffic_greedy", "windows"): Case([[{"start": "9 ms", "end": "30 ms"}]]),
    ("traffic_limited", "steps"): Case(
        [[["20 ms", "1 Mbps"]]], {"type": "limited"}, {"type": "limited", "rate": "14 Mbps"}
    ),
    ("traffic_on-off", "duty"): Case([0.9], {"type": "on-off", "rate": "19 Mbps", "period": "5 ms"}, ON_OFF),
    ("traffic_on-off", "period"): Case(["7 ms"], {"type": "on-off", "rate": "19 Mbps", "duty": 0.5}, ON_OFF),
    ("traffic_frames", "codec"): Case(["g729"], {"type": "frames"}, _frames(size="3 kB")),
    ("traffic_frames", "packet"): Case(["40 ms"], {"type": "frames", "codec": "g711"}),
    ("traffic_frames", "header"): Case(["120 octets"]),
    ("traffic_frames", "trace"): Case([{"sizes": [100, 9000]}], _frames(), _frames(size="3 kB")),
    ("traffic_frames", "follow_acr"): Case(
        [{"share": 0.5}], _frames(size="9 kB"), changes={("vc", 5, "category"): "abr"}, switch=ERICA
    ),
    ("traffic_frames", "frm_after"): Case(["frame"], changes={("vc", 5, "category"): "abr"}, switch=ERICA),
    ("traffic_tcp", "ecn"): _tcp_case(True, switch={"ecn": {"type": "step", "threshold": "20 cells"}}),
    ("traffic_tcp", "header"): Case(["100 octets"]),
    ("traffic_tcp", "recovery"): _tcp_case("none", "sack"),
    ("traffic_tcp", "prr"): _tcp_case("conservative", preset="sack"),
    ("traffic_tcp", "rack_tlp"): _tcp_case(True, preset="sack"),
    ("traffic_tcp", "limited_transmit"): _tcp_case(True, False, changes=LOSS),
    ("traffic_tcp", "partial_ack_timer"): _tcp_case("every", preset="newreno"),
    ("traffic_tcp", "rtt_estimator"): _tcp_case("rfc6298", "linux"),
    ("traffic_tcp", "maximum_rto"): _tcp_case("30 ms", changes={**OUTAGE, ("duration",): "2 s"}),
    ("traffic_tcp", "pacing"): _tcp_case(True, False, preset="linux"),
    ("traffic_tcp", "slow_start"): _tcp_case(
        "hystart", "standard", preset="linux", window="1 MB", switch={"buffers": {"ubr": "9000 cells"}}
    ),
    ("traffic_tcp", "window_scaling"): _tcp_case(False, window="500 kB", refused=True),
    ("traffic_tcp", "window_validation"): _tcp_case(True, False, pages=PAGES),
    ("traffic_tcp", "idle_restart"): _tcp_case("restart-window", pages=PAGES),
    ("traffic_tcp", "pages"): Case([PAGES]),
}
"""Keys that act in none of the networks of their table as they are, and where they do."""


@functools.cache
def _definitions() -> Mapping[str, Any]:
    found: Mapping[str, Any] = cellrate.schema()["$defs"]
    return found


def _values(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Give values that a key of this schema may have."""
    if (reference := schema.get("$ref")) is not None:
        name, *within = reference.removeprefix("#/$defs/").split("/")
        if name in VALUES and not within:
            yield from VALUES[name]
            return
        target: Any = _definitions()[name]
        for key in within:
            target = target[key]
        yield from _values(target)
    for choice in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from _values(choice)
    if "const" in schema:
        yield schema["const"]
    yield from schema.get("enum", ())
    match schema.get("type"):
        case "boolean":
            yield from (True, False)
        case "integer":
            least, most = schema.get("minimum", 0), schema.get("maximum", 2**31)
            yield from sorted({min(most, max(least, value)) for value in (least, 2, 5, 30, 200)})
        case "number":
            least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
            yield from (value for value in (0.3, 0.04, 0.95, 1.6, 5, 40) if value >= least)


def _seen(made: Table) -> str | None:
    """Give all figures of a run, or None where it is refused."""
    try:
        summary = cellrate.run(cellrate.Scenario.from_dict(made)).summary
    except cellrate.CellrateError:
        return None
    return json.dumps({key: rows for key, rows in summary.items() if key != "run"}, default=str)


def keys(table: str) -> list[str]:
    """Give the optional keys of a table."""
    schema = _definitions()[table]
    return [key for key in schema["properties"] if key not in schema.get("required", ()) and key != "type"]


def acts(table: str, key: str) -> bool:
    """Say whether a value of the key gives another result than the table without it, in one of its networks."""
    path, beside, networks = PLACES[table]
    before, values = beside, _values(_definitions()[table]["properties"][key])
    if (case := CASES.get((table, key))) is not None:
        values = iter(case.values)
        beside = case.beside if case.beside is not None else beside
        before = case.before if case.before is not None else beside
        made = {**networks[0], "defaults": {**networks[0]["defaults"]}}
        made["defaults"]["switch"] = {**made["defaults"]["switch"], **case.switch}
        for place, value in case.changes.items():
            made = _put(made, place, value)
        networks = [made]
    tried = list(values)
    path = case.path if case is not None and case.path is not None else path
    for made in networks:
        without = _seen(_put(made, path, before) if before or path[-1] != "admission" else made)
        if without is None:
            continue
        for value in tried:
            found = _seen(_put(made, path, {**beside, key: value}))
            if (found is None) if case is not None and case.refused else (found is not None and found != without):
                return True
    return False


def main(wanted: Sequence[str]) -> int:
    """Print the keys without effect of the tables that have one of these words in their name."""
    tried = without = 0
    for table in PLACES:
        if wanted and not any(word in table for word in wanted):
            continue
        for key in keys(table):
            tried += 1
            if not acts(table, key):
                without += 1
                print(f"{table}.{key}: WITHOUT EFFECT", flush=True)
    print(f"{tried} keys of {len(PLACES)} tables, {without} without effect")
    return without


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
