"""Figures of the front page, each read from the file that holds its measurement.

`python docs/site/figures.py` writes them into README.md, between its marks. A test holds the page to the files.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAPERS = ("abr-parameters", "internet-applications", "rcp", "stop-and-go", "tcp-lrd-vbr", "uili")
COLUMNS = 120
"""Width of the front page, in columns."""


def why() -> str:
    """Give what cellrate has that others have not, with the figures that show it."""
    counts = [json.loads((ROOT / "papers" / name / "counts.json").read_text()) for name in PAPERS]
    claims, near, spread, runs = (sum(count[key] for count in counts) for key in ("claims", "near", "spread", "runs"))
    constant, tcp = _speed_over("15 constant-rate sources"), _speed_over("15 TCP transfers")
    return _list(
        "**Exact.** No cell is averaged away; time is whole picoseconds. Tests hold the fast kernel to a plain one "
        "on thousands of random networks: equal [to the last bit](CONTRIBUTING.md#how-exactness-is-held).",
        "**One protocol, two worlds.** The values that drive simulated cells also drive "
        "[real hosts](docs/guides/testbed.md) by the wall clock: Linux TCP, nginx, video. In `cellrate live shell "
        "live/reno-10` type `server ping client`, or `curl`.",
        f"**Six papers, run again.** {runs:,} runs judge {claims} of their figures and statements: {near} are near, "
        f"{spread} more within the spread of the runs, and the others say why not "
        "([by which rules](docs/guides/judging.md)).",
        f"**Fast.** {_w1():.0f} million cell hops a second on one core. On constant-rate sources that is "
        f"{constant['ns-2']:.0f} times the speed of ns-2 and {constant['ns-3']:.0f} times that of ns-3; with TCP, "
        f"{tcp['ns-2']:.1f} and {tcp['ns-3']:.0f} times ([measured](docs/performance.md), "
        "[beside others](docs/performance-peers.md)).",
    )


def setup() -> str:
    """Give what the first command takes."""
    measured = json.loads((ROOT / "docs/site/setup.json").read_text())
    minutes, seconds = divmod(measured["elapsed_s"], 60)
    return _filled(
        f"`make demo` takes {minutes} min {seconds:02d} s on {measured['machine']}, and "
        f"{measured['disk_MB'] / 1000:.1f} GB of disk ({measured['date']}); `make test`, all that must pass, "
        "takes a quarter of an hour."
    )


BLOCKS = {"why": why, "setup": setup}
"""Texts of the blocks, by the name of their marks."""


def renewed(page: str) -> str:
    """Give the front page with the figures of today's files."""
    for name, block in BLOCKS.items():
        begin, end = f"<!-- {name}: written by `python docs/site/figures.py` -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{block()}\n\n{end}{rest.split(end)[1]}"
    return page


def _w1() -> float:
    """Rate of workload W1 [million cell hops/s]."""
    (rate,) = re.findall(r"^\| W1 \| [^|]+ \| (\d+) \|", (ROOT / "docs/performance.md").read_text(), re.MULTILINE)
    return float(rate)


def _speed_over(table: str) -> dict[str, float]:
    """Give how many times as fast as each simulator cellrate is, from the first table that begins with these words."""
    page = (ROOT / "docs/performance-peers.md").read_text()
    rows = page[page.index(f"\n{table}") :].split("\n\n")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0].rpartition(" ")[0]: float(row[-1]) for row in cells}


def _list(*items: str) -> str:
    return "\n".join(_filled(item, first="- ", rest="  ") for item in items)


def _filled(text: str, *, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        text, COLUMNS, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    README.write_text(renewed(README.read_text()))
