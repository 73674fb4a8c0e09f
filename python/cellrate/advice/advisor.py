"""From what a person knows of a network to ABR parameters, each with its reason.

The guidelines are those of paper abr-parameters, "ABR Engineering: Roles and Guidelines for Setting ABR Parameters"
(Fahmy, Jain, Goyal and Vandalore), one function per parameter, each with the section it comes from. Where the paper
says which way a value should go but gives no figure, the figure is chosen here, and the reason says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log2

from .. import _native
from ..choices import Application
from ..errors import CellrateError
from ..quantities import CELL_BITS
from .advised import Advice, AdvisedSet
from .formulas import crm_bound, initial_rate_limit, inter_rm_time
from .situation import MAX_24_BITS, Situation

OC3_BPS = 149.76e6
"""Rate from which a link counts as OC-3 or faster: what OC-3 leaves for cells [bit/s]."""
TRM_CONSTANT = 1_000_000 / 27
"""c of Trm = c / PCR [cells] (section 4.2.2): 100 ms at 2.7 us a cell."""
TCR_SHARE = 10 / 365_000
"""10 cells/s of an OC-3 link (section 7.2): 2.7 x 10^-5 as a fraction. The paper writes it with a percent sign, a
factor of 100 too much."""
TARGET = 0.9
"""Share of a link that explicit-rate switches hand out, the target utilization of the paper's runs."""
PACKET_CELLS = 192
"""An IP packet of 9180 octets over AAL5 [cells]."""
TCP_TIMER_S = 0.5
"""Granularity of TCP's timers [s], after which the default of ADTF was chosen (section 6.2.3)."""
RATES_BPS: Mapping[Application, float] = {"video": 6e6, "voice": 171 * CELL_BITS}
"""Rate that an application needs by default: MPEG-2 video; 64 kbps in cells of 47 octets, 171 cells/s [bit/s]."""


def advise(situation: Situation | None = None, /, **known: object) -> AdvisedSet:
    """Give a parameter set for a connection, with the reason for each value.

    Parameters
    ----------
    situation
        What is known; or its fields as keywords.

    Raises
    ------
    CellrateError
        If a value is out of range.

    Examples
    --------
    >>> advise(link_bps=155.52e6, round_trip_s=0.03)["RIF"].text
    '1'
    """
    if situation is None:
        try:
            situation = Situation(**known)  # type: ignore[arg-type]
        except TypeError as error:
            raise CellrateError(f"advise: {error}") from None
    elif known:
        raise CellrateError("advise takes a situation or its fields, not both")
    advices = (
        pcr(situation),
        mcr(situation),
        nrm(situation),
        trm(situation),
        rif(situation),
        rdf(situation),
        frtt(situation),
        tbe(situation),
        crm(situation),
        icr(situation),
        cdf(situation),
        adtf(situation),
        tcr(situation),
    )
    return AdvisedSet(situation, advices, codes_of(advices))


def codes_of(advices: tuple[Advice, ...]) -> dict[str, int]:
    """Give what signalling carries of a set, by symbol."""
    value = {advice.parameter: advice.value for advice in advices}
    codes = _native.signalled(
        value["PCR"],
        value["MCR"],
        value["ICR"],
        int(value["Nrm"]),
        value["Trm"],
        value["RIF"],
        value["RDF"],
        value["ADTF"],
        int(value["TBE"]),
        value["CDF"],
        value["FRTT"],
    )
    return dict(codes)


def pcr(s: Situation) -> Advice:
    """PCR: the slowest link, or k x MCR where that is the price (section 3.2)."""
    line = floor(s.line)
    if s.charging is None:
        return _rate("PCR", line, "the slowest link of the path, if the price of it is paid", "3.2")
    value = min(line, floor(s.charging * mcr(s).value))
    return _rate("PCR", value, f"{s.charging} x MCR, as the charging rule wants, at most the slowest link", "3.2")


def mcr(s: Situation) -> Advice:
    """MCR: what the application must have; above zero for TCP (section 3.2)."""
    if s.rate_bps is not None or s.real_time:
        wanted = (RATES_BPS[s.application] if s.rate_bps is None else s.rate_bps) / CELL_BITS
        cells = nrm(s).value
        # Of Nrm cells one is an RM cell; ACR, and so MCR, counts it.
        with_rm = ceil(round(wanted * cells / (cells - 1), 6))
        share = floor(TARGET * s.left / s.sources) if s.rate_bps is None else floor(s.line)
        reason = f"what the application must have, {_mbps(wanted)}, and its RM cells"
        if s.rate_bps is None:
            reason = f"{s.application} needs a guaranteed rate; none was given: {_mbps(wanted)} and its RM cells"
        if share < with_rm:
            reason += ", cut to " + ("an equal share of the link" if s.rate_bps is None else "the link")
        value = max(min(with_rm, share), _least_mcr(s))
        return _rate("MCR", value, reason, "3.2", _mcr_fits(s, value))
    value = max(floor(min(PACKET_CELLS / TCP_TIMER_S, 0.01 * s.line)), _least_mcr(s))
    reason = (
        "TCP works better with an MCR above 0, to prevent timeouts; no figure is given: a packet of 9180 octets per "
        "500 ms, at most 1 % of the link, is chosen here"
    )
    return _rate("MCR", value, reason, "3.2")


def _least_mcr(s: Situation) -> int:
    """Give the least MCR that is enough where k x MCR limits PCR [cells/s]."""
    return 0 if s.charging is None else 1


def nrm(s: Situation) -> Advice:
    """Nrm: 32 below OC-3, 256 from there on; large for real time, small where response counts (section 4.2.1)."""
    fast = s.link_bps >= OC3_BPS
    if s.real_time:
        value, reason = 256, "real time wants few rate changes, so few RM cells"
    elif not fast:
        value, reason = 32, "the heuristic for links below OC-3"
    elif s.application == "bulk":
        value, reason = 256, "the heuristic for OC-3 and faster: less overhead, fewer rate changes"
    else:
        value, reason = 32, "responsiveness counts more than overhead, in spite of the heuristic for OC-3 and faster"
    warnings = []
    spacing = inter_rm_time(value, s.link_bps)
    if value == 256:
        warnings.append(
            f"feedback comes every {_span(spacing)} at the rate of the link instead of every {_span(spacing / 8)} with "
            "32, and seldom at low rates, where Trm takes over"
        )
    if value == 256 and not s.explicit:
        warnings.append("each backward RM cell is one step of RIF or RDF: with an eighth of them rates move slower")
    return Advice("Nrm", value, "cells", str(value), reason, "4.2.1", tuple(warnings))


def trm(s: Situation) -> Advice:
    """Trm: c / PCR with c = 10^6 / 27, the largest allowed value up to that (section 4.2.2)."""
    wanted = TRM_CONSTANT / pcr(s).value
    exponent = max(-7, min(0, floor(log2(wanted / 0.1) + 1e-9)))
    value = 0.1 * 2.0**exponent
    reason = f"1/PCR x 10^6/27 = {_span(wanted)}, down to the next of 100 ms x 2^k, k = -7 to 0"
    warnings = []
    if wanted > 0.1:
        reason = f"1/PCR x 10^6/27 = {_span(wanted)}, and 100 ms is the longest there is"
    if wanted < 0.1 / 2**7:
        warnings.append(f"the shortest value there is, and longer than the formula's {_span(wanted)}")
    return Advice("Trm", value, "s", f"{value * 1e3:.10g} ms", reason, "4.2.2", tuple(warnings))


def rif(s: Situation) -> Advice:
    """RIF: 1 where switches compute rates and do not mind, 1/16 or less elsewhere (section 5.2.1)."""
    if s.switches == "erica":
        return _factor(
            "RIF", 1.0, "no EFCI switches, and ERICA does not depend on RIF: ACR follows ER at once", "5.2.1"
        )
    if s.switches == "eprca":
        return _factor("RIF", 1 / 16, "EPRCA needs a conservative RIF: 1/16 or less", "5.2.1")
    value, _, steps = _largest_factors(s)
    reason = "switches without explicit rates need 1/16 or less"
    warnings: tuple[str, ...] = ()
    if value < 1 / 16:
        reason += (
            f", and less for speed and round trip; no formula is given: {steps:,.0f} backward RM cells in a round trip "
            "may add PCR/4 together, is chosen here"
        )
        warnings = (
            f"from 0 to PCR takes {1 / value:,.0f} backward RM cells: capacity that is freed stays unused longer",
        )
    return _factor("RIF", value, reason, "5.2.1", warnings)


def _largest_factors(s: Situation) -> tuple[float, float, float]:
    """Largest RIF and RDF, and backward RM cells of one round trip: the rules of a switch at set-up."""
    return _native.largest_factors(pcr(s).value, s.frtt_s, int(nrm(s).value))


def rdf(s: Situation) -> Advice:
    """RDF: untouched by explicit rates, smaller for speed and round trip elsewhere (section 5.2.2)."""
    if s.explicit:
        return _factor("RDF", 1 / 16, "of no effect where switches tell rates and do not set CI: the default", "5.2.2")
    _, value, steps = _largest_factors(s)
    reason = "a moderate value: the default"
    warnings: tuple[str, ...] = ()
    if value < 1 / 16:
        reason = (
            f"smaller for speed and round trip; no formula is given: {steps:,.0f} backward RM cells in a round trip "
            "take off about 40 % together at most, is chosen here"
        )
        warnings = (
            "the guideline hopes for less loss, but a smaller RDF also brakes later: queues in sudden congestion grow",
        )
    return _factor("RDF", value, reason, "5.2.2", warnings)


def frtt(s: Situation) -> Advice:
    """FRTT: accumulated at set-up, propagation and processing without queues (section 5.2.1)."""
    value = ceil(s.frtt_s * 1e6 - 1e-6) / 1e6
    reason = "accumulated at set-up: the delays of the path, queues left out"
    if s.satellite_hops:
        reason += f"; {s.satellite_hops} x 550 ms for the satellites"
    return Advice("FRTT", value, "s", _span(value), reason, "5.2.1")


def tbe(s: Situation) -> Advice:
    """TBE: PCR x FRTT and the buffers of the path, 24 bits (section 6.2.1)."""
    peak = pcr(s).value
    on_the_way = peak * frtt(s).value
    buffers = s.number_of_switches * s.buffer_cells
    value = _native.largest_exposure(peak, frtt(s).value, buffers)
    reason = f"PCR x FRTT = {on_the_way:,.0f} cells on the way, and {buffers:,} in buffers"
    warnings = []
    if on_the_way + buffers > MAX_24_BITS:
        reason += "; 24 bits hold no more than this"
    if on_the_way > MAX_24_BITS:
        warnings.append(
            f"24 bits are too few for {on_the_way:,.0f} cells on the way: rule 6 triggers though nothing is wrong"
        )
    if s.sources > 1 and on_the_way > s.buffer_cells:
        warnings.append(
            f"small buffers ask for a small TBE, the path for a large one: {s.sources} sources that start together can "
            f"send {(s.sources - 1) * min(value, on_the_way):,.0f} cells too many in the first round trip, and a "
            f"buffer holds {s.buffer_cells:,}; ICR must limit them. A smaller TBE would make rule 6 trigger, and bound "
            "no queue once feedback flows"
        )
    return Advice("TBE", value, "cells", f"{value:,} cells", reason, "6.2.1", tuple(warnings))


def crm(s: Situation) -> Advice:
    """CRM: computed, ceil(TBE / Nrm), and to be FRTT x PCR / Nrm at least (sections 6.1.1 and 6.2.1)."""
    cells = nrm(s).value
    value = max(1, ceil(tbe(s).value / cells))
    least = crm_bound(pcr(s).value, frtt(s).value, int(cells))
    warnings = []
    if value < least:
        warnings.append(f"below the bound: rule 6 triggers while {least - value:,} RM cells are still on the way")
    reason = f"computed: TBE / Nrm, rounded up; not below FRTT x PCR / Nrm = {least:,}"
    return Advice("CRM", value, "cells", f"{value:,} RM cells", reason, "6.1.1, 6.2.1", tuple(warnings))


def icr(s: Situation) -> Advice:
    """ICR: near PCR for TCP on slow links, else the rate expected at set-up; at most TBE / FRTT (section 6.2.1)."""
    peak, least = pcr(s).value, mcr(s).value
    expected = floor(min(peak, max(least, _native.anticipated_rate(TARGET * s.left, s.sources))))
    # What arrives too much in the first round trip, when all sources start together at PCR.
    excess = (s.sources - 1) * peak * s.frtt_s
    if not s.real_time and s.link_bps < OC3_BPS:
        value, reason = peak, "TCP/IP, and a slow link: PCR"
    elif not s.real_time and s.sources > 1 and excess <= s.buffer_cells:
        value = peak
        reason = f"TCP/IP: PCR, as buffers hold the {excess:,.0f} cells too many of a joint start"
    elif s.sources == 1:
        value, reason = expected, f"the rate expected at set-up: 90 % of {_what_is_left(s)}"
    else:
        value, reason = expected, f"the rate expected at set-up: 90 % of {_what_is_left(s)} among {s.sources}"
    exposure = initial_rate_limit(tbe(s).value, frtt(s).value)
    if exposure < value:
        value = max(least, floor(exposure))
        reason += ", cut to TBE / FRTT"
    warnings = []
    burst = (s.sources - 1) * value * s.frtt_s
    if burst > s.buffer_cells and value > expected:
        warnings.append(
            f"{s.sources} sources that start together at this rate fill a buffer of {s.buffer_cells:,} cells in the "
            "first round trip"
        )
    if value < peak and not s.real_time and s.frtt_s > 0.1:
        warnings.append(
            f"a single transfer wants PCR from the start; it gets less for the first {_span(s.frtt_s)}, until the "
            "first feedback is back"
        )
    if s.frtt_s > 0.1 and s.application == "transaction":
        warnings.append("after every pause longer than ADTF a transaction starts at ICR again")
    return _rate("ICR", value, reason, "6.2.1", tuple(warnings))


def cdf(s: Situation) -> Advice:
    """CDF: smaller for long round trips, 0 where TBE cannot be what it should (section 6.2.2)."""
    if crm(s).value < crm_bound(pcr(s).value, frtt(s).value, int(nrm(s).value)):
        return Advice(
            "CDF",
            0.0,
            "",
            "0",
            "TBE cannot be large enough, so rule 6 is disabled",
            "6.2.2",
            ("without rule 6 a failed link or a collapse costs all that is sent until it is noticed",),
        )
    if s.frtt_s > 0.1:
        warnings = (
            "a small CDF brakes slowly, as (1 - CDF)^(k+1): after a failure more is lost than with 1/16. (The paper's "
            "text has it the other way round, against its own formula.)",
        )
        return _factor("CDF", 1 / 64, "smaller for long round trips: a wrong trigger costs less", "6.2.2", warnings)
    return _factor("CDF", 1 / 16, "TBE covers the path: the default", "6.2.2")


def adtf(s: Situation) -> Advice:
    """ADTF: longer than the round trip (section 6.2.3)."""
    least = 2 * s.frtt_s
    value = min(10.23, max(0.5, ceil(round(least / 0.01, 6)) / 100))
    if value == 0.5:
        reason = "longer than the round trip: the default, the granularity of TCP's timers"
    else:
        reason = "longer than the round trip, with the same again for queues (chosen here)"
    warnings = []
    if value <= s.frtt_s:
        warnings.append("10.23 s are all there is, and not longer than the round trip: rule 5 resets ACR needlessly")
    if value > 0.5 and s.application in ("interactive", "transaction"):
        warnings.append(f"a bursty source may use a rate that is up to {_span(value)} old: queues can grow suddenly")
    return Advice("ADTF", value, "s", f"{value:g} s", reason, "6.2.3", tuple(warnings))


def tcr(s: Situation) -> Advice:
    """TCR: 10 cells/s, a constant; a share of the link would suit fast ones (section 7.2)."""
    share = TCR_SHARE * s.line
    warnings: tuple[str, ...] = ()
    if share >= 20:
        warnings = (
            f"a constant of the standard; the same share of this link as 10 of OC-3 would be {share:.0f} cells/s",
        )
    return Advice("TCR", 10.0, "cells/s", "10 cells/s", "constant, not signalled", "7.2", warnings)


def taken_back(advised: AdvisedSet, values: Mapping[str, float]) -> AdvisedSet:
    """Give an advised set with these parameters, by symbol, at their defaults, because a simulation says so.

    CRM follows TBE and Nrm.
    """
    return _with(advised, values, "the default: in simulation it did better than {}, which the guideline gives")


def tuned_to(advised: AdvisedSet, values: Mapping[str, float]) -> AdvisedSet:
    """Give an advised set with values of these parameters, by symbol, that a simulation has found to do better.

    CRM follows TBE and Nrm.
    """
    changed = {symbol: value for symbol, value in values.items() if advised[symbol].value != value}
    return _with(advised, changed, "found by simulation, where the set did better than with {}")


def _with(advised: AdvisedSet, values: Mapping[str, float], because: str) -> AdvisedSet:
    advices = []
    for advice in advised.advices:
        if advice.parameter in values:
            value = values[advice.parameter]
            reason = because.format(advice.text)
            if advice.unit == "cells/s":
                advice = _rate(advice.parameter, value, reason, advice.source)
            elif advice.unit == "s":
                text = f"{value:g} s" if advice.parameter == "ADTF" else f"{value * 1e3:.10g} ms"
                advice = Advice(advice.parameter, value, "s", text, reason, advice.source)
            elif advice.unit == "cells":
                text = str(int(value)) if advice.parameter == "Nrm" else f"{value:,.0f} cells"
                advice = Advice(advice.parameter, value, "cells", text, reason, advice.source)
            else:
                advice = _factor(advice.parameter, value, reason, advice.source)
        advices.append(advice)
    values = {advice.parameter: advice.value for advice in advices}
    count = max(1, ceil(values["TBE"] / values["Nrm"]))
    for place, advice in enumerate(advices):
        if advice.parameter == "CRM" and advice.value != count:
            reason = "computed: TBE / Nrm, rounded up"
            advices[place] = Advice("CRM", count, "cells", f"{count:,} RM cells", reason, advice.source)
    return AdvisedSet(advised.situation, tuple(advices), codes_of(tuple(advices)))


def _mcr_fits(s: Situation, value: float) -> tuple[str, ...]:
    if value * s.sources <= s.left:
        return ()
    if value * s.sources <= s.line:
        return (f"{s.sources} connections with this MCR do not fit beside the video, which leaves {_mbps(s.left)}",)
    return (f"{s.sources} connections with this MCR do not fit: admission control refuses the last",)


def _what_is_left(s: Situation) -> str:
    return "what video leaves of the link" if s.video_bps else "the link"


def _rate(parameter: str, value: float, reason: str, source: str, warnings: tuple[str, ...] = ()) -> Advice:
    return Advice(parameter, value, "cells/s", f"{value:,.0f} cells/s ({_mbps(value)})", reason, source, warnings)


def _factor(parameter: str, value: float, reason: str, source: str, warnings: tuple[str, ...] = ()) -> Advice:
    text = f"{value:g}" if value in (0, 1) else f"1/{1 / value:.0f}"
    return Advice(parameter, value, "", text, reason, source, warnings)


def _mbps(cells_per_s: float) -> str:
    return f"{cells_per_s * CELL_BITS / 1e6:.4g} Mbps"


def _span(seconds: float) -> str:
    if seconds == 0:
        return "0 s"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
