"""Trade-off of a policy: its cost to a burst and its relief of the network, which the paper does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .bursts import throughput
from .common import POLICIES, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (16, 256, 8192)
"""Cells of a burst."""
IDLE_MS = (1, 10, 100)
"""Time between bursts, beside the round trip of 15 ms [ms]."""
ROUND_TRIP_MS = 15
TURN_MS = 30
SOURCES = 5
MARKS = {16: "o", 256: "s", 8192: "^"}


def attack_ms(idle_ms: int) -> int:
    """When the idle sources send [ms]: every one has had its turn, and the last has been idle as long as the client."""
    return SOURCES * TURN_MS + ROUND_TRIP_MS + idle_ms


def attack_traffic(size: int, idle_ms: int) -> str:
    """Give the traffic of all the sources, one table each, as TOML."""
    tables = []
    for number in range(SOURCES):
        turn = f'{{ start = "{number * TURN_MS} ms", end = "{(number + 1) * TURN_MS} ms" }}'
        burst = f'{{ start = "{attack_ms(idle_ms)} ms", cells = "{size} cells" }}'
        tables.append(f'{{ type = "greedy", windows = [{turn}, {burst}] }}')
    return "[" + ", ".join(tables) + "]"


def _points() -> dict[str, Point]:
    points = {}
    for policy in POLICIES:
        chosen = settings(policy, "10 Mbps")
        for size in SIZES:
            for idle in IDLE_MS:
                burst = {
                    "duration": "2500 ms",
                    "vc.web.traffic.response": f"{size} cells",
                    "vc.web.traffic.cycle_gap": f"{idle} ms",
                }
                attack = {"vc.vc{i}.traffic": attack_traffic(size, idle)}
                points[f"burst, {policy}, {size}, {idle}"] = Point("client-server", {**chosen, **burst}, extra=True)
                points[f"attack, {policy}, {size}, {idle}"] = Point("attack", {**chosen, **attack}, extra=True)
    return points


def cost(result: Result, idle_ms: int) -> float:
    """Largest queue after the idle sources have begun to send [cells]."""
    return result.series("abr_queue", port="sw1->sw2").between(attack_ms(idle_ms) / 1e3, float("inf")).max()


def gains(results: Results) -> dict[tuple[str, int, int], tuple[float, float]]:
    """Effective throughput [Mbps] and peak queue [cells], by policy, size and idle time."""
    return {
        (policy, size, idle): (
            float(throughput(results[f"burst, {policy}, {size}, {idle}"]).mean()),
            cost(results[f"attack, {policy}, {size}, {idle}"], idle),
        )
        for policy in POLICIES
        for size in SIZES
        for idle in IDLE_MS
    }


def front(places: Mapping[str, tuple[float, float]]) -> list[str]:
    """Give the policies that no other beats in throughput without a longer queue, or in queue without less throughput.

    Within 1 % counts as equal.
    """

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        no_worse = one[0] >= 0.99 * other[0] and one[1] <= 1.01 * other[1]
        return no_worse and (one[0] > 1.01 * other[0] or one[1] < 0.99 * other[1])

    return [name for name, place in places.items() if not any(beats(other, place) for other in places.values())]


def _findings(results: Results) -> Sequence[Finding]:
    if not results:
        return []
    known = gains(results)
    found = []
    for size in SIZES:
        parts = []
        for idle in IDLE_MS:
            best = front({policy: known[policy, size, idle] for policy in POLICIES})
            figures = ", ".join(
                f"{policy} {known[policy, size, idle][0]:.0f} Mbps / {known[policy, size, idle][1]:,.0f} cells"
                for policy in best
            )
            parts.append(f"{idle} ms: {figures}")
        found.append(
            Finding(f"map.front-{size}", "; ".join(parts), None, "Effective throughput / peak queue; not in the paper.")
        )
    return found


def _map(results: Results) -> Figure:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

    from cellrate.drawing.style import COLOURS, STYLE

    known = gains(results)
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(7.8, 3.9))
        drawn.subplots_adjust(left=0.08, right=0.99, top=0.86, bottom=0.33, wspace=0.08)
        axes: Any = drawn.subplots(1, len(IDLE_MS), sharey=True)
        for panel, idle in zip(axes, IDLE_MS, strict=True):
            for number, policy in enumerate(POLICIES):
                line = [known[policy, size, idle] for size in SIZES]
                queue = [max(place[1], 1.0) for place in line]
                panel.plot(queue, [place[0] for place in line], "-", color=COLOURS[number], linewidth=0.6, alpha=0.6)
                for size, place, cells in zip(SIZES, line, queue, strict=True):
                    panel.plot([cells], [place[0]], MARKS[size], color=COLOURS[number], markersize=5)
            panel.set_xscale("log")
            panel.set_title(f"idle for {idle} ms and a round trip", fontsize=9)
            panel.set_xlabel("peak queue after the attack [cells]")
        axes[0].set_ylabel("effective throughput [Mbps]")
        axes[0].set_ylim(bottom=0)
        policies = [Line2D([], [], color=COLOURS[n], label=policy) for n, policy in enumerate(POLICIES)]
        sizes: list[Any] = [
            Line2D([], [], color="#555555", marker=MARKS[s], linestyle="", label=f"{s} cells") for s in SIZES
        ]
        drawn.legend(handles=policies + sizes, loc="lower center", ncols=5, bbox_to_anchor=(0.5, 0.03))
        title = "What a policy leaves to a burst, and what it spares the network"
        drawn.text(0.012, 0.98, title, fontsize=10, va="top")
        stamp = results[f"attack, none, {SIZES[0]}, {IDLE_MS[0]}"].stamp + " and its neighbours"
        drawn.text(0.99, 0.005, stamp, fontsize=6.5, color="#777777", ha="right")
    return drawn


def _drawings(results: Results) -> Sequence[Drawing]:
    if not results:
        return []
    caption = (
        "Policy, burst size and idle time: effective throughput of a server's bursts against the peak queue when five "
        "idle sources, each with the rate it was given alone, send a burst of that size at once; up and left is better"
    )
    return [Drawing("map", caption, partial(_map, results))]


EXPERIMENT = Experiment(
    name="map",
    title="Beyond the paper: burst throughput against the queue of an ACR-retention attack",
    points=_points(),
    findings=_findings,
    drawings=_drawings,
)
"""Each policy, burst size and idle time, twice: beside an infinite source, and attacking."""
