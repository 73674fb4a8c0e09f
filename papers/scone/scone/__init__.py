"""SCONE's advice to players and downloads, simulated: a study of this project, with claims of its own.

One module per experiment: its runs, what is measured on them, and the figures.
"""

from . import changes, followers, players, policer

EXPERIMENTS = (players.EXPERIMENT, changes.EXPERIMENT, policer.EXPERIMENT, followers.EXPERIMENT)
"""In the order of the report."""
