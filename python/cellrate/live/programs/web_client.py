"""Fetches pages with curl, text then image, and a pause: web_client.py BASE PAGES GAP_S RESULT.

A line of JSON for each object, as soon as it is there. Run as a file of its own: nothing of the package is imported.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

FORMAT = (
    '{"status": %{http_code}, "connect_s": %{time_connect}, "asked_s": %{time_pretransfer}, "total_s": %{time_total}}'
)
OBJECTS = (("html", "page.html"), ("image", "image.gif"))


def main() -> int:
    """Fetch page after page."""
    base, pages, gap_s, result = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    begun = time.monotonic()
    failed = 0
    with Path(result).open("w", buffering=1) as file:
        for page in range(pages):
            if page:
                time.sleep(gap_s)
            for name, path in OBJECTS:
                at_s = time.monotonic() - begun
                # A connection of its own for each object, as browsers had it.
                done = subprocess.run(
                    ["curl", "-sS", "--http1.0", "-o", "/dev/null", "-w", FORMAT, f"{base}/{path}"],
                    stdout=subprocess.PIPE,
                    check=False,
                )
                told = json.loads(done.stdout or '{"status": 0, "connect_s": 0, "asked_s": 0, "total_s": 0}')
                failed += told["status"] != 200
                one = {
                    "page": page + 1,
                    "object": name,
                    "at_s": at_s,
                    "status": told["status"],
                    "connect_s": told["connect_s"],
                    "response_s": told["total_s"] - told["asked_s"],
                }
                file.write(json.dumps(one) + "\n")
    return 1 if failed else 0


sys.exit(main())
