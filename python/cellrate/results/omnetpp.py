"""Results as scalar and vector files of OMNeT++, for its analysis tool and `opp_scavetool`.

The format is that of the manual's appendix on result files: text, an entry in each line. Rows of a summary become
scalars of a module each, series become vectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..folders.owned import write_file_whole

if TYPE_CHECKING:
    from ..recorded.run import Recorded
    from ..recorded.series import Series

_VERSION = 3


def write_omnetpp(results: Sequence[Recorded], base: Path) -> tuple[Path, Path]:
    """Write `base`.sca and `base`.vec.

    Each result is a run: its settings are iteration variables, its name, hash and seed attributes. Numbers of the
    summary's rows are scalars, named as in results.json, of modules such as `two-source.vcs.vc1`; truths and texts are
    left out. A series is a vector of a module such as `two-source.vc1`; one taken at every change holds each value to
    the next, one taken at intervals has each value at the end of its own.

    Parameters
    ----------
    results
        One at least; `load_sweep` gives those of a folder.
    base
        Where, without the ending. What is there is replaced.

    Returns
    -------
    tuple of Path
        The scalar file and the vector file.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    scalars, vectors = (base.with_name(base.name + end) for end in (".sca", ".vec"))
    write_file_whole(scalars, _scalar_file(results))
    write_file_whole(vectors, _vector_file(results))
    return scalars, vectors


def _scalar_file(results: Sequence[Recorded]) -> Iterator[str]:
    yield f"version {_VERSION}\n"
    for number, result in enumerate(results):
        yield from _head(number, result)
        for module, row in _modules(result.summary):
            yield from (
                f"scalar {_token(module)} {_token(name)} {value!r}\n"
                for name, value in row.items()
                if isinstance(value, int | float) and not isinstance(value, bool)
            )
        yield "\n"


def _vector_file(results: Sequence[Recorded]) -> Iterator[str]:
    yield f"version {_VERSION}\n"
    vector = 0
    for number, result in enumerate(results):
        yield from _head(number, result)
        for series in result.all_series():
            yield from _vector(vector, result.summary["run"]["scenario"], series)
            vector += 1
        yield "\n"


def _head(number: int, result: Recorded) -> Iterator[str]:
    """Say which run the lines after it are of."""
    run = result.summary["run"]
    name, seed = run["scenario"], run["seed"]
    identity = f"{name}-{number}-{run['hash'][:12]}"
    yield f"run {_token(identity)}\n"
    variables = {key: str(value) for key, value in result.set.items()}
    settings = ", ".join(f"{key}={value}" for key, value in variables.items())
    attributes = {
        "configname": name,
        "experiment": name,
        "iterationvars": settings,
        "measurement": settings,
        "network": name,
        "replication": f"#{seed}",
        "repetition": seed,
        "runnumber": number,
        "seedset": seed,
        "hash": run["hash"],
        "cellrate": run["version"],
    }
    yield from (f"attr {key} {_token(str(value))}\n" for key, value in attributes.items())
    yield from (f"itervar {_token(key)} {_token(value)}\n" for key, value in variables.items())


def _modules(summary: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the rows of a summary with the names of their modules; those of one name are numbered."""
    network = summary["run"]["scenario"]
    for kind, rows in summary.items():
        if isinstance(rows, dict):
            yield f"{network}.{kind}", rows
        if not isinstance(rows, list):
            continue
        names = [".".join(value for key, value in row.items() if _names(key, value)) for row in rows]
        several, seen = Counter(names), Counter[str]()
        for name, row in zip(names, rows, strict=True):
            place = f"[{seen[name]}]" if several[name] > 1 else ""
            seen[name] += 1
            yield f"{network}.{kind}.{name}{place}" if name else f"{network}.{kind}{place}", row


def _names(key: str, value: Any) -> bool:
    """Whether it is part of what a row is called."""
    return isinstance(value, str) and key != "category"


def _vector(number: int, network: str, series: Series) -> Iterator[str]:
    yield f"vector {number} {_token(f'{network}.{series.entity}')} {_token(series.probe)} TV\n"
    held = "sample-hold" if series.interval_s is None else "backward-sample-hold"
    attributes = {"interpolationmode": held} | ({"unit": series.unit} if series.unit else {})
    yield from (f"attr {key} {_token(value)}\n" for key, value in attributes.items())
    for at, value in zip(series.times_s.tolist(), series.values.tolist(), strict=True):
        # Instants of a run are whole picoseconds.
        yield f"{number}\t{at:.12f}\t{'nan' if math.isnan(value) else repr(value)}\n"


def _token(text: str) -> str:
    """Give a text as one token: quoted where it has to be."""
    if text and not any(character.isspace() or character in '"\\#' for character in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
