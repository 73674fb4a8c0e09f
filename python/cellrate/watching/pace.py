"""How fast network time goes, which a page may change at any moment."""

from __future__ import annotations

import math
import threading
import time


class Pace:
    """Holds a run back so that network time goes at a speed [s/s], or stands still."""

    def __init__(self, speed: float) -> None:
        self._changed = threading.Condition()
        self._speed = speed
        self._paused = False
        self._moments = (time.monotonic(), 0.0)
        self._now = 0.0
        self.held_s = 0.0
        """How long the run has been held back [s]."""

    def begin(self) -> None:
        """Network time begins now."""
        with self._changed:
            self._moments = (time.monotonic(), 0.0)

    @property
    def state(self) -> dict[str, object]:
        """Speed (None for as fast as it goes) and whether it stands still."""
        with self._changed:
            return {"speed": None if math.isinf(self._speed) else self._speed, "paused": self._paused}

    def set(self, *, speed: float | None = None, paused: bool | None = None) -> None:
        """Change the speed [s/s, above 0, infinite for as fast as it goes], or have it stand still or go on.

        Raises
        ------
        ValueError
            If the speed is not above 0.
        """
        if speed is not None and not speed > 0.0:
            raise ValueError(f"speed is {speed}; it must be above 0")
        with self._changed:
            if speed is not None:
                self._speed = speed
            if paused is not None:
                self._paused = paused
            # What was waited for under the old speed does not count.
            self._moments = (time.monotonic(), self._now)
            self._changed.notify_all()

    def hold(self, now_s: float) -> None:
        """Come back when it is time for `now_s` of network time."""
        came = time.monotonic()
        with self._changed:
            self._now = now_s
            while True:
                begun, at = self._moments
                left = math.inf if self._paused else begun + (now_s - at) / self._speed - time.monotonic()
                if left <= 0.0:
                    self.held_s += time.monotonic() - came
                    return
                # A pause ends with a change, but Ctrl-C is to be noticed before.
                self._changed.wait(min(left, 1.0))
