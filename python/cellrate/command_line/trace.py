"""`cellrate trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .app import app
from .options import Json
from .output import print_json
from .typed import Parameter


@app.command("trace")
def trace(
    file: Annotated[Path, Parameter(help="A capture: pcap, pcapng or ERF.")],
    /,
    *,
    of: Annotated[
        str | None, Parameter(help='Only this connection or interface, such as "sw1->sw2 0/32", or "sw1->sw2".')
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="Leave the arrivals in this file: instant [s], cells, a line each.")
    ] = None,
    every: Annotated[
        str | None, Parameter(help="Leave cells per interval instead, such as 10 ms: for cellrate hurst.")
    ] = None,
    json: Json = False,
) -> int:
    """Say what a capture has, connection by connection, and make an arrival trace of it."""
    from ..captures.arrivals import by_connection, read_capture
    from ..captures.writing import write_arrivals, write_counts
    from ..errors import CellrateError
    from ..quantities import TIME, read

    if every is not None and out is None:
        raise CellrateError("--every says what goes into the file of --out; give that, too")
    arrivals = read_capture(file)
    if of is not None:
        arrivals = arrivals.of(of)
    rows = dict(by_connection(arrivals))
    if out is not None:
        if every is None:
            write_arrivals(arrivals.data(), out)
        else:
            write_counts(arrivals.data(), read(every, TIME), out)
    if json:
        print_json({"records": len(arrivals), "left_out": arrivals.left_out, "connections": rows})
        return 0
    width = max([len(name) for name in rows], default=10)
    print(
        f"{'connection':<{width}}  {'records':>10}  {'cells':>10}  {'RM':>8}  {'CLP 1':>8}  {'span s':>10}  {'Mbps':>9}"
    )
    for name, row in rows.items():
        print(
            f"{name:<{width}}  {row['records']:>10,}  {row['cells']:>10,}  {row['rm_cells']:>8,}  {row['clp_1']:>8,}"
            f"  {row['span_s']:>10.6f}  {row['cells_per_s'] * 424e-6:>9.3f}"
        )
    if arrivals.left_out:
        print(f"\n{arrivals.left_out:,} records are neither cells nor packets of IP.")
    return 0
