"""Figures and their style: what plots and pictures of networks have in common. Only what draws imports it."""
