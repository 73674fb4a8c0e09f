"""Runs of the simulator: one, or many side by side in several processes."""
