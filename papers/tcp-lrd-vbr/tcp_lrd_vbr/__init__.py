"""Performance of TCP over ABR with Long-Range Dependent VBR Background Traffic (Kalyanaraman and others).

Six tables, one experiment each; the claims across them; on/off VBR; the switch's averaging; what
else is left open; mechanisms that the paper names and does not run; the paper's arithmetic.
"""

from . import across, arithmetic, averaging, beyond, fourth, on_off, sensitivity, tables

EXPERIMENTS = (
    *tables.EXPERIMENTS,
    across.EXPERIMENT,
    on_off.EXPERIMENT,
    averaging.EXPERIMENT,
    sensitivity.EXPERIMENT,
    sensitivity.LONG,
    fourth.EXPERIMENT,
    beyond.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
