"""What a run is given that is not built in: how it is read, checked and made.

What it derives from is in `cellrate.algorithms`, `cellrate.policies` and `cellrate.traffic`.
"""
