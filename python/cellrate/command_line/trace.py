"""`cellrate trace`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..choices import Coupling, Definition
from .app import app
from .options import Json
from .output import print_json, tell
from .typed import Parameter

if TYPE_CHECKING:
    from ..captures.arrivals import Arrivals, Row
    from ..captures.contract import Conformance


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
    contract: Annotated[
        Definition | None,
        Parameter(help="Hold the cells against this conformance definition, connection by connection."),
    ] = None,
    pcr: Annotated[str | None, Parameter(help="Peak cell rate of the contract, such as 10 Mbps.")] = None,
    cdvt: Annotated[str | None, Parameter(help="Its cell delay variation tolerance, such as 250 us.")] = None,
    scr: Annotated[str | None, Parameter(help="Its sustainable cell rate (VBR).")] = None,
    mbs: Annotated[int | None, Parameter(help="Its maximum burst size in cells (VBR).")] = None,
    coupling: Annotated[
        Coupling | None,
        Parameter(help="How the two buckets of VBR hang together (coupled, as in the standard, by default)."),
    ] = None,
    json: Json = False,
) -> int:
    """Say what a capture has, connection by connection, and make an arrival trace of it."""
    from dataclasses import asdict

    from ..captures.arrivals import by_connection, read_capture
    from ..captures.contract import conformance, contract_of
    from ..captures.writing import write_arrivals, write_counts
    from ..errors import CellrateError
    from ..quantities import TIME, read

    if every is not None and out is None:
        raise CellrateError("--every needs --out: it says what goes into that file")
    held_to = contract_of(contract, pcr=pcr, cdvt=cdvt, scr=scr, mbs=mbs, coupling=coupling)
    arrivals = read_capture(file)
    if of is not None:
        arrivals = arrivals.of(of)
    rows = dict(by_connection(arrivals))
    verdicts = {} if held_to is None else {name: conformance(one, held_to) for name, one in arrivals.by_name().items()}
    if out is not None:
        if every is None:
            write_arrivals(arrivals.data(), out)
        else:
            write_counts(arrivals.data(), read(every, TIME), out)
    if json:
        connections = {
            name: {**row, "conformance": asdict(verdicts[name])} if verdicts else row for name, row in rows.items()
        }
        print_json(
            {
                "records": len(arrivals),
                "left_out": arrivals.left_out,
                "omitted": list(arrivals.omitted),
                "connections": connections,
            }
        )
        return 0
    _print(arrivals, rows, verdicts)
    return 0


def _print(arrivals: Arrivals, rows: Mapping[str, Row], verdicts: Mapping[str, Conformance]) -> None:
    """Print a table of connections, what of them a table does not have, and whether they conform."""
    width = max([len(name) for name in rows], default=10)
    tell(
        f"{'connection':<{width}}  {'records':>10}  {'cells':>10}  {'RM':>8}  {'OAM':>6}  {'CLP 1':>8}"
        f"  {'span s':>10}  {'Mbps':>9}"
    )
    for name, row in rows.items():
        tell(
            f"{name:<{width}}  {row['records']:>10,}  {row['cells']:>10,}  {row['rm_cells']:>8,}"
            f"  {row['oam_cells']:>6,}  {row['clp_1']:>8,}"
            f"  {row['span_s']:>10.6f}  {row['cells_per_s'] * 424e-6:>9.3f}"
        )
    for name, row in rows.items():
        managed = [f"{number:,} {what}" for what, number in row["oam"].items()]
        if row["rm_damaged"]:
            managed.append(f"{row['rm_damaged']:,} RM cells with a wrong CRC-10")
        if managed:
            tell(f"\n{name}: {'; '.join(managed)}.")
    if verdicts:
        tell(f"\n{'connection':<{width}}  {'conforming':>10}  {'tagged':>10}  {'discarded':>10}  {'first at s':>10}")
    for name, verdict in verdicts.items():
        first = "-" if verdict.first_s is None else f"{verdict.first_s:.6f}"
        tell(
            f"{name:<{width}}  {verdict.conforming:>10,}  {verdict.tagged:>10,}  {verdict.discarded:>10,}  {first:>10}"
        )
    if arrivals.omitted:
        tell(f"\nLeft out: {'; '.join(arrivals.omitted)}.")
