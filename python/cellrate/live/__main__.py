"""Processes of live runs: `python -m cellrate.live attempt ...`, `... node ...` and `... shell ...`."""

import sys
from pathlib import Path

from . import attempt, distribution, shell

match sys.argv[1:]:
    case ["attempt", folder]:
        sys.exit(attempt.main(Path(folder)))
    case ["node", folder, name, start_unix_ns, end]:
        sys.exit(distribution.main(Path(folder), name, int(start_unix_ns), int(end)))
    case ["shell", folder, end]:
        sys.exit(shell.main(Path(folder), int(end)))
    case words:
        sys.exit(f"cellrate.live: {' '.join(words)}: for the processes of live runs only")
