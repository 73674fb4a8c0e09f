"""Figures 3, 4, 5 (Nrm) and 7, 8 (RIF): one source always sends, another comes and goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.plotting.published import Published
from cellrate.results import Result, Series

from .common import PCR, TARGET_MBPS, furthest, listed, mbps, near, rising

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NRMS = (8, 32, 256)
ARRIVAL_S = 0.1
"""When source 2 has data."""
PUBLISHED_RATES = (Published(140, "published: 140"), Published(70, "published, both: 70"))
"""ACRs of figures 3 to 5, 7 and 8: of source 1 alone, and of both [Mbps]."""
PATH_S = 0.015
"""One way, three links of 1000 km."""


def _settings(nrm: int, rif: str = "1/16") -> dict[str, object]:
    return {"defaults.abr.nrm": nrm, "defaults.abr.rif": rif}


_CCR: dict[str, object] = {"defaults.switch.algorithm.measured_ccr": True}


def _timed(nrm: int) -> dict[str, object]:
    window = '{ type = "greedy", start = "100 ms", end = "200 ms" }'
    return {**_settings(nrm), "vc.vc2.traffic": window}


def departure(result: Result) -> float:
    """When source 2 sent its last data [s], to the millisecond; later it sends a few RM cells only."""
    rate = result.series("source_rate", vc="vc2")
    return float(rate.times_s[mbps(1.0) * rate.values > 0.1 * TARGET_MBPS][-1])


def rise(acr: Series, after: float) -> tuple[float, float]:
    """When ACR climbs through 5/8 and through 19/20 of the full rate after `after` [s]; infinite if it never does.

    Both are clear of the last small steps of ERICA below and above, which come an averaging interval apart.
    """
    full = TARGET_MBPS / mbps(1.0)
    begun = acr.first(after, at_least=0.625 * full)
    back = acr.first(after, at_least=0.95 * full)
    return float("inf") if begun is None else begun, float("inf") if back is None else back


def steps(acr: Series, begun: float, back: float) -> list[float]:
    """The increases of ACR on the way up [cells/s]."""
    climb = acr.between(begun - 1e-9, back)
    increases = np.diff(climb.values)
    return [float(step) for step in increases[increases > 0]]


def _nrm_findings(results: Results) -> Sequence[Finding]:
    runs = {nrm: results[f"nrm-{nrm}"] for nrm in NRMS}
    acr = {nrm: (run.series("acr", vc="vc1"), run.series("acr", vc="vc2")) for nrm, run in runs.items()}
    left = {nrm: departure(run) for nrm, run in runs.items()}
    climbs = {nrm: rise(acr[nrm][0], left[nrm]) for nrm in NRMS}
    settled = {nrm: mbps(acr[nrm][0].mean(0.08, ARRIVAL_S)) for nrm in NRMS}
    shared = {nrm: _shared(run) for nrm, run in runs.items()}
    final = {nrm: mbps(acr[nrm][0].mean(0.35, 0.4)) for nrm in NRMS}
    durations = {nrm: (back - begun) * 1e3 for nrm, (begun, back) in climbs.items()}
    begun_ms = {nrm: begun * 1e3 for nrm, (begun, _) in climbs.items()}
    back_ms = {nrm: back * 1e3 for nrm, (_, back) in climbs.items()}
    data = {nrm: _data_mbps(run) for nrm, run in runs.items()}
    found = [
        Finding("nrm.settles", listed(settled.items(), "Mbps"), values=[furthest(settled.values(), 140)]),
        Finding(
            "nrm.halves",
            ", ".join(f"{a:.1f} and {b:.1f} ({nrm})" for nrm, (a, b) in shared.items()) + " Mbps",
            values=[furthest((v for pair in shared.values() for v in pair), 70)],
        ),
        Finding("nrm.returns", listed(final.items(), "Mbps"), values=[furthest(final.values(), 140)]),
        Finding("nrm.climb", listed(durations.items(), "ms", 2), rising(durations.values())),
        Finding("nrm.starts-later", listed(begun_ms.items(), "ms"), rising(reversed(begun_ms.values()))),
        Finding("nrm.overhead", listed(data.items(), "Mbps of data"), rising(data.values())),
        Finding("nrm.back", listed(back_ms.items(), "ms"), *_order_of_return(back_ms, begun_ms)),
    ]
    if "measured-8" in results:
        both = {nrm: _shared(results[f"measured-{nrm}"]) for nrm in NRMS}
        text = ", ".join(f"{a:.1f} and {b:.1f} ({nrm})" for nrm, (a, b) in both.items()) + " Mbps"
        holds = all(near(v, 70, 0.03) for pair in both.values() for v in pair)
        found.append(Finding("nrm.measured-ccr", text, holds, "" if holds else _MEASURED))
    if "timed-8" in results:
        timed = {nrm: results[f"timed-{nrm}"] for nrm in NRMS}
        ends = {nrm: rise(run.series("acr", vc="vc1"), departure(run))[1] * 1e3 for nrm, run in timed.items()}
        found.append(Finding("nrm.fixed-time", listed(ends.items(), "ms"), rising(ends.values())))
    return found


_MEASURED = (
    "What a switch measures in an interval is less than what the sources may send while ACR rises, and both end above "
    "half."
)


def _shared(run: Result) -> tuple[float, float]:
    """Both ACRs in the last 10 ms in which source 2 sends [Mbps]."""
    left = departure(run)
    first, second = (mbps(run.series("acr", vc=vc).mean(left - 0.01, left)) for vc in ("vc1", "vc2"))
    return first, second


def _order_of_return(back_ms: dict[int, float], begun_ms: dict[int, float]) -> tuple[bool, str]:
    if rising(back_ms.values()):
        return True, ""
    lead = begun_ms[8] - begun_ms[256]
    return False, (
        f"The climb is the fastest with Nrm 8, but it begins {lead:.1f} ms later than with Nrm 256, "
        f"because the RM cells "
        "lengthen the transfer of source 2; which of the two weighs more depends on how much source 2 sends, and "
        "the paper does not say how much that is."
    )


def _data_mbps(result: Result) -> float:
    """Data that reaches destination 1 while source 1 is alone and settled."""
    received = result.series("received", vc="vc1")
    return mbps((received.at(ARRIVAL_S + PATH_S) - received.at(ARRIVAL_S)) / PATH_S)


def _rif_findings(results: Results) -> Sequence[Finding]:
    climbs = {}
    for name in ("rif-1/16", "rif-1"):
        acr = results[name].series("acr", vc="vc1")
        begun, back = rise(acr, departure(results[name]))
        climbs[name] = (steps(acr, begun, back), (back - begun) * 1e3)
    slow, slow_ms = climbs["rif-1/16"]
    fast, fast_ms = climbs["rif-1"]
    return [
        Finding(
            "rif.steps",
            f"{len(slow)} steps, the largest {mbps(max(slow)):.2f} Mbps, in {slow_ms:.1f} ms",
            len(slow) >= 5 and near(max(slow), PCR / 16, 0.001),
        ),
        Finding(
            "rif.jump",
            f"{len(fast)} step{'s' * (len(fast) != 1)}, the largest {mbps(max(fast)):.1f} Mbps, in {fast_ms:.1f} ms",
            len(fast) == 1 and near(mbps(fast[0]), TARGET_MBPS / 2, 0.1),
        ),
    ]


def _figure(result: Result, title: str) -> Figure:
    from cellrate.plotting.runs import figure, panels_of

    panels = panels_of(result, ("acr", "queue", "utilization", "received"))
    panels[0] = replace(panels[0], published=PUBLISHED_RATES)
    return figure(panels, title, result.stamp)


def _nrm_drawings(results: Results) -> Sequence[Drawing]:
    numbers = {8: 3, 32: 4, 256: 5}
    drawn = []
    for nrm in NRMS:
        title = f"Figure {numbers[nrm]}: transient, Nrm = {nrm}"
        drawn.append(Drawing(f"figure-{numbers[nrm]}", title, partial(_figure, results[f"nrm-{nrm}"], title)))
    return [
        *drawn,
        Drawing("climb-by-nrm", "The climb of source 1 after source 2 has gone", partial(_climbs, results)),
    ]


def _climbs(results: Results) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure
    from cellrate.quantities import CELL_BITS

    lines = [Line(results[f"nrm-{nrm}"].series("acr", vc="vc1"), f"Nrm {nrm}") for nrm in NRMS]
    panel = Panel("ACR of source 1 [Mbps]", lines, CELL_BITS / 1e6)
    times = [rise(line.series, departure(results[f"nrm-{nrm}"])) for nrm, line in zip(NRMS, lines, strict=True)]
    span = (min(begun for begun, _ in times) - 0.005, max(back for _, back in times) + 0.005)
    stamp = results["nrm-32"].stamp + " and its neighbours"
    return figure([panel], "The climb after source 2 has gone", stamp, panel_height=2.6, time=span)


def _rif_drawings(results: Results) -> Sequence[Drawing]:
    titles = {"rif-1/16": (7, "1/16"), "rif-1": (8, "1")}
    return [
        Drawing(
            f"figure-{number}",
            text := f"Figure {number}: Nrm = 256, RIF = {rif}",
            partial(_figure, results[key], text),
        )
        for key, (number, rif) in titles.items()
    ]


NRM = Experiment(
    name="nrm",
    title="Nrm: figures 3 to 5",
    points={
        **{f"nrm-{nrm}": Point("transient", _settings(nrm)) for nrm in NRMS},
        **{f"timed-{nrm}": Point("transient", _timed(nrm), extra=True) for nrm in NRMS},
        **{f"measured-{nrm}": Point("transient", {**_settings(nrm), **_CCR}, extra=True) for nrm in NRMS},
    },
    findings=_nrm_findings,
    drawings=_nrm_drawings,
)
"""Nrm 8, 32, 256."""

RIF = Experiment(
    name="rif",
    title="RIF: figures 7 and 8",
    points={
        "rif-1/16": Point("transient", _settings(256)),
        "rif-1": Point("transient", _settings(256, "1")),
    },
    findings=_rif_findings,
    drawings=_rif_drawings,
)
"""RIF 1/16 and 1, with Nrm 256."""
