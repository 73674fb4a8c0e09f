"""Fetches a URL with curl and counts what comes, in steps of 100 ms: ftp_client.py URL RESULT.json.

Told to end (SIGTERM), it writes what has come so far. Run as a file of its own: nothing of the package is imported.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STEP_S = 0.1


def main() -> int:
    """Run curl, count, write the result."""
    url, result = sys.argv[1:3]
    curl = subprocess.Popen(["curl", "-sS", "--no-epsv", url], stdout=subprocess.PIPE)
    told = False

    def end(*_: object) -> None:
        nonlocal told
        told = True
        curl.kill()

    signal.signal(signal.SIGTERM, end)
    assert curl.stdout is not None
    begun = time.monotonic()
    steps = [0]
    first = last = None
    total = 0
    while True:
        try:
            count = len(os.read(curl.stdout.fileno(), 1 << 16))
        except InterruptedError:
            continue
        now = time.monotonic() - begun
        if count == 0:
            break
        first = now if first is None else first
        last = now
        total += count
        step = int(now / STEP_S)
        steps.extend([0] * (step + 1 - len(steps)))
        steps[step] += count
    status = curl.wait()
    seconds = None if first is None or last is None or last <= first else last - first
    with Path(result).open("w") as file:
        json.dump(
            {
                "octets": total,
                "seconds": seconds,
                "first_octet_s": first,
                "goodput_bps": None if seconds is None else total * 8 / seconds,
                "step_s": STEP_S,
                "octets_per_step": steps,
            },
            file,
        )
    return 0 if told else status


sys.exit(main())
