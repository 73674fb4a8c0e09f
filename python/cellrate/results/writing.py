"""Results as files: summary, scenario, series, rows and plots."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Interrupted
from ..folders.atomic_folder import write_whole
from ..folders.replaceable import COMPLETION_TIMES, DELAYS, RESULTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..recorded.run import Recorded
    from ..recorded.series import Series

# As many rows as a row group of Parquet has unless more are asked for.
_ROWS_OF_PART = 1 << 20
# Rows of two numbers of eight octets that a page of 4096 has.
_ROWS_AS_THEY_ARE = 256


@dataclass(frozen=True)
class Undrawn:
    """A picture that is not there, because it could not be drawn: results are not thrown away for that."""

    picture: str
    """Its name, without .png."""
    why: str


def describe_undrawn(undrawn: Sequence[Undrawn]) -> list[str]:
    """Say what could not be drawn, in a text for each reason."""
    texts = []
    for why in dict.fromkeys(one.why for one in undrawn):
        pictures = [one.picture for one in undrawn if one.why == why]
        more = f" and {len(pictures) - 3} more" if len(pictures) > 3 else ""
        texts.append(f"{', '.join(pictures[:3])}{more} could not be drawn, and the rest is written: {why}")
    return texts


Complain = Callable[[str], object]
"""Told what could not be drawn (`describe_undrawn`)."""


def warn(text: str) -> None:
    """Tell whoever called the function that called this one's caller."""
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def write_result(result: Recorded, folder: Path, *, csv: bool, plots: bool) -> Path:
    """Write one result (`Result.write`)."""
    undrawn: list[Undrawn] = []

    def fill(partial: Path) -> None:
        undrawn.extend(fill_result(result, partial, csv=csv, plots=plots))

    written = write_whole(folder, fill)
    for text in describe_undrawn(undrawn):
        warn(text)
    return written


def renamed(undrawn: Sequence[Undrawn], folder: str) -> list[Undrawn]:
    """Give the pictures of a result the name of its folder among others."""
    return [replace(one, picture=f"{folder}/{one.picture}") for one in undrawn]


def draw_sweep(results: Sequence[Recorded], folder: Path) -> list[Undrawn]:
    """Draw sweep.png into a folder."""
    return _draw(lambda base: _draw_sweep(results, base), folder / "sweep")


def fill_result(result: Recorded, folder: Path, *, csv: bool, plots: bool, compact: bool = False) -> list[Undrawn]:
    """Write one result into a folder that is there and empty.

    A compact summary is a line of text, which takes a tenth of the time: where there are many, none of them is read by
    people. There the distributions of delays and of completion times, which take more time than a short run, are kept
    where delays or concurrent flows are recorded.
    """
    if compact:
        _write_text(folder / RESULTS, result.summary_text() + "\n")
    else:
        write_json(folder / RESULTS, result.summary)
    _write_text(folder / "scenario.toml", result.toml)
    probes = list(dict.fromkeys(probe for probe, _ in result.series_names))
    if probes:
        (folder / "series").mkdir()
    for probe in probes:
        _write_series(result, probe, folder / "series", csv=csv)
    has_delays = (not compact or bool({"delay", "max_delay"} & set(probes))) and bool(result.delays)
    if has_delays:
        _write_delays(result, folder, csv=csv)
    has_times = (not compact or "concurrent" in probes) and bool(result.completion_times)
    if has_times:
        _write_completion_times(result, folder, csv=csv)
    if csv:
        _write_rows([result], folder)
    if not plots:
        return []
    # One picture, of what there is first: others, and other formats, are a command each, `cellrate plot`. Players have
    # a picture beside it, which no command draws.
    undrawn = []
    if "applications" in result.summary:
        undrawn = _draw(lambda base: _draw_players(result, base), folder / "players")
    if probes:
        return undrawn + _draw(lambda base: _draw_result(result, base), folder / "plot")
    if has_delays:
        return undrawn + _draw(lambda base: _draw_delays(result, base), folder / "delays")
    if has_times:
        return undrawn + _draw(lambda base: _draw_completion_times(result, base), folder / "completion_times")
    return undrawn


def _draw(draw: Callable[[Path], None], base: Path) -> list[Undrawn]:
    """Draw `base`.png; where that fails it is not there."""
    try:
        draw(base)
    except Interrupted:
        raise
    except Exception as error:
        base.with_name(f"{base.name}.png").unlink(missing_ok=True)
        return [Undrawn(base.name, f"{type(error).__name__}: {' '.join(str(error).split())}")]
    return []


def _draw_players(result: Recorded, base: Path) -> None:
    from ..plotting.players import draw_players, players_of

    if players_of(result):
        draw_players(result, base)


def _draw_result(result: Recorded, base: Path) -> None:
    from ..plotting.runs import draw_result

    draw_result(result, base)


def _draw_delays(result: Recorded, base: Path) -> None:
    from ..drawing.figures import save
    from ..plotting.delays import figure

    save(figure({"": result}), base, [".png"])


def _draw_completion_times(result: Recorded, base: Path) -> None:
    from ..drawing.figures import save
    from ..plotting.completion_times import figure

    save(figure({"": result}), base, [".png"])


def _draw_sweep(results: Sequence[Recorded], base: Path) -> None:
    from ..drawing.figures import save
    from ..plotting.sweeps import figure

    drawn = figure(results)
    if drawn is not None:
        save(drawn, base, [".png"])


def _write_text(file: Path, text: str) -> None:
    """Write a new file, in a third of the time that `Path.write_text` takes: it counts beside a short run."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        left = memoryview(text.encode())
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def write_json(file: Path, content: object) -> None:
    """Write JSON that any reader takes: no NaN, a newline at the end."""
    file.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8", newline="\n")


def _write_rows(results: list[Recorded], folder: Path) -> None:
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


def _write_delays(result: Recorded, folder: Path, *, csv: bool) -> None:
    """The distributions of delays in one long table: vc, delay_s, cells."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    delays = list(result.delays.values())
    if not delays:
        return
    indices = np.repeat(np.arange(len(delays), dtype=np.int32), [len(one) for one in delays])
    table = pa.table(
        {
            "vc": pa.DictionaryArray.from_arrays(_column(indices), _texts([one.vc for one in delays])),
            "delay_s": _column(np.concatenate([one.delays_s for one in delays])),
            "cells": _column(np.concatenate([one.cells for one in delays])),
        }
    ).replace_schema_metadata({"delays": "of cells", **_about(result)})
    pyarrow.parquet.write_table(table, folder / DELAYS, compression="zstd")
    if csv:
        import pyarrow.csv

        pyarrow.csv.write_csv(table.set_column(0, "vc", table["vc"].cast(pa.string())), folder / "delays.csv")


def _write_completion_times(result: Recorded, folder: Path, *, csv: bool) -> None:
    """The distributions of completion times in one long table: flows, from_octets, below_octets, time_s, count."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    classes = list(result.completion_times.values())
    rows = [len(one) for one in classes]

    def repeated(values: list[str] | list[int] | list[int | None], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind).take(pa.array(np.repeat(np.arange(len(rows)), rows)))

    table = pa.table(
        {
            "flows": repeated([one.flows for one in classes], pa.string()),
            "from_octets": repeated([one.from_octets for one in classes], pa.uint64()),
            "below_octets": repeated([one.below_octets for one in classes], pa.uint64()),
            "time_s": np.concatenate([one.times_s for one in classes]),
            "count": np.concatenate([one.counts for one in classes]),
        }
    ).replace_schema_metadata({"completion_times": "of flows", **_about(result)})
    pyarrow.parquet.write_table(table, folder / COMPLETION_TIMES, compression="zstd")
    if csv:
        import pyarrow.csv

        pyarrow.csv.write_csv(table, folder / "completion_times.csv")


def _column(values: NDArray[Any]) -> Any:
    """Give an array as a column of Arrow, with its type.

    Arrow can take an array itself, but then imports numpy.ma and, where it is installed, pandas, to see if it is one of
    theirs: that takes longer than a short run.
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _texts(values: Sequence[str]) -> Any:
    """Give texts as a column of Arrow, likewise."""
    import numpy as np
    import pyarrow as pa

    octets = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, octets)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(octets)))


def _about(result: Recorded) -> dict[str, str]:
    """Give what a table beside a summary says of its run."""
    return {key: str(result.run[key]) for key in ("scenario", "hash", "seed", "version")}


def _write_series(result: Recorded, probe: str, folder: Path, *, csv: bool) -> None:
    """One long table per probe: entity, time_s, value."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    series = result.all_series(probe)
    entities = list(dict.fromkeys(s.entity for s in series))
    numbers = {entity: number for number, entity in enumerate(entities)}
    places = {key: place for place, key in enumerate(result.series_names)}
    metadata = {
        "probe": probe,
        "unit": series[0].unit,
        "series": json.dumps(
            [
                {"entity": s.entity, "interval_s": s.interval_s, "rows": len(s), "place": places[probe, s.entity]}
                for s in series
            ]
        ),
        **_about(result),
    }
    names = _texts(entities)
    types = {"entity": pa.dictionary(pa.int32(), pa.string()), "time_s": pa.float64(), "value": pa.float64()}
    schema = pa.schema(types, metadata=metadata)

    def table(some: list[Series]) -> pa.Table:
        indices = np.repeat([numbers[s.entity] for s in some], [len(s) for s in some]).astype(np.int32)
        columns = [
            pa.DictionaryArray.from_arrays(_column(indices), names),
            _column(np.concatenate([s.times_s for s in some])),
            _column(np.concatenate([s.values for s in some])),
        ]
        return pa.Table.from_arrays(columns, schema=schema)

    with contextlib.ExitStack() as files:
        rows = sum(map(len, series))
        parquet = pyarrow.parquet.ParquetWriter(str(folder / f"{probe}.parquet"), schema, **_way(rows))
        writers: list[tuple[Any, pa.Schema]] = [(files.enter_context(parquet), schema)]
        if csv:
            import pyarrow.csv

            plain = pa.schema({**types, "entity": pa.string()})
            writers.append((files.enter_context(pyarrow.csv.CSVWriter(folder / f"{probe}.csv", plain)), plain))
        for part in _parts(series):
            written = table(part)
            for writer, wanted in writers:
                writer.write_table(written if wanted is schema else written.cast(wanted))


def _way(rows: int) -> dict[str, Any]:
    """Give how a table of so many rows is written.

    A short one is as it is: compression, dictionaries of numbers and statistics take as long as all the rest, and save
    nothing where a table fits a page of the file system.
    """
    if rows > _ROWS_AS_THEY_ARE:
        return {"compression": "zstd"}
    return {"compression": "none", "use_dictionary": ["entity"], "write_statistics": False}


def _parts(series: list[Series]) -> list[list[Series]]:
    """Give series in parts, in order, so that what is copied to write a part is bounded by it and its last series."""
    parts: list[list[Series]] = [[]]
    rows = 0
    for one in series:
        if rows >= _ROWS_OF_PART:
            parts.append([])
            rows = 0
        parts[-1].append(one)
        rows += len(one)
    return parts
