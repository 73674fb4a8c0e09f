"""Facts about a network, given as options or as answers: quantities with units, names of lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from .. import quantities
from ..advice.situation import SECONDS_PER_KM, Situation
from ..choices import Application, Switches
from ..errors import CellrateError

T = TypeVar("T")


@dataclass(frozen=True)
class Answers:
    """Answers that must be known, as text; None where it has not been said."""

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

    if not interactive:
        _name_all_missing(answers, satellite_hops)

    def asked(given: str | None, question: str, read: Callable[[str], T], default: str) -> T:
        if given is not None:
            return read(given)
        while True:
            try:
                return read(ask(f"{question} [{default}]: ").strip() or default)
            except CellrateError as error:
                print(error)

    link_bps = asked(answers.link, "Rate of the slowest link, such as 155.52 Mbps, or T1, OC-3", bits_per_s, "OC-3")
    if answers.round_trip is not None:
        round_trip_s = seconds(answers.round_trip)
    elif answers.distance is None and answers.link is not None and satellite_hops:
        # The satellites are the path, unless more is given.
        round_trip_s = 0.0
    else:
        distance = asked(answers.distance, "Length of the path, one way", kilometres, "1000 km")
        round_trip_s = 2 * distance * SECONDS_PER_KM
    if interactive and answers.link is None and not satellite_hops:
        satellite_hops = asked(None, "Satellite hops", integer, "0")
    application = asked(
        answers.application,
        "Application: bulk, interactive, video, voice, transaction",
        _application,
        "bulk",
    )
    switches = asked(answers.switches, "Switches: efci, relative, erica, eprca", _switches, "erica")
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


def _name_all_missing(answers: Answers, satellite_hops: int) -> None:
    """Name every option that has no answer, where no questions can be asked."""
    has_length = answers.distance is not None or answers.round_trip is not None or satellite_hops
    given = {
        "--link": answers.link is not None,
        "--distance or --round-trip": has_length,
        "--application": answers.application is not None,
        "--switches": answers.switches is not None,
    }
    if missing := [option for option, is_given in given.items() if not is_given]:
        verb = "is" if len(missing) == 1 else "are"
        raise CellrateError(f"{', '.join(missing)} {verb} missing; `cellrate advise --help` says what there is")


def bits_per_s(text: str) -> float:
    """Read a rate in any unit of scenario files, "155.52 Mbps", or what cells have of a line, "OC-3" [bit/s]."""
    try:
        return quantities.read(text, quantities.RATE)
    except CellrateError as error:
        raise CellrateError(f"{error}, or the name of a line: T1, E1, E3, DS3, DS3-PLCP, OC-3, STM-1, OC-12") from None


def seconds(text: str) -> float:
    """Read a time in any unit of scenario files, "30 ms" [s]."""
    return quantities.read(text, quantities.TIME)


def kilometres(text: str) -> float:
    """Read a length in any unit of scenario files, "1000 km" [km]."""
    return quantities.read(text, quantities.LENGTH)


def octets(text: str) -> int:
    """Read a whole number of octets in any unit of scenario files, "1 GB" [octets]."""
    size = quantities.read(text, quantities.SIZE)
    if not size.is_integer():
        raise CellrateError(f"{text!r} is {size:g} octets; write a whole number of them")
    return int(size)


def integer(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise CellrateError(f"{text!r} is not a whole number") from None


def _application(text: str) -> Application:
    known: tuple[Application, ...] = ("bulk", "interactive", "video", "voice", "transaction")
    return _choice(text, "known application", {name: name for name in known})


def _switches(text: str) -> Switches:
    known: dict[str, Switches] = {
        "efci": "efci",
        "relative": "relative",
        "explicit": "erica",
        "erica": "erica",
        "eprca": "eprca",
    }
    return _choice(text, "known kind of switch", known)


def _choice(text: str, what: str, known: Mapping[str, T]) -> T:
    if text.lower() not in known:
        raise CellrateError(f"{text!r} is not a {what}; it must be one of {', '.join(known)}")
    return known[text.lower()]
