"""A campaign from its points to its tables: what is missing is run, by whatever workers there are."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..folders.inventory import Inventory
from ..folders.owned import area_of
from ..plugins.collection import NOTHING, Plugins
from ..plugins.digest import digest_of
from ..running.points import How, Point, Progress, check_threads
from ..running.processes import number_of_workers
from .batches import BACK, DONE, Batch, Done, Item, Target, lacks, sent, store, work_here
from .executors import ExecutorChoice, Workers, workers_of
from .manifest import Manifest
from .scheduling import AGAIN_S, run_batches, run_each
from .store import Claims, Store, opened
from .sweep import Sweep
from .tables import SHARED, Each, here, write_tables

if TYPE_CHECKING:
    from ..results.writing import Undrawn
    from ..scenario import Scenario


def sweep_into(
    folder: Path,
    points: Sequence[Point],
    *,
    csv: bool = False,
    plots: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    plugins: Plugins = NOTHING,
    executor: ExecutorChoice = None,
    fresh: bool = False,
    tables: bool = True,
    complain: Callable[[str], object] | None = None,
    name: str = "executor",
) -> Sweep:
    """Run the points of a sweep into a folder, a campaign: a folder per point, and the rows of all points as tables.

    Points that are there already, from the same scenario, seed and build, are not run again; several processes may work
    on the same points. A point is written by the process that ran it, as soon as it has ended: whatever ends this, what
    is done is kept, and the same call goes on. Without `tables` there are points alone; with `csv` there are tables as
    CSV too, with `plots` pictures. Pictures that cannot be drawn are left out: `complain` is told, or a warning is
    given.

    Raises
    ------
    CellrateError
        If the folder holds something else, or others are at work on it with other points.
    RunError
        If workers are gone; otherwise what a run raised.
    """
    from ..results.writing import describe_undrawn, warn

    say, how = complain or warn, How(threads, plugins)
    check_threads(threads)
    count = number_of_workers(workers, len(points))
    plugins.check(scenario for scenario, _ in points)
    digest = digest_of(plugins)
    # What cannot be told from what it was yesterday is run again.
    manifest = Manifest.of(points, secrets.token_hex(8) if digest is None else digest)
    with opened(folder, manifest, fresh=fresh, complain=say) as campaign, _told(campaign, folder):
        work = _Work(campaign, points, how, csv=csv, plots=plots, progress=progress, tables=tables)
        if campaign.damaged:
            which, why = next(iter(campaign.damaged.items()))
            say(f"{len(campaign.damaged)} points in {folder} are not whole and are run again ({which}: {why})")
        undrawn = work.do(executor, count, name)
        sweep = Sweep.of_campaign(campaign.folder)
        sweep.folder = folder
        if plots:
            undrawn += _draw(campaign, sweep)
    for text in describe_undrawn(undrawn):
        say(text)
    return sweep


def _make_tables(campaign: Store, *, csv: bool, each: Each = here) -> None:
    """Make the tables, unless they are there and whole; those in CSV too where there were some before."""
    folder = campaign.folder
    inventory = Inventory.read(folder)
    if inventory is not None and inventory.of == campaign.manifest.digest and not inventory.damage(folder):
        has_csv = any(name.endswith(".csv") for name in inventory.files)
        if has_csv or not csv:
            return
    write_tables(folder, campaign.manifest, csv=csv or any(folder.glob("*.csv")), each=each)


def _draw(campaign: Store, sweep: Sweep) -> list[Undrawn]:
    import tempfile

    from ..results.writing import draw_sweep

    folder = campaign.folder
    inventory = Inventory.read(folder)
    listed = {} if inventory is None else inventory.files
    if "sweep.png" in listed and (folder / "sweep.png").exists():
        return []
    with tempfile.TemporaryDirectory(dir=campaign.area, prefix="drawing") as name:
        place = Path(name)
        undrawn = draw_sweep(sweep, place)
        drawn = [file.name for file in place.iterdir()]
        for one in drawn:
            (place / one).replace(folder / one)
        if inventory is not None:
            Inventory.of_files(folder, [*listed, *drawn], inventory.of).write(folder, place)
    return undrawn


@contextlib.contextmanager
def _told(campaign: Store, folder: Path) -> Iterator[None]:
    """Have whatever ends the work say what is kept."""
    try:
        yield
    except BaseException as error:
        total = len(campaign.manifest.points)
        done = total - len(campaign.missing())
        if done:
            error.add_note(f"{done} of {total} points are in {folder}; the same command goes on with the rest")
        raise


class _Work:
    """The points of a campaign on their way."""

    def __init__(
        self,
        campaign: Store,
        points: Sequence[Point],
        how: How,
        *,
        csv: bool,
        plots: bool,
        progress: Progress | None,
        tables: bool,
    ) -> None:
        self.campaign = campaign
        self.points = points
        self.how = how
        self.target = Target(campaign.folder, f"token.{secrets.token_hex(8)}", csv, plots)
        self.progress = progress
        self.tables = tables
        self.claims = Claims(campaign.folder)
        self.common: tuple[Scenario, str] | None = None
        self.undrawn: list[Undrawn] = []
        entries = campaign.manifest.points
        missing = set(campaign.missing())
        self.todo = [
            place
            for place, entry in enumerate(entries)
            if place in missing or ((csv or plots) and lacks(campaign.folder / entry.folder, self.target))
        ]
        self.done = len(entries) - len(self.todo)

    def do(self, executor: ExecutorChoice, count: int, name: str) -> list[Undrawn]:
        """Have everything that is missing."""
        if self.todo or executor is not None:
            self._run(executor, count, name)
        if self.tables:
            _make_tables(self.campaign, csv=self.target.csv)
        return self.undrawn

    def _run(self, executor: ExecutorChoice, count: int, name: str) -> None:
        # The longest first, as far as network time tells: the last to end should not have been the last to begin.
        durations_s = self.campaign.manifest.durations_s
        order = sorted(self.todo, key=lambda place: -durations_s[place])
        token = area_of(self.target.folder) / self.target.token
        token.touch()
        try:
            if executor is None and min(count, len(order)) <= 1:
                self._here(order)
                return
            with workers_of(executor, min(count, max(1, len(order))), name) as workers:
                self._there(order, workers)
                if self.tables and len(self.points) >= SHARED:
                    each = partial(run_each, workers, self.target)
                    _make_tables(self.campaign, csv=self.target.csv, each=each)
        finally:
            self.claims.close()
            token.unlink(missing_ok=True)

    def _here(self, order: Sequence[int]) -> None:
        """Run in this process."""
        left = list(order)
        while left:
            busy = []
            for place in left:
                part = None if self.progress is None else self._part
                done = work_here(self._item(place), self.target, self.how, self.claims, part)
                if not self._take(done):
                    busy.append(place)
            left = [place for place in busy if not self._ended(place)]
            if left:
                time.sleep(AGAIN_S)

    def _there(self, order: Sequence[int], workers: Workers) -> None:
        def given(places: Sequence[int]) -> bytes:
            return sent(Batch(self.target, self.how, [self._item(place) for place in places]), afar=workers.afar)

        run_batches(workers, order, given, self._take, self._ended)

    def _item(self, place: int) -> Item:
        scenario, seed = self.points[place][0].origin
        if self.common is None or self.common[0] is not scenario:
            # One text for many points, which a batch then holds once.
            self.common = scenario, scenario.toml
        return Item(place, self.campaign.manifest.points[place], self.common[1], scenario.file, seed)

    def _take(self, done: Done) -> bool:
        result = done.result
        if done.what == BACK and result is not None:
            done = store(self._item(done.place), self.target, self.claims, lambda: result)
        if done.what != DONE:
            return False
        self.undrawn += done.undrawn
        self._count()
        return True

    def _ended(self, place: int) -> bool:
        """Whether a point that another process had begun is there."""
        entry = self.campaign.manifest.points[place]
        if not self.campaign.has(entry) or lacks(self.campaign.folder / entry.folder, self.target):
            return False
        self._count()
        return True

    def _count(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done / len(self.campaign.manifest.points))

    def _part(self, fraction: float) -> None:
        if self.progress is not None:
            self.progress((self.done + fraction) / len(self.campaign.manifest.points))
