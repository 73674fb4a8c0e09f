"""Facts about a network, given as options or as answers: quantities with units, names of lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from .. import quantities
from ..advice.situation import SECONDS_PER_KM, Situation
from ..choices import Application, Switches
from ..errors import CellrateError
from .typed import Parameter

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Options that say what is known of a connection, as text; None where it has not been said."""

    link: Annotated[
        str | None,
        Parameter(help="Rate of the slowest link: 155.52 Mbps, or T1, E1, E3, DS3, DS3-PLCP, OC-3, STM-1, OC-12."),
    ] = None
    distance: Annotated[str | None, Parameter(help="Length of the path, one way, such as 1000 km.")] = None
    round_trip: Annotated[str | None, Parameter(help="Round-trip time without queues, instead of a distance.")] = None
    satellite_hops: Annotated[int, Parameter(help="Geostationary hops on the path, 550 ms there and back each.")] = 0
    buffer: Annotated[int, Parameter(help="Room for ABR cells in each switch [cells].")] = 4096
    application: Annotated[Application | None, Parameter(help="What it carries.")] = None
    switches: Annotated[
        Literal[Switches, "explicit"] | None,
        Parameter(help="How switches give feedback; explicit means erica."),
    ] = None
    number_of_switches: Annotated[int, Parameter(help="Switches on the path.")] = 2
    rate: Annotated[str | None, Parameter(help="What the application must have, such as 6 Mbps.")] = None
    sources: Annotated[int, Parameter(help="Connections that share the slowest link, this one included.")] = 2
    video: Annotated[
        str | None, Parameter(help="Mean rate of video beside them on the slowest link, as VBR, such as 45 Mbps.")
    ] = None
    charging: Annotated[int | None, Parameter(help="k, where the price limits PCR to k x MCR (2 to 10).")] = None


def situation(answers: Answers, *, interactive: bool, ask: Callable[[str], str] = input) -> Situation:
    """Make a situation of what was said, and ask for the rest if `interactive`.

    Raises
    ------
    CellrateError
        If something is missing and cannot be asked for, or makes no sense.
    """
    if answers.distance is not None and answers.round_trip is not None:
        raise CellrateError("give --distance or --round-trip, not both")

    if not interactive:
        _name_all_missing(answers)

    def asked(given: str | None, question: str, read: Callable[[str], T], default: str) -> T:
        if given is not None:
            return read(given)
        while True:
            try:
                return read(ask(f"{question} [{default}]: ").strip() or default)
            except CellrateError as error:
                print(error)

    link_bps = asked(answers.link, "Rate of the slowest link, such as 155.52 Mbps, or T1, OC-3", bits_per_s, "OC-3")
    satellite_hops = answers.satellite_hops
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
    applications = "Application: bulk, interactive, video, voice, transaction"
    application = asked(answers.application, applications, _application, "bulk")
    return Situation(
        link_bps=link_bps,
        round_trip_s=round_trip_s,
        satellite_hops=satellite_hops,
        buffer_cells=answers.buffer,
        switches=asked(answers.switches, "Switches: efci, relative, erica, eprca", _switches, "erica"),
        number_of_switches=answers.number_of_switches,
        application=application,
        rate_bps=None if answers.rate is None else bits_per_s(answers.rate),
        sources=answers.sources,
        video_bps=0 if answers.video is None else bits_per_s(answers.video),
        charging=answers.charging,
    )


def _name_all_missing(answers: Answers) -> None:
    """Name every option that has no answer, where no questions can be asked."""
    has_length = answers.distance is not None or answers.round_trip is not None or answers.satellite_hops
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
