"""Quantities with units as options have them: the same units as scenario files, and the same meaning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cellrate
from cellrate import quantities
from cellrate.command_line import asking
from cellrate.quantities import LENGTH, RATE, SIZE, TIME, Dimension
from conftest import PAIR

TABLE = Path(__file__).parents[2] / "crates/cellrate-scenario/src/text/quantity.rs"


def units_of_scenarios() -> dict[str, dict[str, tuple[float, int]]]:
    """The parser's own table: by dimension and name, a factor and a power of ten."""
    (table,) = re.findall(r"fn units\(self\).*?\n    }\n", TABLE.read_text(), re.DOTALL)
    found = {}
    for names, units in re.findall(r"((?:Dimension::\w+(?: \| )?)+) => &\[(.*?)\],\n", table, re.DOTALL):
        rows = re.findall(r'Unit\("([^"]+)", ([^,]+), (-?\d+)\)', units)
        for dimension in re.findall(r"Dimension::(\w+)", names):
            found[dimension] = {
                re.sub(r"\\u\{(\w+)\}", lambda code: chr(int(code[1], 16)), name): (
                    {"BITS_PER_CELL as f64": 424.0, "OCTETS_PER_CELL": 53.0}.get(factor)
                    or float(factor.replace("_", "")),
                    int(shift),
                )
                for name, factor, shift in rows
            }
    return found


def test_the_units_are_those_of_scenario_files() -> None:
    theirs = units_of_scenarios()
    assert set(theirs) == {"Time", "Rate", "LineRate", "Cells", "Octets", "Length", "Offset", "Angle", "Ratio"}
    # There the base unit of time is the picosecond.
    assert TIME.units == {name: (factor, shift - 12) for name, (factor, shift) in theirs["Time"].items()}
    assert RATE.units == theirs["Rate"] == theirs["LineRate"]
    assert SIZE.units == theirs["Octets"]
    assert LENGTH.units == theirs["Length"]


def test_a_time_is_the_same_as_an_option_and_in_a_scenario() -> None:
    # Seldom enough for runs of days.
    scenario = cellrate.Scenario.parse(PAIR).set({"probe.1.every": "60 min", "probe.2.every": "60 min"})
    for unit in TIME.units:
        for number in ("1", "2.5", "1_000", "+7.3e3"):
            text = f"{number} {unit}"
            # A scenario rounds to the picosecond.
            assert scenario.set({"duration": text}).duration_s == pytest.approx(asking.seconds(text), abs=1e-12), text


@pytest.mark.parametrize(
    ("text", "bits_per_s"),
    [("6 Mbit/s", 6e6), ("6Mb/s", 6e6), ("2 Tbps", 2e12), ("1_000 cells/s", 424e3), ("oc-3", 149.76e6)],
)
def test_rates(text: str, bits_per_s: float) -> None:
    assert asking.bits_per_s(text) == bits_per_s


def test_times_lengths_and_sizes() -> None:
    assert (asking.seconds("10 ns"), asking.seconds("1 min"), asking.seconds("0.3 ms")) == (1e-8, 60.0, 0.0003)
    assert (asking.kilometres("200 m"), asking.kilometres("1e3 km")) == (0.2, 1000.0)
    assert (asking.octets("1 GiB"), asking.octets("53 octets"), asking.octets("0.3 MB")) == (2**30, 53, 300_000)


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("5", TIME, "'5' has no unit; write a number and its unit (ps, ns, us, ms, s, min), such as 30 ms"),
        ("5 MS", TIME, '"MS" is not a unit of one; "ms"?; write'),
        ("5 parsec", LENGTH, '"parsec" is not a unit of one; write a number and its unit (km, m), such as 1000 km'),
        ("1 Mb", SIZE, '"Mb" is not a unit of one; "MB"?'),
        ("-1 ms", TIME, "'-1 ms' is not a time"),
        (".5 ms", TIME, "'.5 ms' is not a time"),
        ("5. ms", TIME, "is not a time"),
        ("1e999 s", TIME, "'1e999 s' is out of all range"),
        ("fast", RATE, "'fast' is not a rate; write a number and its unit (bps, kbps, Mbps, Gbps, Tbps, cells/s)"),
        ("", RATE, "'' is not a rate"),
    ],
)
def test_what_is_no_quantity_is_said(text: str, dimension: Dimension, said: str) -> None:
    with pytest.raises(cellrate.CellrateError, match=re.escape(said)):
        quantities.read(text, dimension)


def test_part_of_an_octet_is_none_and_lines_have_names() -> None:
    with pytest.raises(cellrate.CellrateError, match=r"'1\.5 octets' is 1\.5 octets; write a whole number"):
        asking.octets("1.5 octets")
    with pytest.raises(cellrate.CellrateError, match=r"such as 155\.52 Mbps, or the name of a line: T1"):
        asking.bits_per_s("OC-4")
