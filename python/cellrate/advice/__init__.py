"""Advice on ABR parameters: from what a person knows of a network to values, each with its reason."""

from .advised import Advice, AdvisedSet
from .advisor import advise
from .situation import Situation

__all__ = ["Advice", "AdvisedSet", "Situation", "advise"]
