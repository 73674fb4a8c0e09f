"""The rows of all points as Parquet files, a file for each kind, made of a few points at a time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..results.folders import RESULTS
from ..results.owned import LOCK, Lock, area_of
from ..sweeps.tidy import settings_columns
from ..toml import values_of
from .scheduling import chunks
from .store import naming

if TYPE_CHECKING:
    import pyarrow as pa

    from .manifest import Entry, Manifest

CHUNK = 500
"""Points that are in memory at once."""

MOST_IN_SUMMARY = 10_000
"""Points up to which there is a summary.json, which repeats what is in the points."""


def write_tables(folder: Path, manifest: Manifest, *, csv: bool) -> None:
    """Write the tables of a campaign whose points are all there, each put in its place in one step."""
    area = area_of(folder)
    lock = Lock(area / f"tables.{os.getpid()}{LOCK}")
    lock.take()
    place = area / f"tables.{os.getpid()}"
    try:
        place.mkdir()
        with naming(folder):
            _fill(folder, place, manifest, csv=csv)
        for file in sorted(place.glob("*.*")):
            with file.open("rb") as written:
                os.fsync(written.fileno())
            file.replace(folder / file.name)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        lock.give_back()


def _texts(folder: Path, entries: Sequence[Entry]) -> Iterator[bytes]:
    """Give the summaries of points as they are stored, one after the other."""
    for entry in entries:
        yield (folder / entry.folder / RESULTS).read_bytes()


def _fill(folder: Path, place: Path, manifest: Manifest, *, csv: bool) -> None:
    settings = settings_columns([entry.set for entry in manifest.points])
    parts = _Parts(place)
    summary = (place / RESULTS).open("w") if len(manifest.points) <= MOST_IN_SUMMARY else None
    for places in chunks(len(manifest.points), CHUNK):
        entries = manifest.points[places.start : places.stop]
        texts = list(_texts(folder, entries))
        found: list[dict[str, Any]] = [json.loads(text) for text in texts]
        for kind in dict.fromkeys(kind for one in found for kind in one):
            parts.add(kind, _rows(kind, found, {name: values[places.start :] for name, values in settings.items()}))
        if summary is not None:
            for number, (entry, text) in enumerate(zip(entries, texts, strict=True), places.start):
                # A point's summary is one line of text, and stands here as it is there.
                rest = text.decode().strip().removeprefix("{")
                line = f'{{"set": {json.dumps(values_of(entry.set), allow_nan=False)}, {rest}'
                summary.write(('{"points": [\n' if number == 0 else ",\n") + line)
    if summary is not None:
        summary.write("\n]}\n")
        summary.close()
    about = {"cellrate": manifest.version, "campaign": manifest.digest}
    parts.finish(about, csv=csv)


def _rows(kind: str, found: Sequence[Mapping[str, Any]], settings: Mapping[str, Sequence[Any]]) -> pa.Table:
    from ..sweeps.tidy import table_of

    rows = []
    names = list(settings)
    for one, *values in zip(found, *settings.values(), strict=False):
        given = one.get(kind, [])
        set_there = dict(zip(names, values, strict=True))
        rows += [{**set_there, **row} for row in ([given] if isinstance(given, dict) else given)]
    return table_of(rows, names)


class _Parts:
    """Tables that grow by the rows of some points; what they have in common is known at the end."""

    def __init__(self, place: Path) -> None:
        self.place = place / "parts"
        self.place.mkdir()
        self.files: dict[str, list[Path]] = {}

    def add(self, kind: str, table: pa.Table) -> None:
        import pyarrow as pa

        if table.num_rows == 0:
            return
        files = self.files.setdefault(kind, [])
        file = self.place / f"{kind}-{len(files)}"
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        files.append(file)

    def finish(self, about: Mapping[str, str], *, csv: bool) -> None:
        for kind, files in self.files.items():
            self._join(kind, files, about, csv=csv)
        shutil.rmtree(self.place)

    def _join(self, kind: str, files: Sequence[Path], about: Mapping[str, str], *, csv: bool) -> None:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        schemas = [_read(file).schema for file in files]
        schema = _common(schemas).with_metadata(about)
        base = self.place.parent / kind
        with pyarrow.parquet.ParquetWriter(base.with_suffix(".parquet"), schema, compression="zstd") as writer:
            for file in files:
                writer.write_table(_cast(_read(file), schema))
        if csv and kind != "run":
            flat = pa.schema([(field.name, pa.string() if _is_nested(field) else field.type) for field in schema])
            with pyarrow.csv.CSVWriter(base.with_suffix(".csv"), flat) as writer:
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
