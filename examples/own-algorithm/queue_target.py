"""A switch algorithm of one's own: the rate that is left is moved until the queue stands where it should."""

from __future__ import annotations

import cellrate


class QueueTarget(cellrate.SwitchAlgorithm):
    """An integral controller: every interval the rate of a connection moves by how far load and queue are off.

    Parameters
    ----------
    target
        Cells that should wait.
    gain
        The part of the error that a step takes away; steps get smaller with it, and settle over longer ways.
    drain
        Time in which cells that wait beyond the target are to leave [s].
    """

    interval = 1e-3

    def __init__(self, port: cellrate.Port, target: int = 100, gain: float = 0.2, drain: float = 0.05) -> None:
        self.capacity, self.target, self.gain, self.drain = port.link_rate, target, gain, drain
        self.rate = port.link_rate / 10

    def on_interval_end(self, load: cellrate.Load) -> None:
        """Share the error among those that were seen to send."""
        too_many = (load.abr_queue - self.target) / self.drain
        error = load.available(self.capacity) - load.abr_rate - too_many
        self.rate += self.gain * error / max(1, load.active)
        self.rate = min(max(self.rate, 10.0), self.capacity)

    def on_backward_rm(self, now: float, vc: int, queue: int) -> float:
        """Answer everybody alike: the rate is what ER becomes at most."""
        return self.rate

    def figures(self) -> dict[str, float]:
        """Let probes record the rate."""
        return {"fair_share": self.rate}
