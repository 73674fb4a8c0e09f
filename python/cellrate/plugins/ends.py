"""The sending ends of connections, as policies and traffic of your own are told of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendingEnd:
    """The end of a connection that a policy or traffic is made for."""

    name: str
    """Its direction, as results call it: "vc1", or "vc1 (back)" from the last host to the first."""
    pcr: float
    """PCR; of what is not ABR its peak rate [cells/s]."""
    mcr: float
    """MCR; 0 of what is not ABR [cells/s]."""
    icr: float
    """The rate that it begins with: the smaller of ICR and TBE/FRTT, or its peak rate [cells/s]."""
    seed: int
    """For random numbers, 64 bits: another one for each direction, and with each seed of the scenario."""
