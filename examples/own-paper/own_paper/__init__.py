"""The experiments of this paper, a module each."""

from . import utilization

EXPERIMENTS = (utilization.EXPERIMENT,)
"""In the order of the report."""
