"""Distributions drawn: the share of what was counted that took at most so long, a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from ..drawing.figures import Drawn, Measure
from ..drawing.style import COLOURS, DASHES, FAINT, STYLE, in_legend

if TYPE_CHECKING:
    from ..recorded.distribution import Distribution
    from ..recorded.run import Recorded

MOST_NAMED = 16
"""Lines with a colour and a name; those beyond are grey, and one in the legend."""

WIDTH, HEIGHT = 5.2, 3.4
"""Size of the panel with its margins [in]; the legend is beside."""


@dataclass(frozen=True)
class Of:
    """Words of a picture of distributions."""

    what: str
    """Their subject, behind the name of the scenario."""
    time: str
    """Label of the axis of time [ms]."""
    share: str
    """Label of the axis of shares [%]."""


def drawn(lines: Sequence[tuple[str, Distribution]], results: Mapping[str, Recorded], of: Of) -> Drawn:
    """Draw distributions, each with its label, of these results, on an axis of time that is logarithmic."""
    runs = [result.summary["run"] for result in results.values()]
    title = ", ".join(dict.fromkeys(run["scenario"] for run in runs))
    stamps = list(dict.fromkeys(result.stamp for result in results.values()))
    stamp = stamps[0] if len(stamps) == 1 else f"{len(stamps)} runs  cellrate {runs[0]['version']}"
    with mpl.rc_context(STYLE):
        return _drawn(lines, f"{title}: {of.what}", stamp, of)


def _drawn(lines: Sequence[tuple[str, Distribution]], title: str, stamp: str, of: Of) -> Drawn:
    drawn = Drawn(figsize=(WIDTH, HEIGHT))
    axes = drawn.subplots()
    for number, (label, distribution) in enumerate(lines):
        named = number < MOST_NAMED
        # Nothing took less than the first step, which holds those up to it.
        times_s = distribution.steps_s
        steps = np.concatenate((times_s[:1], times_s)) * 1e3
        shares = np.concatenate(([0.0], distribution.shares)) * 100.0
        axes.plot(
            steps,
            shares,
            drawstyle="steps-post",
            color=COLOURS[number % len(COLOURS)] if named else FAINT,
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)] if named else "-",
            linewidth=1.2 if named else 0.8,
            zorder=2.0 if named else 1.8,
            label=in_legend(label) if named else "_",
        )
    if len(lines) > MOST_NAMED:
        axes.plot([], [], color=FAINT, linewidth=0.8, label=f"{len(lines) - MOST_NAMED} more")
    least = min(float(distribution.steps_s[0]) for _, distribution in lines) * 1e3
    most = max(float(distribution.steps_s[-1]) for _, distribution in lines) * 1e3
    if least > 0 and most > 10 * least:
        axes.set_xscale("log")
    elif most < 1.05 * least:
        # Times that are all alike would have an axis of rounding errors.
        axes.set_xlim(0.95 * least, 1.05 * most)
    axes.set_ylim(0, 102)
    axes.set_xlabel(of.time)
    axes.set_ylabel(of.share)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), borderpad=0.1, handlelength=1.8)
    beside = Measure(drawn).width(legend) + 0.25
    width = WIDTH + beside
    drawn.set_size_inches(width, HEIGHT)
    drawn.subplots_adjust(left=0.65 / width, right=1 - beside / width, top=1 - 0.45 / HEIGHT, bottom=0.75 / HEIGHT)
    drawn.label(title, stamp)
    return drawn
