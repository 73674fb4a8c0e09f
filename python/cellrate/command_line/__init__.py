"""The command `cellrate`: a file for each group of its commands.

Exit status: 0 done, 1 the run failed, 2 the input is wrong, 3 no live runs on this machine, 143 ended by SIGTERM,
129 by SIGHUP.
Everything slow to import (NumPy, matplotlib, pyarrow, rich's tables) is imported where it is needed.
"""
