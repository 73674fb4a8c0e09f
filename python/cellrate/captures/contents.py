"""Contents of captured packets: a cell, an AAL5 PDU, or an IP packet that would become one."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .. import _native
from .records import LeftOut, LinkType, Record

CELL, PDU, PACKET = "cell", "pdu", "packet"

ERF_ATM, ERF_AAL5, ERF_MC_ATM, ERF_MC_AAL5 = 3, 4, 7, 9
ERF_ETHERNET = (2, 11)

RAW_IP = (12, 14, 101, 228, 229)
"""Link types of packets of IP without anything before them."""

LLC_SNAP_OCTETS, AAL5_TRAILER_OCTETS, CELL_PAYLOAD_OCTETS = 8, 8, 48

MOST_SDU_OCTETS = 65_535
"""The most octets that AAL5 carries: its trailer counts them with 16 bits."""
MOST_PDU_OCTETS = -(-(MOST_SDU_OCTETS + AAL5_TRAILER_OCTETS) // CELL_PAYLOAD_OCTETS) * CELL_PAYLOAD_OCTETS
"""The most octets of a PDU, with padding and trailer."""

NEITHER = LeftOut("record", "neither of cells nor of packets of IP")
TOO_LONG = LeftOut("record", f"damaged: more octets on the wire than AAL5 carries ({MOST_SDU_OCTETS:,})")
NOTHING = LeftOut("record", "of no octets")
MORE_THAN_THERE_WAS = LeftOut("record", "damaged: more octets captured than were on the wire")
TOO_SHORT = LeftOut("record", "damaged: fewer octets than its own head has")


@dataclass(frozen=True, slots=True)
class Content:
    """Content that came at an instant."""

    kind: str
    """CELL, PDU or PACKET."""
    vpi: int | None
    vci: int | None
    """VCI of the connection; None where the capture does not say."""
    pti: int
    """Payload type of a cell; of a PDU and a packet 0."""
    clp: int
    sdu_octets: int
    """Octets that AAL5 carries: the PDU without padding and trailer, or a packet with its LLC/SNAP; 0 for a cell."""
    cells: int
    management: str = ""
    """Flow and function of an OAM cell, "RM" of an RM cell, nothing of others."""
    is_damaged: bool = False
    """Whether the CRC-10 of an OAM or RM cell is wrong."""


def cells_for(sdu_octets: int) -> int:
    """Give the cells of an AAL5 PDU with so many octets of payload."""
    return -(-(sdu_octets + AAL5_TRAILER_OCTETS) // CELL_PAYLOAD_OCTETS)


def content(record: Record) -> Content | LeftOut:
    """Say what a record is, or why it is passed over: ARP, metadata, another link type, a length that cannot be."""
    if record.link_type == LinkType.ERF:
        return _of_erf(record)
    if record.octets_on_wire == 0 and not record.data:
        return NOTHING
    if record.octets_on_wire < len(record.data):
        return MORE_THAN_THERE_WAS
    match record.link_type:
        case LinkType.ETHERNET:
            return _of_ethernet(record.data, record.octets_on_wire)
        case LinkType.LINUX_COOKED:
            return _of_ip(record.data[16:], record.octets_on_wire - 16)
        case LinkType.ATM_RFC1483:
            # From LLC/SNAP on; the trailer, where it was captured, is not told from the payload.
            return _pdu(None, None, 0, record.octets_on_wire)
        case LinkType.SUNATM:
            return _of_sunatm(record)
        case link_type if link_type in RAW_IP:
            return _of_ip(record.data, record.octets_on_wire)
    return LeftOut("record", f"of link type {record.link_type}, which cannot be read")


def _of_erf(record: Record) -> Content | LeftOut:
    data = record.data
    kind, place = data[8] & 0x7F, 16
    if data[8] & 0x80:
        # Extension headers of 8 octets; the highest bit of each says that another follows.
        while place < len(data):
            more = data[place] & 0x80
            place += 8
            if not more:
                break
    (on_wire,) = struct.unpack_from(">H", data, 14)
    if kind in (ERF_MC_ATM, ERF_MC_AAL5):
        place += 4
    if kind in (ERF_ATM, ERF_AAL5, ERF_MC_ATM, ERF_MC_AAL5):
        if place + 4 > len(data):
            return TOO_SHORT
        (header,) = struct.unpack_from(">I", data, place)
        vpi, vci, pti, clp = header >> 20 & 0xFF, header >> 4 & 0xFFFF, header >> 1 & 7, header & 1
        if kind in (ERF_ATM, ERF_MC_ATM):
            return _cell(vpi, vci, pti, clp, data[place + 4 : place + 4 + CELL_PAYLOAD_OCTETS])
        pdu = data[place + 4 :]
        truncated = bool(data[9] & 1 << 3)
        if not truncated and pdu and len(pdu) % CELL_PAYLOAD_OCTETS == 0:
            # The trailer says how much of the PDU is payload.
            (length,) = struct.unpack_from(">H", pdu, len(pdu) - 6)
            if cells_for(length) * CELL_PAYLOAD_OCTETS == len(pdu):
                return Content(PDU, vpi, vci, 0, clp, length, len(pdu) // CELL_PAYLOAD_OCTETS)
        whole = on_wire - 4 if truncated else len(pdu)
        if whole < 0:
            return TOO_SHORT
        cells = max(-(-whole // CELL_PAYLOAD_OCTETS), 1)
        return Content(PDU, vpi, vci, 0, clp, whole, cells)
    if kind in ERF_ETHERNET:
        # Two octets of padding before the frame; the length on the wire has the frame's checksum.
        return _of_ethernet(data[place + 2 :], on_wire - 4)
    return NEITHER


def _cell(vpi: int, vci: int, pti: int, clp: int, payload: bytes) -> Content:
    # Payload types from 4 on, and VCI 3 and 4 of virtual paths: only these are asked for.
    found = _native.management_cell(vci, pti, payload) if pti > 3 or vci in (3, 4) else None
    if found is None:
        return Content(CELL, vpi, vci, pti, clp, 0, 1)
    said, intact = found
    return Content(CELL, vpi, vci, pti, clp, 0, 1, said, intact is False)


def _of_ethernet(frame: bytes, on_wire: int) -> Content | LeftOut:
    place = 12
    while place + 2 <= len(frame):
        (kind,) = struct.unpack_from(">H", frame, place)
        if kind in (0x8100, 0x88A8):
            place += 4
            continue
        return _of_ip(frame[place + 2 :], on_wire - place - 2) if kind in (0x0800, 0x86DD) else NEITHER
    return NEITHER


def _of_ip(packet: bytes, on_wire: int) -> Content | LeftOut:
    """Take a packet for what LLC/SNAP over AAL5 would carry; its own header says its length, frames are padded."""
    if len(packet) < 20:
        return NEITHER
    match packet[0] >> 4:
        case 4:
            (length,) = struct.unpack_from(">H", packet, 2)
            # Segments that the network card cuts up say 0.
            length = length or on_wire
        case 6:
            (payload,) = struct.unpack_from(">H", packet, 4)
            # Those of a jumbogram say 0 as well, and have a hop-by-hop header (RFC 2675).
            length = on_wire if payload == 0 and packet[6] == 0 else 40 + payload
        case _:
            return NEITHER
    if length < 20:
        return TOO_SHORT
    octets = length + LLC_SNAP_OCTETS
    return TOO_LONG if octets > MOST_SDU_OCTETS else Content(PACKET, None, None, 0, 0, octets, cells_for(octets))


def _pdu(vpi: int | None, vci: int | None, clp: int, on_wire: int) -> Content | LeftOut:
    if on_wire > MOST_PDU_OCTETS:
        return TOO_LONG
    octets = min(on_wire, MOST_SDU_OCTETS)
    return Content(PDU, vpi, vci, 0, clp, octets, cells_for(octets))


def _of_sunatm(record: Record) -> Content | LeftOut:
    if len(record.data) < 4 or record.octets_on_wire < 4:
        return TOO_SHORT
    vpi = record.data[1]
    (vci,) = struct.unpack_from(">H", record.data, 2)
    return _pdu(vpi, vci, 0, record.octets_on_wire - 4)
