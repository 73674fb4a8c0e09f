"""Figures as notebooks show them, and as files: the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from ..errors import CellrateError
from ..texts import printable
from .style import STYLE, plain

FORMATS: dict[str, dict[str, object]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None},
}
"""Ends of the names of files, and what is left out of them because it would differ each time."""


CAPTIONS = {".png": "Description", ".svg": "Description", ".pdf": "Subject"}
"""Entries of files that hold a caption, by the ends of their names."""


class Drawn(Figure):
    """A figure that a notebook shows, whether or not it has been told to show figures."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.heading: Text | None = None
        """Its title, at the left above."""
        self.notes: Text | None = None
        """Lines that say what is drawn, and what is not."""
        self.stamp: Text | None = None
        """Text that reproduces it, small, at the right below."""
        self.caption = ""
        """Words of notes and stamp, of a picture that is laid out for print without them."""

    def label(self, title: str, stamp: str) -> None:
        """Write title and stamp, into margins of the size that the figure has now."""
        width, height = self.get_size_inches()
        self.heading = self.text(0.1 / width, 1 - 0.1 / height, plain(title), fontsize=10, va="top")
        self.stamp = self.text(1 - 0.08 / width, 0.08 / height, plain(stamp), fontsize=6.5, color="#777777", ha="right")

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.savefig(picture, format="png", metadata={"Software": None})
        return picture.getvalue()


class Measure:
    """Measure of the parts of a figure: of a legend or a label, without drawing what is large."""

    def __init__(self, drawn: Figure) -> None:
        canvas: Any = FigureCanvasAgg(drawn)
        self._renderer = canvas.get_renderer()
        self._dpi = drawn.dpi

    def extent(self, part: Artist) -> Bbox | None:
        """Give where a part is, with all that belongs to it [in]; None for one that shows nothing."""
        found = part.get_tightbbox(self._renderer)
        return None if found is None else Bbox(found.get_points() / self._dpi)

    def width(self, part: Artist) -> float:
        """Give the width of a part [in]; 0 of one that shows nothing."""
        found = self.extent(part)
        return 0.0 if found is None else float(found.width)


def save(drawn: Figure, base: Path, ends: Sequence[str] = (".png", ".svg")) -> None:
    """Write `base`.png and `base`.svg, or files with other `ends` of `FORMATS`."""
    for end in ends:
        _write(drawn, base.with_name(base.name + end), end)


def write(drawn: Figure, file: Path) -> Path:
    """Write a figure into a file, which appears whole.

    Raises
    ------
    CellrateError
        If the file's name ends otherwise than in one of `FORMATS`, or it cannot be written.
    """
    if file.suffix not in FORMATS:
        raise CellrateError(f"{file}: a picture is a file that ends in {', '.join(FORMATS)}")
    partial = file.with_name(f".{file.name}.partial")
    try:
        _write(drawn, partial, file.suffix)
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CellrateError(f"{file} cannot be written: {error.strerror or error}") from None
    return file


def _write(drawn: Figure, file: Path, end: str) -> None:
    caption = drawn.caption if isinstance(drawn, Drawn) else ""
    said = {CAPTIONS[end]: printable(caption)} if caption else {}
    with mpl.rc_context(STYLE):
        drawn.savefig(file, dpi=drawn.get_dpi(), format=end[1:], metadata=FORMATS[end] | said)
