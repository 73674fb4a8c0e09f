"""Record traces of Linux's TCP over a path that this program is: what leaves when, the window after each ACK.

Needs Linux, Python 3.11 or later, ip, and root for network namespaces of its own, which end with it; nothing
outside them is changed. Each case has one TCP sender in one namespace and one receiver in another, both of this
kernel, with a TUN device each. Between the two devices is the path: 10 Mb/s and 20 ms each way with a queue for as many
packets as the case says, which loses, holds back or marks the segments that it names. Segments carry 1448 octets
beside timestamps, no packet has more than 1500, every segment is acknowledged at once (the route's quickack), and the
kernel's segmentation offload is off, so that each packet is one segment.

    python record.py [CASE ...]        writes CASE.csv beside this file, for each case or the named ones

A run in which this program was late for any packet by more than LATE, or what the case allows, is thrown away and done
again. Rows, times in us since the first segment left, octets of the stream, and segments:

    sent,TIME,FROM                            a segment leaves the sender
    ack,TIME,NEXT,CWND,SSTHRESH,SRTT,STATE    an ACK has reached it: cwnd and ssthresh after that, smoothed round trip,
                                              tcpi_ca_state
"""

import ctypes
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

MSS = 1448
RATE = 10_000_000
DELAY = 0.020
LATE = 0.0005
ATTEMPTS = 20
QUIET = 3.0
SENDER, RECEIVER = "10.99.0.1", "10.99.0.2"
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
SO_RCVBUFFORCE, SO_SNDBUFFORCE, SO_MAX_PACING_RATE = 33, 32, 47
CE = 3


@dataclass
class Case:
    """A transfer, and what happens to it on its way."""

    purpose: str
    segments: int
    control: str = "cubic"
    ssthresh: int = 0  # segments; 0: as the kernel has it
    lost: dict = field(default_factory=dict)  # number of a segment: how many times it is lost
    held: dict = field(default_factory=dict)  # number of a segment: seconds that it comes later
    marked: tuple = ()  # numbers of segments that are marked when they leave for the first time
    queue: int = 10_000  # packets that wait or are in transmission, forwards
    paced: bool = False
    ecn: bool = False
    late: float = LATE  # by how much this program may be late
    every: int = 1  # every so many ACKs have a row; where not all have, segments have none


CASES = {
    # The window is 30 segments when segment 32 is lost, and has not grown since slow start ended there.
    "one-loss": Case("one loss of a window: PRR's reduction to seven tenths", 150, ssthresh=30, lost={32: 1}),
    "one-loss-reno": Case("one loss of a window: PRR's reduction to half", 150, "reno", ssthresh=30, lost={32: 1}),
    "many-losses": Case(
        "15 losses of a window: the pipe falls below ssthresh", 150, ssthresh=30, lost=dict.fromkeys(range(32, 47), 1)
    ),
    "scattered-losses": Case("every third of a window lost", 150, ssthresh=30, lost=dict.fromkeys(range(32, 60, 3), 1)),
    "lost-again": Case("a segment that is sent again is lost again: RACK finds it", 150, ssthresh=30, lost={32: 2}),
    "lost-tail": Case(
        "the last three segments are lost: a probe tells of it", 60, ssthresh=30, lost=dict.fromkeys((57, 58, 59), 1)
    ),
    "lost-last": Case("the last segment is lost: the probe makes it good", 60, ssthresh=30, lost={59: 1}),
    "lost-probe": Case("the probe is lost, too: the timer, twice", 60, ssthresh=30, lost={56: 2, 57: 1, 58: 1, 59: 2}),
    "late-little": Case("a segment comes 2 ms late: nothing is lost", 80, ssthresh=30, held={32: 0.002}),
    "late-much": Case("a segment comes 5 ms late: it is sent again for nothing", 80, ssthresh=30, held={32: 0.005}),
    "first-growth": Case("growth before anything is lost", 400, ssthresh=30),
    "growth": Case("growth after a loss at 60 segments", 6000, ssthresh=30, lost={1500: 1}, late=0.02, every=25),
    "slow-start": Case("slow start into a queue without end: HyStart", 600),
    "ecn": Case("marks of a window are one reduction", 150, ssthresh=30, marked=(32, 35, 38), ecn=True),
    "paced": Case("segments over a round trip: 2 and 1.2 times cwnd / srtt", 150, ssthresh=30, paced=True),
}


class Namespace:
    """A namespace of this process, with one TUN device."""

    def __init__(self, own, peer, route, ecn):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", b"path", IFF_TUN | IFF_NO_PI))
        for name, value in [
            ("tcp_no_metrics_save", 0),
            ("tcp_no_ssthresh_metrics_save", 0),
            ("tcp_ecn", int(ecn)),
            ("tcp_min_tso_segs", 1),
        ]:
            Path(f"/proc/sys/net/ipv4/{name}").write_text(f"{value}\n")
        for command in [
            f"address add {own}/32 dev path",
            "link set path gso_max_segs 1 txqueuelen 20000 up",
            f"route add {peer}/32 dev path {route}",
        ]:
            subprocess.run(["ip", *command.split()], check=True)


def now():
    """The clock of everything here, in s."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


class Packet:
    """A packet of IPv4 and TCP."""

    def __init__(self, octets):
        self.octets = octets
        ip = (octets[0] & 15) * 4
        self.sequence, self.acknowledged = struct.unpack_from("!II", octets, ip + 4)
        self.flags = octets[ip + 13]
        self.payload = len(octets) - ip - (octets[ip + 12] >> 4) * 4

    def mark(self):
        """CE, and the checksum of the header for it."""
        octets = bytearray(self.octets)
        octets[1] |= CE
        octets[10:12] = b"\0\0"
        total = sum(struct.unpack_from("!10H", octets))
        total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("!H", octets, 10, ~(total + (total >> 16)) & 0xFFFF)
        self.octets = bytes(octets)


class Line:
    """One way of the path: when it is free, and how many packets are on or before it."""

    def __init__(self, tun, queue):
        self.tun, self.queue, self.free, self.waits = tun, queue, 0.0, []

    def enter(self, at, octets):
        """When a packet of so many octets that comes now is at the other end; None if there is no room."""
        self.waits = [end for end in self.waits if end > at]
        if len(self.waits) >= self.queue:
            return None
        self.free = max(self.free, at) + 8 * octets / RATE
        self.waits.append(self.free)
        return self.free + DELAY


class Way:
    """The path between the two namespaces, and all that is on it."""

    def __init__(self, case, one, other):
        self.case, self.one, self.other = case, one, other
        self.there, self.back = Line(other.tun, case.queue), Line(one.tun, 10_000)
        self.pending, self.number, self.late, self.seen = [], 0, 0.0, now()
        # Of the connection that is recorded: nothing while there is none.
        self.sender, self.base, self.times, self.rows, self.acknowledged = None, None, {}, [], 0

    def step(self):
        """Hands over what is due, takes what leaves, and waits a little."""
        if now() - self.seen > QUIET:
            raise TimeoutError(f"nothing happens after {self.acknowledged} octets")
        if self.pending and self.pending[0][0] <= (at := now()):
            due, _, line, packet = heapq.heappop(self.pending)
            self.late, self.seen = max(self.late, at - due), at
            os.write(line.tun, packet.octets)
            if line is self.back and self.base is not None:
                self.note_ack(at, packet)
        for line, tun in ((self.there, self.one.tun), (self.back, self.other.tun)):
            while (packet := read(tun)) is not None:
                at = now()
                extra = self.note_segment(at, packet) if line is self.there and self.sender and packet.payload else 0.0
                due = line.enter(at, len(packet.octets))
                if due is not None and extra is not None:
                    self.number += 1
                    heapq.heappush(self.pending, (due + extra, self.number, line, packet))
        wait = min(0.002, self.pending[0][0] - now() - 0.0002) if self.pending else 0.0005
        if wait > 0:
            select.select([self.one.tun, self.other.tun], [], [], wait)

    def note_ack(self, at, packet):
        """An ACK has reached the sender."""
        self.acknowledged = (packet.acknowledged - self.base) & 0xFFFFFFFF
        info = self.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        words = struct.unpack_from("24I", info, 8)
        self.rows.append(("ack", at, self.acknowledged, words[18], words[17], words[15], info[1]))

    def note_segment(self, at, packet):
        """A segment leaves: how much later than others it comes, None if never; the line is busy with it anyway."""
        if self.base is None:
            self.base = packet.sequence
        offset = (packet.sequence - self.base) & 0xFFFFFFFF
        segment, rest = divmod(offset, MSS)
        assert (packet.payload, rest) == (MSS, 0), (offset, packet.payload)
        self.rows.append(("sent", at, offset))
        self.times[segment] = self.times.get(segment, 0) + 1
        if self.times[segment] <= self.case.lost.get(segment, 0):
            return None
        if self.times[segment] > 1:
            return 0.0
        if segment in self.case.marked:
            packet.mark()
        return self.case.held.get(segment, 0.0)


def read(tun):
    """The next packet of TCP that leaves by this device, if there is one."""
    while True:
        try:
            octets = os.read(tun, 65536)
        except BlockingIOError:
            return None
        if octets[0] >> 4 == 4:  # IPv6 looks for routers.
            return Packet(octets)


def connect(case, path, listener, sender):
    """Connects the two, over the path, and gives the receiver's end."""
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, case.control.encode())
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    if case.paced:
        # Without the queueing discipline fq, Linux paces only what asks for it; this limit is never reached.
        sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1 << 30)
    sender.setblocking(False)
    sender.connect_ex((RECEIVER, 9))
    while True:
        try:
            receiver, _ = listener.accept()
        except BlockingIOError:
            path.step()
        else:
            receiver.setblocking(False)
            return receiver


def drain(receiver):
    """Takes what has come; whether the stream is at its end."""
    try:
        return receiver.recv(1 << 20) == b""
    except BlockingIOError:
        return False


def record(case):
    """The rows of a case, and by how much this program was late."""
    route = "initcwnd 10" + (f" ssthresh lock {case.ssthresh}" if case.ssthresh else "")
    one = Namespace(SENDER, RECEIVER, route, case.ecn)
    before, sender = socket.socket(), socket.socket()
    other = Namespace(RECEIVER, SENDER, "quickack 1", case.ecn)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    listener.bind((RECEIVER, 9))
    listener.listen()
    listener.setblocking(False)
    path = Way(case, one, other)
    # The route's ssthresh is taken from the cache of metrics, which a connection enters when it ends.
    receiver = connect(case, path, listener, before)
    before.send(b"x")
    before.shutdown(socket.SHUT_WR)
    while not drain(receiver):
        path.step()
    receiver.close()
    while path.pending:
        path.step()
    receiver = connect(case, path, listener, sender)
    while path.pending:
        path.step()
    path.sender, path.late = sender, 0.0
    total = case.segments * MSS
    assert sender.send(bytes(total)) == total, "the whole transfer has to fit into the buffer"
    while path.acknowledged < total:
        drain(receiver)
        path.step()
    for end in (before, sender, receiver, listener):
        end.close()
    for end in (one, other):
        os.close(end.tun)
    first, rows = path.rows[0][1], path.rows
    if case.every > 1:
        rows = [row for row in rows if row[0] == "ack"][:: case.every]
    return [(kind, round(1e6 * (at - first)), *rest) for kind, at, *rest in rows], path.late


def main():
    """Record the named cases, or all."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    kernel = os.uname().release.split("-")[0]
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        for _ in range(ATTEMPTS):
            rows, late = record(case)
            if late <= case.late:
                break
        else:
            sys.exit(f"{name}: late by {1e3 * late:.1f} ms in the last of {ATTEMPTS} runs")
        head = f"# Linux {kernel}, {case.control}, {name}: {case.purpose}; {1e6 * late:.0f} us late at most\n"
        text = head + "".join(",".join(str(part) for part in row) + "\n" for row in rows)
        (Path(__file__).parent / f"{name}.csv").write_text(text)
        print(f"{name}: {len(rows)} rows, late by {1e6 * late:.0f} us at most")


if __name__ == "__main__":
    main()
