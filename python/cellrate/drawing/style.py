"""Style of all figures, the page that shows a run included."""

from __future__ import annotations

from typing import Any

from ..texts import printable_lines

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C00")
"""Okabe and Ito's palette, told apart by colour-blind readers; yellow darkened to show on white."""

FAINT = "#b5b5b5"
"""Colour of lines that are not told apart from each other."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
"""For more lines than there are colours."""

STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.grid.axis": "both",
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    # Margins are set by hand; an automatic layout switched on for one's own figures would undo them.
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "figure.dpi": 110,
    "font.size": 9,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    # Outlines, which publishers take, and not Type 3.
    "pdf.fonttype": 42,
    "savefig.facecolor": "white",
    "svg.hashsalt": "cellrate",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def plain(text: str) -> str:
    """Give a text for matplotlib, which takes what is between dollars for mathematics, without control characters."""
    return printable_lines(text).replace("$", r"\$")


def in_legend(text: str) -> str:
    """Give a name for matplotlib's legends, which leave out names that begin with an underscore."""
    return plain(f" {text}" if text.startswith("_") else text)
