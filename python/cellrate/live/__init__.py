"""Live runs: real hosts and real applications over the ABR service, on one Linux machine.

    >>> from cellrate.live import live_run
    >>> run = live_run("live/reno-10")                             # doctest: +SKIP
    >>> run.in_time, run.application("bulk")["result"]["goodput_bps"]   # doctest: +SKIP

What a machine lacks for it, `cellrate doctor` says.
"""

from typing import TYPE_CHECKING

from .reading import load_live
from .supervision import LiveRun, live_run

if TYPE_CHECKING:
    from .page import live_watch

__all__ = ["LiveRun", "live_run", "live_watch", "load_live"]


def __getattr__(name: str) -> object:
    """Load the page when it is asked for."""
    if name == "live_watch":
        from .page import live_watch

        return live_watch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
