"""Results as files: a folder that appears whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import CellrateError

if TYPE_CHECKING:
    from .results import Result

MARK = "summary.json"
"""The file that tells a folder of results from any other."""


def write_whole(folder: Path, fill: Callable[[Path], None], *, mark: str = MARK) -> Path:
    """Let `fill` write into a temporary folder beside `folder`, then move it there.

    Raises
    ------
    CellrateError
        If `folder` is there, holds something, and is no folder of results (it has no file `mark`); if there can be no
        folder there.
    """
    folder = folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise CellrateError(f"{folder} is a file; results need a folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / mark).is_file():
        raise CellrateError(f"{folder} is not empty and holds no results ({mark}); give another folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    except OSError as error:
        raise CellrateError(f"no folder can be made at {folder}: {error.strerror}") from None
    try:
        partial.chmod(0o755)
        fill(partial)
        if folder.exists():
            replaced = partial.with_suffix(".replaced")
            folder.rename(replaced)
            partial.rename(folder)
            shutil.rmtree(replaced)
        else:
            partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return folder


def write_result(result: Result, folder: Path, *, csv: bool, plots: bool) -> Path:
    """Write one result (`Result.write`)."""

    def fill(partial: Path) -> None:
        fill_result(result, partial, csv=csv, plots=plots)

    return write_whole(folder, fill)


def fill_summary(results: list[Result], folder: Path, *, csv: bool, plots: bool) -> None:
    """Write the summary of a sweep into the folder that has its points, as tables and as a picture too."""
    write_json(folder / MARK, {"points": [{"set": result.set, **result.summary} for result in results]})
    if csv:
        _write_rows(results, folder)
    if plots:
        from .figures import save
        from .sweeping import figure

        drawn = figure(results)
        if drawn is not None:
            save(drawn, folder / "sweep")


def fill_point(folder: Path, place: int, result: Result, *, csv: bool, plots: bool) -> None:
    """Write the result of a point of a sweep, counted from 0, into a folder of its own in the sweep's."""
    point = folder / f"point-{place + 1:03d}"
    point.mkdir()
    fill_result(result, point, csv=csv, plots=plots)


def fill_result(result: Result, folder: Path, *, csv: bool, plots: bool) -> None:
    """Write one result into a folder that is there and empty."""
    write_json(folder / MARK, result.summary)
    (folder / "scenario.toml").write_text(result.toml)
    probes = list(dict.fromkeys(probe for probe, _ in result.series_names))
    if probes:
        (folder / "series").mkdir()
    for probe in probes:
        _write_series(result, probe, folder / "series", csv=csv)
    if csv:
        _write_rows([result], folder)
    if plots and probes:
        from .plots import draw_result

        draw_result(result, folder / "plot")


def write_json(file: Path, content: object) -> None:
    """Write JSON that any reader takes: no NaN, a newline at the end."""
    file.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n")


def _write_rows(results: list[Result], folder: Path) -> None:
    """A table for each kind of rows that there are any of: vcs.csv, ports.csv, ..."""
    import pyarrow as pa
    import pyarrow.csv

    from .sweeping import tidy

    kinds = [kind for kind, rows in results[0].summary.items() if isinstance(rows, list)]
    for kind in kinds:
        if any(result.summary[kind] for result in results):
            table = tidy(results, kind)
            for place, column in enumerate(table.columns):
                # What applications of a live run found is a table of its own.
                if pa.types.is_nested(column.type):
                    texts = [json.dumps(value) for value in column.to_pylist()]
                    table = table.set_column(place, table.column_names[place], pa.array(texts))
            pyarrow.csv.write_csv(table, folder / f"{kind}.csv")


def _write_series(result: Result, probe: str, folder: Path, *, csv: bool) -> None:
    """One long table per probe: entity, time_s, value."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    def column(values: np.ndarray[Any, Any], kind: Any) -> Any:
        # Arrow can take an array itself, but then imports numpy.ma, a twentieth of a short run, to see if it is masked.
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])

    series = result.all_series(probe)
    entities = list(dict.fromkeys(s.entity for s in series))
    indices = np.repeat([entities.index(s.entity) for s in series], [len(s) for s in series]).astype(np.int32)
    run = result.summary["run"]
    metadata = {
        "probe": probe,
        "unit": series[0].unit,
        **{key: str(run[key]) for key in ("scenario", "hash", "seed", "version")},
    }
    table = pa.table(
        {
            "entity": pa.DictionaryArray.from_arrays(column(indices, pa.int32()), pa.array(entities, pa.string())),
            "time_s": column(np.concatenate([s.times_s for s in series]), pa.float64()),
            "value": column(np.concatenate([s.values for s in series]), pa.float64()),
        }
    ).replace_schema_metadata(metadata)
    pyarrow.parquet.write_table(table, folder / f"{probe}.parquet", compression="zstd")
    if csv:
        import pyarrow.csv

        plain = table.set_column(0, "entity", table["entity"].cast(pa.string()))
        pyarrow.csv.write_csv(plain, folder / f"{probe}.csv")
