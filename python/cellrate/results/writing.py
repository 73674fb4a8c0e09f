"""Results as files: a folder that appears whole or not at all."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError, Interrupted, RunError
from .folders import RESULTS, State, changed, replaceable, state

if TYPE_CHECKING:
    from .result import Result

MARK = RESULTS


def write_whole(folder: Path, fill: Callable[[Path], None], *, mark: str = MARK) -> Path:
    """Let `fill` write into a temporary folder beside `folder`, then move it there. A link stays, and is followed.

    Raises
    ------
    CellrateError
        If `folder` is there and holds anything but results, which have the file `mark`; if there can be no folder
        there. Said before `fill` is called.
    RunError
        If `folder` has changed meanwhile, or cannot be replaced. What `fill` has written is then beside it.
    """
    target, before = replaceable(folder, mark)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise CellrateError(f"no folder can be made at {folder}: {error.strerror}") from None
    try:
        partial.chmod(0o755)
        fill(partial)
        _put(partial, target, before)
    except _NotPutError as error:
        left = _put_beside(partial, target)
        raise RunError(f"{folder} {error}; nothing in it was removed, and the results are in {left}") from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return folder.absolute()


class _NotPutError(Exception):
    """Why results are not where they should be."""


def _put(whole: Path, target: Path, before: State | None) -> None:
    """Move a folder to `target`, whose state was `before` and must still be."""
    new = changed(before, state(target))
    if new is not None:
        raise _NotPutError(f"has changed meanwhile ({new})")
    replaced = None
    try:
        if before is not None and len(before) > 1:
            replaced = whole.with_suffix(".replaced")
            target.rename(replaced)
            new = changed(before, state(replaced))
            if new is not None:
                raise _NotPutError(f"has changed meanwhile ({new})")
        # An empty folder gives way by itself; one that no longer is does not.
        whole.rename(target)
    except BaseException as error:
        kept = ""
        if replaced is not None and replaced.exists():
            if target.exists():
                kept = f", and what was there before is in {replaced}"
            else:
                replaced.rename(target)
        if isinstance(error, OSError):
            raise _NotPutError(f"cannot be replaced ({error.strerror}){kept}") from None
        raise
    if replaced is not None:
        try:
            shutil.rmtree(replaced)
        except OSError as error:
            raise RunError(
                f"the results are in {target}, but what was there before cannot be removed from {replaced}: {error}"
            ) from None


def _put_beside(whole: Path, target: Path) -> Path:
    """Move a folder to where there is nothing, with a name like `target`, and give that."""
    for number in itertools.count(2):
        beside = target.with_name(f"{target.name}-{number}")
        try:
            beside.mkdir()
            return whole.rename(beside)
        except FileExistsError:
            continue
        except OSError:
            break
    return whole


@dataclass(frozen=True)
class Undrawn:
    """A picture that is not there, because it could not be drawn: results are not thrown away for that."""

    picture: str
    """Its name, without .png and .svg."""
    why: str


def told(undrawn: Sequence[Undrawn]) -> list[str]:
    """Say what could not be drawn, in a text for each reason."""
    texts = []
    for why in dict.fromkeys(one.why for one in undrawn):
        pictures = [one.picture for one in undrawn if one.why == why]
        more = f" and {len(pictures) - 3} more" if len(pictures) > 3 else ""
        texts.append(f"{', '.join(pictures[:3])}{more} could not be drawn, and the rest is written: {why}")
    return texts


Complain = Callable[[str], object]
"""Told what could not be drawn (`told`)."""


def warn(text: str) -> None:
    """Tell whoever called the function that called this one's caller."""
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def write_result(result: Result, folder: Path, *, csv: bool, plots: bool) -> Path:
    """Write one result (`Result.write`)."""
    undrawn: list[Undrawn] = []

    def fill(partial: Path) -> None:
        undrawn.extend(fill_result(result, partial, csv=csv, plots=plots))

    written = write_whole(folder, fill)
    for text in told(undrawn):
        warn(text)
    return written


def fill_summary(results: list[Result], folder: Path, *, csv: bool, plots: bool) -> list[Undrawn]:
    """Write the summary of a sweep into the folder that has its points, as tables and as a picture too."""
    write_json(folder / MARK, {"points": [{"set": result.set, **result.summary} for result in results]})
    if csv:
        _write_rows(results, folder)
    return _draw(lambda base: _draw_sweep(results, base), folder / "sweep") if plots else []


def fill_point(folder: Path, place: int, result: Result, *, csv: bool, plots: bool) -> list[Undrawn]:
    """Write the result of a point of a sweep, counted from 0, into a folder of its own in the sweep's."""
    point = folder / f"point-{place + 1:03d}"
    point.mkdir()
    undrawn = fill_result(result, point, csv=csv, plots=plots)
    return [replace(one, picture=f"{point.name}/{one.picture}") for one in undrawn]


def fill_result(result: Result, folder: Path, *, csv: bool, plots: bool) -> list[Undrawn]:
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
    return _draw(lambda base: _draw_result(result, base), folder / "plot") if plots and probes else []


def _draw(draw: Callable[[Path], None], base: Path) -> list[Undrawn]:
    """Draw `base`.png and `base`.svg; where that fails neither is there."""
    try:
        draw(base)
    except Interrupted:
        raise
    except Exception as error:
        for end in (".png", ".svg"):
            base.with_name(base.name + end).unlink(missing_ok=True)
        return [Undrawn(base.name, f"{type(error).__name__}: {' '.join(str(error).split())}")]
    return []


def _draw_result(result: Result, base: Path) -> None:
    from ..plotting.runs import draw_result

    draw_result(result, base)


def _draw_sweep(results: list[Result], base: Path) -> None:
    from ..plotting.figures import save
    from ..plotting.sweeps import figure

    drawn = figure(results)
    if drawn is not None:
        save(drawn, base)


def write_json(file: Path, content: object) -> None:
    """Write JSON that any reader takes: no NaN, a newline at the end."""
    file.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n")


def _write_rows(results: list[Result], folder: Path) -> None:
    """A table for each kind of rows that there are any of: vcs.csv, ports.csv, ..."""
    import pyarrow as pa
    import pyarrow.csv

    from ..sweeps.tidy import tidy

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
