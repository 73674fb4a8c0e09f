"""ATM ABR congestion control: run scenarios at the level of the single cell, and look at what happened.

    >>> import cellrate
    >>> result = cellrate.run("two-source-transient")             # doctest: +SKIP
    >>> result.series("acr", vc="s1").mean(0.05, 0.1)             # doctest: +SKIP

Times are in seconds, rates of probes in cells/s, throughput in bit/s; every key and attribute says its unit.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import live, trial
    from .advice import Advice, AdvisedSet, Situation, advise
    from .algorithms import Load, Port, Running, SwitchAlgorithm
    from .campaigns.reading import load_sweep
    from .campaigns.sweep import Sweep
    from .campaigns.sweeping import sweep
    from .captures import read_capture
    from .comparing import Arena, arena
    from .errors import CellrateError, Interrupted, NoSuchSeries, RunError, ScenarioError
    from .plotting.together import plot
    from .plugin_classes import SendingEnd
    from .policies import UiliPolicy
    from .results import Result, Series
    from .results.reading import load
    from .running.explaining import Explanation, explain
    from .running.runs import run
    from .scenario import Scenario, SweepPoint, ready_scenarios, schema
    from .sweeps.tidy import tidy
    from .traffic import Burst, TrafficSource
    from .watching import watch
    from .wireshark.capture import Capture, CapturedFile

    __version__: str

__all__ = [
    "Advice",
    "AdvisedSet",
    "Arena",
    "Burst",
    "Capture",
    "CapturedFile",
    "CellrateError",
    "Explanation",
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
    "explain",
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

_NAMES = {
    ".advice": ("Advice", "AdvisedSet", "Situation", "advise"),
    ".algorithms": ("Load", "Port", "Running", "SwitchAlgorithm"),
    ".campaigns.reading": ("load_sweep",),
    ".campaigns.sweep": ("Sweep",),
    ".campaigns.sweeping": ("sweep",),
    ".captures": ("read_capture",),
    ".comparing": ("Arena", "arena"),
    ".errors": ("CellrateError", "Interrupted", "NoSuchSeries", "RunError", "ScenarioError"),
    ".plotting.together": ("plot",),
    ".plugin_classes": ("SendingEnd",),
    ".policies": ("UiliPolicy",),
    ".recorded.series": ("Series",),
    ".results.reading": ("load",),
    ".results.result": ("Result",),
    ".running.explaining": ("Explanation", "explain"),
    ".running.runs": ("run",),
    ".scenario": ("Scenario", "SweepPoint", "ready_scenarios", "schema"),
    ".sweeps.tidy": ("tidy",),
    ".traffic": ("Burst", "TrafficSource"),
    ".watching": ("watch",),
    ".wireshark.capture": ("Capture", "CapturedFile"),
}
"""Public names by module, each imported when it is first asked for: a command waits only for what it uses."""

_MODULES = ("algorithms", "errors", "live", "policies", "scenario", "traffic", "trial")
"""Public modules, imported in the same way."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:
    # A type checker sees the names above, and so finds a wrong one.
    def __getattr__(name: str) -> object:
        """Import what is asked for, once."""
        from importlib import import_module

        if name in _MODULES:
            # The import itself gives the package the attribute.
            return import_module(f".{name}", __name__)
        if name == "__version__":
            value = import_module("._native", __name__).version()
        elif name in _MODULE_OF:
            value = getattr(import_module(_MODULE_OF[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
