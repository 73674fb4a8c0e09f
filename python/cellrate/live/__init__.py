"""Live runs: real hosts and real applications over the ABR service, on one Linux machine.

    >>> from cellrate.live import live_run
    >>> run = live_run("live/reno-10")                             # doctest: +SKIP
    >>> run.in_time, run.application("bulk")["result"]["goodput_bps"]   # doctest: +SKIP

What a machine lacks for it, `cellrate doctor` says.
"""

from .supervision import LiveRun, live_run

__all__ = ["LiveRun", "live_run"]
