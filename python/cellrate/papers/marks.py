"""Published figures as marks in the plots of a paper, read from its published.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from ..plotting.published import Published
from .judging import printed


def mark(
    folder: Path, claim: str, of: str, *, scale: float = 1.0, span: tuple[float, float] | None = None
) -> Published:
    """Give the printed figure of a claim as a level, or as a band where a range is printed.

    Parameters
    ----------
    folder
        Of the paper.
    claim
        Its id in published.toml.
    of
        The quantity or the setting that it is said of, for the label.
    scale
        Factor from the printed unit to that of the axis.
    span
        The times that it is said of [s]; all of them when None.

    Raises
    ------
    KeyError
        If there is no such claim.
    ValueError
        If there is no figure in it.
    """
    figure = printed(_published(folder)[claim])
    high = figure.high * scale if figure.high > figure.low else None
    text = f"{figure.low:g}" if high is None else f"{figure.low:g} to {figure.high:g}"
    return Published(figure.low * scale, f"{of}, published: {text} {figure.unit}", high=high, span=span)


@cache
def _published(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "published.toml").read_text(encoding="utf-8"))
