"""Performance of TCP over ABR with Long-Range Dependent VBR Background Traffic (Kalyanaraman and others).

Six tables, one experiment each; the claims across them; on/off VBR; the switch's averaging; what
else is left open; the paper's arithmetic.
"""

from . import across, arithmetic, averaging, fourth, on_off, sensitivity, tables

EXPERIMENTS = (
    *tables.EXPERIMENTS,
    across.EXPERIMENT,
    on_off.EXPERIMENT,
    averaging.EXPERIMENT,
    sensitivity.EXPERIMENT,
    sensitivity.LONG,
    fourth.EXPERIMENT,
    arithmetic.EXPERIMENT,
)
"""In the order of the report."""
