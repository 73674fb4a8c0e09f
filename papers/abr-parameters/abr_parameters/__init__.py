"""ABR Engineering: Roles and Guidelines for Setting ABR Parameters (Fahmy, Jain, Goyal, Vandalore).

One module per experiment: its runs, what is measured on them, and the figures.
"""

from . import arithmetic, background, cutoff, exposure, feedback, satellite, transient

EXPERIMENTS = (
    transient.NRM,
    transient.RIF,
    background.EXPERIMENT,
    satellite.EXPERIMENT,
    exposure.EXPERIMENT,
    feedback.EXPERIMENT,
    cutoff.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
