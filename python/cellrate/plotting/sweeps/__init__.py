"""A sweep as one picture: its figures over what was varied, in panels that stay legible."""

from .picture import figure

__all__ = ["figure"]
