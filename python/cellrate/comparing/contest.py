"""The arena itself: every algorithm on every scenario of the suite, from the runs to the cards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _native
from ..algorithms import Algorithms
from ..campaigns.running import sweep_into
from ..errors import CellrateError, shown
from ..plugins.collection import Plugins
from ..results import Result
from ..running.points import Progress, run_each
from ..running.progress import reporting
from ..scenario import Scenario
from .cards import Outcome, of_scenarios, of_seeds
from .choosing import choosing
from .costs import Cost, costs_of, machine
from .entrants import Entrant, entrants_of
from .findings import Findings
from .outcomes import outcome
from .page import page, tables, write
from .suite import DRAWN, suite
from .tables import markdown, markdown_of_errors, text

if TYPE_CHECKING:
    from ..running.points import Point


SEEDS = 3
"""Seeds of each scenario that draws random numbers, where no number is given: the fewest that bound an error well."""


class Arena(Findings):
    """Result of an arena: a card for each algorithm and scenario, and one over all scenarios for each algorithm.

    `print` shows the table of the latter, a notebook that and those of each scenario.
    """

    def markdown(self) -> str:
        """Give the cards over all scenarios in Markdown, how to choose by them, and mean errors by scenario."""
        chosen = "".join(f"- {line}\n" for line in choosing(self))
        errors = markdown_of_errors(self)
        return f"{markdown(self.overall)}\n{chosen}\nMean errors by scenario:\n\n{errors}"

    def html(self) -> str:
        """Give the report: a page that needs no other file."""
        return page(self)

    def __str__(self) -> str:
        """Give the table of the cards over all scenarios."""
        return text(self)

    def _repr_html_(self) -> str:
        return tables(self)


def arena(
    entrants: Sequence[str] | str | None = None,
    *,
    algorithms: Algorithms | None = None,
    only: Sequence[str] | str | None = None,
    seeds: int = SEEDS,
    workers: int | None = None,
    out: str | Path | None = None,
    costs: bool = True,
    progress: Progress | bool | None = None,
) -> Arena:
    """Hold switch algorithms against each other: each runs the same scenarios, with the same sources and seeds.

    Parameters
    ----------
    entrants
        Names of algorithms, each perhaps with an inline table of parameters behind it:
        ["erica", "erica { effective_number = true }"]. By default all that are built in and can take part.
    algorithms
        Algorithms of one's own, by name, each a class derived from `SwitchAlgorithm` or whatever else makes one. They
        take part beside the others. Their rates are held against the share of the lines that their attribute
        `target_utilization` says, the whole lines by default.
    only
        Names of scenarios, where it is not to be the whole suite.
    seeds
        Runs of each scenario that draws random numbers with so many seeds: its own, and those that follow it. Its cards
        have means, with 95 % confidence intervals. All other scenarios run once: every seed gives the same run.
    workers
        Number of processes; the number of processors by default. The cards do not depend on it.
    out
        A folder that keeps each run as soon as it is done (docs/guides/campaigns.md), and in the end the cards as
        arena.json and the report.html. The same call goes on after an interruption.
    costs
        Time the algorithms on this machine.
    progress
        As for `sweep`.

    Raises
    ------
    CellrateError
        If there is no algorithm or scenario of a name, or an algorithm cannot take part.
    ScenarioError
        If an algorithm does not take its parameters.

    Examples
    --------
    >>> arena = cellrate.arena(["erica", "phantom"], only=["parking-lot"])          # doctest: +SKIP
    >>> arena.card("erica", "parking-lot").worst_error                              # doctest: +SKIP
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise CellrateError(f"seeds is {shown(seeds)}; it is the number of seeds, 1 or more")
    plugins = Plugins.of(algorithms, None, None)
    here = entrants_of([entrants] if isinstance(entrants, str) else entrants, plugins.algorithms)
    scenarios = suite([only] if isinstance(only, str) else only)
    points, owners = _points(here, scenarios, seeds)
    with reporting("arena", len(points), progress) as reporter:
        outcomes = _outcomes(points, owners, plugins, workers, reporter, None if out is None else Path(out))
    made = _arena(here, scenarios, seeds, outcomes, costs_of(here, plugins) if costs else [])
    if out is not None:
        write(made, Path(out))
    return made


Owner = tuple[str, str]
"""Names of the scenario and of the algorithm that a run is of."""


def _points(
    entrants: Sequence[Entrant], scenarios: dict[str, Scenario], seeds: int
) -> tuple[list[Point], list[tuple[str, Entrant]]]:
    points: list[Point] = []
    owners: list[tuple[str, Entrant]] = []
    for name, scenario in scenarios.items():
        for entrant in entrants:
            for seed in range(scenario.seed, scenario.seed + (seeds if name in DRAWN else 1)):
                changed = scenario.set({"defaults.switch.algorithm": dict(entrant.setting), "seed": seed})
                changed.check()
                settings = {"name": name, "algorithm": entrant.name, "seed": str(seed)}
                points.append((changed, settings))
                owners.append((name, entrant))
    return points, owners


def _outcomes(
    points: Sequence[Point],
    owners: Sequence[tuple[str, Entrant]],
    plugins: Plugins,
    workers: int | None,
    progress: Progress | None,
    out: Path | None,
) -> list[Outcome]:
    finish = partial(_outcome, [(name, entrant.name, entrant.target) for name, entrant in owners])
    if out is None:
        return run_each(points, finish, workers=workers, progress=progress, plugins=plugins)
    # The folder keeps the runs of those who were held against each other before: that is what it is for.
    stored = sweep_into(out, points, workers=workers, progress=progress, plugins=plugins, complain=lambda _: None)
    return [finish(place, result) for place, result in enumerate(stored)]


def _outcome(owners: Sequence[tuple[str, str, float | None]], place: int, result: Result) -> Outcome:
    scenario, algorithm, target = owners[place]
    return outcome(result, algorithm, scenario, target)


def _arena(
    entrants: Sequence[Entrant],
    scenarios: dict[str, Scenario],
    seeds: int,
    outcomes: Sequence[Outcome],
    costs: Sequence[Cost],
) -> Arena:
    runs: dict[Owner, list[Outcome]] = {}
    for one in outcomes:
        assert one.card.scenario is not None
        runs.setdefault((one.card.scenario, one.card.algorithm), []).append(one)
    cards = [of_seeds([one.card for one in found]) for found in runs.values()]
    sketches = [found[0].sketch for found in runs.values()]
    names = [entrant.name for entrant in entrants]
    overall = [of_scenarios([[one.card for one in runs[scenario, name]] for scenario in scenarios]) for name in names]
    purposes = {name: scenario.purpose for name, scenario in scenarios.items()}
    return Arena(_native.version(), names, purposes, seeds, cards, overall, costs, machine(), sketches)
