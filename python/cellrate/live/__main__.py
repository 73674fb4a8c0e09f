"""`python -m cellrate.live FOLDER`: one attempt, for `supervision`."""

import sys
from pathlib import Path

from .attempt import main

sys.exit(main(Path(sys.argv[1])))
