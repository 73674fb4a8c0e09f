"""Results of a run: recorded figures, drawn, and written to and read from folders."""

from ..recorded.series import Series
from .result import Result

__all__ = ["Result", "Series"]
