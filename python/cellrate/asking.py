"""What somebody says of a network, as options or as answers: quantities with units, names of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from .advisor import CELL_BITS, SECONDS_PER_KM, Application, Situation, Switches
from .errors import CellrateError

T = TypeVar("T")

LINES_BPS: Mapping[str, float] = {
    "t1": 1.544e6,
    "ds1": 1.544e6,
    "e1": 2.048e6,
    "e3": 34.368e6,
    "ds3": 44.736e6,
    "t3": 44.736e6,
    "oc3": 155.52e6,
    "oc12": 622.08e6,
    "oc24": 1244.16e6,
    "oc48": 2488.32e6,
}
"""Lines by name [bit/s]."""

RATE_UNITS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "cells/s": float(CELL_BITS)}
TIME_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
LENGTH_UNITS = {"m": 1e-3, "km": 1.0}
SIZE_UNITS = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}


@dataclass(frozen=True)
class Answers:
    """What must be known, as text; None where it has not been said."""

    link: str | None
    distance: str | None
    round_trip: str | None
    application: Application | None
    switches: str | None


def situation(
    answers: Answers,
    *,
    interactive: bool,
    satellite_hops: int,
    buffer_cells: int,
    number_of_switches: int,
    rate: str | None,
    sources: int,
    charging: int | None,
    ask: Callable[[str], str] = input,
) -> Situation:
    """Make a situation of what was said, and ask for the rest if `interactive`.

    Raises
    ------
    CellrateError
        If something is missing and cannot be asked for, or makes no sense.
    """
    if answers.distance is not None and answers.round_trip is not None:
        raise CellrateError("give --distance or --round-trip, not both")

    def asked(option: str, given: str | None, question: str, read: Callable[[str], T], default: str) -> T:
        if given is not None:
            return read(given)
        if not interactive:
            raise CellrateError(f"{option} is missing; cellrate advise --help says what there is")
        while True:
            try:
                return read(ask(f"{question} [{default}]: ").strip() or default)
            except CellrateError as error:
                print(error)

    link_bps = asked(
        "--link", answers.link, "Rate of the slowest link, such as 155.52 Mbps, or T1, OC-3", bits_per_s, "OC-3"
    )
    if answers.round_trip is not None:
        round_trip_s = seconds(answers.round_trip)
    elif answers.distance is None and answers.link is not None and satellite_hops:
        # The satellites are the path, unless somebody says that there is more.
        round_trip_s = 0.0
    else:
        distance = asked(
            "--distance or --round-trip", answers.distance, "Length of the path, one way", kilometres, "1000 km"
        )
        round_trip_s = 2 * distance * SECONDS_PER_KM
    if interactive and answers.link is None and not satellite_hops:
        satellite_hops = asked("--satellite-hops", None, "Satellite hops", whole, "0")
    application = asked(
        "--application",
        answers.application,
        "Application: bulk, interactive, video, voice, transaction",
        _application,
        "bulk",
    )
    switches = asked("--switches", answers.switches, "Switches: efci, relative, erica, eprca", _switches, "erica")
    return Situation(
        link_bps=link_bps,
        round_trip_s=round_trip_s,
        satellite_hops=satellite_hops,
        buffer_cells=buffer_cells,
        switches=switches,
        number_of_switches=number_of_switches,
        application=application,
        rate_bps=None if rate is None else bits_per_s(rate),
        sources=sources,
        charging=charging,
    )


def bits_per_s(text: str) -> float:
    """Read a rate, "155.52 Mbps" or "OC-3" [bit/s]."""
    named = LINES_BPS.get(text.strip().lower().replace("-", ""))
    return named if named is not None else _quantity(text, "rate", RATE_UNITS, "155.52 Mbps, or T1, DS3, OC-3, OC-12")


def seconds(text: str) -> float:
    """Read a time, "30 ms" [s]."""
    return _quantity(text, "time", TIME_UNITS, "30 ms")


def kilometres(text: str) -> float:
    """Read a length, "1000 km" [km]."""
    return _quantity(text, "length", LENGTH_UNITS, "1000 km")


def octets(text: str) -> int:
    """Read a size, "1 GB" [octets]."""
    return round(_quantity(text, "size", SIZE_UNITS, "1 GB"))


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise CellrateError(f"{text!r} is no whole number") from None


def _quantity(text: str, what: str, units: Mapping[str, float], example: str) -> float:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\s*(\S+)\s*", text, re.IGNORECASE)
    if match is None or match[2].lower() not in units:
        raise CellrateError(
            f"{text!r} is no {what}; write a number and its unit ({', '.join(units)}), such as {example}"
        )
    return float(match[1]) * units[match[2].lower()]


def _application(text: str) -> Application:
    known: tuple[Application, ...] = ("bulk", "interactive", "video", "voice", "transaction")
    return _choice(text, "application", {name: name for name in known})


def _switches(text: str) -> Switches:
    known: dict[str, Switches] = {
        "efci": "efci",
        "relative": "relative",
        "explicit": "erica",
        "erica": "erica",
        "eprca": "eprca",
    }
    return _choice(text, "kind of switch", known)


def _choice(text: str, what: str, known: Mapping[str, T]) -> T:
    if text.lower() not in known:
        raise CellrateError(f"{text!r} is no {what}; it must be one of {', '.join(known)}")
    return known[text.lower()]
