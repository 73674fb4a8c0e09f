"""Use-it-or-lose-it policies for ABR (Kalyanaraman, Jain, Goyal, Fahmy, Samudra).

One module per experiment: its runs, what is measured on them, and the figures.
"""

from . import bottleneck, bursts, tradeoff

EXPERIMENTS = (bottleneck.EXPERIMENT, bursts.EXPERIMENT, tradeoff.EXPERIMENT)
"""In the order of the report."""
