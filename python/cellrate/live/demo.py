"""`make live-demo`: how much Linux TCP gets over ABR of what a line can carry.

Runs the ready scenarios live/reno-10 and live/reno-149 and sets the goodput of iperf3 against the most there can be.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from ..errors import CellrateError
from .doctor import findings, missing_requirements
from .supervision import LiveRun, live_run
from .theory import goodput

MTU_OCTETS = 9180


@dataclass(frozen=True)
class Claim:
    """Claim on the result of a scenario."""

    scenario: str
    line_bps: float
    least_share: float
    """Least share of the most that TCP can carry on the line."""
    needs_timing: bool
    """Whether it holds only for runs in time."""


CLAIMS = (
    Claim("live/reno-10", 10e6, 0.98, needs_timing=False),
    Claim("live/reno-149", 149.76e6, 0.95, needs_timing=True),
)


def judge(claim: Claim, run: LiveRun) -> tuple[bool, str]:
    """Whether a claim holds, and a line that says so."""
    most = goodput(claim.line_bps, mtu_octets=MTU_OCTETS)
    measured = run.application("bulk")["result"]["goodput_bps"] or 0.0
    share = measured / most.bps
    figures = (
        f"{claim.scenario}: goodput {measured / 1e6:.3f} Mbps of {most.bps / 1e6:.3f} Mbps at most = {share:.2%} "
        f"(expected {claim.least_share:.0%} or more)"
    )
    if share >= claim.least_share:
        return True, f"{figures}: holds"
    if claim.needs_timing and not run.in_time:
        return True, f"{figures}: does not count, since the machine was out of time"
    return False, f"{figures}: DOES NOT HOLD"


def main() -> int:
    """Run the demonstration."""
    from ..terminal import Console
    from .table import print_live

    console = Console()
    found = findings()
    needed = [one for one in found if not one.present and one.name == "iperf3"]
    if missing_requirements(found) or needed:
        for one in [*missing_requirements(found), *needed]:
            print(f"{one.name} is missing: {one.detail or one.remedy}", file=sys.stderr)
        print("make live-demo as root installs what it needs; cellrate doctor says the rest", file=sys.stderr)
        return 3
    lines = []
    all_hold = True
    for claim in CLAIMS:
        run = live_run(claim.scenario)
        print_live(console, run)
        holds, line = judge(claim, run)
        all_hold &= holds
        lines.append(line)
    print(
        "\nThe most TCP can carry: line x 31/32 (one cell in 32 is an RM cell) x 9128 octets of payload in 192 cells "
        "of 53 octets, with the switch's target at 100 %."
    )
    print("\n".join(lines))
    return 0 if all_hold else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CellrateError, subprocess.SubprocessError) as error:
        sys.exit(f"cellrate: {error}")
