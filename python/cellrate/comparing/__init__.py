"""The arena: switch algorithms on one fixed suite of scenarios, with a card for each (docs/guides/arena.md)."""

from .cards import Card
from .contest import Arena, arena
from .costs import Cost

__all__ = ["Arena", "Card", "Cost", "arena"]
