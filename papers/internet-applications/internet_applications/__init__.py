"""Applicability of ABR Service to Internet Applications (Ishizuka, NTT): WWW, video and IP telephony beside FTP."""

from collections.abc import Callable, Sequence
from pathlib import Path

from cellrate.papers.experiment import LiveHalf

from . import arithmetic, follow, search, sensitivity, video, voice, www


def measure_live(
    scenarios: Path, keep: Path, progress: Callable[[float], object] | None, only: Sequence[str]
) -> LiveHalf:
    """Run the live half, or what of it is for these experiments and claims."""
    from .live import CASES, chosen
    from .live import measure_live as measure

    return measure(scenarios, keep=keep, progress=progress, cases=chosen(CASES, only))


EXPERIMENTS = (
    www.EXPERIMENT,
    video.EXPERIMENT,
    search.EXPERIMENT,
    follow.EXPERIMENT,
    voice.EXPERIMENT,
    sensitivity.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
