"""The results of a sweep that lie in a folder, read as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from ..errors import CellrateError
from ..folders.inventory import Inventory
from ..recorded.columns import tables
from ..results.result import Result
from ..sweeps.settings import named
from ..sweeps.tidy import tidy
from ..texts import printable
from .manifest import Entry, Manifest

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa
    import xarray


class Runs(list[Result]):
    """The results of a sweep in memory, in its order: a list that shows its table."""

    missing: Sequence[dict[str, str]] = ()
    """Settings of points that were asked for and are not there, where the results come from folders."""

    @property
    def settings(self) -> list[dict[str, str]]:
        """Give what each point sets, from dotted path to value as text."""
        return [result.settings for result in self]

    def tidy(self, of: str = "vcs", *, over_seeds: bool = False) -> pa.Table:
        """Give the rows of all points in one table (`cellrate.tidy`)."""
        return tidy(self, of, over_seeds=over_seeds)

    def __repr__(self) -> str:
        return f"<Runs: {named(self[0].summary, self.settings)}>" if self else "<Runs: 0 points>"

    def _repr_html_(self) -> str:
        """Show the compact table of the sweep in a notebook."""
        return _html(self)


def _html(results: Runs | Sweep) -> str:
    from html import escape

    from ..recorded.notebook import html_table
    from ..sweeps.overview import overview

    return f"<div>{escape(printable(repr(results)))}{html_table(overview(results))}</div>"


class Sweep(Sequence[Result]):
    """The results of a sweep in a folder, in the order of the sweep, read as they are asked for.

    It is a sequence of the points that were there when it was made: `sweep[0]`, `len(sweep)`, `for result in sweep`.
    A sweep that still runs, or was interrupted, has those that are done.

    Attributes
    ----------
    folder : Path
        Where the results are.
    settings : list of dict
        What each point that is there sets, from dotted path to value as text.
    missing : list of dict
        What the points set that were asked for and are not there.
    """

    def __init__(
        self,
        folder: Path,
        settings: Sequence[dict[str, str]],
        read: Callable[[int], Result],
        missing: Sequence[dict[str, str]] = (),
        digest: str | None = None,
    ) -> None:
        self.folder = folder
        self.settings = list(settings)
        self.missing = list(missing)
        self._read = read
        self._digest = digest

    @classmethod
    def of_campaign(cls, folder: Path) -> Sweep:
        """Look at what of a campaign is there."""
        from ..folders.replaceable import RESULTS
        from ..results.reading import read_point

        manifest = Manifest.read(folder)
        there: list[Entry] = []
        missing: list[Entry] = []
        for entry in manifest.points:
            (there if (folder / entry.folder / RESULTS).exists() else missing).append(entry)

        def read(place: int) -> Result:
            entry = there[place]
            return read_point(folder / entry.folder, entry.hash, entry.set)

        digest = None if missing else manifest.digest
        return cls(folder, [one.set for one in there], read, [one.set for one in missing], digest)

    def __len__(self) -> int:
        return len(self.settings)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> list[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | list[Result]:
        """Read a result, or some."""
        if isinstance(place, slice):
            return [self._read(one) for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no point {place}; {self!r}")
        return self._read(place % len(self))

    def __iter__(self) -> Iterator[Result]:
        return map(self._read, range(len(self)))

    def tidy(self, of: str = "vcs", *, over_seeds: bool = False) -> pa.Table:
        """Give the rows of all points in one table (`cellrate.tidy`).

        Once a sweep is whole its tables are files, OF.parquet in its folder, which this reads: no result is loaded.

        Parameters
        ----------
        of
            Which rows: "vcs", "ports", "tcp", ...; "run" for one per result.
        over_seeds
            Give a row for all results that differ in their seeds only, with means and their intervals.

        Raises
        ------
        CellrateError
            If results have no such rows.
        """
        if over_seeds:
            return tidy(self, of, over_seeds=True)
        found = self._stored(of)
        if found is not None:
            return found
        if not len(self):
            raise CellrateError(f"{self.folder}: none of {len(self.missing)} points is there yet")
        return tidy(self, of)

    def _stored(self, of: str) -> pa.Table | None:
        """Give a table that is stored, if it is of these points."""
        file = self.folder / f"{of}.parquet"
        if self._digest is None or not of.isidentifier() or not file.is_file():
            return None
        inventory = Inventory.read(self.folder)
        if inventory is not None and inventory.damage_of(self.folder, file.name) is not None:
            # Points have all that is in it.
            return None
        import pyarrow.parquet

        from ..results.reading import damage_told

        try:
            with damage_told(file):
                table = pyarrow.parquet.read_table(file)
        except CellrateError:
            return None
        metadata = table.schema.metadata or {}
        if metadata.get(b"campaign", b"") != self._digest.encode():
            return None
        return table.replace_schema_metadata(None)

    def to_pandas(self, of: str = "vcs", *, over_seeds: bool = False) -> pandas.DataFrame:
        """Give `tidy` as a data frame of pandas, which is an extra: `pip install 'cellrate[pandas]'`."""
        return self.tidy(of, over_seeds=over_seeds).to_pandas()

    def to_polars(self, of: str = "vcs", *, over_seeds: bool = False) -> polars.DataFrame:
        """Give `tidy` as a data frame of polars, which is an extra: `pip install 'cellrate[polars]'`."""
        import polars as pl

        frame = pl.from_arrow(self.tidy(of, over_seeds=over_seeds))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_xarray(self, of: str = "vcs") -> xarray.Dataset:
        """Give the rows of all points as a dataset of xarray, which is an extra: `pip install 'cellrate[xarray]'`.

        Its dimensions are what was varied, the seed among them, and what names a row, such as "vc" or "port"; its
        variables are the numbers. Where a point has no such row a number is NaN.

        Raises
        ------
        CellrateError
            If several rows of a point have the same name, so that they are no grid.
        """
        table = self.tidy(of)
        paths = list(dict.fromkeys(path for one in self.settings for path in one))
        naming = tables()[of].naming if of in tables() else ["vc", "flows"]
        names = [name for name in table.column_names if name in (*paths, *naming)]
        if of == "run":
            names = [name for name in names if name in paths]
        frame = table.to_pandas()
        frame = frame[[*names, *(name for name in frame.select_dtypes("number").columns if name not in names)]]
        if frame.duplicated(names).any():
            raise CellrateError(f"several rows of {of} have the same {', '.join(names)}: they do not form a grid")
        dataset: xarray.Dataset = frame.set_index(names).to_xarray()
        return dataset

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"<Sweep {str(self.folder)!r}: {len(self)} points{missing}>"

    def _repr_html_(self) -> str:
        """Show the compact table of the sweep in a notebook."""
        return _html(self)
