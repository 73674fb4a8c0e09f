"""SCONE's advice to players and downloads, simulated: a study of this project, with claims of its own.

One module per experiment: its runs, what is measured on them, and the figures.
"""

from . import beside_live, changes, followers, players, policer

EXPERIMENTS = (beside_live.EXPERIMENT, players.EXPERIMENT, changes.EXPERIMENT, policer.EXPERIMENT, followers.EXPERIMENT)
"""In the order of the report."""
