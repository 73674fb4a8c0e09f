"""Captures of others, and our own, as arrivals: when which cells or packets came, on which connection."""

from .arrivals import Arrivals, read_capture

__all__ = ["Arrivals", "read_capture"]
