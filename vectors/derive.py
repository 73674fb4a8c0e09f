"""Derive the computed fields of the vectors again, by other means than the Rust code, and compare.

Checksums are long divisions of polynomials, one bit at a time. CRC-32 is also taken from two foreign
implementations: the block checksum that bzip2 writes into its files, and zlib's with all bits mirrored.
Rates are exact fractions.

Run as ``python vectors/derive.py``; prints what was checked, and ends with status 1 at the first difference.
"""

from __future__ import annotations

import bz2
import tomllib
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def divide(dividend: int, bits: int, width: int, polynomial: int) -> int:
    """Divide the ``bits`` lowest bits of ``dividend``, bit by bit from the highest; give the remainder."""
    left = 0
    for bit in f"{dividend:0{bits}b}":
        left = left << 1 | int(bit)
        if left >> width:
            left ^= 1 << width | polynomial
    return left


def remainder(message: bytes, width: int, polynomial: int, initial: int = 0) -> int:
    """Divide ``message``, ``width`` zero bits appended and ``initial`` added to its first ``width`` bits."""
    bits = len(message) * 8
    return divide(int.from_bytes(message) << width ^ initial << bits, bits + width, width, polynomial)


def hec(header: bytes) -> int:
    """Compute the HEC of the first four octets of a header (I.432.1)."""
    return remainder(header, 8, 0x07) ^ 0x55


def crc10(message: bytes) -> int:
    """Compute the CRC-10 to append to ``message`` (I.610)."""
    return remainder(message, 10, 0x233)


def crc32(message: bytes) -> int:
    """Compute the CRC-32 of AAL5 (I.363.5) in three ways that must agree."""
    ones = 0xFFFF_FFFF
    divided = remainder(message, 32, 0x04C1_1DB7, ones) ^ ones
    mirrored = zlib.crc32(bytes(int(f"{octet:08b}"[::-1], 2) for octet in message))
    assert divided == int(f"{mirrored:032b}"[::-1], 2), "zlib disagrees"
    # A bzip2 file: 4 octets "BZh9", 6 of block magic, 4 of the block's CRC.
    assert divided == int.from_bytes(bz2.compress(message)[10:14]), "bzip2 disagrees"
    return divided


def rate(bits: int) -> Fraction:
    """Decode a 16-bit rate code to cells/s (TM 4.0, 5.10.3.2)."""
    nonzero, exponent, mantissa = bits >> 14 & 1, bits >> 9 & 31, bits & 511
    return nonzero * (1 << exponent) * (1 + Fraction(mantissa, 512))


def floor_code(cells_per_s: Fraction) -> int:
    """Find the largest code not above ``cells_per_s`` by trying every one."""
    largest = 0
    for bits in range(0x4000, 0x8000):
        if rate(largest) < rate(bits) <= cells_per_s:
            largest = bits
    return largest


def header(cell: dict[str, Any]) -> bytes:
    """Lay out the five octets of a header."""
    top = cell["vpi"] if cell["interface"] == "nni" else cell["gfc"] << 8 | cell["vpi"]
    first: bytes = (top << 20 | cell["vci"] << 4 | cell["pti"] << 1 | cell["clp"]).to_bytes(4)
    return first + bytes([hec(first)])


def rm_cell(cell: dict[str, Any]) -> bytes:
    """Lay out the 53 octets of an RM cell."""
    flags = cell["dir"] << 7 | cell["bn"] << 6 | cell["ci"] << 5 | cell["ni"] << 4
    rates: bytes = b"".join(cell[name].to_bytes(2) for name in ("er", "ccr", "mcr"))
    body = bytes([1, flags]) + rates + bytes(8) + b"\x6a" * 30
    # 46 octets and six reserved zero bits are protected: 374 bits, which is no whole number of octets.
    crc = divide(int.from_bytes(body) << 6 << 10, 374 + 10, 10, 0x233)
    return header({"gfc": 0, "pti": 0b110, **cell}) + body + crc.to_bytes(2)


def refusal(octets: bytes) -> str:
    """Name the first reason why ``octets`` are no RM cell of ABR."""
    if hec(octets[:4]) != octets[4]:
        return "hec"
    if octets[3] >> 1 & 7 != 0b110:
        return "pti"
    # An intact payload is a multiple of the generator, and stays one with ten zeros appended.
    if crc10(octets[5:]) != 0:
        return "crc"
    return "none" if octets[5] == 1 else "id"


def pdu(sdu: bytes, user_to_user: int, cpi: int) -> bytes:
    """Lay out an AAL5 PDU."""
    padding = bytes(-(len(sdu) + 8) % 48)
    body = sdu + padding + bytes([user_to_user, cpi]) + len(sdu).to_bytes(2)
    return body + crc32(body).to_bytes(4)


def load(name: str, table: str) -> list[dict[str, Any]]:
    """Read the vectors of one table of one file."""
    with (HERE / name).open("rb") as file:
        vectors: list[dict[str, Any]] = tomllib.load(file)[table]
    return vectors


def sdu_of(vector: dict[str, Any]) -> bytes:
    """Take the SDU of an AAL5 vector: written out, or one octet repeated."""
    if "sdu" in vector:
        return bytes.fromhex(vector["sdu"])
    return bytes.fromhex(vector["octet"]) * int(vector["repeated"])


def main() -> None:
    """Check every vector."""
    checksums: dict[str, Callable[[bytes], int]] = {"hec": hec, "crc10": crc10, "crc32": crc32}
    count = 0

    def check(name: str, derived: object, written: object) -> None:
        nonlocal count
        count += 1
        if derived != written:
            raise SystemExit(f"{name}: derived {derived}, the file says {written}")

    for vector in load("checksums.toml", "checksum"):
        checksum = checksums[vector["algorithm"]](bytes.fromhex(vector["octets"]))
        check(f"checksum {vector['name']}", hex(checksum), hex(vector["value"]))
    for vector in load("rate_codes.toml", "code"):
        check(f"code {vector['bits']:#06x}", float(rate(vector["bits"])), vector["rate"])
    for vector in load("rate_codes.toml", "floor"):
        code = floor_code(Fraction(*vector["rate"]))
        check(f"floor of {vector['rate']}", hex(code), hex(vector["bits"]))
    for vector in load("headers.toml", "header"):
        check(f"header {vector['name']}", header(vector).hex(), vector["octets"])
    for vector in load("rm_cells.toml", "rm_cell"):
        octets = bytes.fromhex(vector["octets"])
        check(f"RM cell {vector['name']}", rm_cell(vector).hex(), octets.hex())
        check(f"RM cell {vector['name']}: refusal", refusal(octets), "none")
    for vector in load("rm_cells.toml", "refused"):
        octets = bytes.fromhex(vector["octets"])
        check(f"refused {vector['name']}", refusal(octets), vector["reason"])
    for vector in load("aal5.toml", "pdu"):
        whole = pdu(sdu_of(vector), vector["user_to_user"], vector["cpi"])
        check(f"PDU {vector['name']}: cells", len(whole) // 48, vector["cells"])
        check(f"PDU {vector['name']}: last cell", whole[-48:].hex(), bytes.fromhex(vector["last_cell"]).hex())
    print(f"{count} values derived again, all as written")


if __name__ == "__main__":
    main()
