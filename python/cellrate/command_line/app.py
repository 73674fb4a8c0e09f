"""The command and its groups; whoever adds a command to one of them imports it from here."""

from __future__ import annotations

from .. import __version__
from .typed import App

app = App(
    "cellrate",
    help="ATM ABR congestion control at the level of the single cell: run scenarios, reproduce papers.",
    version=__version__,
)
paper_app = app.group("paper", help="Reproduce the experiments of a paper and check its claims.")
live_app = app.group("live", help="Real hosts and real applications over the ABR service, on a Linux machine.")
