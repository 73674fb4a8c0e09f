"""Results back from the folders that `writing` has filled."""

from __future__ import annotations

import contextlib
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import CellrateError, shown
from ..folders.inventory import INVENTORY, Inventory
from ..folders.replaceable import CAMPAIGN, COMPLETION_TIMES, DELAYS, RESULTS, of_a_run, of_runs
from ..folders.stored_json import stored_json
from ..plain_files import check_plain, plain_octets
from ..recorded.series import Series
from ..toml import as_toml
from .result import Result

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from ..recorded.completion_times import CompletionTimes
    from ..recorded.delays import Delays


def load(folder: str | Path) -> Result:
    """Read the result of a run back from its folder (`Result.write`, `cellrate run --out`).

    Summary, settings of the scenario and series are what they were, to the last bit; what a point of a sweep set is
    known to the sweep (`load_sweep`), and not where a capture went. Series are read when they are asked for.

    Parameters
    ----------
    folder
        Where the result is. Of a live run it has the rows of the attempt that counts.

    Raises
    ------
    CellrateError
        If no result of a single run is there, or it is not whole; said with the file.
    """
    place = Path(folder)
    if (place / CAMPAIGN).is_file():
        number = sum(1 for _ in place.glob("point-*"))
    else:
        summary = summary_in(place)
        if of_a_run(summary):
            return read_run(place, summary, {})
        number = len(runs_in(place, summary))
    raise CellrateError(f"{place} has the results of {number} runs; cellrate.load_sweep gives them all")


def read_point(folder: Path, hash: str, settings: dict[str, str]) -> Result:
    """Read a point of a campaign, whose scenario has this hash.

    Raises
    ------
    CellrateError
        If it is damaged, or of another scenario.
    """
    summary = summary_in(folder)
    if not of_a_run(summary) or summary["run"]["hash"] != hash:
        raise CellrateError(
            f"{folder / RESULTS} is not of the scenario that {folder.parent / CAMPAIGN} says; the command that made "
            "the sweep runs it again"
        )
    return read_run(folder, summary, dict(settings))


def summary_in(folder: Path) -> dict[str, Any]:
    """Give what the summary in `folder` says, of a run or of several.

    Raises
    ------
    CellrateError
        If the folder has no summary.
    """
    file = folder / RESULTS
    try:
        octets = plain_octets(file)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError) and not folder.exists()
        said = "there is no such folder" if is_missing else f"{file.name}: {error.strerror}"
        raise CellrateError(f"{folder} holds no results: {said}") from None
    return checked_summary(octets, file)


def checked_summary(octets: bytes, file: Path) -> dict[str, Any]:
    """Give the content of a summary, of a run or of several, which is that of `file`.

    Raises
    ------
    CellrateError
        If it is not one.
    """
    try:
        content = stored_json(octets)
    except ValueError as error:
        raise CellrateError(f"{file} is not JSON: {error}") from None
    if of_a_run(content):
        _check(content, file)
    elif isinstance(content, dict) and any(of_runs(content.get(kind)) for kind in ("points", "runs")):
        for row in content["points"] if of_runs(content.get("points")) else content["runs"]:
            _check(row, file)
    else:
        raise CellrateError(f"{file} is not a summary of a run or a sweep")
    return dict(content)


@contextlib.contextmanager
def told_of(folder: Path) -> Iterator[None]:
    """Have what fails because a summary lacks something, or has it in another form, say which file that is.

    Raises
    ------
    CellrateError
        Instead of errors such as `KeyError`.
    """
    try:
        yield
    except CellrateError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        file = folder / (CAMPAIGN if (folder / CAMPAIGN).is_file() else RESULTS)
        what = f"{type(error).__name__}: {error}"
        raise CellrateError(
            f"{file}, or what belongs to it, is damaged or of another version than {_native.version()}: {what}"
        ) from error


@contextlib.contextmanager
def damage_told(table: Path) -> Iterator[None]:
    """Have whatever pyarrow raises at a damaged Parquet file say which file that is.

    Raises
    ------
    CellrateError
        Instead of `OSError`, `ValueError` and Arrow's own errors, some of which derive from neither.
    """
    import pyarrow as pa

    try:
        # Arrow would wait for the writer of a pipe.
        check_plain(table.stat(), table)
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        raise CellrateError(f"{table} cannot be read: {error}") from None


_KIND = re.compile(r"[a-z][a-z0-9_]*")
"""Names of kinds of rows, and of probes."""


def _check(summary: Mapping[str, Any], file: Path) -> None:
    """See that the summary of a run has what any is read by.

    Raises
    ------
    CellrateError
        If it does not, with the key.
    """
    run = summary["run"]
    for key, kind in (("seed", int), ("duration_s", (int, float)), ("cell_hops", int)):
        value = run.get(key)
        if not isinstance(value, kind) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise CellrateError(
                f"{file} is damaged or of another version than {_native.version()}: run.{key} is {shown(value)}"
            )
    for key, rows in summary.items():
        if not _KIND.fullmatch(key) or key == "summary":
            # Rows become tables in files of that name.
            raise CellrateError(f"{file} is damaged: {shown(key)} is not a kind of rows")
        if isinstance(rows, list) and not all(isinstance(row, dict) for row in rows):
            raise CellrateError(
                f"{file} is damaged or of another version than {_native.version()}: {key} is not a list of rows"
            )


def runs_in(folder: Path, summary: dict[str, Any]) -> list[tuple[Path, dict[str, str], dict[str, Any]]]:
    """Give the folder of each run, what it set, and what the summary of all says of it."""
    kind, name = ("points", "point") if "points" in summary else ("runs", "run")
    points = []
    for number, row in enumerate(summary[kind], 1):
        said = {key: value for key, value in row.items() if key != "set"}
        settings = {path: as_toml(value, path) for path, value in row.get("set", {}).items()}
        points.append((folder / f"{name}-{number:03d}", settings, said))
    return points


def read_run(folder: Path, summary: dict[str, Any], settings: dict[str, str]) -> Result:
    """Read the run in a folder, of which `summary` is the summary.

    Raises
    ------
    CellrateError
        If it is not whole, or what belongs to it is not there; so do series and distributions once they are read.
    """
    with told_of(folder):
        return _read_run(folder, summary, settings)


def _read_run(folder: Path, summary: dict[str, Any], settings: dict[str, str]) -> Result:
    file = folder / "scenario.toml"
    try:
        toml = plain_octets(file).decode()
        document = tomllib.loads(toml)
    except OSError as error:
        raise CellrateError(f"{file}, which belongs to {folder / RESULTS}: {error.strerror}") from None
    except ValueError as error:
        raise CellrateError(f"{file} is not TOML: {error}") from None
    run = summary["run"]
    if document.get("name") != run["scenario"]:
        raise CellrateError(f"{file} is damaged: {folder / RESULTS} is of a scenario of another name")
    inventory = Inventory.read(folder)
    damage = None
    if inventory is not None:
        # Tables are read once they are asked for, and then held against their digests.
        damage = inventory.damage(folder, sizes_only=True)
        damage = damage or inventory.damage_of(folder, RESULTS) or inventory.damage_of(folder, file.name)
    if damage is not None:
        raise CellrateError(
            f"{folder} is not whole: {damage}, says {INVENTORY}; the command that made the sweep runs it again"
        )
    purpose = document.get("purpose", "")
    found: list[tuple[int, tuple[str, str], Callable[[], Series]]] = []
    for table in sorted((folder / "series").glob("*.parquet")):
        about = _about(table, run["hash"])
        columns = cache(partial(_told_of, folder, partial(_columns, table, about, inventory)))
        first = 0
        for one in _listed(about, table):
            key, rows = (about["probe"], one["entity"]), slice(first, first + one["rows"])
            first = rows.stop
            series = partial(_series, columns, rows, key, about["unit"], one["interval_s"], run["duration_s"])
            found.append((one["place"], key, cache(series)))
    series_of = {key: series for _, key, series in sorted(found, key=_place)}
    delays = cache(partial(_told_of, folder, partial(_delays, folder / DELAYS, run["hash"])))
    times = cache(partial(_told_of, folder, partial(_completion_times, folder / COMPLETION_TIMES, run["hash"])))
    return Result(summary, settings, toml, purpose, series_of, delays=delays, completion_times=times)


def _told_of(folder: Path, read: Callable[[], Any]) -> Any:
    with told_of(folder):
        return read()


def _delays(table: Path, hash: str) -> dict[str, Delays]:
    """Give the distributions of delays in a folder: none where none were written, as by earlier versions."""
    if not table.exists():
        return {}
    import numpy as np

    from ..recorded.delays import Delays

    read = _distributions(table, hash, ["vc", "delay_s", "cells"])
    names = read["vc"].combine_chunks()
    indices, vcs = names.indices.to_numpy(), names.dictionary.to_pylist()
    edges = np.searchsorted(indices, np.arange(len(vcs) + 1))
    delays_s, cells = read["delay_s"].to_numpy(), read["cells"].to_numpy()
    spans = [slice(begin, end) for begin, end in pairwise(edges)]
    return {vc: Delays(vc, delays_s[span], cells[span]) for vc, span in zip(vcs, spans, strict=True)}


def _completion_times(table: Path, hash: str) -> dict[str, CompletionTimes]:
    """Give the distributions of completion times in a folder: none where none were written."""
    if not table.exists():
        return {}
    from ..recorded.completion_times import CompletionTimes

    read = _distributions(table, hash, ["flows", "from_octets", "below_octets", "time_s", "count"])
    keys = list(zip(*(read[key].to_pylist() for key in ("flows", "from_octets", "below_octets")), strict=True))
    times_s, counts = read["time_s"].to_numpy(), read["count"].to_numpy()
    found = {}
    for key in dict.fromkeys(keys):
        # The rows of a class stand together.
        span = slice(keys.index(key), keys.index(key) + keys.count(key))
        flows, least, below = key
        one = CompletionTimes(flows, least, below, times_s[span], counts[span])
        found[one.name] = one
    return found


def _distributions(table: Path, hash: str, columns: list[str]) -> pa.Table:
    """Read a table of distributions, of the run with this hash."""
    import pyarrow.parquet

    _check_whole(table.parent, table.name, Inventory.read(table.parent))
    with damage_told(table):
        read = pyarrow.parquet.read_table(table, columns=columns)
    if _texts(read.schema.metadata, table).get("hash") != hash:
        raise CellrateError(f"{table} is of another run than {table.parent / RESULTS}: their hashes differ")
    return read


def _place(found: tuple[int, Any, Any]) -> int:
    return found[0]


def _about(table: Path, hash: str) -> dict[str, str]:
    """Give what a table of series says of itself."""
    import pyarrow.parquet

    with damage_told(table):
        about = _texts(pyarrow.parquet.read_schema(table).metadata, table)
    if about.get("hash") != hash:
        raise CellrateError(f"{table} is of another run than {table.parents[1] / RESULTS}: their hashes differ")
    if "series" not in about:
        raise CellrateError(f"{table} does not say at which intervals it was recorded; run the scenario again")
    if about.get("probe") != table.stem or not _KIND.fullmatch(table.stem):
        raise CellrateError(f"{table} is damaged: it says that its probe is {shown(about.get('probe'))}")
    return about


def _listed(about: dict[str, str], table: Path) -> list[dict[str, Any]]:
    """Give what a table of series says of each of them: entity, interval, rows and place."""
    try:
        found: list[dict[str, Any]] = stored_json(about["series"].encode())
    except ValueError as error:
        raise CellrateError(f"{table} cannot be read: its list of series is not JSON: {error}") from None
    return found


def _columns(
    table: Path, about: dict[str, str], inventory: Inventory | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give instants and values of all series of a table, one after the other."""
    import pyarrow.parquet

    _check_whole(table.parents[1], f"series/{table.name}", inventory)
    # `read_table` imports pyarrow.dataset, which a run does not need.
    with damage_told(table), pyarrow.parquet.ParquetFile(table) as file:
        columns = file.read(columns=["time_s", "value"])
    if _texts(columns.schema.metadata, table) != about:
        raise CellrateError(f"{table} has been replaced since the result was loaded; load it again")
    return _numbers(columns["time_s"], table), _numbers(columns["value"], table)


def _check_whole(folder: Path, name: str, inventory: Inventory | None) -> None:
    damage = None if inventory is None else inventory.damage_of(folder, name)
    if damage is not None:
        raise CellrateError(f"{folder} is not whole: {damage}; the command that made the sweep runs it again")


def _numbers(column: pa.ChunkedArray, table: Path) -> NDArray[np.float64]:
    """Give a column as an array of its own. Arrow's `to_numpy` imports pandas, which takes longer than a short run."""
    import numpy as np
    import pyarrow as pa

    if column.type != pa.float64() or column.null_count:
        raise CellrateError(f"{table} cannot be read: its columns are not plain numbers")
    parts = [
        np.frombuffer(chunk.buffers()[1], np.float64, len(chunk), 8 * chunk.offset)
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _series(
    columns: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]],
    rows: slice,
    key: tuple[str, str],
    unit: str,
    interval_s: float | None,
    end_s: float,
) -> Series:
    times_s, values = columns()
    return Series(*key, unit, interval_s, times_s[rows], values[rows], end_s)


def _texts(metadata: dict[bytes, bytes] | None, table: Path) -> dict[str, str]:
    try:
        return {key.decode(): value.decode() for key, value in (metadata or {}).items() if key != b"ARROW:schema"}
    except UnicodeDecodeError as error:
        raise CellrateError(f"{table} cannot be read: its metadata are not UTF-8: {error}") from None
