"""Series of what applications found, beside those of the network: goodput step by step, and round trips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...recorded.series import Series


def series_of(summary: dict[str, Any]) -> Iterator[Series]:
    """Give `goodput` [bit/s] of each application that counts octets in steps, and `round_trip` [s] of each ping.

    Each value holds from the beginning of its step, or from its request, until the next; instants follow from the
    application's start.
    """
    end_s = summary["run"]["duration_s"]
    for row in summary["applications"]:
        result = row["result"]
        if octets := result.get("octets_per_step"):
            times = row["start_s"] + result["step_s"] * np.arange(len(octets) + 1)
            values = np.array([*octets, 0]) * 8 / result["step_s"]
            kept = times <= end_s
            yield Series("goodput", row["application"], "bit/s", None, times[kept], values[kept], end_s)
        if answers := result.get("round_trips"):
            times, values = np.array(answers, dtype=float).T.copy()
            yield Series("round_trip", row["application"], "s", None, times, values, end_s)
