"""Results of a run: summary and series, as objects, as tables, and as a folder of files."""

from .result import Result
from .series import Series

__all__ = ["Result", "Series"]
