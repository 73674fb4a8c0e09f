"""Trials of a tuning, objective against objective, with their Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from ..drawing.figures import Drawn
from ..drawing.style import COLOURS, FAINT, STYLE, plain
from ..sweeps.settings import names_of

if TYPE_CHECKING:
    from ..sweeps.figures import Objective
    from .tune import Trial, Tuned

MOST_LABELLED = 8
"""Trials of a front up to which each has its values beside it."""


def front(tuned: Tuned, objectives: Sequence[Objective], title: str) -> Drawn:
    """Draw all trials and the front, a panel for each two objectives.

    Parameters
    ----------
    tuned
        What was found.
    objectives
        Two or more: what the axes are of.
    title
        Above.
    """
    pairs = list(combinations(range(len(objectives)), 2))
    paths = list(dict.fromkeys(path for trial in tuned.front for path in trial.settings))
    names = names_of(paths)

    def scaled(trial: Trial) -> list[float]:
        return [one.figure.scale.factor * value for one, value in zip(objectives, trial.values, strict=True)]

    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(1.4 + 4.2 * len(pairs), 4.0), layout="constrained")
        row: Any = drawn.subplots(1, len(pairs), squeeze=False)
        for axes, (x, y) in zip(row[0], pairs, strict=True):
            good = [scaled(trial) for trial in tuned.tried if not trial.violation]
            bad = [scaled(trial) for trial in tuned.tried if trial.violation]
            for values, colour, label in ((bad, FAINT, "against constraints"), (good, COLOURS[4], "tried")):
                if values:
                    axes.plot(*_columns(values, x, y), "o", color=colour, markersize=3.5, label=label)
            best = sorted(tuned.front, key=lambda trial: trial.values[x])
            joined = "--" if len(objectives) == 2 else ""
            xs, ys = _columns([scaled(trial) for trial in best], x, y)
            axes.plot(xs, ys, f"s{joined}", color=COLOURS[1], markersize=4.5, linewidth=0.9, label="front")
            if tuned.winner is not None:
                axes.plot(
                    scaled(tuned.winner)[x], scaled(tuned.winner)[y], "o", markersize=11, color=COLOURS[1],
                    markerfacecolor="none", linestyle="none", label="winner",
                )  # fmt: skip
            if len(best) <= MOST_LABELLED:
                for trial in best:
                    axes.annotate(
                        plain(_said(trial, names)), (scaled(trial)[x], scaled(trial)[y]), xytext=(6, 6),
                        textcoords="offset points", fontsize=6.5,
                    )  # fmt: skip
            axes.set_xlabel(plain(objectives[x].figure.axis))
            axes.set_ylabel(plain(objectives[y].figure.axis))
            axes.margins(0.12)
        row[0][0].legend(loc="best", frameon=True, framealpha=0.8)
        drawn.suptitle(plain(title), fontsize=10, x=0.01, ha="left")
    return drawn


def _columns(values: Sequence[Sequence[float]], x: int, y: int) -> tuple[list[float], list[float]]:
    return [one[x] for one in values], [one[y] for one in values]


def _said(trial: Trial, names: dict[str, str]) -> str:
    return ", ".join(f"{names.get(path, path)} {value}" for path, value in trial.settings.items()) or "as it is"
