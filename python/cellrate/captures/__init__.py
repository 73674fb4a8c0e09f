"""Captures of others, and our own, as arrivals: when which cells or packets came, on which connection."""

from .arrivals import Arrivals, read_capture
from .contract import Conformance, Contract, conformance

__all__ = ["Arrivals", "Conformance", "Contract", "conformance", "read_capture"]
