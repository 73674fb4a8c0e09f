"""Long-range dependence of a series: estimates of its Hurst parameter, each with its confidence."""

from .estimate import Estimate, estimates, not_stationary
from .reading import read_series

__all__ = ["Estimate", "estimates", "not_stationary", "read_series"]
