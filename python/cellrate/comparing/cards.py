"""Cards of one run of an algorithm: fairness, settling, queues, utilization, loss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..results import Result
from ..scenario import Scenario
from .phases import Phase, phases_of, varying

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BAND = 0.1
"""Rates have settled once every one of them stays within this of its fair share."""

POINTS = 120
"""Instants of a sketch."""


@dataclass(frozen=True)
class Card:
    """How an algorithm did: in one scenario, or over all of them.

    A share is the mean ACR of a connection over its max-min fair rate, in the second half of a phase; its error is the
    distance from 1. Of several seeds and scenarios errors, settling and the long way are the worst, but for the mean
    error; it, queues, utilization and loss are means.
    """

    algorithm: str
    scenario: str | None
    """None for all scenarios together."""
    mean_error: float | None
    """Mean over connections and phases; None where no phase can be judged."""
    worst_error: float | None
    phases: int
    """Phases in which rates can settle: of those that are judged all but those beside VBR."""
    settled: int
    """Phases in whose first half all rates came to stay within a tenth of their fair shares."""
    settling_s: float | None
    """The longest time from the beginning of such a phase until then [s]; None where none settled."""
    beat_down: float | None
    """Least share of the connections with the longest way; None where all ways are equally long."""
    mean_queue: float
    """Mean queue of the port where that is largest [cells]."""
    p99_queue: float
    """Queue that a probe has at most in 99 % of its instants, at the port where that is largest [cells]."""
    max_queue: float
    """The largest queue of any port [cells]."""
    utilization: float
    """Mean of the ports that hold connections back, over the whole run [0 to 1]."""
    loss: float
    """ABR cells lost over those sent."""
    response_s: float | None
    """99 % of the responses of clients took at most so long to be sent [s]; None without clients."""

    def content(self) -> dict[str, Any]:
        """Give the card for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Sketch:
    """A run as lines: the least and the largest share at each instant, and the longest queue."""

    times_s: list[float]
    least: list[float | None]
    largest: list[float | None]
    queue: list[float]


@dataclass(frozen=True)
class Outcome:
    """A card, and the sketch of the run."""

    card: Card
    sketch: Sketch = field(compare=False)


def outcome(result: Result, algorithm: str, scenario_name: str, target: float | None) -> Outcome:
    """Give what a run comes to; `target` as for `phases_of`."""
    import numpy as np

    scenario = Scenario.parse(result.toml)
    rates = _rates(result, scenario)
    phases = phases_of(scenario, rates, target)
    ways = _ways(scenario)
    shares: list[float] = []
    settling: list[float | None] = []
    longest: list[float] = []
    used: list[tuple[float, float]] = []
    for phase in phases:
        for port in phase.bottlenecks:
            full = result.series("utilization", port=port).mean(phase.begin_s, phase.end_s)
            used.append((phase.end_s - phase.begin_s, full))
        if not phase.shares:
            continue
        means = {
            vc: result.series("acr", vc=vc).mean(phase.half_s, phase.end_s) / fair for vc, fair in phase.shares.items()
        }
        shares += means.values()
        if not rates:
            settling.append(_settling_s(result, phase))
        lengths = {ways[vc] for vc in means}
        if len(lengths) > 1:
            longest += [share for vc, share in means.items() if ways[vc] == max(lengths)]
    errors = [abs(share - 1) for share in shares]
    settled = [at_s for at_s in settling if at_s is not None]
    queues = result.all_series("queue")
    ports = [result.port(series.entity) for series in queues]
    sent = [row for row in result.summary["vcs"] if row["category"] == "abr"]
    responses = [row["p99_response_s"] for row in result.summary["bursts"] if row["role"] == "response"]
    card = Card(
        algorithm=algorithm,
        scenario=scenario_name,
        mean_error=float(np.mean(errors)) if errors else None,
        worst_error=max(errors, default=None),
        phases=len(settling),
        settled=len(settled),
        settling_s=max(settled, default=None),
        beat_down=min(longest, default=None),
        mean_queue=max(row["mean_queue"] for row in ports),
        p99_queue=max(float(np.quantile(series.values, 0.99, method="inverted_cdf")) for series in queues),
        max_queue=max(row["max_queue"] for row in ports),
        utilization=sum(span * share for span, share in used) / sum(span for span, _ in used),
        loss=sum(row["dropped"] for row in sent) / sum(row["sent"] for row in sent),
        response_s=max((one for one in responses if one is not None), default=None),
    )
    return Outcome(card, _sketch(result, phases))


def together(cards: Sequence[Card], scenario: str | None) -> Card:
    """Give one card for several of an algorithm: other seeds of a scenario, or all scenarios."""

    def of(name: str) -> list[float]:
        return [value for card in cards if (value := getattr(card, name)) is not None]

    def mean(name: str) -> float:
        values = of(name)
        return sum(values) / len(values)

    return Card(
        algorithm=cards[0].algorithm,
        scenario=scenario,
        mean_error=mean("mean_error") if of("mean_error") else None,
        worst_error=max(of("worst_error"), default=None),
        phases=sum(card.phases for card in cards),
        settled=sum(card.settled for card in cards),
        settling_s=max(of("settling_s"), default=None),
        beat_down=min(of("beat_down"), default=None),
        mean_queue=mean("mean_queue"),
        p99_queue=mean("p99_queue"),
        max_queue=mean("max_queue"),
        utilization=mean("utilization"),
        loss=mean("loss"),
        response_s=max(of("response_s"), default=None),
    )


def _rates(result: Result, scenario: Scenario) -> dict[str, float]:
    """Give what CBR and VBR of varying rate had in the second half of the run [cells/s]."""
    rates = {}
    for name in varying(scenario):
        received = result.series("received", vc=name)
        end_s = float(received.times_s[-1])
        half_s = end_s / 2
        rates[name] = (received.at(end_s) - received.at(half_s)) / (end_s - half_s)
    return rates


def _ways(scenario: Scenario) -> dict[str, int]:
    """Give the number of nodes on the way of each connection."""
    return {vc["name"]: len(vc["path"]) for vc in json.loads(scenario._native.topology())["vcs"]}


def _inside(result: Result, phase: Phase) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the instants of a phase, and the share of each of its connections at each of them."""
    import numpy as np

    rows = []
    times = None
    for vc, fair in phase.shares.items():
        series = result.series("acr", vc=vc)
        inside = (series.times_s > phase.begin_s) & (series.times_s <= phase.end_s)
        times = series.times_s[inside]
        rows.append(series.values[inside] / fair)
    assert times is not None
    return times, np.array(rows)


def _settling_s(result: Result, phase: Phase) -> float | None:
    """Give how long it takes until all rates stay near their fair shares; None if not within the first half."""
    import numpy as np

    times, shares = _inside(result, phase)
    outside = np.flatnonzero((np.abs(shares - 1) > BAND).any(axis=0))
    first = 0 if not len(outside) else int(outside[-1]) + 1
    if first == len(times) or times[first] > phase.half_s:
        return None
    return float(times[first] - phase.begin_s)


def _sketch(result: Result, phases: Sequence[Phase]) -> Sketch:
    import numpy as np

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
            times, shares = _inside(result, phase)
            within = np.searchsorted(edges, times, side="left") - 1
            low, high = parts(shares.min(axis=0), within, False), parts(shares.max(axis=0), within, True)
            least = [old if new is None else new for old, new in zip(least, low, strict=True)]
            largest = [old if new is None else new for old, new in zip(largest, high, strict=True)]
    queue = [0.0 if value is None else value for value in parts(most, places, True)]
    return Sketch([float(edge) for edge in edges[1:]], least, largest, queue)
