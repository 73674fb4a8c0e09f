"""`cellrate hurst`."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Annotated

from .app import app
from .options import Json
from .output import print_json
from .typed import Parameter


@app.command("hurst")
def hurst(
    file: Annotated[Path, Parameter(help="A text file with a row for each value, such as octets per interval.")],
    /,
    *,
    column: Annotated[int, Parameter(help="Which column of it, counted from 1.")] = 1,
    every: Annotated[int, Parameter(help="Add up so many neighbours first.")] = 1,
    json: Json = False,
) -> int:
    """Estimate the Hurst parameter of a series, by six estimators, each with its confidence."""
    from ..errors import CellrateError
    from ..hurst import estimates, not_stationary, read_series

    if every < 1:
        raise CellrateError(f"--every {every}: it is a number of neighbours, 1 or more")
    values = read_series(file, column=column)
    if every > 1:
        values = values[: len(values) // every * every].reshape(-1, every).sum(axis=1)
    found = estimates(values)
    warning = not_stationary(found)
    if json:
        rows = [
            {
                "method": one.method,
                "hurst": None if isnan(one.hurst) else one.hurst,
                "interval": one.interval,
                "remark": one.remark,
                "source": one.source,
            }
            for one in found
        ]
        warnings = [] if warning is None else [warning]
        print_json({"values": len(values), "mean": float(values.mean()), "estimates": rows, "warnings": warnings})
        return 0
    width = max(len(one.method) for one in found)
    print(f"{len(values):,} values, mean {values.mean():.6g}, standard deviation {values.std():.6g}\n")
    print(f"{'estimator':<{width}}       H    95 % interval")
    for one in found:
        interval = one.interval
        none = "none that holds" if one.remark is None else f"none: {one.remark}"
        said = none if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
        print(f"{one.method:<{width}}  {one.hurst:6.3f}    {said}")
    if warning is not None:
        print(f"\n{warning}")
    return 0
