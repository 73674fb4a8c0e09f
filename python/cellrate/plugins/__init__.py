"""Plugins: how parts of a run that are not built in are read, checked and made.

What it derives from is in `cellrate.algorithms`, `cellrate.policies` and `cellrate.traffic`.
"""
