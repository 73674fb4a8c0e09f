"""Applicability of ABR Service to Internet Applications (Ishizuka, NTT): WWW, video and IP telephony beside FTP."""

from .. import PAPERS
from ..paper import Paper
from . import arithmetic, follow, left_open, search, video, voice, www

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
)
"""The paper."""
