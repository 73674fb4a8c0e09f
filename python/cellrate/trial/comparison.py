"""An advised set beside the defaults: what each gives, and which guideline is to blame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import _native
from ..advice.advised import AdvisedSet
from ..advice.advisor import taken_back
from ..advice.situation import Situation
from ..quantities import TIME, read, read_ratio
from ..running.points import Progress, run_many
from ..scenario import Scenario
from .figures import Figure, figures_of, is_worse
from .plan import Plan, plan_of
from .scenario import scenario_text

if TYPE_CHECKING:
    from ..results import Result

_TEXTS = {key: default for key, default, _ in _native.abr_parameters()}
DEFAULTS: Mapping[str, object] = {
    key: int(_TEXTS[key]) if _TEXTS[key].isdigit() else _TEXTS[key]
    for key in ("mcr", "nrm", "trm", "rif", "rdf", "tbe", "cdf", "adtf")
}
"""Defaults of the core (table 1, TM 4.0) by key. PCR and ICR are the slowest link's rate."""


@dataclass(frozen=True)
class Comparison:
    """An advised set beside the defaults."""

    figures: tuple[Figure, ...]
    what: str
    """A sentence: what was run."""
    results: tuple[Result, Result]
    """With the defaults, with the set that is kept."""
    kept: AdvisedSet
    """The advised set; where that did worse on what the application needs, with what made it so at its default."""
    taken_back: tuple[str, ...] = ()
    """Parameters that are at their defaults because of this trial, each with the value that was advised."""

    @property
    def verdict(self) -> str:
        """Give a sentence on what the application needs."""
        back = ", ".join(self.taken_back)
        given_up = f"Taken back to the default, because it did worse: {back}. " if back else ""
        return given_up + self._verdict()

    def _verdict(self) -> str:
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
        return {
            "what": self.what,
            "figures": rows,
            "taken_back": list(self.taken_back),
            "verdict": self.verdict,
        }


SYMBOLS = {"pcr": "PCR", "mcr": "MCR", "icr": "ICR", "nrm": "Nrm", "trm": "Trm", "rif": "RIF", "rdf": "RDF"} | {
    "tbe": "TBE",
    "cdf": "CDF",
    "adtf": "ADTF",
}
"""Keys of scenarios and the standard's symbols."""


def compare(advised: AdvisedSet, *, workers: int | None = None, progress: Progress | None = None) -> Comparison:
    """Run an advised set and the defaults on the same scenario, and keep what does better.

    Where the advised set does worse on what the application needs, the values that made it so are taken back to their
    defaults, until it does not, or is the defaults.

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
    plan = plan_of(s)
    base = Scenario.parse(scenario_text(advised), file="advised")
    defaults = _defaults(s)
    plain = base.set({f"defaults.abr.{key}": value for key, value in defaults.items()})
    default, best = run_many([(plain, {}), (base, {})], workers=workers, progress=progress)
    before = figures_of(default, s, plan)
    kept, back = advised, list[str]()
    while True:
        figures = _figures(before, figures_of(best, s, plan))
        if any(figure.worse for figure in figures):
            figures = _blamed(figures, kept, base, defaults, plan, workers)
        changed = _changed(kept, defaults)
        bad = [figure for figure in figures if figure.needed and figure.worse]
        if not bad or not changed:
            return Comparison(tuple(figures), plan.what, (default, best), kept, tuple(back))
        # The first that is worse decides; where no value by itself helps, all go.
        to_blame = [key for key in changed if (bad[0].blame or "").startswith(f"{SYMBOLS[key]} = ")] or changed
        back += [f"{SYMBOLS[key]} = {kept[SYMBOLS[key]].text}" for key in to_blame]
        kept = taken_back(kept, {SYMBOLS[key]: _default_values(s)[key] for key in to_blame})
        base = base.set({f"defaults.abr.{key}": defaults[key] for key in to_blame})
        (best,) = run_many([(base, {})], workers=workers)


def _figures(
    before: Mapping[str, tuple[float | None, bool, bool]], after: Mapping[str, tuple[float | None, bool, bool]]
) -> list[Figure]:
    return [
        Figure(name, before[name][0], value, larger_is_better, needed)
        for name, (value, larger_is_better, needed) in after.items()
    ]


def _changed(advised: AdvisedSet, defaults: Mapping[str, object]) -> list[str]:
    """Give the keys whose advised value is not the default."""
    values = _default_values(advised.situation)
    return [key for key in defaults if advised[SYMBOLS[key]].value != values[key]]


def _blamed(
    figures: list[Figure],
    advised: AdvisedSet,
    base: Scenario,
    defaults: Mapping[str, object],
    plan: Plan,
    workers: int | None,
) -> list[Figure]:
    """Take each value back by itself, and name for each worse figure the one whose return helps most."""
    changed = _changed(advised, defaults)
    points = [(base.set({f"defaults.abr.{key}": defaults[key]}), {key: str(defaults[key])}) for key in changed]
    without = [figures_of(result, advised.situation, plan) for result in run_many(points, workers=workers)]
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


def _defaults(s: Situation) -> dict[str, object]:
    line = f"{int(s.line)} cells/s"
    return {"pcr": line, "icr": line, **DEFAULTS}


def _default_values(s: Situation) -> dict[str, float]:
    """Give the defaults as numbers, in the units of advice."""
    line = float(int(s.line))
    return {"pcr": line, "icr": line, **{key: _number(str(text)) for key, text in DEFAULTS.items()}}


def _number(text: str) -> float:
    """Read a ratio, a time [s] or a number with its unit."""
    number, _, unit = text.partition(" ")
    return read(text, TIME) if unit in ("ms", "s") else read_ratio(number)
