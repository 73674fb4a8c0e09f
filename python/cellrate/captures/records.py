"""Files of captures as records: pcap, pcapng and ERF, one packet after the other.

A file is read a piece at a time. Nothing in it is believed before it is checked: lengths against what is left, the
byte order against its magic, a block's length against its repetition.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO

from ..errors import CellrateError, shown
from ..plain_files import plain_file

MOST_OCTETS = 1 << 24
"""The longest record or block that is taken for one; longer ones are taken for damage."""

PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""First octets of a pcap file: byte order, and nanoseconds in a unit of the fraction of its stamps."""

PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"


ERF_TYPES = {*range(1, 28), 48}
"""Types of records that there are, the extension bit apart."""


class BlockType(IntEnum):
    """Blocks of pcapng that matter here."""

    INTERFACE = 1
    OBSOLETE_PACKET = 2
    SIMPLE_PACKET = 3
    NAMES = 4
    STATISTICS = 5
    ENHANCED_PACKET = 6
    SECRETS = 10
    SECTION = 0x0A0D0D0A


class LinkType(IntEnum):
    """Link type of a capture: the header that its packets begin with, by libpcap's numbers."""

    ETHERNET = 1
    ATM_RFC1483 = 100
    LINUX_COOKED = 113
    SUNATM = 123
    ERF = 197


@dataclass(frozen=True, slots=True)
class Record:
    """A packet of a capture."""

    time_ns: int
    """Since 1970, or since whatever the file counts from [ns]."""
    interface: str
    """Name or number of the interface that it was seen at."""
    link_type: int
    """As in the registry of LINKTYPE_ values."""
    data: bytes
    """Octets of it that were captured."""
    octets_on_wire: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a capture that is passed over."""

    noun: str
    """Its kind: "record" or "block"; nothing where `reason` says it."""
    reason: str
    """Which ones are passed over, as it follows their number and the noun."""


OUT_OF_SECOND = LeftOut(
    "record", "damaged: its stamp has more than a second below its seconds, as where ns are told as us"
)


class CaptureError(CellrateError):
    """A file that is not a capture, or a damaged one; it says at which octet."""


class _RestError(CaptureError):
    """A file that ends within something, or makes no sense from some octet on; what is before is sound."""

    def __init__(self, text: str, said: str) -> None:
        super().__init__(text)
        self.said = said


class _File:
    """A file that is read forward, and knows where it is."""

    def __init__(self, opened: BinaryIO, path: Path) -> None:
        self._opened, self._path = opened, path
        self.position = 0

    def read(self, octets: int, what: str) -> bytes:
        """Read exactly so many octets.

        Raises
        ------
        CaptureError
            If the file ends before.
        """
        got = self._opened.read(octets)
        if len(got) < octets:
            said = f"the file ends within {what}"
            raise _RestError(self._placed(said), f"the end, as {said} (octet {self.position:,})")
        self.position += octets
        return got

    def begins(self, octets: int, what: str) -> bytes | None:
        """Read the head of the next record, or give None at the end of the file."""
        first = self._opened.read(1)
        if not first:
            return None
        self.position += 1
        return first + self.read(octets - 1, what)

    def wrong(self, said: str) -> CaptureError:
        """Give the error of what cannot be, from where on nothing can be told apart."""
        return _RestError(self._placed(said), f"all from octet {self.position:,} on: {said}")

    def _placed(self, said: str) -> str:
        return f"{self._path}, octet {self.position:,}: {said}"


def records(file: Path) -> Iterator[Record | LeftOut]:
    """Read a capture, record by record; the content decides the format, not the name.

    A file that ends within a record or a block, or makes no sense from one on, is read up to there, as other programs
    do: it is still being written, its disk was full, or its end was never written. What is passed over comes as
    `LeftOut`, in its place.

    Raises
    ------
    CaptureError
        If it is no capture, or ends within its first record or makes no sense there.
    """
    with plain_file(file, error=CaptureError) as opened:
        magic = opened.peek(4)[:4]
        source = _File(opened, file)
        if magic in PCAP_MAGIC:
            reading = _pcap(source)
        elif magic == PCAPNG_MAGIC:
            reading = _pcapng(source)
        elif magic[:2] == b"\x1f\x8b":
            raise CaptureError(f"{file} is compressed; unpack it first (gunzip)")
        else:
            reading = _erf(source)
        given = False
        try:
            for one in reading:
                given = True
                yield one
        except _RestError as rest:
            if not given:
                raise
            yield LeftOut("", rest.said)


def _pcap(file: _File) -> Iterator[Record | LeftOut]:
    order, unit_ns = PCAP_MAGIC[file.read(4, "the file's head")]
    # Version 2 + 2, zone and accuracy 4 + 4, longest packet 4, link type 4 (its upper bits say how frames are checked).
    (link_type,) = struct.unpack(order + "16xI", file.read(20, "the file's head"))
    while (head := file.begins(16, "the head of a packet")) is not None:
        seconds, fraction, captured, on_wire = struct.unpack(order + "IIII", head)
        if captured > MOST_OCTETS:
            raise file.wrong(f"a packet of {captured:,} octets; {MOST_OCTETS:,} is the most")
        data = file.read(captured, "a packet")
        if fraction * unit_ns >= 10**9:
            yield OUT_OF_SECOND
            continue
        yield from _record(seconds * 10**9 + fraction * unit_ns, "0", link_type & 0x03FF_FFFF, data, on_wire, file)


@dataclass(frozen=True, slots=True)
class _Interface:
    name: str
    link_type: int
    per_s: int


def _pcapng(file: _File) -> Iterator[Record | LeftOut]:
    interfaces: list[_Interface] = []
    order = "<"
    while (head := file.begins(8, "the head of a block")) is not None:
        if head[:4] == PCAPNG_MAGIC:
            magic = file.read(4, "the head of a section")
            if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise file.wrong(f"{shown(magic)} is not a byte-order magic of a section")
            order, interfaces = "<" if magic[0] == 0x4D else ">", []
            before = 12
        else:
            before = 8
        kind, length = struct.unpack(order + "II", head)
        if length % 4 or not before + 4 <= length <= MOST_OCTETS:
            raise file.wrong(f"a block of {length:,} octets; it is a multiple of 4 and {MOST_OCTETS:,} at the most")
        body = file.read(length - before - 4, "a block")
        if file.read(4, "a block") != head[4:]:
            raise file.wrong("a block ends with another length than it begins with")
        match kind:
            case BlockType.INTERFACE:
                interfaces.append(_interface(body, order, len(interfaces), file))
            case BlockType.ENHANCED_PACKET | BlockType.OBSOLETE_PACKET:
                # The obsolete block has two octets of interface and two of a drop count in place of four.
                if len(body) < 20:
                    raise file.wrong("a packet block of under 20 octets")
                place, high, low, captured, on_wire = struct.unpack_from(
                    order + ("IIIII" if kind == BlockType.ENHANCED_PACKET else "H2xIIII"), body
                )
                if place >= len(interfaces):
                    raise file.wrong(f"a packet of interface {place}; the section has {len(interfaces)}")
                if captured > len(body) - 20:
                    raise file.wrong(f"a packet of {captured:,} octets in a block of {len(body):,}")
                one = interfaces[place]
                time_ns = ((high << 32) + low) * 10**9 // one.per_s
                yield from _record(time_ns, one.name, one.link_type, body[20 : 20 + captured], on_wire, file)
            case BlockType.SIMPLE_PACKET:
                yield LeftOut("packet", "without an instant (pcapng's simple packet blocks)")
            case BlockType.SECTION | BlockType.NAMES | BlockType.STATISTICS | BlockType.SECRETS:
                # They hold no packets.
                pass
            case _:
                yield LeftOut("block", f"of type {kind:#x}, which is not known")


def _interface(body: bytes, order: str, number: int, file: _File) -> _Interface:
    if len(body) < 8:
        raise file.wrong("an interface block of under 8 octets")
    (link_type,) = struct.unpack_from(order + "H", body)
    name, per_s, place = str(number), 10**6, 8
    while place + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, place)
        value = body[place + 4 : place + 4 + length]
        if code == 0 or len(value) < length:
            break
        if code == 2:
            name = value.decode("utf-8", "replace")
        elif code == 9 and length == 1:
            exponent = value[0] & 0x7F
            if exponent > 63 or (not value[0] & 0x80 and exponent > 18):
                raise file.wrong(f"an interface whose clock counts units of 10^-{exponent} s")
            per_s = 2**exponent if value[0] & 0x80 else 10**exponent
        place += 4 + length + -length % 4
    return _Interface(name, link_type, per_s)


def _erf(file: _File) -> Iterator[Record | LeftOut]:
    """Read a file of bare ERF records, which has no magic: every head is held against what a head can be."""
    first = True
    while (head := file.begins(16, "the head of an ERF record")) is not None:
        (length,) = struct.unpack_from(">H", head, 10)
        kind = head[8] & 0x7F
        if first and (length < 16 or kind not in ERF_TYPES):
            raise file.wrong("this is not a capture that is known (pcap, pcapng, ERF)")
        if length < 16:
            raise file.wrong("no head of an ERF record")
        first = False
        data = head + file.read(length - 16, "an ERF record")
        if kind in ERF_TYPES:
            yield from _record(0, "0", LinkType.ERF, data, length, file)
        else:
            yield LeftOut("record", f"of ERF type {kind}, which is not known")


def _record(time_ns: int, interface: str, link_type: int, data: bytes, on_wire: int, file: _File) -> Iterator[Record]:
    if link_type != LinkType.ERF:
        yield Record(time_ns, interface, link_type, data, on_wire)
        return
    if len(data) < 16:
        raise file.wrong(f"an ERF record of {len(data)} octets; its head alone has 16")
    # The record's own stamp is finer than that around it: seconds since 1970 times 2^32, little-endian.
    (stamp,) = struct.unpack_from("<Q", data)
    at_ns = (stamp >> 32) * 10**9 + ((stamp & 0xFFFF_FFFF) * 10**9 >> 32)
    yield Record(at_ns, interface, link_type, data, on_wire)
