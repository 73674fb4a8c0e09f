"""Captures read as arrivals: every format, our own captures, damage."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import cellrate
from cellrate import _native
from cellrate.captures import Contract, conformance, read_capture
from cellrate.captures.arrivals import by_connection
from cellrate.captures.writing import write_arrivals, write_counts
from cellrate.choices import Coupling, Definition
from conftest import command

HEADER = struct.pack(">I", 1 << 20 | 77 << 4 | 0 << 1 | 1)
"""VPI 1, VCI 77, payload type 0, CLP 1."""


def ipv4(octets: int) -> bytes:
    return struct.pack(">BBH", 0x45, 0, octets) + bytes(16) + bytes(octets - 20)


def erf(kind: int, body: bytes, *, ns: int = 0, extensions: int = 0, wire: int | None = None, flags: int = 4) -> bytes:
    stamp = (ns // 10**9 << 32) + -(-((ns % 10**9) << 32) // 10**9)
    more = b"".join(bytes([0x80 if place else 0]) + bytes(7) for place in reversed(range(extensions)))
    length = 16 + len(more) + len(body)
    head = struct.pack("<Q", stamp) + bytes([kind | (0x80 if extensions else 0), flags])
    return head + struct.pack(">HHH", length, 0, len(body) if wire is None else wire) + more + body


def pcap(link_type: int, packets: list[tuple[int, bytes]], *, order: str = "<", nanoseconds: bool = True) -> bytes:
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    head = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link_type)
    unit = 1 if nanoseconds else 1000
    return head + b"".join(
        struct.pack(order + "IIII", ns // 10**9, ns % 10**9 // unit, len(data), len(data)) + data
        for ns, data in packets
    )


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def pcapng(link_type: int, packets: list[tuple[int, bytes]], *, order: str = "<", resolution: int = 9) -> bytes:
    """A section with one interface, "port", whose clock counts 10^-resolution s, or 2^-n where the high bit is set."""
    options = struct.pack(order + "HH", 2, 4) + b"port" + struct.pack(order + "HHB3x", 9, 1, resolution)
    per_s = 2 ** (resolution & 127) if resolution & 128 else 10**resolution
    blocks = [
        block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + options),
        block(order, 5, bytes(12)),
    ]
    for ns, data in packets:
        ticks = ns * per_s // 10**9
        head = struct.pack(order + "IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        blocks.append(block(order, 6, head + data))
    return b"".join(blocks)


def read(folder: Path, octets: bytes) -> cellrate.captures.Arrivals:
    file = folder / "file"
    file.write_bytes(octets)
    return read_capture(file)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [True, False])
def test_raw_ip_becomes_the_cells_that_aal5_makes(tmp_path: Path, order: str, nanoseconds: bool) -> None:
    # 20 + 8 LLC/SNAP + 8 trailer fit one cell; 40 octets of a bare ACK with both are 56: two cells; 1500 are 32.
    packets = [(1_000, ipv4(20)), (5_000, ipv4(40)), (9_000, ipv4(1500))]
    arrivals = read(tmp_path, pcap(101, packets, order=order, nanoseconds=nanoseconds))
    assert arrivals.times_ns.tolist() == [0, 4_000, 8_000]
    assert arrivals.cells.tolist() == [1, 2, 32]
    assert arrivals.octets.tolist() == [28, 48, 1508]
    assert arrivals.connections == ("0",) * 3


def test_ethernet_frames_are_taken_by_the_length_in_their_ip_header(tmp_path: Path) -> None:
    macs = bytes(12)
    padded = macs + b"\x08\x00" + ipv4(40) + bytes(6)
    tagged = macs + b"\x81\x00\x00\x05\x08\x00" + ipv4(40)
    six = macs + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, 60, 17, 64) + bytes(32 + 60)
    arp = macs + b"\x08\x06" + bytes(28)
    arrivals = read(tmp_path, pcap(1, [(0, padded), (1, tagged), (2, six), (3, arp)]))
    assert arrivals.octets.tolist() == [48, 48, 108]
    assert arrivals.left_out == 1


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("resolution", [9, 6, 0x80 | 30])
def test_pcapng_counts_time_as_its_interface_says(tmp_path: Path, order: str, resolution: int) -> None:
    second = [(10**18, ipv4(40)), (10**18 + 3_000_000, ipv4(40))]
    arrivals = read(tmp_path, pcapng(228, second, order=order, resolution=resolution))
    assert abs(int(arrivals.times_ns[1]) - 3_000_000) <= 1
    assert arrivals.connections == ("port", "port")


def test_cells_of_erf_keep_their_connection_and_their_kind(tmp_path: Path) -> None:
    rm = struct.pack(">I", 1 << 20 | 77 << 4 | 6 << 1)
    oam = struct.pack(">I", 1 << 20 | 77 << 4 | 5 << 1)
    octets = (
        erf(3, HEADER + bytes(48), ns=2_000_000_500)
        + erf(7, bytes(4) + rm + bytes(48), ns=2_000_000_700, extensions=2)
        + erf(3, oam + bytes(48), ns=2_000_000_900)
        + erf(48, bytes(8), ns=2_000_001_000)
    )
    arrivals = read(tmp_path, octets)
    assert arrivals.first_ns == 2_000_000_500
    assert arrivals.times_ns.tolist() == [0, 200, 400]
    assert set(arrivals.connections) == {"0 1/77"}
    assert arrivals.rm.tolist() == [False, True, False]
    assert arrivals.clp.tolist() == [True, False, False]
    assert arrivals.left_out == 1
    assert arrivals.data().times_ns.tolist() == [0]


def test_pdus_have_the_length_that_their_trailer_says(tmp_path: Path) -> None:
    pdu = bytes(144 - 8) + struct.pack(">BBHI", 0, 0, 100, 0)
    sun = bytes([0x02, 3]) + struct.pack(">H", 90) + bytes(108)
    arrivals = read(tmp_path, erf(4, HEADER + pdu) + erf(9, bytes(4) + HEADER + pdu, ns=1))
    assert (arrivals.octets.tolist(), arrivals.cells.tolist()) == ([100, 100], [3, 3])
    of_sun = read(tmp_path, pcap(123, [(0, sun)]))
    assert (of_sun.connections, of_sun.cells.tolist()) == (("0 3/90",), [3])
    assert read(tmp_path, pcap(100, [(0, bytes(88))])).cells.tolist() == [2]


def test_records_out_of_order_are_put_into_order(tmp_path: Path) -> None:
    arrivals = read(tmp_path, pcap(101, [(9_000, ipv4(40)), (2_000, ipv4(1500)), (9_000, ipv4(20))]))
    assert arrivals.times_ns.tolist() == [0, 7_000, 7_000]
    assert arrivals.timed() == [(0, 32), (7_000, 3)]


SOUND = pcapng(101, [(0, ipv4(40)), (5, ipv4(60))])


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (b"", None),
        (b"hello, I am a text of no great length", "not a capture that is known"),
        (bytes(100), "not a capture that is known"),
        (b"\x1f\x8b" + bytes(20), "compressed"),
        (SOUND[: SOUND.rfind(struct.pack("<I", 6), 0, -100) + 30], "ends within a block"),
        (SOUND[:4] + b"\xff\xff\xff\xff" + SOUND[8:], "a block of"),
        (SOUND[:8] + bytes(4) + SOUND[12:], "not a byte-order magic"),
        (pcap(101, [(0, ipv4(40))])[:-3], "ends within a packet"),
        (pcap(101, [])[:20], "ends within the file's head"),
        (pcap(101, [])[:24] + struct.pack("<IIII", 0, 0, 1 << 30, 0), "a packet of 1,073,741,824 octets"),
        (pcap(147, [(0, b"x")]), "nothing that can be read: 1 record of link type 147"),
        (SOUND.replace(struct.pack("<I", 6), struct.pack("<I", 3)), "2 packets without an instant"),
        (block("<", 0x0A0D0D0A, SOUND[8:24]) + block("<", 6, bytes(20)), "a packet of interface 0; the section has 0"),
    ],
)
def test_damage_is_said_at_its_place(tmp_path: Path, octets: bytes, said: str | None) -> None:
    if said is None:
        assert len(read(tmp_path, octets)) == 0
        return
    with pytest.raises(cellrate.CellrateError, match=said):
        read(tmp_path, octets)


PACKETS = [(second * 10**9, ipv4(40)) for second in range(4)]
CELLS = [erf(3, HEADER + bytes(48), ns=second * 10**9) for second in range(4)]


@pytest.mark.parametrize("whole", [pcap(101, PACKETS), pcapng(101, PACKETS), b"".join(CELLS)])
def test_a_capture_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path, whole: bytes) -> None:
    for lost in (1, 3, 5, 20, 40):
        arrivals = read(tmp_path, whole[:-lost])
        assert len(arrivals) == 3, lost
        assert arrivals.left_out == 0
        assert len(arrivals.omitted) == 1
        assert "the file ends within" in arrivals.omitted[0]
    said = command("trace", tmp_path / "file").stdout
    assert "Left out: the end, as the file ends within" in said
    assert read(tmp_path, whole).omitted == ()


@pytest.mark.parametrize("tail", [bytes(400), bytes(range(7, 250))])
@pytest.mark.parametrize("whole", [pcap(101, PACKETS), pcapng(101, PACKETS), b"".join(CELLS)])
def test_a_capture_whose_end_makes_no_sense_is_read_up_to_there(tmp_path: Path, whole: bytes, tail: bytes) -> None:
    arrivals = read(tmp_path, whole + tail)
    assert len(arrivals) == 4
    assert arrivals.first_ns == 0
    assert arrivals.times_ns.tolist() == read(tmp_path, whole).times_ns.tolist()
    # A record of pcap that is all zeros has a head that can be, and nothing in it.
    assert arrivals.omitted[0].startswith(("all from octet", "the end, as", "25 records of no octets"))


def one_packet(captured: int, wire: int, *, fraction: int = 0) -> bytes:
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 100)
    sound = struct.pack("<IIII", 7, 0, 40, 40) + bytes(40)
    return head + sound + struct.pack("<IIII", 8, fraction, captured, wire) + bytes(captured)


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (one_packet(0, 0), "1 record of no octets"),
        (one_packet(40, 10), "1 record damaged: more octets captured than were on the wire"),
        (
            one_packet(40, 40, fraction=999_999_999),
            "1 record damaged: its stamp has more than a second below its seconds",
        ),
    ],
)
def test_a_packet_that_cannot_be_is_left_out(tmp_path: Path, octets: bytes, said: str) -> None:
    arrivals = read(tmp_path, octets)
    assert len(arrivals) == 1
    assert arrivals.left_out == 1
    assert arrivals.omitted[0].startswith(said)


@pytest.mark.parametrize("captured", [0, 20, 40])
def test_a_packet_that_was_captured_in_part_has_the_cells_of_the_whole(tmp_path: Path, captured: int) -> None:
    assert read(tmp_path, one_packet(captured, 40)).cells.tolist() == [1, 1]


def test_blocks_and_records_of_another_kind_are_passed_over_and_counted(tmp_path: Path) -> None:
    head, packet = SOUND[: SOUND.index(struct.pack("<I", 6))], SOUND[SOUND.index(struct.pack("<I", 6)) :]
    other = block("<", 1, struct.pack("<HHI", 220, 0, 0))
    usb = block("<", 6, struct.pack("<IIIII", 1, 0, 7, 4, 4) + b"usb.")
    arrivals = read(tmp_path, head + other + block("<", 0xBAD, b"what") + block("<", 3, bytes(8)) + usb + packet)
    assert len(arrivals) == 2
    assert arrivals.left_out == 3
    assert arrivals.omitted == (
        "1 block of type 0xbad, which is not known",
        "1 packet without an instant (pcapng's simple packet blocks)",
        "1 record of link type 220, which cannot be read",
    )
    known = erf(3, HEADER + bytes(48))
    arrivals = read(tmp_path, known + erf(77, bytes(8)) * 2 + known)
    assert (len(arrivals), arrivals.left_out) == (2, 2)
    assert arrivals.omitted == ("2 records of ERF type 77, which is not known",)


def lengths(link_type: int, data: bytes, *on_wire: int) -> bytes:
    """Records that claim so many octets on the wire."""
    return pcap(link_type, []) + b"".join(
        struct.pack("<IIII", n, 0, len(data), o) + data for n, o in enumerate(on_wire)
    )


@pytest.mark.parametrize(
    ("link_type", "data", "header"),
    [(100, bytes(16), 0), (123, bytes(16), 4), (101, ipv4(20)[:2] + bytes(2) + ipv4(20)[4:], -8)],
)
def test_more_octets_than_aal5_carries_are_damage(tmp_path: Path, link_type: int, data: bytes, header: int) -> None:
    # RFC 1483, SunATM, and IPv4 that says 0 of its own length, as cut up by the network card.
    most = 65_535 + header if link_type == 101 else 1366 * 48 + header
    arrivals = read(tmp_path, lengths(link_type, data, 500, most, most + 1, 2**32 - 1))
    assert arrivals.cells.tolist()[1] == 1366
    assert arrivals.octets.max() == 65_535
    assert arrivals.omitted == ("2 records damaged: more octets on the wire than AAL5 carries (65,535)",)


def test_a_jumbogram_has_the_length_that_was_on_the_wire(tmp_path: Path) -> None:
    jumbo = struct.pack(">IHBB", 6 << 28, 0, 0, 64) + bytes(40)
    assert read(tmp_path, lengths(101, jumbo, 9000)).octets.tolist() == [9008]
    assert read(tmp_path, lengths(101, jumbo, 9000, 100_000)).omitted[0].startswith("1 record damaged")


def test_oam_cells_are_decoded_and_a_wrong_crc_10_is_said(tmp_path: Path) -> None:
    def cell(vci: int, pti: int, payload: bytes) -> bytes:
        return erf(3, struct.pack(">I", vci << 4 | pti << 1) + payload)

    # A continuity check with the CRC-10 that tests of the core have; AIS, whose CRC-10 is then wrong.
    check = b"\x14" + b"\x6a" * 45 + b"\x03\x87"
    ais = b"\x10" + check[1:]
    octets = cell(77, 5, check) + cell(77, 4, check) + cell(77, 5, ais) + cell(77, 6, ais) + cell(77, 5, check[:20])
    (row,) = (row for name, row in by_connection(read(tmp_path, octets + cell(77, 0, bytes(48)))))
    assert row["oam"] == {
        "F5 end to end continuity check": 2,
        "F5 segment continuity check": 1,
        "F5 end to end with a wrong CRC-10": 1,
    }
    assert (row["oam_cells"], row["rm_cells"], row["rm_damaged"], row["cells"]) == (4, 1, 1, 6)
    said = command("trace", tmp_path / "file").stdout
    assert "1 F5 end to end with a wrong CRC-10; 1 RM cells with a wrong CRC-10." in said
    path = dict(by_connection(read(tmp_path, cell(3, 0, check) + cell(4, 1, check) + cell(3, 6, check))))
    assert path["0 0/3"]["oam"] == {"F4 segment continuity check": 1}
    assert path["0 0/3"]["rm_cells"] == 1
    assert path["0 0/4"]["oam"] == {"F4 end to end continuity check": 1}


def test_cells_of_a_packet_are_held_against_a_contract_together(tmp_path: Path) -> None:
    # 3,000 packets of 1,366 cells: 4 million cells, of which each packet's first conforms.
    arrivals = read(tmp_path, lengths(100, b"", *[65_000] * 3000))
    found = conformance(arrivals, Contract(definition="CBR.1", pcr=10.0, cdvt=1e-9))
    assert (found.conforming, found.cells) == (3000, int(arrivals.cells.sum()))
    assert found.first_s == 0.0


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path, tmp_path / "pipe"):
        with pytest.raises(cellrate.CellrateError, match=f"{path} is not a plain file"):
            cellrate.read_capture(path)


def test_no_prefix_or_flip_of_a_capture_is_anything_but_an_error_or_arrivals(tmp_path: Path) -> None:
    samples = [SOUND, pcap(1, [(0, bytes(12) + b"\x08\x00" + ipv4(40))]), erf(3, HEADER + bytes(48)) * 2]
    for octets in samples:
        damaged = itertools.chain(
            (octets[:end] for end in range(len(octets))),
            (
                octets[:at] + bytes([octets[at] ^ bit]) + octets[at + 1 :]
                for at in range(len(octets))
                for bit in (1, 128)
            ),
        )
        for one in damaged:
            with contextlib.suppress(cellrate.CellrateError):
                read(tmp_path, one)


def test_what_a_run_captured_is_what_its_summary_counts(tmp_path: Path) -> None:
    result = cellrate.run("tcp-over-abr", set={"duration": "60 ms"}, capture=tmp_path / "cells")
    arrivals = read_capture(tmp_path / "cells" / "cells.pcapng")
    rows = dict(by_connection(arrivals))
    vc = result.summary["vcs"][0]
    into, out = rows["s1->sw1 0/32"], rows["sw2->d1 0/32"]
    assert out["cells"] - out["rm_cells"] == pytest.approx(vc["data_delivered"], abs=60)
    assert into["cells"] - into["rm_cells"] <= vc["data_sent"]
    pdus = read_capture(tmp_path / "cells" / "pdus.pcapng").of("s1->sw1 0/32")
    # A segment of 512 octets or of 1460 with 40 of headers and 8 of LLC/SNAP.
    assert set(pdus.octets.tolist()) <= {1508, 552, 48}
    # Every PDU's cells are among the cells of that port.
    assert int(pdus.cells.sum()) <= int(into["cells"])


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_counts_the_same(tmp_path: Path) -> None:
    cellrate.run("tcp-over-abr", set={"duration": "20 ms"}, capture=tmp_path)
    words = ["tshark", "-r", str(tmp_path / "cells.pcapng"), "-T", "fields"]
    words += [word for name in ("frame.time_epoch", "frame.interface_name", "atm.vci") for word in ("-e", name)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in printed.splitlines()]
    arrivals = read_capture(tmp_path / "cells.pcapng")
    assert len(arrivals) == len(rows)
    assert sorted(arrivals.connections) == sorted(f"{port} 0/{vci}" for _, port, vci in rows)
    first = min(float(time) for time, _, _ in rows)
    assert arrivals.times_ns / 1e9 == pytest.approx(sorted(float(time) - first for time, _, _ in rows), abs=2e-9)


def test_arrivals_as_files(tmp_path: Path) -> None:
    arrivals = read(tmp_path, pcap(101, [(0, ipv4(40)), (1_500_000_000, ipv4(1500)), (1_500_000_000, ipv4(20))]))
    write_arrivals(arrivals, tmp_path / "arrivals.txt")
    assert (tmp_path / "arrivals.txt").read_text() == "# instant [s], cells\n0.000000000 2\n1.500000000 33\n"
    write_counts(arrivals, 0.5, tmp_path / "counts.txt")
    assert np.loadtxt(tmp_path / "counts.txt").tolist() == [2, 0, 0, 33]
    with pytest.raises(cellrate.CellrateError, match=r'nothing of "elsewhere"; it has 0'):
        arrivals.of("elsewhere")
    with pytest.raises(cellrate.CellrateError, match="cannot be written"):
        write_arrivals(arrivals, tmp_path / "absent" / "x")


def cells_at(*slots: tuple[int, int]) -> bytes:
    """ERF cells at these microseconds, each with a CLP."""
    return b"".join(
        erf(3, struct.pack(">I", 77 << 4 | clp) + bytes(48), ns=1_000_000_000 + 1000 * at) for at, clp in slots
    )


def test_cells_are_held_against_a_contract(tmp_path: Path) -> None:
    # PCR one cell in 10 us, SCR one in 40, MBS 4: a burst of four at the peak, and the fifth comes too soon.
    burst = [(10 * n, 0) for n in range(6)]
    arrivals = read(tmp_path, cells_at(*burst, (1_000, 0), (1_005, 0)))
    vbr = {"pcr": 1e5, "cdvt": 1e-9, "scr": 25e3, "mbs": 4}
    found = conformance(arrivals, Contract(definition="VBR.1", **vbr))  # type: ignore[arg-type]
    assert (found.conforming, found.tagged, found.discarded) == (5, 0, 3)
    assert found.first_s == pytest.approx(40e-6)
    tagged = conformance(arrivals, Contract(definition="VBR.3", **vbr))  # type: ignore[arg-type]
    assert (tagged.conforming, tagged.tagged, tagged.discarded) == (5, 2, 1)
    assert conformance(arrivals, Contract(definition="CBR.1", pcr=1e5, cdvt=1e-9)).discarded == 1
    assert conformance(arrivals, Contract(definition="UBR.2", pcr=1e5, cdvt=6e-6)).tagged == 8


@pytest.mark.parametrize(("key", "hint"), [("definition", Definition), ("coupling", Coupling)])
def test_type_hints_name_the_definitions_and_couplings_that_the_core_knows(key: str, hint: object) -> None:
    given = {"definition": "CBR.1", "coupling": "coupled", key: "?"}
    with pytest.raises(cellrate.CellrateError, match="it may be ") as refused:
        _native.conformance([], [], [], given["definition"], 1.0, 0.0, 0.0, 0, given["coupling"])
    words = str(refused.value).partition("it may be ")[2].replace(" or ", ", ").split(", ")
    assert list(get_args(hint)) == words


def test_a_contract_is_held_for_as_long_as_instants_can_be_counted(tmp_path: Path) -> None:
    def far_apart(s: int) -> cellrate.captures.Arrivals:
        cell = struct.pack(">I", 77 << 4) + bytes(48)
        return read(tmp_path, erf(3, cell, ns=1_000_000_000) + erf(3, cell, ns=(1 + s) * 10**9))

    contract = Contract(definition="CBR.1", pcr=1e5, cdvt=1e-9)
    assert conformance(far_apart(18_446_744), contract).conforming == 2
    # 64 bits of ps end 0.07 s later.
    with pytest.raises(cellrate.CellrateError, match=r"18446745\.0 s after the first; a contract is held for 213 days"):
        conformance(far_apart(18_446_745), contract)


def test_a_greedy_source_keeps_to_the_rate_of_its_line(tmp_path: Path) -> None:
    result = cellrate.run("two-source-transient", set={"duration": "20 ms"}, capture=tmp_path)
    assert result.captured
    arrivals = read_capture(tmp_path / "cells.pcapng").of("s1->sw1 0/32")
    line = 155.52e6 / 424
    assert conformance(arrivals, Contract(definition="CBR.1", pcr=line, cdvt=2e-9)).discarded == 0
    slower = conformance(arrivals, Contract(definition="CBR.1", pcr=line / 4, cdvt=2e-9))
    assert slower.discarded > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pcr", "1 Mbps"], "--pcr belongs to a contract"),
        (["--contract", "CBR.1", "--pcr", "1 Mbps"], "needs --cdvt"),
        (["--contract", "VBR.1", "--pcr", "1 Mbps", "--cdvt", "1 us"], "VBR.1 needs scr"),
        (["--contract", "CBR.1", "--pcr", "1 Mbps", "--cdvt", "1 us", "--mbs", "3"], "CBR.1 has no mbs"),
        (["--contract", "CBR.1", "--pcr", "0 Mbps", "--cdvt", "1 us"], "PCR is 0"),
    ],
)
def test_a_contract_that_is_none_is_an_error(tmp_path: Path, words: list[str], said: str) -> None:
    file = tmp_path / "cells.erf"
    file.write_bytes(cells_at((0, 0)))
    done = command("trace", file, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "packets.pcap"
    file.write_bytes(pcap(101, [(0, ipv4(40)), (10**9, ipv4(40))]))

    def trace(*words: str) -> subprocess.CompletedProcess[str]:
        return command("trace", *words)

    content = json.loads(trace(str(file), "--json").stdout)
    assert content["connections"]["0"]["cells"] == 4
    assert content["connections"]["0"]["cells_per_s"] == 2.0
    out = tmp_path / "out.txt"
    assert trace(str(file), "--out", str(out), "--every", "1 s").returncode == 0
    assert out.read_text().splitlines()[1:] == ["2", "2"]
    assert trace(str(file), "--every", "1 s").returncode == 2
    held = trace(str(file), "--contract", "CBR.1", "--pcr", "1000 cells/s", "--cdvt", "1 us", "--json")
    # Each packet is two cells at one instant.
    assert json.loads(held.stdout)["connections"]["0"]["conformance"]["discarded"] == 2
    assert trace("/dev/zero").returncode == 2
