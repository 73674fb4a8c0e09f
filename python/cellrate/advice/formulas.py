"""Formulas of paper abr-parameters, each with its section."""

from __future__ import annotations

from math import ceil

from ..quantities import CELL_BITS


def inter_rm_time(nrm: int, link_bps: float) -> float:
    """Time between forward RM cells of a source that fills a link [s]: Nrm cells of 424 bits (section 4.2.1)."""
    return nrm * CELL_BITS / link_bps


def crm_bound(pcr: float, frtt_s: float, nrm: int) -> int:
    """Least CRM with which rule 6 leaves a full path alone: FRTT x PCR / Nrm, rounded up [RM cells] (section 6.2.1)."""
    return ceil(round(frtt_s * pcr / nrm, 9))


def initial_rate_limit(tbe: float, frtt_s: float) -> float:
    """TBE / FRTT, the limit of ICR [cells/s]; infinite without a round trip (section 6.1.2)."""
    return tbe / frtt_s if frtt_s > 0 else float("inf")


def rate_after_cutoff(acr: float, cdf: float, forward_rm: int, crm: int, mcr: float = 0.0) -> float:
    """ACR after `forward_rm` RM cells without feedback: ACR (1 - CDF)^(k+1), k = forward_rm - CRM (section 6.2.2).

    Below CRM cells rule 6 leaves ACR as it is; it never goes below `mcr`.
    """
    if forward_rm < crm:
        return acr
    return max(mcr, acr * (1 - cdf) ** (forward_rm - crm + 1))


def startup_queue(sources: int, tbe: float, burst_cells: float) -> float:
    """Queue after a joint start: (sources - 1) x min(TBE, burst) [cells] (section 6.2.1)."""
    return (sources - 1) * min(tbe, burst_cells)
