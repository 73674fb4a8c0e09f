"""ERICA+ with and without averages of the load and of the number of sources, on row 1 of table 1."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import ROW_SEEDS, Sample, metrics

_AT = "defaults.switch.algorithm"
_LOAD: dict[bool, dict[str, object]] = {
    # The newest interval alone: what load_averaging "none" is.
    False: {f"{_AT}.alpha": 1},
    True: {f"{_AT}.alpha": 0.2},
}
_SOURCES: dict[bool, dict[str, object]] = {False: {f"{_AT}.activity_decay": 0}, True: {f"{_AT}.activity_decay": 0.9}}
WAYS: dict[str, dict[str, object]] = {
    "neither": {**_LOAD[False], **_SOURCES[False]},
    "load": {**_LOAD[True], **_SOURCES[False]},
    "sources": {**_LOAD[False], **_SOURCES[True]},
    "both": {**_LOAD[True], **_SOURCES[True]},
}
"""Averages that are compared."""


def _findings(results: Results) -> Sequence[Finding]:
    if f"neither, seed {ROW_SEEDS[0]}" not in results:
        return []
    found = []
    for metric, digits in (("queue", 0), ("efficiency", 1)):
        texts = []
        for way in WAYS:
            values = Sample([getattr(metrics(results[f"{way}, seed {seed}"], 512), metric) for seed in ROW_SEEDS])
            texts.append(f"{values.text(digits)} ({way})")
        found.append(Finding(f"erica.{metric}", ", ".join(texts), None, "The tables are run with both."))
    return found


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="erica",
    title="What averaging does",
    points={
        f"{way}, seed {seed}": Point("terrestrial", {**settings, "seed": seed}, extra=True)
        for way, settings in WAYS.items()
        for seed in ROW_SEEDS
    },
    findings=_findings,
    drawings=_drawings,
)
"""Five seeds of each of the four ways; not in a quick run."""
