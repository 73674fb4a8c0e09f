"""Pictures of networks: `Scenario.draw`, `cellrate draw`."""

from .picture import draw

__all__ = ["draw"]
