"""Labels of ticks that do not stand on one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from .figures import Measure

APART = 0.03
"""Space between two labels at least [in]."""

SLANTED = 35.0
"""Angle of labels that do not fit beside each other [degrees]."""


def are_apart(axes: Axes, measure: Measure) -> bool:
    """Whether the labels of the horizontal axis have space between them."""
    boxes = [box for label in axes.get_xticklabels() if (box := measure.extent(label)) is not None]
    boxes.sort(key=lambda box: box.x0)
    return all(left.x1 + APART <= right.x0 for left, right in pairwise(boxes))


def drop_labels(axes: Axes, measure: Measure) -> None:
    """Take away the labels that would stand above the one before."""
    end = -float("inf")
    texts = []
    for label in axes.get_xticklabels():
        box = measure.extent(label)
        kept = box is not None and box.x0 >= end + APART
        texts.append(label.get_text() if kept else "")
        if box is not None and kept:
            end = box.x1
    axes.set_xticks(axes.get_xticks(), texts)


def turn_labels(axes: Axes, measure: Measure) -> None:
    """Turn labels that are names until they fit, at panels that have their final width.

    They lie, are slanted, or stand; where there are too many even for that, every second, third, ... one is kept.
    """
    labels = axes.get_xticklabels()
    _turn(labels, 0.0)
    if are_apart(axes, measure):
        return
    ticks = sorted(axes.get_xticks())
    low, high = axes.get_xlim()
    wide = axes.get_position().width * axes.get_figure(root=True).get_size_inches()[0]  # type: ignore[union-attr]
    least = min((b - a for a, b in pairwise(ticks)), default=high - low) / (high - low) * wide
    high_letters = max(float(label.get_fontsize()) for label in labels) / 72
    if least >= 1.15 * high_letters / math.sin(math.radians(SLANTED)):
        _turn(labels, SLANTED)
        return
    every = max(1, math.ceil(1.15 * high_letters / least))
    texts = [label.get_text() if place % every == 0 else "" for place, label in enumerate(labels)]
    axes.set_xticks(axes.get_xticks(), texts)
    _turn(axes.get_xticklabels(), 90.0)


def _turn(labels: Sequence[Text], degrees: float) -> None:
    for label in labels:
        label.set(rotation=degrees, rotation_mode="anchor")
        label.set_horizontalalignment("center" if degrees == 0 else "right")
        label.set_verticalalignment("top" if degrees == 0 else "center" if degrees == 90 else "top")
