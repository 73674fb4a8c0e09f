"""The network of `live/scone-player`: what its two players did between real hosts, and what they do simulated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import cellrate
from cellrate.papers.experiment import Drawing, Experiment, Finding, Results
from cellrate.plugin_classes import SendingEnd

from .player import Played, Player
from .runs import FOLDER

SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the runs, which move the delays of SCONE packets."""
START_S = 1.0


@cache
def played(seed: int) -> dict[str, Played]:
    """Run both, and give what they played, by what they go by."""
    made: list[Player] = []

    def player(end: SendingEnd, by: str) -> Player:
        one = Player(end, Played(1, by), start_s=START_S)
        made.append(one)
        return one

    cellrate.run(FOLDER / "beside-live.toml", seed=seed, traffic={"player": player})
    return {one.played.by: one.played for one in made}


def _findings(_: Results) -> Sequence[Finding]:
    runs = [played(seed) for seed in SEEDS]
    found = []
    for by, name in (("advice", "advised"), ("estimate", "estimating")):
        quality = [run[by].mean_quality() for run in runs]
        switches = [float(run[by].switches()) for run in runs]
        listed = ", ".join(f"{value:.2f}" for value in quality)
        found += [
            Finding(f"beside-live.{name}-quality", f"{listed} Mb/s", values=quality, why=_WHY),
            Finding(
                f"beside-live.{name}-switches",
                ", ".join(f"{value:.0f}" for value in switches),
                values=switches,
                why=_WHY,
            ),
        ]
    stalls = sum(run[by].stalls for run in runs for by in run)
    found.append(Finding("beside-live.stalls", f"{stalls} stalls in {len(runs)} runs", stalls == 0, _WHY))
    return found


_WHY = (
    "One live run is all that it stands beside. Live, the estimate is of what QUIC gets, whose own control, losses and "
    "recovery are not simulated; that they make the difference is a guess."
)


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="beside-live", title="Beside real hosts", points={}, findings=_findings, drawings=_drawings
)
"""Five seeds beside one live run. Runs are made as claims are measured, in this process."""
