"""Pictures of networks: `Scenario.draw`, `cellrate draw`."""

from .picture import draw, write

__all__ = ["draw", "write"]
