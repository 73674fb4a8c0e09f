"""Tables of times in any unit that times have."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellrate

TEXT = """name = "table"
duration = "300 ms"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "s" }]
link = [{ between = ["a", "s"], rate = "10 Mbps", delay = "0 ms" },
        { between = ["s", "b"], rate = "10 Mbps",
          delay = { type = "csv", file = "t.csv", time_unit = "UNIT", unit = "UNIT" } }]
[[vc]]
name = "v"
path = ["a", "s", "b"]
category = "cbr"
traffic = { type = "constant", rate = "100 cells/s" }
"""


@pytest.mark.parametrize(
    ("unit", "per_s"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("ps", 1e12), ("min", 1 / 60)]
)
def test_a_table_of_delays_has_the_unit_that_it_says(tmp_path: Path, unit: str, per_s: float) -> None:
    rows = [(0.0, 0.076846), (0.1, 0.07684), (0.2, 0.076834)]
    (tmp_path / "t.csv").write_text("".join(f"{at * per_s:.9f},{delay * per_s:.9f}\n" for at, delay in rows))
    (tmp_path / "t.toml").write_text(TEXT.replace("UNIT", unit))
    delay = cellrate.run(tmp_path / "t.toml").summary["vcs"][0]["max_delay_s"]
    # A cell takes 42.4 us of each line.
    assert delay == pytest.approx(0.076846 + 2 * 42.4e-6, abs=2e-6)
