"""Why Flow-Completion Time is the Right Metric for Congestion Control (Dukkipati, McKeown).

One module per experiment: its runs, what is measured on them, and the figures.
"""

from . import figure_12, lines, loads, reasons, round_trips

EXPERIMENTS = (
    lines.EXPERIMENT,
    figure_12.EXPERIMENT,
    loads.EXPERIMENT,
    reasons.EXPERIMENT,
    round_trips.EXPERIMENT,
)
"""In the order of the report."""
