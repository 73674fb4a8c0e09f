"""ATM ABR congestion control: run scenarios at the level of the single cell, and look at what happened.

    >>> import cellrate
    >>> result = cellrate.run("two-source-transient")             # doctest: +SKIP
    >>> result.series("acr", vc="s1").mean(0.05, 0.1)             # doctest: +SKIP

Times are in seconds, rates of probes in cells/s, throughput in bit/s; every key and attribute says its unit.
"""

from typing import TYPE_CHECKING

from ._native import version as _version
from .algorithms import Load, Port, Running, SwitchAlgorithm
from .campaigns.reading import load_sweep
from .campaigns.sweeping import sweep
from .errors import CellrateError, Interrupted, NoSuchSeries, RunError, ScenarioError
from .plugin_classes import SendingEnd
from .policies import UiliPolicy
from .results import Result, Series
from .results.reading import load
from .running.runs import run
from .scenario import Scenario, SweepPoint, ready_scenarios, schema
from .traffic import Burst, TrafficSource
from .wireshark.capture import Capture, CapturedFile

if TYPE_CHECKING:
    from . import live, trial
    from .advice import Advice, AdvisedSet, Situation, advise
    from .campaigns.sweep import Sweep
    from .captures import read_capture
    from .comparing import Arena, arena
    from .plotting.together import plot
    from .sweeps.tidy import tidy
    from .watching import watch

__version__ = _version()

__all__ = [
    "Advice",
    "AdvisedSet",
    "Arena",
    "Burst",
    "Capture",
    "CapturedFile",
    "CellrateError",
    "Interrupted",
    "Load",
    "NoSuchSeries",
    "Port",
    "Result",
    "RunError",
    "Running",
    "Scenario",
    "ScenarioError",
    "SendingEnd",
    "Series",
    "Situation",
    "Sweep",
    "SweepPoint",
    "SwitchAlgorithm",
    "TrafficSource",
    "UiliPolicy",
    "__version__",
    "advise",
    "arena",
    "live",
    "load",
    "load_sweep",
    "plot",
    "read_capture",
    "ready_scenarios",
    "run",
    "schema",
    "sweep",
    "tidy",
    "trial",
    "watch",
]

_LATER = {
    "Advice": ".advice",
    "AdvisedSet": ".advice",
    "Arena": ".comparing",
    "Situation": ".advice",
    "advise": ".advice",
    "arena": ".comparing",
    "Sweep": ".campaigns.sweep",
    "plot": ".plotting.together",
    "read_capture": ".captures",
    "tidy": ".sweeps.tidy",
    "watch": ".watching",
}
"""Modules of what is loaded when it is asked for: a run does without, and begins the sooner."""

_MODULES = ("live", "trial")
"""Public modules, imported when they are asked for."""

if not TYPE_CHECKING:
    # A type checker sees the names above, and so finds a wrong one.
    def __getattr__(name: str) -> object:
        """Load advice, plots, the page and public modules when they are asked for."""
        import importlib

        if name in _LATER:
            return getattr(importlib.import_module(_LATER[name], __name__), name)
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
