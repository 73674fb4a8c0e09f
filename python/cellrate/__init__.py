"""ATM ABR congestion control: run scenarios at the level of the single cell, and look at what happened.

    >>> import cellrate
    >>> result = cellrate.run("two-source-transient")             # doctest: +SKIP
    >>> result.series("acr", vc="s1").mean(0.05, 0.1)             # doctest: +SKIP

Times are in seconds, rates of probes in cells/s, throughput in bit/s; every key and attribute says its unit.
"""

from ._native import version as _version
from .advisor import Advice, AdvisedSet, Situation, advise
from .capturing import Capture, CapturedFile
from .errors import CellrateError, Interrupted, NoSuchSeries, RunError, ScenarioError
from .results import Result, Series
from .running import run, sweep
from .scenario import Scenario, SweepPoint, ready_scenarios, schema

__version__ = _version()

__all__ = [
    "Advice",
    "AdvisedSet",
    "Capture",
    "CapturedFile",
    "CellrateError",
    "Interrupted",
    "NoSuchSeries",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Series",
    "Situation",
    "SweepPoint",
    "__version__",
    "advise",
    "ready_scenarios",
    "run",
    "schema",
    "sweep",
]
