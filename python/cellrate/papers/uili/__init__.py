"""Use-it-or-lose-it policies for ABR (Kalyanaraman, Jain, Goyal, Fahmy, Samudra).

One module per experiment: its runs, what is measured on them, and the figures.
"""

from .. import PAPERS
from ..paper import Paper
from . import bottleneck, bursts, tradeoff

PAPER = Paper(
    name="uili",
    title=PAPERS["uili"],
    experiments=(bottleneck.EXPERIMENT, bursts.EXPERIMENT, tradeoff.EXPERIMENT),
)
"""The paper."""
