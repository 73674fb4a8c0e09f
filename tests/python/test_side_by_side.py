"""The table of switch algorithms in docs/algorithms says what runs give today."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import cellrate

PAGE = Path(__file__).parents[2] / "docs" / "algorithms" / "README.md"
LINE = "sw1->sw2"


def kind(point: cellrate.Result) -> tuple[str, str]:
    """Give the type of its algorithm, and what the table calls it."""
    setting = point.set["defaults.switch.algorithm"]
    name = setting["type"]
    more = {"effective_number": ", effective number", "growth_threshold": ", growth above 2 cells"}
    return name, name + "".join(words for key, words in more.items() if key in setting)


def after_six_have_ended(point: cellrate.Result) -> list[str]:
    port, utilization = point.port(LINE), point.series("utilization", port=LINE)
    end = utilization.mean(0.6, 0.8)
    times, values = np.asarray(utilization.times_s), np.asarray(utilization.values)
    behind = times > 0.405  # when the last cells of those six have come
    soon = values[behind][:20]
    least = times[behind][np.argmin(soon)]
    # Where a queue is left the line stays full.
    full = times[(times > least) & (values >= 0.98 * end)][0] if soon.min() < 0.98 * end else 0.4
    return [f"{port['max_queue']:,}", f"{port['mean_queue']:,.0f}", f"{end:.0%}", f"{(full - 0.4) * 1e3:.0f}"]


def shares(point: cellrate.Result) -> list[str]:
    fair = cellrate.Scenario.parse(point.toml).fair()
    parts = [point.series("acr", vc=s.vc).mean(0.6, 1.0) / s.rate for s in fair if not s.backward]
    assert len(parts) == 7
    return [f"{min(parts):.2f}", f"{max(parts):.2f}"]


def test_every_row_is_what_the_two_scenarios_give() -> None:
    rows: dict[str, list[str]] = {}
    for point in cellrate.sweep("algorithms"):
        rows[kind(point)[1]] = after_six_have_ended(point)
    for point in cellrate.sweep("bottlenecks"):
        rows.setdefault(kind(point)[1], ["-"] * 4).extend(shares(point))
    expected = [f"| {name} | {' | '.join(figures)} |" for name, figures in rows.items()]
    table = PAGE.read_text().splitlines()
    assert [row for row in expected if row not in table] == []
