"""Applicability of ABR Service to Internet Applications (Ishizuka, NTT): WWW, video and IP telephony beside FTP."""

from collections.abc import Callable, Mapping
from pathlib import Path

from . import arithmetic, follow, left_open, search, video, voice, www


def measure_live(scenarios: Path, keep: Path, progress: Callable[[float], object] | None) -> Mapping[str, str]:
    """Run the live half: what was measured, by the id of the claim."""
    from .live import measure_live as measure

    return measure(scenarios, keep=keep, progress=progress)


EXPERIMENTS = (
    www.EXPERIMENT,
    video.EXPERIMENT,
    search.EXPERIMENT,
    follow.EXPERIMENT,
    voice.EXPERIMENT,
    left_open.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
