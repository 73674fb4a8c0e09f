"""Long-range dependence of a series: estimates of its Hurst parameter, each with its confidence."""

from .estimate import Estimate, estimates
from .reading import read_series

__all__ = ["Estimate", "estimates", "read_series"]
