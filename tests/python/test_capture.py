"""Captures: the files by themselves, and as tshark and the dissector read them."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import cellrate
from cellrate.wireshark import dissector
from cellrate.wireshark.capture import Capture
from conftest import command

TCP = """
name = "pair"
duration = "40 ms"

[defaults]
link = { rate = "155.52 Mbps", length = "1 km" }
switch.algorithm = { type = "erica" }

[[host]]
name = "a"

[[host]]
name = "b"

[[switch]]
name = "sw"

[[link]]
between = ["a", "sw"]

[[link]]
between = ["sw", "b"]
rate = "25.6 Mbps"

[[vc]]
name = "greedy"
path = ["a", "sw", "b"]
abr = { mcr = "1 Mbps" }

[[vc]]
name = "tcp"
path = ["a", "sw", "b"]
traffic = { type = "tcp", mss = "512 octets" }
"""

PORTS = ["a->sw", "sw->a", "sw->b", "b->sw"]

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


class Packet(NamedTuple):
    interface: int
    ns: int
    octets: bytes


def blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """Give type and body of every block."""
    octets, at = file.read_bytes(), 0
    while at < len(octets):
        kind, total = struct.unpack_from("<II", octets, at)
        assert struct.unpack_from("<I", octets, at + total - 4) == (total,)
        yield kind, octets[at + 8 : at + total - 4]
        at += total


def packets(file: Path) -> list[Packet]:
    found = []
    for kind, body in blocks(file):
        if kind == 6:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", body)
            found.append(Packet(interface, high << 32 | low, body[20 : 20 + captured]))
    return found


def interface_names(file: Path) -> list[str]:
    """Read the names: the first option of each interface."""
    bodies = [body for kind, body in blocks(file) if kind == 1]
    return [body[12 : 12 + struct.unpack_from("<H", body, 10)[0]].decode() for body in bodies]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capture")
    cellrate.run(cellrate.Scenario.parse(TCP), capture=folder)
    return folder


def test_every_transmitted_cell_is_in_the_file_with_the_name_of_its_port(tmp_path: Path) -> None:
    result = cellrate.run(cellrate.Scenario.parse(TCP), capture=tmp_path / "new")
    cells, pdus = result.captured
    assert [file.path.name for file in result.captured] == ["cells.pcapng", "pdus.pcapng"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["cells.pcapng", "pdus.pcapng"]
    assert interface_names(cells.path) == interface_names(pdus.path) == PORTS
    seen = packets(cells.path)
    assert len(seen) == cells.records == result.summary["run"]["cell_hops"]
    assert cells.octets == cells.path.stat().st_size
    for number, port in enumerate(PORTS):
        assert sum(packet.interface == number for packet in seen) == result.port(port)["transmitted"]
    assert [packet.ns for packet in seen] == sorted(packet.ns for packet in seen)
    # 424 bits at 155.52 Mbit/s, first bit at 0.
    assert seen[0].ns == 2726
    assert {len(packet.octets) for packet in seen} == {16 + 52}


def test_a_capture_changes_no_figure(tmp_path: Path) -> None:
    scenario = cellrate.Scenario.parse(TCP)
    plain, captured = cellrate.run(scenario), cellrate.run(scenario, capture=tmp_path)
    assert plain.captured == ()
    for rows in ("vcs", "ports", "tcp"):
        assert plain.summary[rows] == captured.summary[rows]


def test_ports_span_kind_and_limit_choose(tmp_path: Path) -> None:
    scenario = cellrate.Scenario.parse(TCP)
    span = Capture(folder=tmp_path / "span", ports=["sw->b"], start_s=0.01, end_s=0.02, pdus=False)
    (cells,) = cellrate.run(scenario, capture=span).captured
    assert interface_names(cells.path) == ["sw->b"]
    instants = [packet.ns for packet in packets(cells.path)]
    assert instants
    assert min(instants) >= 10_000_000
    assert max(instants) < 20_000_000

    small = Capture(folder=tmp_path / "small", limit_octets=10_000, cells=False)
    (pdus,) = cellrate.run(scenario, capture=small).captured
    assert pdus.path.name == "pdus.pcapng"
    assert pdus.octets <= 10_000
    assert pdus.records > 0
    assert pdus.left_out > 0
    assert f"{pdus.left_out:,} more did not fit" in str(pdus)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ports": ["sw->c"]}, "no port sw->c carries cells; there are a->sw, sw->a, sw->b, b->sw"),
        ({"ports": []}, "list of names"),
        ({"ports": "sw->b"}, "list of names"),
        ({"cells": False, "pdus": False}, "cells, PDUs or both"),
        ({"start_s": 0.02, "end_s": 0.02}, "empty"),
        ({"start_s": -1.0}, "begins at 0 or later"),
        ({"start_s": 100.0}, "a capture from 100.0 s on has nothing of a run that ends at"),
        ({"limit_octets": -1}, "must be 0 or more"),
    ],
)
def test_what_cannot_be_captured_is_refused(tmp_path: Path, options: dict[str, object], told: str) -> None:
    with pytest.raises(cellrate.CellrateError, match=told):
        cellrate.run(cellrate.Scenario.parse(TCP), capture=Capture(folder=tmp_path, **options))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    with pytest.raises(cellrate.RunError, match=str(in_the_way)):
        cellrate.run(cellrate.Scenario.parse(TCP), capture=in_the_way)


def test_a_run_that_is_stopped_leaves_no_file(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def stop(_: float) -> None:
        raise EnoughError

    long = cellrate.Scenario.parse(TCP).set({"duration": "20 s"})
    with pytest.raises(EnoughError):
        cellrate.run(long, capture=tmp_path, progress=stop)
    assert not list(tmp_path.iterdir())


def test_the_command_captures(tmp_path: Path) -> None:
    file = tmp_path / "tcp.toml"
    file.write_text(TCP)
    folder = tmp_path / "capture"
    span = ("--capture-from", "10ms", "--capture-until", "20 ms", "--capture-port", "sw->b")
    done = command("run", file, "--capture", folder, *span, "--capture-kind", "cells", "--capture-limit", "20 kB")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{folder}/cells.pcapng: " in done.stdout
    assert "more did not fit" in done.stdout
    assert (folder / "cells.pcapng").stat().st_size <= 20_000

    alone = command("run", file, "--capture-port", "sw->b")
    assert alone.returncode == 2
    assert "--capture-port needs --capture and a folder" in alone.stderr
    swept = tmp_path / "sweep.toml"
    swept.write_text(TCP + '[[sweep]]\nset = "seed"\nvalues = [1, 2]\n')
    refused = command("run", swept, "--capture", folder)
    assert refused.returncode == 2
    assert "sweeps over 2 points; a capture is of one run" in refused.stderr


def test_a_capture_is_taken_on_one_thread(tmp_path: Path) -> None:
    with pytest.raises(cellrate.CellrateError, match="threads is 2; with a capture it must be 1"):
        cellrate.run("two-source-transient", threads=2, capture=tmp_path / "cells")
    assert not (tmp_path / "cells").exists()


def test_the_dissector_is_installed_whole(tmp_path: Path) -> None:
    folder = tmp_path / "plugins"
    done = command("wireshark", "--install", "--folder", folder)
    assert (done.returncode, done.stdout) == (0, f"{folder / 'cellrate_abr.lua'}\n")
    assert [path.name for path in folder.iterdir()] == ["cellrate_abr.lua"]
    printed = command("wireshark", "--print")
    assert printed.stdout == (folder / "cellrate_abr.lua").read_text() == dissector.SCRIPT.read_text()
    assert command("wireshark").stdout == f"{dissector.SCRIPT}\n"


# What tshark makes of it.


def tshark(*arguments: str | Path) -> list[list[str]]:
    """Run tshark with the dissector, at home nowhere; give the fields of each line."""
    call = ["tshark", "-X", f"lua_script:{dissector.SCRIPT}", *map(str, arguments)]
    done = subprocess.run(
        call,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "WIRESHARK_RUN_FROM_BUILD": ""},
    )
    assert done.returncode == 0, done.stderr
    assert "Lua" not in done.stderr, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def fields(file: Path, *names: str, where: str = "") -> list[list[str]]:
    chosen = [option for name in names for option in ("-e", name)]
    # Versions differ in how they write what is true.
    plain = {"True": "1", "False": "0"}
    rows = tshark("-r", file, *(("-Y", where) if where else ()), "-T", "fields", *chosen)
    return [[plain.get(value, value) for value in row] for row in rows]


def rate(code: int) -> float:
    """Decode a rate of an RM cell."""
    return (code >> 14 & 1) * 2.0 ** (code >> 9 & 31) * (1 + (code & 511) / 512)


@needs_tshark
def test_tshark_reads_ports_instants_and_headers(folder: Path) -> None:
    file = folder / "cells.pcapng"
    rows = fields(file, "frame.interface_name", "frame.time_epoch", "atm.vpi", "atm.vci", "cell.pti")
    seen = packets(file)
    assert len(rows) == len(seen)
    for row, packet in zip(rows[:2000], seen, strict=False):
        header = struct.unpack_from(">I", packet.octets, 16)[0]
        seconds = f"{packet.ns // 10**9}.{packet.ns % 10**9:09d}"
        assert row == [
            PORTS[packet.interface],
            seconds,
            str(header >> 20),
            str(header >> 4 & 0xFFFF),
            str(header >> 1 & 7),
        ]


@needs_tshark
def test_the_dissector_reads_every_field_of_every_rm_cell(folder: Path) -> None:
    names = ("dir", "bn", "ci", "ni", "ra", "er", "ccr", "mcr", "ql", "sn", "crc10", "crc10_ok", "out_of_rate")
    rows = fields(folder / "cells.pcapng", *(f"abr.{name}" for name in names), where="abr")
    cells = [p.octets for p in packets(folder / "cells.pcapng") if p.octets[19] >> 1 & 7 == 6]
    assert len(rows) == len(cells) > 100
    for row, octets in zip(rows, cells, strict=True):
        flags = octets[21]
        er, ccr, mcr = struct.unpack_from(">HHH", octets, 22)
        ql, sn = struct.unpack_from(">II", octets, 28)
        crc = struct.unpack_from(">H", octets, 66)[0] & 0x3FF
        assert row[:5] == [str(flags >> shift & 1) for shift in (7, 6, 5, 4, 3)]
        assert [float(value) for value in row[5:8]] == [rate(er), rate(ccr), rate(mcr)]
        assert row[8:] == [str(ql), str(sn), f"0x{crc:04x}", "1", str(octets[19] & 1)]
    assert {row[7] for row in rows} >= {"0", "2356"}, (
        "1 Mbit/s is 2358.5 cells/s; between 2^11 and 2^12 the codes are 4 cells/s apart"
    )


@needs_tshark
def test_display_filters_choose_by_what_rm_cells_say(folder: Path) -> None:
    file = folder / "cells.pcapng"
    every = [float(er) for (er,) in fields(file, "abr.er", where="abr")]
    low = [float(er) for (er,) in fields(file, "abr.er", where="abr.er < 40000")]
    assert low == [er for er in every if er < 40000]
    assert 0 < len(low) < len(every)


@needs_tshark
def test_pdus_and_cells_show_the_same_tcp(folder: Path) -> None:
    names = ("frame.time_epoch", "ip.src", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.window_size_value")
    where = 'frame.interface_name == "a->sw" && tcp'
    pdus = fields(folder / "pdus.pcapng", *names, where=where)
    cells = fields(folder / "cells.pcapng", *names, where=where)
    assert pdus == cells
    assert [row[1:5] for row in pdus[:2]] == [["10.0.0.1", "1", "1", "512"], ["10.0.0.1", "513", "1", "512"]]
    # Checked by tshark itself: AAL5's CRC-32, the checksums of IP and TCP.
    told = tshark("-r", folder / "pdus.pcapng", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-V")
    lines = [line[0] for line in told]
    assert sum("AAL5 CRC" in line and "correct" in line for line in lines) > 100
    assert not any("incorrect" in line.lower() for line in lines)
    assert sum("Header checksum status: Good" in line for line in lines) > 100
    assert sum("[Checksum Status: Good]" in line for line in lines) > 100


# Cells made by hand, against the tables of the standards.


def crc10(payload: bytes) -> int:
    remainder = 0
    for bit in range(8 * len(payload)):
        remainder = remainder << 1 | payload[bit // 8] >> (7 - bit % 8) & 1
        if remainder & 0x400:
            remainder ^= 0x633
    return remainder


def rm_cell(vci: int, flags: int, er: int, *, damage: int = 0) -> bytes:
    payload = struct.pack(">BBHHHII", 1, flags, er, 0x64B1, 0, 7, 9) + b"\x6a" * 30 + b"\0\0"
    payload = payload[:46] + struct.pack(">H", crc10(payload) ^ damage)
    return struct.pack(">I", vci << 4 | 6 << 1) + payload


def datagram(label: int, cells: bytes, port: int = 6635) -> bytes:
    """Ethernet, IP, UDP, one MPLS label and RFC 4717's control word before cells."""
    mpls = struct.pack(">II", label << 12 | 1 << 8 | 64, 0)
    udp = struct.pack(">HHHH", 50000, port, 8 + len(mpls) + len(cells), 0)
    octets = len(udp) + len(mpls) + len(cells)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + octets, 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + udp + mpls + cells


def pcap(file: Path, link_type: int, frames: list[bytes]) -> Path:
    octets = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for number, frame in enumerate(frames):
        octets += struct.pack("<IIII", 0, number, len(frame), len(frame)) + frame
    file.write_bytes(octets)
    return file


@needs_tshark
def test_cells_in_datagrams_are_dissected_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    data = struct.pack(">I", 33 << 4 | 1 << 1) + bytes(48)
    frames = [
        datagram(17, data + rm_cell(32, 0b1010_0000, 0x5000)),
        datagram(17, rm_cell(33, 0, 0x64B1, damage=1)),
        datagram(17, rm_cell(34, 0, 0x64B1), port=4242),
    ]
    file = pcap(tmp_path / "rfc4717.pcap", 1, frames)
    names = ("cell.vci", "abr.dir", "abr.ci", "abr.er", "abr.ql", "abr.sn", "abr.crc10_ok")
    rows = fields(file, *names)
    assert rows == [
        ["33,32", "1", "1", "256", "7", "9", "1"],
        ["33", "0", "0", "352768", "7", "9", "0"],
        ["", "", "", "", "", "", ""],
    ]
    assert fields(file, "frame.number", where="abr.crc10.bad") == [["2"]]
    assert fields(file, "frame.number", where="cell.aal5.crc_ok == 0") == [["1"]], "48 zeros are no PDU"


@needs_tshark
def test_a_pdu_that_lost_a_cell_is_told_and_the_next_one_is_whole(folder: Path, tmp_path: Path) -> None:
    at_a = [p.octets for p in packets(folder / "cells.pcapng") if p.interface == 0]
    data = [octets for octets in at_a if octets[18:20] == b"\x02\x10" or octets[18:20] == b"\x02\x12"]
    # The first two PDUs of VCI 33, of 12 cells each, the fourth cell missing.
    file = pcap(tmp_path / "lost.pcap", 197, data[:3] + data[4:24])
    assert fields(file, "cell.aal5.cells", "cell.aal5.crc_ok", "tcp.seq_raw", where="cell.aal5.cells") == [
        ["11", "0", ""],
        ["12", "1", "513"],
    ]
