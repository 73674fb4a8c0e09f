"""Sweeps as a whole: the figures of all points in one table."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import CellrateError
from ..recorded.columns import tables
from ..recorded.run import as_recorded
from .replications import SEED, mean_of
from .settings import APART, SCENARIO, numbers_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..recorded.run import Recorded

    Results: TypeAlias = Recorded | Sequence[Recorded] | Mapping[str, Recorded | Sequence[Recorded]]

NAMED = "result"
"""The column with the names of results that have some."""

DELAYS = "delays"
"""Rows that are no part of a summary: the steps of distributions of delays."""

COMPLETION_TIMES = "completion_times"
"""Rows of the steps of distributions of completion times."""

OF_ONE_RUN = (SEED, "hash")
"""Keys that differ between seeds because they must."""


def tidy(results: Results, of: str = "vcs", *, over_seeds: bool = False) -> pa.Table:
    """Give the rows of all results in one table: what each point set, then the keys of docs/results.md.

    Parameters
    ----------
    results
        Those of a sweep, or any others, or a single one. By name, {"before": load("results/a"), "after":
        load("results/b")} or the same with `load_sweep`, each row begins with that of its result, in the column
        "result".
    of
        Which rows: "vcs", "ports", "tcp", ...; "run" for one per result, "delays" and "completion_times" for the steps
        of the distributions of delays and of completion times.
    over_seeds
        Give a row for all results that differ in their seeds only. In place of each number KEY there are then KEY_mean,
        KEY_ci95, half the width of the 95 % confidence interval of the mean (Student's t; null for a single
        value, and where all are the same), and
        KEY_n, the number of values.

    Returns
    -------
    pyarrow.Table
        A column per setting, named by its path, and one per key; its `to_pandas()` makes a data frame of it, if pandas
        is installed (`pip install 'cellrate[pandas]'`). Settings that are numbers in all points are numbers. Where they
        all are quantities of one dimension, with units or as ratios, a column beside the text has them as numbers in
        one unit, which its name says: "defaults.link.length [km]". The units are s, bit/s, km, octets and cells, and 1
        of ratios.

    Raises
    ------
    CellrateError
        If results have no such rows; over seeds, if two results are of the same scenario, settings and seed.
    TypeError
        If something among them is not a result.
    """
    results, names = _in_line(results)
    known = [*results[0].summary, DELAYS, COMPLETION_TIMES] if results else [of]
    if of not in known:
        raise CellrateError(f'there are no rows "{of}" in a result; there are {", ".join(known)}')
    settings = ({NAMED: names} if names else {}) | settings_columns([result.settings for result in results])
    places = [place for place, result in enumerate(results) for _ in _rows(result, of)]
    rows = [row for result in results for row in _rows(result, of)]
    rows = [
        with_settings({name: values[place] for name, values in settings.items()}, row)
        for place, row in zip(places, rows, strict=True)
    ]
    if over_seeds:
        points = _points(results, names)
        rows = _over_seeds(rows, of, [points[place] for place in places], list(settings))
    return table_of(rows, list(settings))


def with_settings(settings: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Put what a point sets in front of a row of its result."""
    # A study's name for a scenario counts, which tells two files of one name apart.
    name = {SCENARIO: settings[SCENARIO]} if SCENARIO in settings else {}
    return {**settings, **row, **name}


def table_of(rows: Sequence[Mapping[str, Any]], settings: Sequence[str]) -> pa.Table:
    """Make a table of rows; without any it has the columns of settings."""
    import pyarrow as pa

    keys = _keys(rows)
    if not keys:
        return pa.table({name: _column([]) for name in settings})
    try:
        # In one go, which takes a third of the time of a list for each column.
        whole = pa.array(rows)
        return pa.table({key: _numbers_if_null(whole.field(key)) for key in keys})
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.table({key: _column([row.get(key) for row in rows]) for key in keys})


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Give the keys of rows in their order; most rows have the same."""
    keys: dict[str, None] = {}
    last = None
    for row in rows:
        if last is None or row.keys() != last:
            keys |= dict.fromkeys(row)
            last = row.keys()
    return list(keys)


def _in_line(results: Results) -> tuple[Sequence[Recorded], list[str]]:
    """Give the results one after the other, and the name of each if they have any."""
    if not isinstance(results, Mapping):
        return _each(results), []
    named = [(name, one) for name, some in results.items() for one in _each(some)]
    return [one for _, one in named], [name for name, _ in named]


def _each(results: Recorded | Sequence[Recorded]) -> Sequence[Recorded]:
    if isinstance(results, list | tuple):
        return [as_recorded(result) for result in results]
    # A sweep reads its results as they are needed.
    return results if isinstance(results, Sequence) and not isinstance(results, str) else [as_recorded(results)]


def settings_columns(settings: Sequence[Mapping[str, str]]) -> dict[str, list[Any]]:
    """Give the columns of what points set: numbers or texts, and beside texts that are quantities their numbers."""
    columns: dict[str, list[Any]] = {}
    for path in dict.fromkeys(path for one in settings for path in one):
        texts = [one.get(path) for one in settings]
        if path in APART:
            # Names are texts, whatever they look like.
            columns[path] = list(texts)
            continue
        columns[path] = _plain_numbers(texts)
        given = [text for text in texts if text is not None]
        numbers = numbers_of(given) if columns[path] == texts else None
        if numbers is not None:
            values = iter(numbers.values)
            columns[f"{path} [{numbers.unit}]"] = [None if text is None else next(values) for text in texts]
    return columns


def _rows(result: Recorded, of: str) -> list[dict[str, Any]]:
    if of == DELAYS:
        return [row for delays in result.delays.values() for row in delays.rows()]
    if of == COMPLETION_TIMES:
        return [row for times in result.completion_times.values() for row in times.rows()]
    rows: list[dict[str, Any]] = [result.summary[of]] if of == "run" else result.summary[of]
    return rows


def _points(results: Sequence[Recorded], names: Sequence[str]) -> list[str]:
    """Give each result what it is of, seed aside: its name, the scenario with its settings, what the run was given."""
    points: dict[tuple[str, int], str] = {}
    for place, result in enumerate(results):
        document = tomllib.loads(result.toml)
        document.pop(SEED, None)
        run = result.summary["run"]
        given = {key: value for key, value in run.items() if key != "hash" and isinstance(value, str | dict)}
        point = json.dumps([names[place : place + 1], document, given], sort_keys=True, default=str)
        if (point, run["seed"]) in points:
            said = "".join(f", {path} = {text}" for path, text in result.settings.items() if path != SEED)
            raise CellrateError(f"two results are the same: {run['scenario']}, seed {run['seed']}{said}")
        points[point, run["seed"]] = point
    return list(points.values())


def _over_seeds(
    rows: Sequence[dict[str, Any]], of: str, points: Sequence[str], settings: Sequence[str]
) -> list[dict[str, Any]]:
    """Make one row of those that are of the same thing at points that differ in their seeds only."""
    keys = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in OF_ONE_RUN]
    texts = {key for row in rows for key, value in row.items() if isinstance(value, str | list | dict)}
    known = tables()[of].columns if of in tables() else {}
    naming = [key for key in keys if key in settings or key in texts or (key in known and not known[key].is_number)]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for point, row in zip(points, rows, strict=True):
        groups.setdefault((point, json.dumps([row.get(key) for key in naming])), []).append(row)
    means = []
    for group in groups.values():
        mean = {key: group[0].get(key) for key in naming}
        for key in keys:
            if key in naming:
                continue
            values = [float(value) for row in group if (value := row.get(key)) is not None]
            found = mean_of(values) if values else None
            mean[f"{key}_mean"] = None if found is None else found.mean
            mean[f"{key}_ci95"] = None if found is None else found.half_width
            mean[f"{key}_n"] = len(values)
        means.append(mean)
    return means


def _column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # Rows of several kinds, as applications have them, each with results of its own.
        made = pa.array([None if value is None else json.dumps(value) for value in values])
    return _numbers_if_null(made)


def _numbers_if_null(column: pa.Array) -> pa.Array:
    """Give a column; if it is null in all rows, as one of numbers that are not there."""
    import pyarrow as pa

    return column.cast(pa.float64()) if pa.types.is_null(column.type) else column


def _plain_numbers(texts: list[str | None]) -> list[Any]:
    """Give whole numbers or numbers, if all are."""
    kinds: list[Callable[[str], Any]] = [int, float]
    for kind in kinds:
        try:
            return [None if text is None else kind(text) for text in texts]
        except ValueError:
            continue
    return list(texts)
