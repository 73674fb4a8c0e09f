"""Runs with several seeds on the terminal: a table of means for each point, not one for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..recorded.groups import groups_of
from ..recorded.table import letter, print_numbers, print_summary
from ..texts import printable
from .quantities import Found, quantities
from .replications import SEED, Mean, mean_of
from .settings import named

if TYPE_CHECKING:
    from ..recorded.run import Recorded

DECIMALS = {"ms": 3, "cells": 1}
"""By unit; two of all others."""


def print_runs(results: Sequence[Recorded], *, each: bool = False) -> None:
    """Print the table of a run, one row for each of several points, or the means of runs that differ in seeds only.

    Of a run the members of a group are one row, unless `each` is to have its own.
    """
    from .overview import print_overview

    if len({tuple(pair for pair in result.settings.items() if pair[0] != SEED) for result in results}) > 1:
        settings = [result.settings for result in results]
        print_overview(results, title=named(results[0].summary, settings))
    elif len(results) > 1 and any(SEED in result.settings for result in results):
        print_means(results)
    else:
        for result in results:
            print_summary(result.summary, result.settings, {} if each else groups_of(result.toml))


def print_means(results: Sequence[Recorded]) -> None:
    """Print what sweeps show, for each point the means over its seeds with their 95 % confidence intervals."""
    points: dict[tuple[tuple[str, str], ...], list[Recorded]] = {}
    for result in results:
        settings = tuple((path, value) for path, value in result.settings.items() if path != SEED)
        points.setdefault(settings, []).append(result)
    shown: list[Mean] = []
    for settings, runs in points.items():
        name = runs[0].summary["run"]["scenario"]
        told = name + "".join(f"  {path} = {value}" for path, value in settings)
        print(printable(told) + f"  {len(runs)} seeds")
        shown += _print_point(runs)
    seeds = list(dict.fromkeys(result.settings[SEED] for result in results))
    told = ", ".join(seeds) if len(seeds) <= 3 else f"{seeds[0]}, {seeds[1]} ... {seeds[-1]}"
    if any(mean.half_width for mean in shown):
        sign = letter("±", "+-")
        print(f"Means of the seeds {told}, {sign} half their 95 % confidence intervals (Student's t).")
    else:
        print(f"Means of the seeds {told}, which make no difference.")


def _print_point(runs: Sequence[Recorded]) -> list[Mean]:
    """Print the tables of a point, one for connections, ports and so on; give the means in them."""
    found = [Found.of(quantity, [run.summary for run in runs]) for quantity in quantities()]
    shown: list[Mean] = []
    for of in dict.fromkeys(one.quantity.of for one in found if one.names):
        columns = [one for one in found if one.quantity.of == of and one.names]
        head = [of, *(_heading(one.quantity.axis) for one in columns)]
        rows = []
        for name in dict.fromkeys(name for one in columns for name in one.names):
            cells = []
            for one in columns:
                sample = [values[name] for values in one.at_points if name in values]
                mean = mean_of(sample) if sample else None
                cells.append("" if mean is None else _said(mean, len(runs), one.quantity.axis))
                shown += [] if mean is None else [mean]
            rows.append([name, *cells])
        print_numbers(head, rows)
    return shown


def _heading(axis: str) -> str:
    """Give what an axis says as the heading of a column: the unit in a line of its own."""
    return axis.replace("\n", " ").replace(" [", "\n").removesuffix("]")


def _said(mean: Mean, runs: int, axis: str) -> str:
    decimals = next((count for unit, count in DECIMALS.items() if axis.endswith(f"[{unit}]")), 2)
    about = f" {letter('±', '+-')} {mean.half_width:,.{decimals}f}" if mean.half_width else ""
    # A connection that some seeds refuse, say, has a mean of the others.
    return f"{mean.mean:,.{decimals}f}{about}" + (f" ({mean.n})" if mean.n < runs else "")
