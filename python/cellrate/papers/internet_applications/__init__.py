"""Applicability of ABR Service to Internet Applications (Ishizuka, NTT): WWW, video and IP telephony beside FTP."""

from collections.abc import Callable, Mapping
from pathlib import Path

from .. import PAPERS
from ..paper import Paper
from . import arithmetic, follow, left_open, search, video, voice, www


def _live(scenarios: Path, keep: Path, progress: Callable[[float], object] | None) -> Mapping[str, str]:
    from .live import measure_live

    return measure_live(scenarios, keep=keep, progress=progress)


PAPER = Paper(
    name="internet-applications",
    title=PAPERS["internet-applications"],
    experiments=(
        www.EXPERIMENT,
        video.EXPERIMENT,
        search.EXPERIMENT,
        follow.EXPERIMENT,
        voice.EXPERIMENT,
        left_open.EXPERIMENT,
        arithmetic.EXPERIMENT,
    ),
    live=_live,
)
"""The paper."""
