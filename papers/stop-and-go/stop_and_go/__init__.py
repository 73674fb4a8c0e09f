"""Stop & Go ABR: best effort services in ATM LANs with two cell rates (Politecnico di Torino).

Figures 2 to 5 are in `figures`, other algorithms in `beyond`, choices of ours in `sensitivity`, sums in `arithmetic`.
"""

from . import arithmetic, beyond, figures, sensitivity

EXPERIMENTS = (
    figures.FIGURE_2,
    figures.FIGURE_3,
    figures.FIGURE_4,
    figures.FIGURE_5,
    beyond.EXPERIMENT,
    sensitivity.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
