"""A picture of a network: switches, hosts and links, and the ways that connections take.

Hosts that stand on links of the same kind, and whose connections take the same ways, are drawn as one, and so are their
connections.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from ..drawing.figures import Drawn
from ..drawing.style import COLOURS, DASHES, STYLE, plain
from ..errors import CellrateError
from .layout import placed
from .topology import Link, Network, Way, WayThrough, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

MOST_PLACED = 800
"""Switches, and hosts with several links, of a network that can be drawn."""

MANY = 60
"""Places of a picture from which on it is drawn small: names only, and no more than fits on a wall."""

WIDEST = 24.0
"""Inches that a picture of many places has at most, either way."""

BROADEST = 0.5
"""How much room the ways over one link take together at most."""

MOST_NAMED = 12
"""Ways in the legend."""

LANE = 0.055
"""How far apart the ways over one link are."""

INCHES = 1.55
"""Between two switches."""


def draw(topology: dict[str, object], name: str) -> Drawn:
    """Draw the network of the scenario called `name`, as `Scenario.draw` says."""
    network = Network(topology)
    if len(network.core) > MOST_PLACED:
        raise CellrateError(
            f"{name} has {len(network.core)} switches and hosts of several links; a picture has {MOST_PLACED} at most"
        )
    spots = placed(network)
    margin = np.array([0.6, 0.35])
    low, high = spots.min(axis=0) - margin, spots.max(axis=0) + margin
    named = network.ways[:MOST_NAMED]
    rows = (len(named) + 1) // 2
    inches = min(INCHES, WIDEST / (high - low).max()) if len(spots) > MANY else INCHES
    width, top, bottom = max(4.5, inches * (high[0] - low[0])), 0.55, 0.45 + 0.17 * rows
    height = top + bottom + inches * (high[1] - low[1])
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(width, height))
        axes: Axes = drawn.add_axes((0, bottom / height, 1, 1 - (top + bottom) / height))
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        _draw_links(axes, network, spots, inches)
        _draw_ways(axes, network, spots, inches)
        _draw_places(axes, network, spots, inches)
        drawn.text(0.12 / width, 1 - 0.1 / height, plain(name), fontsize=10, va="top")
        said = _usually_said(network)
        if said is not None:
            drawn.text(0.12 / width, 1 - 0.3 / height, said, fontsize=7.5, va="top", color="#555555")
        for number, way in enumerate(named):
            column, row = divmod(number, rows)
            y = (0.3 + 0.17 * (rows - 1 - row)) / height
            x = (0.12 + column * (width - 0.24) / 2) / width
            colour, dash = _style(number)
            drawn.add_artist(
                mpl.lines.Line2D([x, x + 0.3 / width], [y, y], color=colour, linestyle=dash, linewidth=1.6)
            )
            drawn.text(x + 0.38 / width, y, _told(way), fontsize=7.5, va="center_baseline")
        if len(network.ways) > len(named):
            more = f"and {len(network.ways) - len(named)} more ways"
            drawn.text(0.12 / width, 0.1 / height, more, fontsize=7.5, color="#555555")
    return drawn


def _told(way: Way) -> str:
    several = f", {len(way.vcs)} VCs" if len(way.vcs) > 1 else ""
    over = f", over {', '.join(way.over)}" if way.over else ""
    return f"{shortened(way.vcs)}: {way.category.upper()}{several}{over}"


def _style(number: int) -> tuple[str, Any]:
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def _lane(ways: int) -> float:
    """How far apart so many ways over one link are."""
    return min(LANE, BROADEST / max(1, ways))


def _draw_links(axes: Axes, network: Network, spots: NDArray[np.float64], inches: float) -> None:
    usual = _usual(network)
    lanes = Counter(edge for way in network.ways for edge in _edges(way.path))
    many = len(spots) > MANY
    for edge, links in network.edges.items():
        (xa, ya), (xb, yb) = spots[edge[0]], spots[edge[1]]
        room = (4.0 * inches / INCHES) + 72 * inches * _lane(lanes[edge]) * max(0, lanes[edge] - 1)
        axes.plot([xa, xb], [ya, yb], color="#e6e6e6", linewidth=room, solid_capstyle="butt", zorder=1)
        said = _said(network, edge, links)
        if said != usual and not many:
            # Above and below a link that lies; left and right of one that stands.
            stands = abs(yb - ya) > abs(xb - xa)
            for words, side in zip(said, (1, -1), strict=True):
                off = side * (3 + room / 2)
                axes.annotate(
                    words,
                    ((xa + xb) / 2, (ya + yb) / 2),
                    xytext=(-off, 0) if stands else (0, off),
                    textcoords="offset points",
                    fontsize=6.5,
                    color="#555555",
                    ha=("right" if side > 0 else "left") if stands else "center",
                    va="center" if stands else "bottom" if side > 0 else "top",
                    zorder=5,
                )


def _said(network: Network, edge: tuple[int, int], links: list[Link]) -> tuple[str, str]:
    """Rate and delay of a link; of several between the same nodes those of each, in the order of the file."""
    if not network.is_parallel(edge):
        return _words(links[0])
    rates, delays = zip(*map(_words, links), strict=True)
    each = [rates[0]] if len(set(rates)) == 1 else list(rates)
    several = f"{len(links)} links, {' + '.join(each)}{' each' if len(each) == 1 else ''}"
    return several, delays[0] if len(set(delays)) == 1 else " / ".join(delays)


def _draw_ways(axes: Axes, network: Network, spots: NDArray[np.float64], inches: float) -> None:
    over: dict[tuple[int, int], dict[int, int]] = {}
    for number, way in enumerate(network.ways):
        for edge in _edges(way.path):
            ways = over.setdefault(edge, {})
            ways.setdefault(number, len(ways))
    for number, way in enumerate(network.ways):
        points: list[NDArray[np.float64]] = []
        for (a, b), edge in zip(pairwise(way.path), _edges(way.path), strict=True):
            along = spots[edge[1]] - spots[edge[0]]
            across = np.array([-along[1], along[0]]) / np.hypot(*along)
            lane = over[edge][number] - (len(over[edge]) - 1) / 2
            off = across * lane * _lane(len(over[edge]))
            points += [spots[a] + off, spots[b] + off]
        colour, dash = _style(number)
        line, width = np.array(points), 1.6 * inches / INCHES
        axes.plot(line[:, 0], line[:, 1], color=colour, linestyle=dash, linewidth=width, zorder=3)
        head = (points[-2] + points[-1]) / 2
        axes.annotate(
            "",
            tuple(head + (points[-1] - points[-2]) * 0.06),
            xytext=tuple(head),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "mutation_scale": 9 * inches / INCHES,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            zorder=4,
        )


def _draw_places(axes: Axes, network: Network, spots: NDArray[np.float64], inches: float) -> None:
    many = len(spots) > MANY
    for place, (x, y) in enumerate(spots):
        name, control = network.label(place)
        if many:
            control = ""
        is_switch = place < len(network.core) and not network.nodes[network.core[place]]["is_host"]
        axes.text(
            x,
            y,
            f"{name}\n{control}" if control else name,
            fontsize=max(2.5, 8 * inches / INCHES),
            ha="center",
            va="center",
            linespacing=1.25,
            bbox={
                "boxstyle": "round,pad=0.45" if is_switch else "square,pad=0.35",
                "facecolor": "#fff6e0" if is_switch else "white",
                "edgecolor": "#555555",
                "linewidth": 0.9 * inches / INCHES,
            },
            zorder=6,
        )


def _edges(path: WayThrough) -> list[tuple[int, int]]:
    return [(min(a, b), max(a, b)) for a, b in pairwise(path)]


def _usual(network: Network) -> tuple[str, str] | None:
    """Rate and delay of more than half of the links, which are not written at each of them; None if they are mixed."""
    for words, count in Counter(map(_words, network.links)).most_common(1):
        if 2 * count > len(network.links):
            return words
    return None


def _usually_said(network: Network) -> str | None:
    usual = _usual(network)
    if usual is None:
        return None
    if all(_words(link) == usual for link in network.links):
        return f"all links {', '.join(usual)}"
    return f"links {', '.join(usual)} where nothing else is said"


def _words(link: Link) -> tuple[str, str]:
    """Rate and delay."""
    rate, unit = link.rate_bps / 1e6, "Mb/s"
    if rate >= 1000:
        rate, unit = rate / 1e3, "Gb/s"
    elif rate < 1:
        rate, unit = rate * 1e3, "kb/s"
    delay, unit_of_delay = link.delay_s * 1e3, "ms"
    if 0 < delay < 0.1:
        delay, unit_of_delay = delay * 1e3, "us"
    return f"{rate:g} {unit}", f"{delay:g} {unit_of_delay}"
