"""The card of one run: what arrived of what was due, and what the rows of the result say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..recorded.summaries import unsettled_line
from ..results import Result
from ..scenario import Scenario
from .cards import Card, Outcome, Sketch, Unsettled
from .phases import Phase, misbehaving, phases_of, varying

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BAND = 0.1
"""Rates have settled once every one of them stays within this of its fair share."""

WINDOW_S = 0.01
"""Rates in time are means over so long [s], or over a probe's interval where that is longer."""

FAR = 2.0
"""Round trips are unequal where the longest is at least so many times the shortest."""

NRM = 32
"""One cell in so many is an RM cell, unless the scenario says otherwise (Nrm of TM 4.0)."""

POINTS = 120
"""Instants of a sketch."""


def outcome(result: Result, algorithm: str, scenario_name: str, target: float | None) -> Outcome:
    """Give what a run comes to; `target` as for `phases_of`."""
    scenario = Scenario.parse(result.toml)
    phases = phases_of(scenario, _rates(result, scenario), target)
    card = Card(
        algorithm=algorithm,
        scenario=scenario_name,
        runs=1,
        **_judged(result, scenario, phases),
        **_queues(result),
        utilization=_utilization(result, phases),
        **_losses(result, misbehaving(scenario)),
        **_times(result),
        unsettled=tuple(
            Unsettled(scenario_name, row["port"], row["by"], unsettled_line(row).removeprefix("Unsettled: "))
            for row in result.summary["unsettled"]
        ),
    )
    return Outcome(card, _sketch(result, scenario, phases))


def _judged(result: Result, scenario: Scenario, phases: Sequence[Phase]) -> dict[str, Any]:
    """Give the figures of shares and of settling."""
    hops, trips = _ways(scenario)
    far = max(trips.values(), default=0.0) >= FAR * min(trips.values(), default=1.0)
    part = _data_part(scenario)
    steady = not varying(scenario)
    shares: list[float] = []
    cheats: list[float] = []
    settling: list[float | None] = []
    long_ways: list[float] = []
    long_trips: list[float] = []
    for phase in phases:
        if not phase.shares:
            continue
        of_all = {
            vc: _arrived(result, vc, phase.half_s, phase.end_s) / (part * due)
            for vc, due in (*phase.shares.items(), *phase.cheats.items())
        }
        arrived = {vc: of_all[vc] for vc in phase.shares}
        shares += arrived.values()
        cheats += [of_all[vc] for vc in phase.cheats]
        if steady:
            settling.append(_settling_s(result, phase, part))
        if len({hops[vc] for vc in arrived}) > 1:
            most = max(hops[vc] for vc in arrived)
            long_ways += [share for vc, share in arrived.items() if hops[vc] == most]
        if far:
            longest = max(trips[vc] for vc in arrived)
            long_trips += [share for vc, share in arrived.items() if trips[vc] == longest]
    errors = [abs(share - 1) for share in shares]
    settled = [at_s for at_s in settling if at_s is not None]
    return {
        "mean_error": sum(errors) / len(errors) if errors else None,
        "worst_error": max(errors, default=None),
        "phases": len(settling),
        "settled": len(settled),
        "settling_s": max(settled, default=None),
        "beat_down": min(long_ways, default=None),
        "long_trip": min(long_trips, default=None),
        "cheat_share": sum(cheats) / len(cheats) if cheats else None,
    }


def _queues(result: Result) -> dict[str, Any]:
    import numpy as np

    series = result.all_series("queue")
    ports = [result.port(one.entity) for one in series]
    return {
        "mean_queue": max(row["mean_queue"] for row in ports),
        "p99_queue": max(float(np.quantile(one.values, 0.99, method="inverted_cdf")) for one in series),
        "max_queue": max(row["max_queue"] for row in ports),
    }


def _utilization(result: Result, phases: Sequence[Phase]) -> float:
    """Give the mean use of the ports that hold connections back: without any, of that which is used most."""
    used = [
        (phase.end_s - phase.begin_s, result.series("utilization", port=port).mean(phase.begin_s, phase.end_s))
        for phase in phases
        for port in phase.bottlenecks
    ]
    if not used:
        return max(float(result.port(one.entity)["utilization"]) for one in result.all_series("utilization"))
    return sum(span * share for span, share in used) / sum(span for span, _ in used)


def _losses(result: Result, cheating: set[str]) -> dict[str, Any]:
    def of(rows: Sequence[Mapping[str, Any]]) -> float | None:
        sent = sum(row["sent"] for row in rows)
        return sum(row["dropped"] for row in rows) / sent if sent else None

    honest: list[Mapping[str, Any]] = []
    others: list[Mapping[str, Any]] = []
    for row in result.summary["vcs"]:
        if row["category"] == "abr":
            # Both directions of a connection, RM cells on their way back among them.
            (others if row["vc"].removesuffix(" (back)") in cheating else honest).append(row)
    return {"loss": of(honest) or 0.0, "cheat_loss": of(others)}


def _times(result: Result) -> dict[str, Any]:
    """Give how long responses of clients took, and flows of a size."""
    responses = [row["p99_response_s"] for row in result.summary["bursts"] if row["role"] == "response"]
    # The first row of an entry is of all its flows.
    flows = next(iter(result.summary["completions"]), {"mean_slowdown": None, "p99_slowdown": None})
    return {
        "response_s": max((one for one in responses if one is not None), default=None),
        "slowdown": flows["mean_slowdown"],
        "p99_slowdown": flows["p99_slowdown"],
    }


def _rates(result: Result, scenario: Scenario) -> dict[str, float]:
    """Give what CBR and VBR of varying rate had in the second half of the run [cells/s]."""
    rates = {}
    for name in varying(scenario):
        duration_s = result.summary["run"]["duration_s"]
        rates[name] = _arrived(result, name, duration_s / 2, duration_s)
    return rates


def _ways(scenario: Scenario) -> tuple[dict[str, int], dict[str, float]]:
    """Give the number of nodes on the way of each connection, and its round trip, queues and cells left out [s]."""
    network = json.loads(scenario._native.topology())
    delays = {frozenset(link["ends"]): link["delay_s"] for link in network["links"]}
    hops: dict[str, int] = {}
    trips: dict[str, float] = {}
    for vc in network["vcs"]:
        path = vc["path"]
        hops[vc["name"]] = len(path)
        trips[vc["name"]] = 2.0 * sum(delays[frozenset(pair)] for pair in pairwise(path))
    return hops, trips


def _data_part(scenario: Scenario) -> float:
    """Give the part of a source's cells that is data: one in Nrm is an RM cell."""
    nrm = scenario.to_dict().get("defaults", {}).get("abr", {}).get("nrm", NRM)
    return float((nrm - 1) / nrm)


def _arrived(result: Result, vc: str, begin_s: float, end_s: float) -> float:
    """Give the rate at which data cells arrived [cells/s]."""
    # A probe has no value at the very end of a run: what counts is the time between two values.
    inside = result.series("received", vc=vc).between(begin_s, end_s)
    return float((inside.values[-1] - inside.values[0]) / (inside.times_s[-1] - inside.times_s[0]))


def _inside(result: Result, phase: Phase, part: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the instants of a phase, and the share of each of its connections in the window that ends there."""
    import numpy as np

    rows = []
    times = None
    for vc, fair in phase.shares.items():
        series = result.series("received", vc=vc)
        at_s, count = np.asarray(series.times_s), np.asarray(series.values)
        back = max(1, round(WINDOW_S / (at_s[1] - at_s[0])))
        begin = np.maximum(np.arange(len(at_s)) - back, 0)
        span_s = np.maximum(at_s - at_s[begin], at_s[1] - at_s[0])
        inside = (at_s > phase.begin_s) & (at_s <= phase.end_s)
        times = at_s[inside]
        rows.append(((count - count[begin]) / span_s)[inside] / (part * fair))
    assert times is not None
    return times, np.array(rows)


def _settling_s(result: Result, phase: Phase, part: float) -> float | None:
    """Give how long it takes until all rates stay near their fair shares; None if not within the first half."""
    import numpy as np

    times, shares = _inside(result, phase, part)
    outside = np.flatnonzero((np.abs(shares - 1) > BAND).any(axis=0))
    first = 0 if not len(outside) else int(outside[-1]) + 1
    if first == len(times) or times[first] > phase.half_s:
        return None
    return float(times[first] - phase.begin_s)


def _sketch(result: Result, scenario: Scenario, phases: Sequence[Phase]) -> Sketch:
    import numpy as np

    part = _data_part(scenario)
    end_s = result.summary["run"]["duration_s"]
    edges = np.linspace(0.0, end_s, POINTS + 1)
    queues = result.all_series("queue")
    most = np.max([series.values for series in queues], axis=0)
    places = np.searchsorted(edges, queues[0].times_s, side="left") - 1

    def parts(values: NDArray[np.float64], places: NDArray[np.int64], largest: bool) -> list[float | None]:
        found: list[float | None] = []
        for place in range(POINTS):
            inside = values[places == place]
            found.append(None if not len(inside) else float(inside.max() if largest else inside.min()))
        return found

    least: list[float | None] = [None] * POINTS
    largest: list[float | None] = [None] * POINTS
    for phase in phases:
        if phase.shares:
            times, shares = _inside(result, phase, part)
            within = np.searchsorted(edges, times, side="left") - 1
            low, high = parts(shares.min(axis=0), within, False), parts(shares.max(axis=0), within, True)
            least = [old if new is None else new for old, new in zip(least, low, strict=True)]
            largest = [old if new is None else new for old, new in zip(largest, high, strict=True)]
    queue = [0.0 if value is None else value for value in parts(most, places, True)]
    return Sketch([float(edge) for edge in edges[1:]], least, largest, queue)
