"""Small networks in which every pair of mechanisms meets, and what each mechanism promises of a result.

A world is one value of each factor, on two switches with one line between them. `covering` draws worlds so that every
two values of different factors meet in one of them at least. `tried` holds a result against all promises that apply. By
hand, as many arrays as one likes, with a table of what is refused:

    python tests/python/pairs_of_mechanisms.py 20
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import cellrate

World = dict[str, str]
Table = dict[str, Any]

LINE = 20e6
"""Rate of all links [bit/s]; 424 bit are a cell."""
DURATION = 0.8
"""Time of a run [s]; its last two quarters are windows."""
HANDED_OUT = (
    "capc",
    "phantom",
    "consistent-marking",
    "pi",
    "rcp",
    "fecn",
    "osu",
    "erica",
    "erica effective",
    "erica+",
)
"""Algorithms that hand out rates."""

ALGORITHMS: Mapping[str, Table | None] = {
    "none": None,
    "efci": None,
    "relative-rate": {"type": "relative-rate", "threshold": "100 cells"},
    "eprca": {"type": "eprca", "threshold": "100 cells"},
    "aprc": {"type": "aprc", "high_threshold": "300 cells"},
    "capc": {"type": "capc"},
    "phantom": {"type": "phantom"},
    "consistent-marking": {"type": "consistent-marking"},
    "pi": {"type": "pi"},
    # A round trip has time for two cells here, and a port that is busy always holds one: the queue's term is left out.
    "rcp": {"type": "rcp", "beta": 0},
    "fecn": {"type": "fecn"},
    "osu": {"type": "osu"},
    "erica": {"type": "erica"},
    "erica effective": {"type": "erica", "effective_number": True},
    "erica+": {"type": "erica+"},
}

FACTORS: Mapping[str, Sequence[str]] = {
    "algorithm": tuple(ALGORITHMS),
    "queueing": (
        "fifo",
        "round-robin",
        "deficit-round-robin",
        "weighted-fair",
        "fifo weights",
        "weighted-fair weights",
    ),
    "categories": ("abr", "cbr", "vbr", "ubr", "ubr mcr", "gfr", "cbr and ubr"),
    "police": ("none", "abr", "other", "too much"),
    "discard": ("none", "early", "selective"),
    "shape": ("chain", "tree", "path"),
    "vs_vd": ("none", "far", "all"),
    "becn": ("none", "yes"),
    "flows": ("none", "yes"),
    "changing": ("none", "slower", "stops", "farther"),
    "tcp": ("none", "abr"),
    "shaping": ("none", "yes"),
    "admission": ("none", "yes"),
    "buffers": ("infinite", "tagged"),
    "minimum": ("none", "yes"),
}


Refusal = tuple[str, Sequence[str], str, Sequence[str], str]
"""A factor, values of it, another factor, values of that: any two of these are refused, with a text that says so."""

REFUSED: Sequence[Refusal] = (
    ("vs_vd", ("far", "all"), "becn", ("yes",), "becn"),
    ("shape", ("tree",), "vs_vd", ("far", "all"), "vs_vd"),
    ("shape", ("tree",), "becn", ("yes",), "becn"),
    (
        "shaping",
        ("yes",),
        "queueing",
        ("fifo", "fifo weights"),
        "shaped_to",
    ),
)


def refused_together(world: World, refused: Sequence[Refusal] = REFUSED) -> bool:
    """Say whether two values of a world are refused together."""
    return any(world[a] in some and world[b] in others for a, some, b, others, _ in refused)


def covering(factors: Mapping[str, Sequence[str]], seed: int, refused: Sequence[Refusal] = ()) -> Iterator[World]:
    """Give worlds in which any two values of different factors meet: each time the best of some drawn ones.

    No world has two values that are refused together: what is refused leaves no other pair untried.
    """
    draw = random.Random(seed)
    names = list(factors)
    open_pairs = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(names, 2)
        for x in factors[a]
        for y in factors[b]
        if not any(
            {(a, x), (b, y)} <= {(c, v) for v in some} | {(d, w) for w in others} for c, some, d, others, _ in refused
        )
    }

    def pairs(world: World) -> set[tuple[tuple[str, str], tuple[str, str]]]:
        return set(itertools.combinations(world.items(), 2)) & open_pairs

    def drawn(fixed: World) -> World:
        while True:
            world = {name: draw.choice(factors[name]) for name in names} | fixed
            if not refused_together(world, refused):
                return world

    while open_pairs:
        (a, x), (b, y) = min(open_pairs)
        best = max((drawn({a: x, b: y}) for _ in range(60)), key=lambda world: len(pairs(world)))
        open_pairs -= pairs(best)
        yield best


def _vc(name: str, host: int, **keys: object) -> Table:
    return {"name": name, "path": [f"s{host}", "A", "B", f"d{host}"], **keys}


def _others(world: World) -> list[Table]:
    """Give the connections of other categories."""
    greedy: Table = {"type": "greedy"}
    onoff = {"type": "on-off", "rate": "15 Mbps", "on": "3 ms", "off": "7.3 ms"}
    frames = {"type": "frames", "frames_per_second": 50, "size": "30 kB"}
    cbr = _vc("cbr", 4, category="cbr", traffic={"type": "constant", "rate": "4 Mbps"})
    found: Mapping[str, list[Table]] = {
        "abr": [],
        "cbr": [cbr],
        "vbr": [_vc("vbr", 4, category="vbr", traffic=onoff)],
        "ubr": [_vc("ubr", 4, category="ubr", traffic=greedy)],
        "ubr mcr": [_vc("ubr", 4, category="ubr", mcr="5 Mbps", traffic={"type": "constant", "rate": "9 Mbps"})],
        "gfr": [_vc("gfr", 4, category="gfr", mcr="5 Mbps", traffic=frames)],
        "cbr and ubr": [cbr, _vc("ubr", 5, category="ubr", traffic=greedy)],
    }
    return found[world["categories"]]


def _switch(world: World) -> Table:
    kind, *weights = world["queueing"].split()
    queueing: Table = {"type": kind}
    if weights:
        queueing["class_weights"] = {"abr": 2}
    switch: Table = {"queueing": queueing}
    if (algorithm := ALGORITHMS[world["algorithm"]]) is not None:
        switch["algorithm"] = algorithm
    if world["algorithm"] == "efci":
        switch["efci"] = {"high": "100 cells"}
    if world["discard"] == "early":
        switch["frame_discard"] = {"type": "early", "threshold": "200 cells"}
    if world["discard"] == "selective":
        switch["frame_discard"] = {"type": "selective", "threshold": "200 cells"}
    if world["becn"] == "yes":
        switch["becn"] = {"threshold": "500 cells"}
    if world["buffers"] == "tagged":
        switch["buffers"] = {"ubr": "1000 cells", "tagged": "200 cells"}
    return switch


def scenario(world: World) -> Table:
    """Give the scenario of a world, as `cellrate.Scenario.from_dict` takes it."""
    abr: list[Table] = [_vc(f"v{i}", i) for i in (1, 2, 3)]
    if world["minimum"] == "yes":
        abr[2]["abr"] = {"mcr": "8 Mbps", "icr": "8 Mbps"}
    if world["shaping"] == "yes":
        abr[2]["shaped_to"] = "9 Mbps" if world["minimum"] == "yes" else "3 Mbps"
    if world["shape"] == "tree":
        abr[0]["branches"] = [["B", "d2"]]
    if world["shape"] == "path":
        abr[0]["channels"] = [{"name": "one", "weight": 3}, {"name": "two"}]
    if world["tcp"] == "abr":
        abr[1]["traffic"] = {"type": "tcp", "preset": "reno"}
    others = _others(world)
    if world["police"] == "abr":
        abr[0]["police"] = {}
    for other in others:
        definition: Table = {"scr": "6 Mbps", "mbs": 200} if other["category"] == "vbr" else {}
        if world["police"] == "other":
            other["police"] = definition
        if world["police"] == "too much" and other["category"] in ("cbr", "ubr"):
            other["police"] = {"pcr": "3 Mbps", "cdvt": "100 us"}
    between: Table = {"between": ["A", "B"]}
    if world["changing"] != "none":
        slow = {"slower": {"rate": "12 Mbps"}, "stops": {"rate": "0 bps"}, "farther": {"delay": "2 ms"}}
        was: Table = {"rate": "20 Mbps"} if world["changing"] != "farther" else {"delay": "10 us"}
        between["changes"] = [{"at": "150 ms", **slow[world["changing"]]}, {"at": "200 ms", **was}]
    mode: Table = {"vs_vd": {}} if world["vs_vd"] == "all" else {}
    far: Table = {"vs_vd": {}} if world["vs_vd"] == "far" else {}
    made: Table = {
        "name": "pairs",
        "duration": f"{DURATION} s",
        "defaults": {
            "link": {"rate": "20 Mbps", "delay": "10 us"},
            "switch": _switch(world) | mode,
            "abr": {"icr": "1 Mbps"},
        },
        "host": [{"name": f"{end}{i}"} for end in "sd" for i in range(1, 7)],
        "switch": [{"name": "A"}, {"name": "B", **far}],
        "link": [
            between,
            *({"between": [f"s{i}", "A"]} for i in range(1, 7)),
            *({"between": ["B", f"d{i}"]} for i in range(1, 7)),
        ],
        "vc": abr + others,
        "window": [
            {"name": "third", "from": f"{DURATION / 2} s", "until": f"{DURATION * 3 / 4} s"},
            {"name": "fourth", "from": f"{DURATION * 3 / 4} s"},
        ],
        "probe": [{"record": ["abr_queue"], "of": ["A->B"], "every": "2 ms"}],
    }
    if world["admission"] == "yes":
        made["admission"] = True
    if world["flows"] == "yes":
        made["flows"] = [
            {
                "name": "f",
                "pairs": [["s6", "d6"]],
                "category": "abr",
                "arrivals": {"type": "poisson", "gap": "80 ms"},
                "size": {"type": "fixed", "octets": "3 kB"},
                "slots": 4,
            }
        ]
    return made


class Shown:
    """A result as promises look at it."""

    def __init__(self, world: World, made: Table, result: Any) -> None:
        """Look at the `result` of the scenario `made` of a `world`."""
        self.world, self.made, self.result = world, made, result
        self.summary = result.summary
        self.admitted = {vc["name"] for vc in made["vc"]} - {row["vc"] for row in self.summary["refused"]}

    def rate(self, vc: str, window: str = "fourth") -> float:
        """Give what came of a VC in a window [bit/s, with headers]."""
        rows = [row for row in self.summary["vc_windows"] if (row["vc"], row["window"]) == (vc, window)]
        return float(sum(row["delivered"] for row in rows) * 424 / (DURATION / 4))

    def abr_queue(self) -> tuple[float, float]:
        """Give the mean ABR queue of the line in the last two quarters [cells]."""
        series = self.result.series("abr_queue")
        times, values = series.times_s, series.values
        third = [v for t, v in zip(times, values, strict=True) if DURATION / 2 <= t < DURATION * 3 / 4]
        fourth = [v for t, v in zip(times, values, strict=True) if t >= DURATION * 3 / 4]
        return sum(third) / len(third), sum(fourth) / len(fourth)

    @property
    def is_steady(self) -> bool:
        """Whether what is sent is the same from the middle of the run on, but for control of ABR."""
        w = self.world
        return w["tcp"] == "none" and w["flows"] == "none" and w["categories"] != "vbr"


def conservation(shown: Shown) -> Iterator[str]:
    """Cells are delivered, dropped or on their way, of connections that are one loop from end to end."""
    world = shown.world
    if world["becn"] == "yes" or world["vs_vd"] != "none" or world["shape"] == "tree":
        return  # switches send cells of their own, or copies
    for row in shown.summary["vcs"]:
        if row["sent"] != row["delivered"] + row["dropped"] + row["in_flight"]:
            yield f"{row['vc']}: {row['sent']} sent, {row['delivered']} + {row['dropped']} + {row['in_flight']}"


def booked_is_served(shown: Shown) -> Iterator[str]:
    """A rate that is promised is there while so much is to be sent."""
    world = shown.world
    if ("weights" in world["queueing"] and world["admission"] == "none") or world["changing"] == "stops":
        return  # weights divide the line as they say; a link that stops has nothing to promise
    promised: dict[str, float] = {"cbr": 4e6, "vbr": 15e6 * 3 / 10.3, "gfr": 5e6}
    if world["categories"] == "ubr mcr":
        promised["ubr"] = 5e6
    if world["police"] in ("other", "too much") or world["discard"] != "none" or world["buffers"] == "tagged":
        promised = {}  # what is refused by a policer or a buffer does not arrive
    if world["minimum"] == "yes" and world["shaping"] == "none" and world["algorithm"] != "none":
        promised["v3"] = 8e6
    for vc, rate in promised.items():
        if (
            vc in shown.admitted
            and any(row["vc"] == vc for row in shown.summary["vcs"])
            and shown.rate(vc) < 0.96 * rate
        ):
            yield f"{vc} has {shown.rate(vc) / 1e6:.2f} of {rate / 1e6:.2f} Mb/s"


def the_queue_ends(shown: Shown) -> Iterator[str]:
    """The ABR queue under an algorithm that hands out rates does not grow for ever: by 2 % of the line at most."""
    world = shown.world
    if world["algorithm"] not in HANDED_OUT or not shown.is_steady or world["shaping"] == "yes":
        return  # a turn that comes late is not made up for who is held to a rate (docs/algorithms/queueing.md)
    third, fourth = shown.abr_queue()
    if fourth > third + 0.02 * LINE / 424 * DURATION / 4:
        yield f"the ABR queue grows from {third:.0f} to {fourth:.0f} cells"


def nobody_is_silent(shown: Shown) -> Iterator[str]:
    """A greedy ABR source that has been admitted sends, whatever happened before."""
    if shown.world["algorithm"] not in HANDED_OUT or not shown.is_steady:
        return
    for vc in ("v1", "v2", "v3"):
        if vc in shown.admitted and shown.world["tcp"] == "none" and shown.rate(vc) < 0.05 * LINE / 6:
            yield f"{vc} sends {shown.rate(vc) / 1e6:.3f} Mb/s"


def the_line_is_used(shown: Shown) -> Iterator[str]:
    """Where greedy ABR sources wait for nothing else, an algorithm that hands out rates uses the line."""
    if shown.world["algorithm"] not in HANDED_OUT or not shown.is_steady or not {"v1", "v2"} & shown.admitted:
        return
    rows = shown.summary["port_windows"]
    used = next(row["utilization"] for row in rows if (row["port"], row["window"]) == ("A->B", "fourth"))
    if used < 0.75:
        yield f"{used:.0%} of the line are used"


def shares_are_max_min(shown: Shown) -> Iterator[str]:
    """Delivered is what `cellrate fair` says, to an eighth, over any shape and after any change of the line.

    An MCR counts as where all are told one rate: the larger of it and the share. `fair` knows no policer that takes
    cells away, and turns that come late are not made up for who is held to a rate (docs/algorithms/queueing.md). The
    OSU scheme knows no MCR: beside one others may have a fifth more than that, at a load above its target.
    """
    world = shown.world
    has_minimum = world["minimum"] == "yes"
    is_told = world["police"] != "too much" and world["shaping"] == "none" and shown.is_steady
    if not is_told or world["algorithm"] not in HANDED_OUT or (world["algorithm"] == "osu" and has_minimum):
        return
    for share in cellrate.Scenario.from_dict(shown.made).fair(gmm=has_minimum):
        got = shown.rate(share.vc) / 424
        if share.vc in ("v1", "v2", "v3") and not share.backward and not 0.88 < got / share.rate < 1.12:
            yield f"{share.vc} has {got / share.rate:.2f} of its share"


def conforming(times: Sequence[float], interval: float, tolerance: float) -> int:
    """Count the cells at `times` [s] that conform to GCRA(interval, tolerance), as a leaky bucket."""
    level, last, count = 0.0, times[0], 0
    for time in times:
        left = max(0.0, level - (time - last))
        if left <= tolerance:
            level, last, count = left + interval, time, count + 1
    return count


def policers_count_as_a_bucket_does(shown: Shown) -> Iterator[str]:
    """Honest sources conform, and of too many cells as many as an independent leaky bucket says."""
    world = shown.world
    for row in shown.summary["policing"]:
        if world["police"] == "too much":
            if row["vc"] != "cbr":
                continue
            sent = row["conforming"] + row["nonconforming"]
            apart = 424 / 4e6
            expected = conforming([i * apart for i in range(sent)], 424 / 3e6, 100e-6)
            if abs(row["conforming"] - expected) > 1:
                yield f"{row['vc']}: {row['conforming']} of {sent} conform, and {expected} would"
        elif row["vc"] in ("v1", "cbr", "ubr") and row["nonconforming"]:
            yield f"{row['vc']}: {row['nonconforming']} cells of an honest source do not conform"


PROMISES: Sequence[Callable[[Shown], Iterator[str]]] = (
    conservation,
    booked_is_served,
    the_queue_ends,
    nobody_is_silent,
    the_line_is_used,
    shares_are_max_min,
    policers_count_as_a_bucket_does,
)


def run(world: World) -> Any:
    """Run the scenario of a world."""
    return cellrate.run(cellrate.Scenario.from_dict(scenario(world)))


def tried(world: World) -> tuple[str | None, list[str]]:
    """Run a world: why it is refused, if it is, and the promises that its result breaks."""
    try:
        result = run(world)
    except cellrate.CellrateError as error:
        return str(error), []
    shown = Shown(world, scenario(world), result)
    return None, [f"{promise.__name__}: {text}" for promise in PROMISES for text in promise(shown)]


def main(arrays: int) -> int:
    """Try so many covering arrays and print what was refused, and which promises were broken in which worlds."""
    reasons: Counter[str] = Counter()
    count = refused = wrong = 0
    for seed in range(1, arrays + 1):
        for world in covering(FACTORS, seed, REFUSED):
            count += 1
            reason, found = tried(world)
            if reason is not None:
                refused += 1
                reasons[reason.splitlines()[0].split(": ", 1)[-1][:150]] += 1
            if found:
                wrong += 1
                print(world, *found, sep="\n    ", flush=True)
    print(f"{count} networks: {count - refused - wrong} keep all promises, {refused} are refused, {wrong} break one")
    for reason, times in reasons.most_common():
        print(f"{times:5} {reason}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 1) else 0)
