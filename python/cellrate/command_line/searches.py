"""`cellrate search` and `cellrate tune`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .app import app
from .options import Cluster, Files, Json, Seed, Settings, Workers, settings_of
from .output import complain, print_json, progress_bar, say, tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..campaigns.search import Answer
    from ..campaigns.sweep import Sweep
    from ..campaigns.tune import Tuned
    from ..running.points import Point
    from ..scenario import Scenario
    from ..sweeps.figures import Criterion, Objective


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Options of the runs of a search: of what scenario, where they run, and where their results are kept."""

    set: Settings = None
    seed: Seed = None
    out: Annotated[
        Path | None, Parameter(help="Folder that keeps the runs (results/search/NAME or results/tune/NAME).")
    ] = None
    workers: Workers = None
    cluster: Cluster = None

    def scenario(self, file: str) -> Scenario:
        """Prepare the scenario, without the sweep that it may have."""
        from ..scenario import Scenario, prepare

        scenario = prepare(file, set=settings_of(self.set), seed=self.seed)
        points = scenario.checked_points()
        if not points[0].settings:
            return points[0].scenario
        swept = ", ".join(points[0].settings)
        say(f"{file} sweeps over {swept}, which is left out: the scenario's own values count")
        content = {key: value for key, value in scenario.to_dict().items() if key != "sweep"}
        return Scenario.from_dict(content, file=file)

    def folder(self, kind: str, scenarios: Sequence[Scenario]) -> Path:
        """Give the folder that keeps the runs, one by the name of the first scenario where none is given."""
        from ..folders.replaceable import plain_name

        more = f"-and-{len(scenarios) - 1}-more" if len(scenarios) > 1 else ""
        return self.out or Path("results") / kind / (plain_name(scenarios[0]) + more)

    def into(self, folder: Path) -> Callable[[Sequence[Point]], Sweep]:
        """Give the function that runs points into the folder."""
        from ..campaigns.running import sweep_into

        return partial(sweep_into, folder, workers=self.workers, executor=self.cluster, complain=say, name="--cluster")


@app.command("search")
def search(
    files: Files,
    /,
    *,
    vary: Annotated[list[str], Parameter(help="What to vary: dotted.path=LOW..HIGH.")],
    such_that: Annotated[
        list[str],
        Parameter(help="What has to hold: 'ports.dropped == 0', 'vcs.p99_delay <= 10 ms'. May be given again."),
    ],
    smallest: Annotated[bool, Parameter(help="Look for the smallest value instead of the largest.")] = False,
    tolerance: Annotated[str, Parameter(help="Share of the range that may be left between right and wrong.")] = "1 %",
    seeds: Annotated[int, Parameter(help="Seeds of each value; the criteria hold with every one.")] = 1,
    runs: Runs,
    json: Json = False,
) -> int:
    """Find the largest or smallest value of a key for which criteria on results hold, in every scenario given."""
    from ..campaigns.ranges import Range
    from ..campaigns.search import search as search_for
    from ..quantities import read_ratio
    from ..sweeps.figures import Criterion

    if len(vary) != 1:
        raise CellrateError(f"--vary is given {len(vary)} times; a search varies one key")
    over, criteria = Range.read(vary[0]), [Criterion.read(text) for text in such_that]
    share = read_ratio(tolerance)
    if not 0 < share < 1:
        raise CellrateError(f"--tolerance is {tolerance}; it must be above 0 and below 100 %")
    if seeds < 1:
        raise CellrateError(f"--seeds is {seeds}; it must be at least 1")
    scenarios = [runs.scenario(file) for file in files]
    folder = runs.folder("search", scenarios)
    title = scenarios[0].name if len(scenarios) == 1 else f"{len(scenarios)} scenarios"
    with progress_bar(f"{title}, search", quiet=json):
        run = runs.into(folder)
        answer = search_for(scenarios, over, criteria, run, seeds=seeds, smallest=smallest, tolerance=share)
    if json:
        print_json(_told(answer, folder))
    else:
        _print_tried(answer, criteria)
        tell(answer)
        tell(f"{len(answer.tried)} values were tried; their results are in {folder}")
    return 0 if answer.value is not None else 1


@app.command("tune")
def tune(
    files: Files,
    /,
    *,
    vary: Annotated[list[str], Parameter(help="What to vary: dotted.path=LOW..HIGH. May be given again.")],
    objective: Annotated[
        list[str],
        Parameter(
            help="'max vcs.throughput', 'min ports.max_queue', 'max least abr vcs.throughput'. May be given again."
        ),
    ],
    subject_to: Annotated[
        list[str] | None, Parameter(help="What has to hold: 'ports.dropped == 0'. May be given again.")
    ] = None,
    trials: Annotated[int, Parameter(help="Sets of values that are tried.")] = 60,
    pick: Annotated[
        int | None,
        Parameter(
            help="Write the scenario of this trial of the front, by its number in the list, instead of the knee's."
        ),
    ] = None,
    seeds: Annotated[int, Parameter(help="Seeds of each trial; the best get three times as many.")] = 3,
    runs: Runs,
    write: Annotated[
        Path | None,
        Parameter(help="File for the scenario with the winner's values (NAME-tuned.toml beside the folder)."),
    ] = None,
    plot: Annotated[
        bool, Parameter(help="Draw all trials and the Pareto front, FOLDER-front.png and .svg; for several objectives.")
    ] = False,
    json: Json = False,
) -> int:
    """Tune keys of a scenario for one objective or several, within what TM 4.0 can signal, by Optuna.

    The same command goes on after an interruption.
    """
    from ..campaigns.ranges import Range
    from ..campaigns.tune import Study
    from ..sweeps.figures import Criterion, Objective

    for name, given in (("trials", trials), ("seeds", seeds)):
        if given < 1:
            raise CellrateError(f"--{name} is {given}; it must be at least 1")
    if plot and len(objective) < 2:
        raise CellrateError("--plot draws objectives against each other and needs two; --objective is given once")
    scenario = runs.scenario(_alone(files))
    folder = runs.folder("tune", [scenario])
    target = write or folder.with_name(f"{folder.name}-tuned.toml")
    objectives = [Objective.read(text) for text in objective]
    with progress_bar(f"{scenario.name}, tuning", quiet=json):
        over, criteria = [Range.read(text) for text in vary], [Criterion.read(text) for text in subject_to or []]
        tuned = Study(scenario, over, objectives, criteria, runs.into(folder), seeds, trials, pick=pick).do()
    if tuned.winner is None or tuned.scenario is None:
        return complain(f"none of {tuned.trials} trials keeps the constraints; their results are in {folder}", 1)
    written = tuned.better or tuned.trades or pick is not None
    if written:
        target.write_text(tuned.scenario.toml, encoding="utf-8", newline="\n")
    if plot:
        picture = _draw_front(tuned, objectives, scenario, folder)
        if not json:
            print(f"Plot: {picture}.png")
    if json:
        print_json(_content(tuned, folder, target if written else None))
    else:
        _print(tuned, objectives, is_picked=pick is not None)
        tell(f"The runs are in {folder}" + (f", the tuned scenario in {target}" if written else ""))
    return 0


def _alone(files: Sequence[str]) -> str:
    """Give the file of the scenario to be tuned, and refuse several."""
    if len(files) > 1:
        raise CellrateError(
            f"{', '.join(files)}: a scenario is tuned by itself, and what is best in one may not be in another; give "
            "one. `cellrate search` finds a value of one key that holds in several, and `cellrate run A B --sweep` "
            "shows what each value gives in each"
        )
    return files[0]


def _draw_front(tuned: Tuned, objectives: Sequence[Objective], scenario: Scenario, folder: Path) -> Path:
    from ..campaigns.front import front
    from ..drawing.figures import save

    picture = folder.with_name(f"{folder.name}-front")
    save(front(tuned, objectives, f"{scenario.name}: {tuned.trials} trials"), picture)
    return picture


def _print_tried(answer: Answer, criteria: Sequence[Criterion]) -> None:
    """Print a row for each value that was tried, in each scenario: what criteria are of, and whether they hold."""
    from ..recorded.table import print_numbers

    is_several = any(name for tried in answer.scenarios.values() for name in tried)
    scenario = ["scenario"] if is_several else []
    head = [answer.path.rpartition(".")[2], *scenario, *(one.figure.heading for one in criteria), "holds"]
    rows = [
        [
            value,
            *([name] if is_several else []),
            *(criterion.figure.said(one) for criterion, one in zip(criteria, tried.figures, strict=True)),
            "yes" if tried.holds else "no",
        ]
        for value, scenarios in answer.scenarios.items()
        for name, tried in scenarios.items()
    ]
    print_numbers(head, rows)


def _told(answer: Answer, folder: Path) -> dict[str, object]:
    """Give the answer as JSON has it: of one scenario figures by value, of several by value and scenario."""
    told = {key: getattr(answer, key) for key in ("path", "value", "beyond", "monotonic", "tried")}
    each = answer.scenarios.items()
    if all("" in tried for _, tried in each):
        told["figures"] = {value: tried[""].figures for value, tried in each}
    else:
        told["scenarios"] = {value: {name: vars(one) for name, one in tried.items()} for value, tried in each}
    return {**told, "folder": str(folder)}


def _print(tuned: Tuned, objectives: Sequence[Objective], *, is_picked: bool) -> None:
    from ..recorded.table import letter, print_numbers
    from ..sweeps.settings import names_of

    paths = list(dict.fromkeys(path for trial in tuned.front for path in trial.settings))
    names = names_of(paths)
    head = ["trial", *(names[path] for path in paths), *(one.heading for one in objectives)]
    rows = [
        [
            str(number),
            *(trial.settings.get(path, "as it is") for path in paths),
            *(one.figure.said(value) for one, value in zip(objectives, trial.values, strict=True)),
        ]
        for number, trial in enumerate(tuned.front, 1)
    ]
    tell(
        f"Best of {tuned.trials} trials"
        + (", none of which another one beats in every objective" if len(rows) > 1 else "")
    )
    print_numbers(head, rows)
    assert tuned.winner is not None
    assert tuned.against is not None
    values = (
        ", ".join(f"{names[path]} = {value}" for path, value in tuned.winner.settings.items())
        or "the scenario as it is"
    )
    tell(f"On seeds that no trial has seen, {values} beside the scenario as it is:")
    sign = letter("±", "+-")
    for one, won, was, difference in zip(
        objectives, tuned.against.winner, tuned.against.scenario, tuned.against.difference, strict=True
    ):
        figure = one.figure
        half = f" {sign} {figure.said(difference.half_width)}" if difference.half_width else ""
        unit = f" {figure.scale.unit}" if figure.scale.unit else ""
        said_difference = f"difference {figure.said(difference.mean)}{half}{unit}"
        tell(f"  {figure.label}: {figure.said(won.mean)}{unit}, was {figure.said(was.mean)}{unit}; {said_difference}")
    if tuned.trades:
        tell("That is better in one objective and worse in another; --pick N writes the scenario of another trial.")
    elif not tuned.better:
        stays = "." if is_picked else ", which stays; no scenario is written. --pick N writes that of a trial."
        tell(f"That is no better than the scenario as it is{stays}")


def _content(tuned: Tuned, folder: Path, target: Path | None) -> dict[str, object]:
    assert tuned.winner is not None
    assert tuned.against is not None
    means = {
        key: [mean.__dict__ for mean in getattr(tuned.against, key)] for key in ("winner", "scenario", "difference")
    }
    return {
        "trials": tuned.trials,
        "front": [trial.__dict__ for trial in tuned.front],
        "winner": tuned.winner.__dict__,
        "unseen_seeds": means,
        "better": tuned.better,
        "trades": tuned.trades,
        "folder": str(folder),
        "scenario": None if target is None else str(target),
    }
