"""The gallery: a small picture of each of thirty runs, and the page that shows them.

`python docs/images/gallery.py` runs what is listed here and writes docs/gallery.md with its pictures, in half a minute
of one processor; `python docs/images/gallery.py NAME ...` draws only these anew. A test holds page and list together.
"""

from __future__ import annotations

import io
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

import cellrate

DOCS = Path(__file__).resolve().parents[1]
PAGE, PICTURES = DOCS / "gallery.md", DOCS / "images" / "gallery"
SECONDS = PICTURES / "seconds.json"
"""Processor time that each run took when its picture was drawn [s]."""
WIDTH = 420
"""Width of a picture [pixels]."""
COLORS = 48
"""Colors of a picture: lines and letters need no more."""


@dataclass(frozen=True)
class Shown:
    """A run and what its picture shows."""

    scenario: str
    quantity: str
    sentence: str
    settings: tuple[str, ...] = ()
    """Settings, as `--set` takes them."""
    point: int = 1
    """Number of the point, where the scenario is a sweep."""

    @property
    def name(self) -> str:
        """Name of the picture."""
        return f"{self.scenario}-{self.quantity}".replace("_", "-")

    @property
    def command(self) -> str:
        """Command that makes the run and draws it."""
        points = len(cellrate.Scenario.load(self.scenario).points())
        chosen = [f"--point {self.point}"] if points > 1 else []
        return " ".join(["cellrate run", self.scenario, *(f"--set {one}" for one in self.settings), *chosen, "--plot"])


GALLERY = (
    Shown("two-source-transient", "acr", "A source gives way within a round trip, and has the line again at once."),
    Shown("two-source-transient", "queue", "The queue of that round trip, and how ERICA drains it."),
    Shown("greedy-15", "acr", "Fifteen sources find equal shares.", ("duration=100ms",)),
    Shown("gfc-1", "acr", "23 connections and six bottlenecks: each at its max-min share."),
    Shown("gfc-2", "acr", "GFC-2, the harder of the two: shares from 4.5 to 47.25 Mb/s."),
    Shown("parking-lot", "acr", "One connection crosses seven links, 21 others one each."),
    Shown("weighted-shares", "acr", "MCR and weight: four connections that matter differently."),
    Shown("efci", "abr_queue", "One bit of feedback: the queue swings."),
    Shown("relative-rate", "acr", "Stop and go by CI and NI."),
    Shown("becn", "queue", "Notice sent back by the congested switch itself.", point=2),
    Shown("satellite", "acr", "A geostationary hop: half a second until a source hears."),
    Shown("vs-vd", "abr_queue", "Virtual sources end the loop before a satellite hop."),
    Shown("leo-pass", "delay", "Satellites at 550 km take turns overhead."),
    Shown("cell-5g", "acr", "A radio cell whose rate changes every quarter of a second."),
    Shown("rain-fade", "utilization", "Rain takes a radio link down in steps."),
    Shown("cbr-and-abr", "acr", "ABR has what a constant-rate connection leaves."),
    Shown("per-vc-queues", "queue", "A queue for each connection.", point=2),
    Shown("congested-destination", "acr", "A host that cannot take in what its line brings."),
    Shown("virtual-paths", "acr", "Two customers, half a line each, however many channels."),
    Shown("tree", "acr", "One source, several leaves: feedback consolidated."),
    Shown("fast-links", "acr", "800 Gb/s: a cell every half nanosecond."),
    Shown("tcp-over-abr", "cwnd", "What a congestion window does over ABR."),
    Shown("tcp-today", "queue", "Reno, SACK, CUBIC and Linux's TCP at a full buffer."),
    Shown("tcp-edge", "source_queue", "An adapter that tells TCP its rate by ACKs."),
    Shown("ecn-dctcp", "queue", "Marks in place of losses: Reno, CUBIC, DCTCP."),
    Shown("ecn-red", "queue", "Ports that mark by chance, and one by a step."),
    Shown("phase-effects", "received", "Two like transfers, exact clocks: one has everything."),
    Shown("video-follows-acr", "acr", "Three ways of a film to follow its rate."),
    Shown("calls", "concurrent", "Calls come and go, and some are blocked."),
    Shown("web-search-flows", "concurrent", "Flows of a web search cluster: how many are under way."),
    Shown("oam-loopback", "loopback_time", "Loopback cells tell where a connection waits."),
    Shown("random", "acr", "Ten switches after Waxman, sixteen connections."),
)


def page(seconds: dict[str, float]) -> str:
    """Give the page, with the processor time of each run [s]."""
    lines = [
        "# Gallery",
        "",
        "Each picture is one run. The command below it makes the run and all its pictures; the name leads to the",
        "scenario's file, whose first lines say more. Any of them opens in the lab: `cellrate lab NAME`.",
        "`python docs/images/gallery.py` draws them all.",
        "",
    ]
    for pair in (GALLERY[i : i + 2] for i in range(0, len(GALLERY), 2)):
        lines += ["| | |", "| --- | --- |"]
        lines.append(_row(f"![{one.sentence}](images/gallery/{one.name}.png)" for one in pair))
        lines.append(_row(f"{one.sentence} [{one.scenario}](../scenarios/{one.scenario}.toml)" for one in pair))
        lines.append(_row(f"`{one.command}` ({_said(seconds[one.name])})" for one in pair))
        lines.append("")
    return "\n".join(lines)


def _row(cells: object) -> str:
    return f"| {' | '.join(cells)} |"  # type: ignore[arg-type]


def _said(seconds: float) -> str:
    return "less than 1 s" if seconds < 1 else f"{seconds:.0f} s"


def draw(shown: Shown) -> float:
    """Run and draw one; give the processor time of the run [s]."""
    settings = dict(one.split("=", 1) for one in shown.settings)
    scenario = cellrate.Scenario.load(shown.scenario, set=settings).points()[shown.point - 1].scenario
    begun = time.process_time()
    result = cellrate.run(scenario)
    took = time.process_time() - begun
    with mpl.rc_context({"figure.figsize": (6.0, 3.2), "legend.fontsize": 8}):
        figure = result.plot(shown.quantity)
        figure.set_size_inches(6.0, 3.2)
        figure.savefig(octets := io.BytesIO(), dpi=110, bbox_inches="tight")
    plt.close(figure)
    picture = Image.open(octets).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(COLORS)
    small.save(PICTURES / f"{shown.name}.png", optimize=True)
    return took


def main(names: list[str]) -> None:
    """Draw those of these names, or all, and write the page."""
    PICTURES.mkdir(exist_ok=True)
    seconds = json.loads(SECONDS.read_text()) if SECONDS.is_file() else {}
    for shown in GALLERY:
        if not names or shown.name in names:
            seconds[shown.name] = round(draw(shown), 2)
            print(f"{shown.name}: {seconds[shown.name]} s", flush=True)
    seconds = {shown.name: seconds[shown.name] for shown in GALLERY}
    SECONDS.write_text(json.dumps(seconds, indent=1) + "\n")
    PAGE.write_text(page(seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
