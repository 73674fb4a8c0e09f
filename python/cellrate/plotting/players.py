"""Players drawn: quality, and what they have fetched ahead, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from ..drawing.figures import Drawn, save
from ..drawing.style import COLOURS, DASHES, STYLE, in_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..recorded.run import Recorded

KIND = "quic-player"
WIDTH, HEIGHT = 7.2, 4.2
"""Size of the picture [in]."""


def players_of(result: Recorded) -> list[Mapping[str, Any]]:
    """Give the rows of the players of a live run that have fetched anything."""
    rows = result.summary.get("applications", [])
    return [row for row in rows if row["kind"] == KIND and (row.get("result") or {}).get("fetched")]


def draw_players(result: Recorded, base: Path) -> None:
    """Draw the players of a live run into `base`.png."""
    save(figure(players_of(result), result.summary["run"]["scenario"], result.stamp), base, (".png",))


def figure(players: Sequence[Mapping[str, Any]], title: str, stamp: str) -> Drawn:
    """Draw the quality of each segment with the advice for it above, and the buffer below.

    Parameters
    ----------
    players
        Rows of the summary's "applications".
    title, stamp
        Above and, small, below.
    """
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(WIDTH, HEIGHT))
        quality, buffer = drawn.subplots(2, 1, sharex=True)
        for number, player in enumerate(players):
            colour = COLOURS[number % len(COLOURS)]
            _draw(quality, buffer, player, colour, DASHES[number % len(DASHES)])
        quality.set_ylabel("quality [Mb/s]")
        buffer.set_ylabel("buffer [s]")
        buffer.set_xlabel("since the player began [s]")
        for axes in (quality, buffer):
            axes.set_ylim(bottom=0)
        quality.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        drawn.subplots_adjust(left=0.09, right=0.74, top=0.91, bottom=0.12, hspace=0.12)
        drawn.label(f"{title}: players", stamp)
    return drawn


def _draw(quality: Axes, buffer: Axes, player: Mapping[str, Any], colour: str, dash: Any) -> None:
    found = player["result"]
    segments = found["fetched"]
    stalls = found["stalls"]
    label = f"{player['application']}, {stalls} {'stall' if stalls == 1 else 'stalls'}"
    times_s = [segment["at_s"] for segment in segments]
    rates = [segment["quality_bps"] / 1e6 for segment in segments]
    quality.step(times_s, rates, where="post", color=colour, linestyle=dash, label=in_legend(label))
    told = [(segment["at_s"], segment["advice_bps"]) for segment in segments if segment["advice_bps"] is not None]
    if told:
        advice = [rate / 1e6 for _, rate in told]
        name = in_legend(f"advice for {player['application']}")
        at_s = [at_s for at_s, _ in told]
        quality.step(at_s, advice, where="post", color=colour, linestyle=":", linewidth=0.9, label=name)
    # It falls while a segment is fetched, and rises by a segment then.
    points = []
    for segment, next_one in zip(segments, [*segments[1:], None], strict=True):
        done_s = segment["at_s"] + segment["took_s"]
        points += [(segment["at_s"], segment["buffer_s"]), (done_s, segment["left_s"])]
        if next_one is not None:
            # The buffer plays on until the next one is asked for.
            points.append((done_s, next_one["buffer_s"] + max(0.0, next_one["at_s"] - done_s)))
    buffer.plot([at_s for at_s, _ in points], [held for _, held in points], color=colour, linestyle=dash)
