"""Board of a run, for a page: the series so far, how far it has got, and in the end its figures."""

from __future__ import annotations

import json
import math
import threading
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing.style import COLOURS
from ..plotting.panels import fair_levels, grouped, thin
from ..recorded.groups import DRAWN, groups_of
from ..recorded.summaries import Part, ports_with_queues, vcs_with_data
from ..texts import printable, printable_all, printable_lines

if TYPE_CHECKING:
    from ..results import Result
    from ..scenario import Scenario
    from ..seam import Recent

MOST_POINTS = 1000
"""Most points of one series in one message; of more a picture shows no more."""

VIEWERS_WITHIN_S = 5.0
"""Time [s] that viewers have to fetch the end before the page is gone."""


class Board:
    """Written by the run, read by any number of viewers, each of whom has seen another part of it."""

    def __init__(
        self, scenario: Scenario, series: Sequence[tuple[str, str, str, int | None]], *, live: bool = False
    ) -> None:
        self._changed = threading.Condition()
        self._times = [array("d") for _ in series]
        self._values = [array("d") for _ in series]
        self._now_s = 0.0
        self._figures: dict[str, Any] | None = None
        self._viewers = 0
        self._opened = False
        head: dict[str, Any] = {
            "name": scenario.name,
            "purpose": scenario.purpose,
            "stamp": f"hash {scenario.hash[:12]}, seed {scenario.seed}",
            "duration_s": scenario.duration_s,
            "live": live,
            "panels": _panels(scenario, series),
            "series": [[probe, entity] for probe, entity, _, _ in series],
            "groups": {"all": groups_of(scenario.toml), "drawn": groups_of(scenario.toml, DRAWN)},
            "topology": json.loads(scenario._native.topology()),
        }
        # The text of the scenario is shown in an editor, as it is.
        self.head: dict[str, Any] = {**printable_all(head), "toml": scenario.toml}

    def add(self, now_s: float, recent: Recent) -> None:
        """Take what series have recorded up to `now_s`."""
        with self._changed:
            for place, times_ps, values in recent:
                self._times[place].extend(times_ps / 1e12)
                self._values[place].extend(values)
            self._now_s = now_s
            self._changed.notify_all()

    def end(self, result: Result, report: Sequence[Part]) -> None:
        """Take what came out and what is shown of it, and wait a moment until every viewer has it."""
        with self._changed:
            probes = dict.fromkeys(probe for probe, _ in result.series_names)
            found = {(series.probe, series.entity): series for probe in probes for series in result.all_series(probe)}
            for place, name in enumerate(result.series_names):
                series = found[name]
                known = len(self._times[place])
                self._times[place].extend(series.times_s[known:])
                self._values[place].extend(series.values[known:])
            self._now_s = result.summary["run"]["duration_s"]
            # Lists of single bursts and the like are long, and no table has them.
            tables = {key: rows for key, rows in result.summary.items() if not key.endswith("_list")}
            shown = {**tables, "vcs": vcs_with_data(result.summary), "ports": ports_with_queues(result.summary)}
            self._figures = {**printable_all(shown), "report": [_told(part) for part in report]}
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._viewers == 0, timeout=VIEWERS_WITHIN_S)

    def wait_for_viewer(self) -> None:
        """Come back when the page has been opened."""
        with self._changed:
            # In steps, so that Ctrl-C is noticed.
            while not self._changed.wait_for(lambda: self._opened, timeout=1.0):
                pass

    def enter(self) -> None:
        """Count one viewer more."""
        with self._changed:
            self._viewers += 1
            self._opened = True
            self._changed.notify_all()

    def leave(self) -> None:
        """Count one viewer less."""
        with self._changed:
            self._viewers -= 1
            self._changed.notify_all()

    def since(self, seen: list[int], shown_s: float) -> dict[str, Any] | None:
        """Give what has come since a viewer was told the last time, as it is to be told; None if that is nothing.

        Parameters
        ----------
        seen
            How many values of each series the viewer has; brought up to date.
        shown_s
            The network time that it shows.
        """
        with self._changed:
            if self._now_s <= shown_s and self._figures is None:
                return None
            parts = {}
            for place, known in enumerate(seen):
                if len(self._times[place]) > known:
                    parts[place] = (np.array(self._times[place][known:]), np.array(self._values[place][known:]))
                    seen[place] = len(self._times[place])
            now_s, figures = self._now_s, self._figures
        series = {place: [_listed(column) for column in thin(*part, MOST_POINTS // 4)] for place, part in parts.items()}
        return {"now_s": now_s, "series": series, **({} if figures is None else {"figures": figures})}


def _panels(scenario: Scenario, series: Sequence[tuple[str, str, str, int | None]]) -> list[dict[str, Any]]:
    levels = fair_levels(scenario.toml)
    panels = []
    for kind, places in grouped([(probe, unit) for probe, _, unit, _ in series]):
        several = len({series[place][0] for place in places}) > 1
        lines = []
        for number, place in enumerate(places):
            probe, entity, _, interval_ps = series[place]
            level = levels.get(entity) if probe == "acr" else None
            lines.append(
                {
                    "series": place,
                    "label": f"{entity} {probe.replace('_', ' ')}" if several else entity,
                    "colour": COLOURS[number % len(COLOURS)],
                    "changes": interval_ps is None,
                    "level": [[at_s, rate] for at_s, rate in level or []],
                }
            )
        panels.append({"axis": kind.axis, "scale": kind.scale, "top": kind.top, "lines": lines})
    return panels


def _told(part: Part) -> str | dict[str, Any]:
    """Give a table or a line of the report as the page takes it."""
    if isinstance(part, str):
        return printable(part)
    head, rows = part
    return {
        "head": [printable_lines(title) for title in head],
        "rows": [[printable(cell) for cell in row] for row in rows],
    }


def _listed(column: np.ndarray[Any, Any]) -> list[float | None]:
    """Numbers as JSON has them: none is infinite."""
    return [value if math.isfinite(value) else None for value in column.tolist()]
