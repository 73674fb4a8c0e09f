"""Papers whose experiments can be run again, each claim checked by code on the measured series."""

from .experiment import Cell, Drawing, Experiment, Finding, LiveHalf, Point, Results, Table, Tried, Value
from .loading import load_paper, ready_papers
from .marks import mark
from .paper import Paper
from .statistics import Estimate, estimate, jain

__all__ = [
    "Cell",
    "Drawing",
    "Estimate",
    "Experiment",
    "Finding",
    "LiveHalf",
    "Paper",
    "Point",
    "Results",
    "Table",
    "Tried",
    "Value",
    "estimate",
    "jain",
    "load_paper",
    "mark",
    "ready_papers",
]
