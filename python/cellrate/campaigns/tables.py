"""The rows of all points as Parquet files, a file for each kind, made of a few points at a time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..folders.durable import synchronise_file
from ..folders.inventory import Inventory
from ..folders.locks import LOCK, Lock
from ..folders.owned import area_of
from ..folders.replaceable import RESULTS
from ..plain_files import plain_octets
from ..results.reading import checked_summary
from ..sweeps.tidy import settings_columns
from ..toml import values_of
from .scheduling import chunks
from .store import naming

if TYPE_CHECKING:
    import pyarrow as pa

    from .manifest import Entry, Manifest

CHUNK = 500
"""Points that are in memory at once."""

SHARED = 5_000
"""Points from which on workers make the tables: importing Arrow takes each of them as long as the rows of 2,000."""

SUMMARY = "summary"
"""Name of what becomes summary.json, among the kinds of rows."""

MOST_IN_SUMMARY = 10_000
"""Points up to which there is a summary.json, which repeats what is in the points."""


Each = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]
"""Calls a function for each of some things, on other processes perhaps, and gives what it returns in their order."""


def here(call: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
    """Call a function for each in this process."""
    return [call(thing) for thing in things]


def write_tables(folder: Path, manifest: Manifest, *, csv: bool, each: Each = here) -> None:
    """Write the tables of a campaign whose points are all there, each put in its place in one step.

    Their bytes do not depend on where `each` has the parts made.
    """
    area = area_of(folder)
    lock = Lock(area / f"tables.{os.getpid()}{LOCK}")
    lock.take()
    place = area / f"tables.{os.getpid()}"
    try:
        parts = place / "parts"
        parts.mkdir(parents=True)
        with naming(folder):
            _fill(folder, place, parts, manifest, csv=csv, each=each)
        made = sorted(place.glob("*.*"))
        inventory = Inventory.of_files(place, [file.name for file in made], manifest.digest)
        for file in made:
            synchronise_file(file)
            file.replace(folder / file.name)
        # Last: until it is there the tables are made again.
        inventory.write(folder, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        lock.give_back()


def _fill(folder: Path, place: Path, parts: Path, manifest: Manifest, *, csv: bool, each: Each) -> None:
    settings = settings_columns([entry.set for entry in manifest.points])
    has_summary = len(manifest.points) <= MOST_IN_SUMMARY

    def chunk(places: range) -> _Chunk:
        span = slice(places.start, places.stop)
        some = {name: values[span] for name, values in settings.items()}
        return _Chunk(folder, parts, places.start, manifest.points[span], some, has_summary)

    found = each(_make_part, map(chunk, chunks(len(manifest.points), CHUNK)))
    kinds = dict.fromkeys(kind for kinds in found for kind in kinds)
    about = {"cellrate": manifest.version, "campaign": manifest.digest}
    each(_join, (_Kind(parts, place / kind, about, csv and kind != "run") for kind in kinds))
    if has_summary:
        _join_summaries(parts, place / RESULTS)
    shutil.rmtree(parts)


@dataclass(frozen=True)
class _Chunk:
    """Points whose rows are made into a part of each table."""

    folder: Path
    parts: Path
    first: int
    """Place of the first point."""
    entries: Sequence[Entry]
    settings: Mapping[str, Sequence[Any]]
    """Columns of what they set."""
    has_summary: bool

    def named(self, kind: str) -> Path:
        """Give the file of a part."""
        return self.parts / f"{kind}-{self.first:08d}"


def _make_part(chunk: _Chunk) -> list[str]:
    """Write the rows of some points, a file for each kind that they have any of, and give the kinds."""
    texts = [plain_octets(chunk.folder / entry.folder / RESULTS) for entry in chunk.entries]
    # Kinds of rows become names of files.
    found = [
        checked_summary(text, chunk.folder / entry.folder / RESULTS)
        for text, entry in zip(texts, chunk.entries, strict=True)
    ]
    kinds = []
    for kind in dict.fromkeys(kind for one in found for kind in one):
        table = _rows(kind, found, chunk.settings)
        if table.num_rows:
            _write(table, chunk.named(kind))
            kinds.append(kind)
    if chunk.has_summary:
        with chunk.named(SUMMARY).open("w", encoding="utf-8") as file:
            for number, (entry, text) in enumerate(zip(chunk.entries, texts, strict=True), chunk.first):
                # A point's summary is one line of text, and stands here as it is there.
                rest = text.decode().strip().removeprefix("{")
                line = f'{{"set": {json.dumps(values_of(entry.set), allow_nan=False)}, {rest}'
                file.write(('{"points": [\n' if number == 0 else ",\n") + line)
    return kinds


def _join_summaries(parts: Path, target: Path) -> None:
    with target.open("wb") as summary:
        for part in _parts(parts, SUMMARY):
            with part.open("rb") as file:
                shutil.copyfileobj(file, summary)
        summary.write(b"\n]}\n")


def _parts(parts: Path, kind: str) -> list[Path]:
    """Give the parts of a table, in the order of the points."""
    return sorted(file for file in parts.iterdir() if file.name.rpartition("-")[0] == kind)


def _rows(kind: str, found: Sequence[Mapping[str, Any]], settings: Mapping[str, Sequence[Any]]) -> pa.Table:
    from ..sweeps.tidy import table_of, with_settings

    rows = []
    names = list(settings)
    for one, *values in zip(found, *settings.values(), strict=False):
        given = one.get(kind, [])
        set_there = dict(zip(names, values, strict=True))
        rows += [with_settings(set_there, row) for row in ([given] if isinstance(given, dict) else given)]
    return table_of(rows, names)


def _write(table: pa.Table, file: Path) -> None:
    import pyarrow as pa

    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


@dataclass(frozen=True)
class _Kind:
    """A table that is in parts; what these have in common is known at the end."""

    place: Path
    """Where the parts are."""
    base: Path
    """Path of the table that is made of them, without ending."""
    about: Mapping[str, str]
    csv: bool


def _join(kind: _Kind) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    files = _parts(kind.place, kind.base.name)
    schema = _common([_read(file).schema for file in files]).with_metadata(kind.about)
    with pyarrow.parquet.ParquetWriter(kind.base.with_suffix(".parquet"), schema, compression="zstd") as writer:
        for file in files:
            writer.write_table(_cast(_read(file), schema))
    if kind.csv:
        flat = pa.schema([(field.name, pa.string() if _is_nested(field) else field.type) for field in schema])
        with pyarrow.csv.CSVWriter(kind.base.with_suffix(".csv"), flat) as writer:
            for file in files:
                writer.write_table(_cast(_read(file), flat))


def _read(file: Path) -> pa.Table:
    import pyarrow as pa

    with pa.memory_map(str(file)) as source:
        return pa.ipc.open_file(source).read_all()


def _common(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Give a schema that holds all: integers and numbers are numbers, and what differs otherwise is text (JSON)."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    fields = []
    for name in names:
        found = [schema.field(name) for schema in schemas if name in schema.names]
        try:
            (field,) = pa.unify_schemas([pa.schema([one]) for one in found], promote_options="permissive")
        except pa.ArrowTypeError:
            field = pa.field(name, pa.string())
        fields.append(field)
    return pa.schema(fields)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table[field.name]
        if pa.types.is_string(field.type) and not pa.types.is_string(column.type):
            texts = [None if value is None else json.dumps(value) for value in column.to_pylist()]
            column = pa.array(texts, pa.string())
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _is_nested(field: pa.Field) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(field.type))
