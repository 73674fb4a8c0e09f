"""The line is full, the queue stands at its target, and shares are equal."""

from __future__ import annotations

from pathlib import Path

from queue_target import QueueTarget

import cellrate

NETWORK = Path(__file__).with_name("network.toml")


def test_the_queue_comes_to_its_target() -> None:
    result = cellrate.run(NETWORK, algorithms={"queue-target": QueueTarget})
    assert result.series("utilization").mean("150 ms", "200 ms") > 0.99
    assert abs(result.series("queue").mean("150 ms", "200 ms") - 100) < 10


def test_both_have_the_same_whatever_their_distance() -> None:
    result = cellrate.run(NETWORK, algorithms={"queue-target": QueueTarget})
    near, far = (result.series("acr", vc=name).mean("550 ms", "600 ms") for name in ("vc1", "vc3"))
    assert abs(near - far) < 0.01 * far
