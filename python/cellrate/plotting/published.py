"""Published values in plots: what a paper has, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLISHED = "#8b1a5c"
"""Colour of what a paper has."""

LABEL = {"facecolor": "#ffffff", "alpha": 0.8, "edgecolor": "none", "pad": 0.8}
"""Ground of a label, which is to be read before lines."""


@dataclass(frozen=True)
class Published:
    """A published value behind the lines of a panel: a level, a band, or a line from one value to another."""

    value: float
    """On the axis of the panel."""
    label: str
    high: float | None = None
    """Upper edge of a band from `value` on."""
    span: tuple[float, float] | None = None
    """The times that it is said of [s]; all of them when None."""
    end: float | None = None
    """Value at the end of `span`, where it is another."""


def draw_published(axes: Axes, said: Published) -> None:
    """Draw a published value, with its label beside it."""
    from ..drawing.style import plain

    begin, end = said.span or (0.0, 1.0)
    # Levels of the whole time are in parts of the axis, whatever it comes to be.
    transform = axes.transData if said.span else axes.get_yaxis_transform()
    if said.high is not None:
        low, high = [said.value] * 2, [said.high] * 2
        axes.fill_between(
            [begin, end], low, high, color=PUBLISHED, alpha=0.18, transform=transform, linewidth=0, zorder=1.2
        )
    last = said.value if said.end is None else said.end
    axes.plot([begin, end], [said.value, last], color=PUBLISHED, linestyle=(0, (5, 2)), linewidth=1.0, zorder=2.5,
              transform=transform, scalex=False)  # fmt: skip
    axes.text(
        0.995 if said.span is None else end, said.high or last, plain(said.label), color=PUBLISHED, fontsize=6.5,
        ha="right", va="top", transform=transform, zorder=5, bbox=LABEL,
    )  # fmt: skip
