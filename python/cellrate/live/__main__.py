"""`python -m cellrate.live attempt FOLDER`, for `supervision`; `... node FOLDER NAME START`, for `distribution`."""

import sys
from pathlib import Path

from . import attempt, distribution

match sys.argv[1:]:
    case ["attempt", folder]:
        sys.exit(attempt.main(Path(folder)))
    case ["node", folder, name, start_unix_ns, end]:
        sys.exit(distribution.main(Path(folder), name, int(start_unix_ns), int(end)))
    case words:
        sys.exit(f"cellrate.live: {' '.join(words)}: for the processes of live runs only")
