"""The scenario that a set is tried in, as text."""

from __future__ import annotations

import itertools
import json

from ..advice.advised import AdvisedSet
from ..advice.situation import Situation
from .plan import ms, plan_of

HEAD = "# Parameters advised for"
"""First words of the file of a set, and of no other."""


def scenario_text(advised: AdvisedSet, *, name: str = "advised") -> str:
    """Write the scenario that the set is tried in: a file for `cellrate run`."""
    s = advised.situation
    plan = plan_of(s)
    middle, edge = delays_of(s)
    switches = [f"sw{i + 1}" for i in range(s.number_of_switches)]
    links = [
        link("s1", switches[0], edge),
        link("s2", switches[0], edge),
        *(link(a, b, middle) for a, b in itertools.pairwise(switches)),
        link(switches[-1], "d1", edge),
        link(switches[-1], "d2", edge),
    ]
    path = ", ".join(f'"{name}"' for name in switches)
    vcs = [
        f'[[vc]]\nname = "vc{i}"\npath = ["s{i}", {path}, "d{i}"]\ntraffic = {traffic}\n'
        for i, traffic in enumerate((plan.first, plan.second), start=1)
    ]
    bottleneck = f"{switches[0]}->{switches[1]}" if s.number_of_switches > 1 else "sw1->d1"
    return "\n".join(
        [
            head(advised, name, plan.what, plan.end_s),
            *(f'[[host]]\nname = "{host}"\n' for host in ("s1", "s2", "d1", "d2")),
            *(f'[[switch]]\nname = "{switch}"\n' for switch in switches),
            *links,
            *vcs,
            '[[probe]]\nrecord = ["acr"]\nof = ["vc1", "vc2"]\nevery = "change"\n',
            f'[[probe]]\nrecord = ["received", "source_queue"]\nof = ["vc1", "vc2"]\nevery = {ms(plan.grain_s)}\n',
            f'[[probe]]\nrecord = ["queue"]\nof = ["{bottleneck}"]\nevery = {ms(plan.grain_s)}\n',
        ]
    )


def head(advised: AdvisedSet, name: str, what: str, end_s: float, *, admission: bool = False) -> str:
    """Write what stands before the network: what it is, its name, how long it runs, and the advised set as defaults."""
    s = advised.situation
    return "\n".join(
        [
            f"{HEAD} {s.application} over {s.link_bps / 1e6:.6g} Mbps and a round trip of "
            f"{s.frtt_s * 1e3:.6g} ms, {s.switches} switches.",
            f"# {what}",
            f"name = {json.dumps(name, ensure_ascii=False)}",
            f"duration = {ms(end_s)}",
            *(["admission = true"] if admission else []),
            "",
            "[defaults.link]",
            f'rate = "{s.link_bps:.0f} bps"',
            "",
            "[defaults.switch]",
            f'buffers = {{ abr = "{s.buffer_cells} cells" }}',
            _control(s),
            "",
            "[defaults.abr]",
            *(f"{key} = {_toml(value)}" for key, value in advised.settings().items()),
            "",
        ]
    )


def delays_of(s: Situation) -> tuple[float, float]:
    """Give the delays of a link between switches and of one to a host [s]: two hundredths of the way are to hosts."""
    delay = s.frtt_s / 2
    if s.number_of_switches == 1:
        return 0.0, delay / 2
    return 0.98 * delay / (s.number_of_switches - 1), 0.01 * delay


def _control(s: Situation) -> str:
    if s.switches == "efci":
        return f'efci = {{ high = "{_threshold(s)} cells" }}'
    if s.switches == "relative":
        return f'algorithm = {{ type = "relative-rate", threshold = "{_threshold(s)} cells" }}'
    if s.switches == "eprca":
        return f'algorithm = {{ type = "eprca", threshold = "{_threshold(s)} cells" }}'
    # 5 ms, or thirty cells of a slow link: a measurement of a few cells says nothing.
    interval = max(5e-3, 30 / s.line)
    return f'algorithm = {{ type = "erica", interval = {ms(round(interval, 4))} }}'


def _threshold(s: Situation) -> int:
    return max(2, s.buffer_cells // 8)


def link(a: str, b: str, delay_s: float) -> str:
    """Write a link with its delay."""
    return f'[[link]]\nbetween = ["{a}", "{b}"]\ndelay = "{delay_s * 1e6:.3f} us"\n'


def _toml(value: object) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
