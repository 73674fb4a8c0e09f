"""Papers whose experiments can be run again, each claim checked by code on the measured series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import CellrateError

if TYPE_CHECKING:
    from .paper import Paper

PAPERS = {
    "abr-parameters": "ABR Engineering: Roles and Guidelines for Setting ABR Parameters "
    "(Fahmy, Jain, Goyal, Vandalore; Ohio State University)",
    "internet-applications": "Applicability of ABR Service to Internet Applications (Ishizuka; NTT)",
    "stop-and-go": "Stop & Go ABR: best effort services in ATM LANs with two cell rates (Politecnico di Torino)",
    "tcp-lrd-vbr": "Performance of TCP over ABR with Long-Range Dependent VBR Background Traffic over Terrestrial and "
    "Satellite ATM networks (Kalyanaraman, Vandalore, Jain, Goyal, Fahmy, Kota)",
    "uili": "Use-it-or-lose-it policies for the available bit rate (ABR) service in ATM networks "
    "(Kalyanaraman, Jain, Goyal, Fahmy, Samudra; 1998)",
}
"""Short name and title of each."""


def load_paper(name: str) -> Paper:
    """Give a paper by its short name.

    Raises
    ------
    CellrateError
        If there is none of that name.
    """
    if name not in PAPERS:
        raise CellrateError(f"there is no paper {name!r}; there are: {', '.join(PAPERS)}")
    if name == "abr-parameters":
        from .abr_parameters import PAPER
    elif name == "tcp-lrd-vbr":
        from .tcp_lrd_vbr import PAPER
    elif name == "uili":
        from .uili import PAPER
    elif name == "internet-applications":
        from .internet_applications import PAPER
    elif name == "stop-and-go":
        from .stop_and_go import PAPER
    return PAPER
