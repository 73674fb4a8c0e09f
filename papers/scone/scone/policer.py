"""Downloads through a policer, told the rate or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .player import advised

POLICED_BPS = 4e6
ADVICE_BPS = advised(POLICED_BPS)
"""The step of SCONE below: 3.98 Mb/s."""
POINTS: Mapping[str, Point] = {
    "told": Point("policer", {"vc.download{i}.pcr": f"{ADVICE_BPS:.0f} bps"}),
    "not told": Point("policer"),
}


def goodput(result: Result) -> float:
    """Octets that arrived in order, of all downloads [Mb/s]."""
    return float(sum(row["goodput_bps"] for row in result.summary["tcp"])) / 1e6


def wasted(result: Result) -> float:
    """Part of the cells of all downloads that a policer discarded [0 to 1]."""
    rows = [row for row in result.summary["vcs"] if not row["vc"].endswith("(back)")]
    sent = sum(row["sent"] for row in rows)
    return float(sum(row["dropped"] for row in rows) / sent)


def _findings(results: Results) -> Sequence[Finding]:
    seen = {key: (wasted(result), goodput(result)) for key, result in results.items()}
    lost, got = zip(seen["told"], seen["not told"], strict=True)
    return [
        Finding("policer.told", f"{100 * lost[0]:.2f} % of its cells, {got[0]:.2f} Mb/s of goodput", lost[0] == 0.0,
                "Not explained." if lost[0] else ""),
        Finding("policer.goodput", f"{got[0]:.2f} told, {got[1]:.2f} Mb/s not told, of 4 downloads", got[0] > got[1],
                "Not explained." if got[0] <= got[1] else ""),
        Finding("policer.not-told", f"{100 * lost[1]:.2f} % of its cells, {got[1]:.2f} Mb/s of goodput", None,
                "What a policer of 25 ms of burst discards of CUBIC."),
    ]  # fmt: skip


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="policer", title="Octets wasted at a policer", points=POINTS, findings=_findings, drawings=_drawings
)
"""Four downloads over CUBIC, each policed at 4 Mb/s."""
