"""Plots of runs and of sweeps, and what all figures have in common. Only what draws imports it: matplotlib is slow."""
