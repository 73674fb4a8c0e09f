"""An advised set against the defaults, on a scenario made for it.

Two sources share a bottleneck. The first runs all the time; what it and the second do depends on the application. Where
the advised set does worse in a figure, each of its values is taken back to the default by itself, and the one whose
return helps most is named with its guideline.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..advice.advisor import PACKET_CELLS, AdvisedSet, Situation, mcr, nrm
from ..errors import CellrateError
from ..running.runs import Progress, run_many
from ..scenario import Scenario

if TYPE_CHECKING:
    from ..results import Result, Series

DEFAULTS: Mapping[str, object] = {
    "mcr": "0 cells/s",
    "nrm": 32,
    "trm": "100 ms",
    "rif": "1/16",
    "rdf": "1/16",
    "tbe": "16777215 cells",
    "cdf": "1/16",
    "adtf": "500 ms",
}
"""Table 1, with RIF 1/16 as in the paper's runs and RDF 1/16 as in TM 4.0. PCR and ICR are the slowest link's rate."""

BURSTS = {"interactive": 12, "transaction": 10 * PACKET_CELLS}
"""Cells of one request: 512 octets of TCP, or ten packets of 9180 octets."""
HEAD = "# Parameters advised for"
"""What the file of a set begins with, and no other."""

TOLERANCE = 0.01
"""Figures this close count as equal, where nothing else is said."""


@dataclass(frozen=True)
class Figure:
    """One row of the comparison."""

    name: str
    """What, with its unit."""
    default: float | None
    """With the defaults; None where there is none."""
    advised: float | None
    """With the advised set."""
    larger_is_better: bool
    needed: bool
    """Whether the application needs this one."""
    blame: str | None = None
    """Where the advised set is worse: which guideline made it so."""

    @property
    def worse(self) -> bool:
        """Whether the advised set does worse, by more than a hundredth."""
        return is_worse(self.advised, self.default, larger_is_better=self.larger_is_better)


@dataclass(frozen=True)
class Comparison:
    """An advised set beside the defaults."""

    figures: tuple[Figure, ...]
    what: str
    """A sentence: what was run."""
    results: tuple[Result, Result]
    """With the defaults, with the advised set."""

    @property
    def verdict(self) -> str:
        """Give a sentence on what the application needs."""
        needed = [figure for figure in self.figures if figure.needed]
        if missing := [figure.name for figure in needed if figure.default is None and figure.advised is None]:
            return f"With neither set is there any {', '.join(missing)}: cells are lost on the way."
        bad = [figure for figure in needed if figure.worse]
        if not bad:
            names = ", ".join(figure.name for figure in needed)
            return f"On what the application needs ({names}) the advised set is at least as good as the defaults."
        return "Worse on what the application needs: " + "; ".join(f"{f.name}, by {f.blame}" for f in bad)

    def content(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        rows = [{**figure.__dict__, "worse": figure.worse} for figure in self.figures]
        return {"what": self.what, "figures": rows, "verdict": self.verdict}


def is_worse(value: float | None, than: float | None, *, larger_is_better: bool) -> bool:
    """Whether one figure is worse than another by more than a hundredth, and by more than a cell or a microsecond."""
    if value is None or than is None:
        return value is None and than is not None
    less = than - value if larger_is_better else value - than
    return less > TOLERANCE * abs(than) and less > 1e-6


def scenario_text(advised: AdvisedSet, *, name: str = "advised") -> str:
    """Write the scenario that the set is tried in: a file for `cellrate run`."""
    s = advised.situation
    plan = _plan(s)
    abr = "\n".join(f"{key} = {_toml(value)}" for key, value in advised.settings().items())
    delay = s.frtt_s / 2
    # The hosts are beside their switches: two hundredths of the way in all.
    middle, edge = 0.98 * delay / max(1, s.number_of_switches - 1), 0.01 * delay
    if s.number_of_switches == 1:
        middle, edge = 0.0, delay / 2
    switches = [f"sw{i + 1}" for i in range(s.number_of_switches)]
    links = [
        _link("s1", switches[0], edge),
        _link("s2", switches[0], edge),
        *(_link(a, b, middle) for a, b in itertools.pairwise(switches)),
        _link(switches[-1], "d1", edge),
        _link(switches[-1], "d2", edge),
    ]
    path = ", ".join(f'"{name}"' for name in switches)
    vcs = [
        f'[[vc]]\nname = "vc{i}"\npath = ["s{i}", {path}, "d{i}"]\ntraffic = {traffic}\n'
        for i, traffic in enumerate((plan.first, plan.second), start=1)
    ]
    bottleneck = f"{switches[0]}->{switches[1]}" if s.number_of_switches > 1 else "sw1->d1"
    return "\n".join(
        [
            f"{HEAD} {s.application} over {s.link_bps / 1e6:.6g} Mbps and a round trip of "
            f"{s.frtt_s * 1e3:.6g} ms, {s.switches} switches.",
            f"# {plan.what}",
            f"name = {json.dumps(name, ensure_ascii=False)}",
            f"duration = {_ms(plan.end_s)}",
            "",
            "[defaults.link]",
            f'rate = "{s.link_bps:.0f} bps"',
            "",
            "[defaults.switch]",
            f'buffers = {{ abr = "{s.buffer_cells} cells" }}',
            _control(s),
            "",
            "[defaults.abr]",
            abr,
            "",
            *(f'[[host]]\nname = "{host}"\n' for host in ("s1", "s2", "d1", "d2")),
            *(f'[[switch]]\nname = "{switch}"\n' for switch in switches),
            *links,
            *vcs,
            '[[probe]]\nrecord = ["acr"]\nof = ["vc1", "vc2"]\nevery = "change"\n',
            f'[[probe]]\nrecord = ["received", "source_queue"]\nof = ["vc1", "vc2"]\nevery = {_ms(plan.grain_s)}\n',
            f'[[probe]]\nrecord = ["queue"]\nof = ["{bottleneck}"]\nevery = {_ms(plan.grain_s)}\n',
        ]
    )


def check_writable(file: Path) -> Path:
    """Give the file that `file` is, links followed, which a set may be written into.

    Raises
    ------
    CellrateError
        If it is there and holds something else, or cannot be looked at.
    """
    try:
        found = file.resolve()
        if found.exists() and not found.is_file():
            raise CellrateError(f"--write {file} is no plain file; give another name")
        if found.exists():
            with found.open("rb") as opened:
                if opened.read(len(HEAD)) != HEAD.encode():
                    raise CellrateError(
                        f"--write {file} is there already, and was not written by cellrate advise; give another name"
                    )
    except (OSError, RuntimeError) as error:
        # Until Python 3.13 a loop of links is a RuntimeError.
        raise _unwritable(file, error) from None
    return found


def write_scenario(advised: AdvisedSet, file: Path) -> None:
    """Write the scenario that the set is tried in into a file, which appears whole; an earlier set there is replaced.

    Raises
    ------
    CellrateError
        If the file holds something else, or cannot be written.
    """
    found = check_writable(file)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{found.name}.", suffix=".partial", dir=found.parent)
        partial = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(scenario_text(advised, name=file.stem))
            partial.chmod(0o644)
            partial.replace(found)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: Exception) -> CellrateError:
    said = error.strerror if isinstance(error, OSError) else error
    return CellrateError(f"--write {file} cannot be written: {said}")


def compare(advised: AdvisedSet, *, workers: int | None = None, progress: Progress | None = None) -> Comparison:
    """Run an advised set and the defaults on the same scenario.

    Parameters
    ----------
    advised
        The set.
    workers
        Processes; the number of processors by default.
    progress
        Called with the share done [0 to 1].
    """
    s = advised.situation
    plan = _plan(s)
    base = Scenario.parse(scenario_text(advised), file="advised")
    defaults = _defaults(s)
    plain = base.set({f"defaults.abr.{key}": value for key, value in defaults.items()})
    default, best = run_many([(plain, {}), (base, {})], workers=workers, progress=progress)
    before, after = _figures(default, s, plan), _figures(best, s, plan)
    figures = [
        Figure(name, before[name][0], value, larger_is_better, needed)
        for name, (value, larger_is_better, needed) in after.items()
    ]
    if any(figure.worse for figure in figures):
        figures = _blamed(figures, advised, base, defaults, plan, workers)
    return Comparison(tuple(figures), plan.what, (default, best))


def _blamed(
    figures: list[Figure],
    advised: AdvisedSet,
    base: Scenario,
    defaults: Mapping[str, object],
    plan: _Plan,
    workers: int | None,
) -> list[Figure]:
    """Take each value back by itself, and name for each worse figure the one whose return helps most."""
    from dataclasses import replace

    settings = advised.settings()
    changed = [key for key, value in defaults.items() if value != settings[key]]
    points = [(base.set({f"defaults.abr.{key}": defaults[key]}), {key: str(defaults[key])}) for key in changed]
    without = [_figures(result, advised.situation, plan) for result in run_many(points, workers=workers)]
    symbols = {advice.parameter.lower(): advice for advice in advised.advices}
    named = []
    for figure in figures:
        if not figure.worse:
            named.append(figure)
            continue
        sign = -1.0 if figure.larger_is_better else 1.0
        ranked = []
        for key, row in zip(changed, without, strict=True):
            value = row[figure.name][0]
            if value is not None and is_worse(figure.advised, value, larger_is_better=figure.larger_is_better):
                ranked.append((sign * value, key, value))
        if ranked:
            _, key, value = min(ranked)
            advice = symbols[key]
            blame = f"{advice.parameter} = {advice.text} (section {advice.source}; {value:,.4g} with {defaults[key]})"
        else:
            blame = "no single guideline: taking any one of them back does not help"
        named.append(replace(figure, blame=blame))
    return named


@dataclass(frozen=True)
class _Plan:
    """When what is sent."""

    what: str
    first: str
    second: str
    on_s: float
    off_s: float
    end_s: float
    grain_s: float
    requests_s: tuple[float, ...] = ()
    rate: float = 0.0


def _plan(s: Situation) -> _Plan:
    # Long enough for some averaging intervals and round trips in each phase, and for a hundred cells of a slow link.
    unit = max(2 * s.frtt_s if s.frtt_s < 0.1 else s.frtt_s, 0.05, 200 / s.line)
    unit = round(unit, 3)
    on, off, end = 4 * unit, 8 * unit, 12 * unit
    grain = max(1e-4, round(unit / 200, 4))
    greedy = '{ type = "greedy" }'
    transient = f"{{ start = {_ms(on)}, end = {_ms(off)} }}"
    if s.application in BURSTS:
        cells = min(BURSTS[s.application], max(1, int(s.line * unit / 4)))
        times = tuple(round((2 + i) * unit, 6) for i in range(9))
        listed = ", ".join(f"[{_ms(t)}, {cells}]" for t in times)
        what = f"Source 1 sends all it may; source 2 requests of {cells} cells every {unit * 1e3:g} ms."
        return _Plan(what, greedy, f'{{ type = "timed", cells = [{listed}] }}', on, off, end, grain, times)
    if s.real_time:
        # What MCR is for: all but one cell in Nrm are data.
        rate = max(1.0, mcr(s).value * (1 - 1 / nrm(s).value))
        what = (
            f"Source 1 sends {rate:,.0f} cells/s of {s.application}; source 2 all it may, from {on:g} s to {off:g} s."
        )
        first = f'{{ type = "constant", rate = "{rate:.0f} cells/s" }}'
        return _Plan(what, first, transient, on, off, end, grain, rate=rate)
    what = f"Both sources send all they may; source 2 only from {on:g} s to {off:g} s."
    return _Plan(what, greedy, transient, on, off, end, grain)


def _figures(result: Result, s: Situation, plan: _Plan) -> dict[str, tuple[float | None, bool, bool]]:
    """Give value, whether larger is better, whether the application needs it, by name."""
    rows = {row["vc"]: row for row in result.summary["vcs"]}
    acr = result.series("acr", vc="vc1")
    bulk = s.application == "bulk"
    delivered = sum(rows[vc]["throughput_bps"] for vc in ("vc1", "vc2") if vc in rows) / 1e6
    figures: dict[str, tuple[float | None, bool, bool]] = {}
    if s.application in BURSTS:
        mean, worst = _completion(result.series("received", vc="vc2"), plan)
        figures["mean time of a request [ms]"] = (mean, False, True)
        figures["longest time of a request [ms]"] = (worst, False, False)
    if s.real_time:
        queue = result.series("source_queue", vc="vc1")
        waiting = queue.max() / plan.rate * 1e3
        figures["longest wait at the source [ms]"] = (waiting, False, True)
        p99 = rows["vc1"]["p99_delay_s"]
        figures["p99 delay in the network [ms]"] = (None if p99 is None else p99 * 1e3, False, True)
        figures["changes of ACR per second"] = (len(acr) / plan.end_s, False, False)
    figures["throughput, all data [Mbps]"] = (delivered, True, bulk)
    ports = result.summary["ports"]
    figures["largest queue [cells]"] = (float(max(port["max_abr_queue"] for port in ports)), False, False)
    figures["cells lost"] = (float(sum(row["dropped"] for row in rows.values())), False, bulk)
    if bulk:
        goal = 0.9 * acr.mean(plan.on_s - 0.25 * plan.on_s, plan.on_s)
        back = acr.first(plan.off_s, at_least=goal)
        figures["source 1 back at its rate after [ms]"] = (
            None if back is None else (back - plan.off_s) * 1e3,
            False,
            False,
        )
    return figures


def _completion(received: Series, plan: _Plan) -> tuple[float | None, float | None]:
    """Mean and longest time from a request to its last cell's arrival [ms]; None while one is unfinished."""
    import numpy as np

    times, values = received.times_s, received.values
    total = values[-1]
    count = len(plan.requests_s)
    cells = _request_cells(plan)
    spans = []
    for number, start in enumerate(plan.requests_s, start=1):
        done = int(np.searchsorted(values, number * cells))
        if done >= len(values):
            return None, None
        spans.append((float(times[done]) - start) * 1e3)
    assert total >= count * cells
    return sum(spans) / count, max(spans)


def _request_cells(plan: _Plan) -> int:
    return int(plan.second.rsplit(",", 1)[1].split("]")[0])


def _defaults(s: Situation) -> dict[str, object]:
    line = f"{int(s.line)} cells/s"
    return {"pcr": line, "icr": line, **DEFAULTS}


def _control(s: Situation) -> str:
    if s.switches == "efci":
        return f'efci = {{ high = "{_threshold(s)} cells" }}'
    if s.switches == "relative":
        return f'algorithm = {{ type = "relative-rate", threshold = "{_threshold(s)} cells" }}'
    if s.switches == "eprca":
        return f'algorithm = {{ type = "eprca", threshold = "{_threshold(s)} cells" }}'
    # 5 ms, or thirty cells of a slow link: a measurement of a few cells says nothing.
    interval = max(5e-3, 30 / s.line)
    return f'algorithm = {{ type = "erica", interval = {_ms(round(interval, 4))} }}'


def _threshold(s: Situation) -> int:
    return max(2, s.buffer_cells // 8)


def _link(a: str, b: str, delay_s: float) -> str:
    return f'[[link]]\nbetween = ["{a}", "{b}"]\ndelay = "{delay_s * 1e6:.3f} us"\n'


def _ms(seconds: float) -> str:
    return f'"{seconds * 1e3:.6g} ms"'


def _toml(value: object) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
