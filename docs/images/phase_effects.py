"""Draw phase-effects.png: what two like connections get with exact and with independent clocks.

`.venv/bin/python docs/images/phase_effects.py` writes it beside this file, from the ready scenario phase-effects.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import cellrate

PAYLOAD_BITS = 8 * 48
COLOURS = {"vc1": "#0072B2", "vc2": "#D55E00"}


def main() -> None:
    """Draw it."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    content = cellrate.Scenario.load("phase-effects").to_dict()
    del content["sweep"]
    greedy = content | {"duration": "2 s", "probe": [{"record": ["received"], "every": "25 ms"}]}
    greedy["vc"] = [{**content["vc"][0], "traffic": {"type": "greedy"}}]
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 5.6), sharex="col", sharey=True, layout="constrained")
    for row, clocks in enumerate(("exact", "independent")):
        for column, (what, title) in enumerate(((greedy, "Greedy UBR"), (content, "TCP Reno over UBR"))):
            scenario = cellrate.Scenario.from_dict(what).set({"defaults.clocks": clocks})
            result = cellrate.run(scenario)
            panel = axes[row][column]
            for name, colour in COLOURS.items():
                series = result.series("received", vc=name)
                times, cells = np.asarray(series.times_s), np.asarray(series.values)
                panel.plot(times[1:], np.diff(cells) / np.diff(times) * PAYLOAD_BITS / 1e6, color=colour, label=name)
            panel.set_title(f"{title}, {clocks} clocks", fontsize=10, loc="left")
            panel.grid(alpha=0.3)
    for panel in axes[:, 0]:
        panel.set_ylabel("payload received [Mbps]")
    for panel in axes[1]:
        panel.set_xlabel("time [s]")
    axes[0][0].legend(frameon=False)
    figure.savefig(Path(__file__).with_name("phase-effects.png"), dpi=110)


if __name__ == "__main__":
    main()
