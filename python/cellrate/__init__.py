"""ATM ABR congestion control: run scenarios at the level of the single cell, and look at what happened.

    >>> import cellrate
    >>> result = cellrate.run("two-source-transient")             # doctest: +SKIP
    >>> result.series("acr", vc="s1").mean(0.05, 0.1)             # doctest: +SKIP

Times are in seconds, rates of probes in cells/s, throughput in bit/s; every key and attribute says its unit.
"""

from typing import TYPE_CHECKING

from ._native import version as _version
from .algorithms import SwitchAlgorithm
from .errors import CellrateError, Interrupted, NoSuchSeries, RunError, ScenarioError
from .extensions.ends import SendingEnd
from .policies import UiliPolicy
from .results import Result, Series
from .results.reading import load, load_sweep
from .running.runs import run, sweep
from .scenario import Scenario, SweepPoint, ready_scenarios, schema
from .traffic import Burst, TrafficSource
from .wireshark.capture import Capture, CapturedFile

if TYPE_CHECKING:
    from .advice import Advice, AdvisedSet, Situation, advise
    from .campaigns.sweep import Sweep
    from .captures import read_capture
    from .plotting.together import plot
    from .sweeps.tidy import tidy
    from .watching import watch

__version__ = _version()

__all__ = [
    "Advice",
    "AdvisedSet",
    "Burst",
    "Capture",
    "CapturedFile",
    "CellrateError",
    "Interrupted",
    "NoSuchSeries",
    "Result",
    "RunError",
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
    "load",
    "load_sweep",
    "plot",
    "read_capture",
    "ready_scenarios",
    "run",
    "schema",
    "sweep",
    "tidy",
    "watch",
]

_OF_ADVICE = {"Advice", "AdvisedSet", "Situation", "advise"}


def __getattr__(name: str) -> object:
    """Load advice, plots and the page when they are asked for: a run does without, and begins the sooner."""
    if name in _OF_ADVICE:
        from . import advice

        return getattr(advice, name)
    if name == "Sweep":
        from .campaigns.sweep import Sweep

        return Sweep
    if name == "watch":
        from .watching import watch

        return watch
    if name == "plot":
        from .plotting.together import plot

        return plot
    if name == "read_capture":
        from .captures import read_capture

        return read_capture
    if name == "tidy":
        from .sweeps.tidy import tidy

        return tidy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
