"""Quantities with units as options have them: the same units as scenario files, and the same meaning."""

from __future__ import annotations

import re

import pytest

import cellrate
from cellrate import quantities
from cellrate.command_line import asking
from cellrate.quantities import CELLS, LENGTH, RATE, SIZE, TIME, Dimension
from conftest import PAIR


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


@pytest.mark.parametrize(
    ("dimension", "units"),
    [
        (
            TIME,
            {
                "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0,
                "min": 60.0,
            },
        ),
        (
            RATE,
            {
                "bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12, "bit/s": 1.0, "kbit/s": 1e3,
                "Mbit/s": 1e6, "Gbit/s": 1e9, "b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "cells/s": 424.0,
            },
        ),
        (LENGTH, {"km": 1.0, "m": 1e-3}),
        (
            SIZE,
            {
                "octets": 1, "octet": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1024**2,
                "GiB": 1024**3,
            },
        ),
        (
            CELLS,
            {
                "cells": 1, "cell": 1, "octets": 1 / 53, "B": 1 / 53, "kB": 1e3 / 53, "MB": 1e6 / 53, "GB": 1e9 / 53,
                "KiB": 1024 / 53, "MiB": 1024**2 / 53,
            },
        ),
    ],
)  # fmt: skip
def test_every_unit_is_what_it_is_by_hand(dimension: Dimension, units: dict[str, float]) -> None:
    assert dimension.units == list(units)
    for unit, value in units.items():
        assert quantities.read(f"1 {unit}", dimension) == value, unit
        assert quantities.read(f"2.5{unit}", dimension) == pytest.approx(2.5 * value, rel=1e-15), unit


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
        (
            "9 Mbps",
            CELLS,
            '"Mbps" is not a unit of one; write a number and its unit (cells, octets, kB, MB, GB, KiB, MiB)',
        ),
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
