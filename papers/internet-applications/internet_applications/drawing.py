"""Cell rates between the switches, a panel per case, as the paper draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cellrate.plotting.published import Published, draw_published
from cellrate.results import Result, Series

from .common import TO_MBPS, rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {
    "ftp1": "FTP, A to A'",
    "ftp2": "FTP, B to B'",
    "video": "video",
    "voice": "voice",
    "www": "WWW",
    "www (back)": "WWW",
}
"""Names of the VCs in the legends, the application first; that of pages as a live run has it, and as a simulated
one."""
COLOURS = {"ftp1": "#56B4E9", "ftp2": "#009E73", **dict.fromkeys(("video", "voice", "www", "www (back)"), "#D55E00")}


def rates(result: Result) -> dict[str, Series]:
    """Give the rate of each application's data cells, by VC, FTP first."""
    known = [series for series in result.all_series("received") if series.entity in NAMES]
    found = {series.entity: rate(series) for series in known if series.max() > 0}
    return {vc: found[vc] for vc in sorted(found, key=lambda vc: (not vc.startswith("ftp"), vc))}


FTP = ("ftp1", "ftp2")
BOTH = "#004D40"
"""Colour of both FTP transfers together."""


def rate_panels(
    cases: Mapping[str, Result],
    title: str,
    time: tuple[float, float],
    top: float = 10.5,
    height: float = 1.55,
    published: Mapping[str, Sequence[Published]] | None = None,
) -> Figure:
    """Draw the rates of several runs above each other [Mbps, means of 100 ms at the receivers].

    Parameters
    ----------
    published
        Figures of the paper, by case. Where there are some, both FTP transfers together are a line of their own.
    """

    def draw(name: str, result: Result, axes: Axes) -> None:
        there = rates(result)
        for vc, series in there.items():
            axes.plot(
                series.times_s,
                series.values * TO_MBPS,
                color=COLOURS[vc],
                drawstyle="steps-pre",
                label=NAMES[vc],
                linewidth=1.1,
            )
        said = (published or {}).get(name, ())
        if said and all(vc in there for vc in FTP):
            first, second = (there[vc] for vc in FTP)
            both = (first.values + second.values) * TO_MBPS
            axes.plot(first.times_s, both, color=BOTH, drawstyle="steps-pre", label="FTP, both", linewidth=0.8)
        for one in said:
            draw_published(axes, one)
        axes.set_ylim(0, top)
        axes.set_ylabel("[Mbps]")

    return panels(
        {name: partial(draw, name, result) for name, result in cases.items()},
        title,
        next(iter(cases.values())).stamp,
        time=time,
        xlabel="time [s]",
        height=height,
    )


def panels(
    drawn_by: Mapping[str, Callable[[Any], None]],
    title: str,
    stamp: str,
    *,
    time: tuple[float, float] | None = None,
    xlabel: str,
    height: float = 1.55,
    columns: int = 1,
) -> Figure:
    """Draw panels, each by a function of its axes and under its name, with one legend for what they share."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cellrate.drawing.style import STYLE

    rows = -(-len(drawn_by) // columns)
    total = 0.95 + 0.6 + rows * height + (rows - 1) * 0.42
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, total))
        figure.subplots_adjust(
            left=0.075, right=0.985, top=1 - 0.95 / total, bottom=0.6 / total, hspace=0.42 / height, wspace=0.2
        )
        grid: Any = figure.subplots(rows, columns, sharex=columns == 1, squeeze=False)
        for axes, (name, draw) in zip(grid.flat, drawn_by.items(), strict=False):
            draw(axes)
            axes.set_title(name, fontsize=9, loc="left", pad=3)
            if time is not None:
                axes.set_xlim(*time)
        for axes in list(grid.flat)[len(drawn_by) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel(xlabel)
        handles, labels = _legend(figure.axes)
        if labels:
            figure.legend(
                handles, labels, loc="upper right", ncols=min(len(labels), 6), bbox_to_anchor=(0.99, 1 - 0.32 / total)
            )
        figure.text(0.012, 1 - 0.1 / total, title, fontsize=10, va="top")
        figure.text(0.99, 0.05 / total, stamp, fontsize=6.5, color="#777777", ha="right")
    return figure


def _legend(all_axes: Sequence[Axes]) -> tuple[list[Any], list[str]]:
    known: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    return list(known.values()), list(known)
