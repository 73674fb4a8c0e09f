"""Sweeps: what is varied, what values of it mean, and the figures of all points together."""
