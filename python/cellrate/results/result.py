"""Result of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NoSuchSeries
from ..recorded.instants import Instant, part_of_run
from ..recorded.run import Recorded
from ..texts import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(Recorded):
    """Result of a run: what it recorded, and how that is drawn and written.

    Attributes
    ----------
    settings : dict
        What the point of a sweep set, from dotted path to the value as text; empty without a sweep. `set` has the
        values themselves.
    toml : str
        The scenario, settings applied.
    purpose : str
        What the scenario is for.
    captured : tuple of CapturedFile
        The files of the capture, if the run had one.
    """

    def plot(self, *probes: str, time: tuple[Instant, Instant] | None = None) -> Figure:
        """Draw what the run recorded: a panel per kind of quantity, above each other.

        A notebook shows the figure; `savefig` writes it.

        Parameters
        ----------
        *probes
            "acr", "queue", ...: only these; all of them if none is given.
        time
            The part of the time axis to show, from and to: numbers [s] or texts such as "5 ms"; it ends with the run at
            the latest. All of it when None.

        Raises
        ------
        NoSuchSeries
            If the run recorded nothing, or not one of the probes.
        ValueError
            If nothing of the run is in `time`, or an instant of it is none.
        TypeError
            If `time` is not a pair of numbers or texts.
        """
        recorded = dict.fromkeys(name for name, _ in self._series)
        missing = [probe for probe in probes if probe not in recorded]
        if missing or not recorded:
            asked = missing[0] if missing else "to draw"
            raise NoSuchSeries(f"there is no series {asked}; probes of this run: {', '.join(recorded) or 'none'}")
        run = self.summary["run"]
        shown_s = None if time is None else part_of_run(time, run["duration_s"])
        from ..plotting.runs import figure, panels_of, settings_of

        panels = panels_of(self, probes or None)
        return figure(panels, run["scenario"], self.stamp, subtitle=settings_of(self), time=shown_s)

    def plot_delays(self, *vcs: str) -> Figure:
        """Draw the distribution of the delays of data cells: the share that took at most so long, a line for each VC.

        A notebook shows the figure; `savefig` writes it.

        Parameters
        ----------
        *vcs
            Only these; all of them if none is given.

        Raises
        ------
        CellrateError
            If a VC delivered no data cell, or none did.
        """
        from ..plotting.delays import figure

        return figure({"": self}, vcs)

    def plot_completion_times(self, *flows: str) -> Figure:
        """Draw the distribution of completion times of flows of a size: a line for each class of sizes.

        A notebook shows the figure; `savefig` writes it.

        Parameters
        ----------
        *flows
            Only those of these entries of the scenario; all of them if none is given.

        Raises
        ------
        CellrateError
            If none of an entry is complete, or none at all.
        """
        from ..plotting.completion_times import figure

        return figure({"": self}, flows)

    def write(self, folder: str | Path, *, csv: bool = False, plots: bool = True) -> Path:
        """Write everything into a folder, which appears whole or not at all.

        summary.json, scenario.toml, series/PROBE.parquet, delays.parquet, completion_times.parquet of flows of a size,
        and plot.png. A folder of earlier results of that name is replaced; any other that is not empty is left alone.

        Parameters
        ----------
        folder
            Where to.
        csv
            Write each series/PROBE.csv too, and vcs.csv, ports.csv and the like.
        plots
            Draw plot.png, or of a run without series delays.png, or completion_times.png.

        Raises
        ------
        CellrateError
            If the folder holds something else.
        OSError
            If it cannot be written.
        """
        from .writing import write_result

        return write_result(self, Path(folder), csv=csv, plots=plots)

    def __repr__(self) -> str:
        told = "".join(f"  {path} = {text}" for path, text in self.settings.items())
        return f"<Result {printable(self.stamp + told)}>"

    def _repr_html_(self) -> str:
        from ..recorded.groups import groups_of
        from ..recorded.notebook import html_of

        return html_of(self.summary, self.settings, groups_of(self.toml))
