"""The network of a situation with the advised set, as text: all its sources, and video beside them."""

from __future__ import annotations

import itertools
from math import ceil

from ..advice.advised import AdvisedSet
from ..advice.situation import Situation
from .plan import plan_of
from .scenario import delays_of, head, link

PROGRAM_BPS = 5e6
"""Mean rate of a program of video at most [bit/s]: MPEG-2, as in the paper tcp-lrd-vbr."""

DEVIATION = 0.25
"""Standard deviation of a program's rate, of its mean: so small that next to no rate is below 0 or above the peak, and
the mean is what was asked for."""


def network_text(advised: AdvisedSet, *, name: str) -> str:
    """Write the network of a set: a file for `cellrate run`.

    All sources send from the beginning: TCP for bulk data, and what the application sends otherwise. Video is one VBR
    connection of as many programs as its rate needs, booked with that rate: MCRs that do not fit beside it are refused.
    """
    s = advised.situation
    plan = plan_of(s)
    middle, edge = delays_of(s)
    switches = [f"sw{i + 1}" for i in range(s.number_of_switches)]
    path = ", ".join(f'"{switch}"' for switch in switches)
    traffic = '{ type = "tcp" }' if s.application == "bulk" else plan.first if s.real_time else plan.second
    carried = "TCP" if s.application == "bulk" else s.application
    beside = f", and video of {s.video_bps / 1e6:.6g} Mbps beside them" if s.video_bps else ""
    share = f"{s.sources} connections with {carried} share" if s.sources > 1 else f"A connection with {carried} has"
    has_video = s.video_bps > 0
    every = f"count = {s.sources}\n"
    parts = [
        head(
            advised,
            name,
            f"{share} the line{beside}.",
            plan.end_s,
            admission=has_video,
        ),
        f'[[host]]\nname = "s{{i}}"\n{every}',
        f'[[host]]\nname = "d{{i}}"\n{every}',
        *(f'[[switch]]\nname = "{switch}"\n' for switch in switches),
        link("s{i}", switches[0], edge) + every,
        *(link(one, other, middle) for one, other in itertools.pairwise(switches)),
        link(switches[-1], "d{i}", edge) + every,
        f'[[vc]]\nname = "vc{{i}}"\n{every}path = ["s{{i}}", {path}, "d{{i}}"]\ntraffic = {traffic}\n',
        *(_video(s, switches, path, edge) if has_video else []),
    ]
    # The only switch has as many lines to receivers as there are.
    queues = f'"{switches[0]}->{switches[1]}"' if s.number_of_switches > 1 else '"sw1->d1"'
    parts.append(
        f'[[probe]]\nrecord = ["queue", "utilization"]\nof = [{queues}]\nevery = "{plan.grain_s * 1e3:.6g} ms"\n'
    )
    return "\n".join(parts)


def _video(s: Situation, switches: list[str], path: str, edge_s: float) -> list[str]:
    programs = ceil(s.video_bps / PROGRAM_BPS)
    mean = s.video_bps / programs
    rates = f'mean = "{mean:.0f} bps", deviation = "{mean * DEVIATION:.0f} bps"'
    return [
        '[[host]]\nname = "video"\n',
        '[[host]]\nname = "viewer"\n',
        link("video", switches[0], edge_s),
        link(switches[-1], "viewer", edge_s),
        f'[[vc]]\nname = "video"\ncategory = "vbr"\nscr = "{s.video_bps:.0f} bps"\npath = ["video", {path}, "viewer"]\n'
        f'traffic = {{ type = "video", programs = {programs}, {rates} }}\n',
    ]
