"""TCP of real hosts beside the simulated one: a client of another time, and two like transfers over UBR.

Skipped, with the reason, where hosts cannot be had.
"""

from __future__ import annotations

import json
import shutil
import sys

import pytest

import cellrate
from cellrate.live import doctor, live_run
from cellrate.live.process import search_path

_FOUND = doctor.findings()
pytestmark = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))

LINE = "11.041667 Mbps"
"""10 Mb/s of payload of cells."""
OBJECT = 300_000
"""Octets of an answer."""

PAIR = f"""name = "one-object"
duration = "5 s"
seed = 1

[defaults]
clocks = "independent"
link = {{ rate = "{LINE}", delay = "2.5 ms" }}
vc = {{ category = "ubr", pcr = "{LINE}" }}

[[host]]
name = "server"

[[host]]
name = "client"

[[switch]]
name = "sw"

[[link]]
between = ["server", "sw"]

[[link]]
between = ["sw", "client"]

[[vc]]
name = "vc"
path = ["client", "sw", "server"]
"""

ACKS = '{ timer = "50 ms", ticks = "10 ms" }'
"""A delayed ACK of Solaris 2.x."""
PAGES = f"""
[vc.traffic]
type = "tcp"
preset = "internet-applications"
start = "1 s"
delayed_ack = {ACKS}
pages = {{ count = 1, record = 1, objects = [{{ response = "{OBJECT} octets" }}] }}
"""

SERVER = """import socket, sys
listener = socket.create_server((sys.argv[1], 8000))
while True:
    asked, _ = listener.accept()
    asked.recv(1000)
    asked.sendall(bytes(int(sys.argv[2])))
    asked.close()
"""

CLIENT = """import socket, sys, time
last = time.monotonic() + 2
while True:
    try:
        asking = socket.create_connection((sys.argv[1], 8000))
        break
    except OSError:
        assert time.monotonic() < last
        time.sleep(0.01)
asking.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
octets = 0
while part := asking.recv(65536):
    octets += len(part)
print(octets)
"""


def _exchange(settings: dict[str, object]) -> tuple[float, int]:
    """Run server and client over `PAIR` with these settings: the response time by cells [s], and ACKs withheld."""
    text = PAIR + 'traffic = { type = "none" }\n'
    for name, peer, words, more in (
        ("server", "client", [SERVER, "{host}", str(OBJECT)], ""),
        ("client", "server", [CLIENT, "{peer}"], 'start = "1 s"\n'),
    ):
        command = json.dumps([sys.executable, "-c", *words])
        text += f'\n[[application]]\nname = "{name}"\nhost = "{name}"\npeer = "{peer}"\n{more}'
        text += f'kind = {{ type = "command", words = {command} }}\n'
    run = live_run(cellrate.Scenario.parse(text).set(settings), attempts=2, allow_commands=True)
    assert run.application("client")["result"]["output_tail"].split() == [str(OBJECT)], run.application("client")
    (row,) = run.result.summary["tcp_exchanges"]
    assert row["response_octets"] == OBJECT
    withheld = next(host["acks_withheld"] for host in run.result.summary["hosts"] if host["host"] == "client")
    return row["response_departed_s"] - row["request_delivered_s"], withheld


@pytest.mark.clock
def test_an_adapter_has_a_client_wait_for_its_acks_as_one_of_another_time_did() -> None:
    (simulated,) = cellrate.run(cellrate.Scenario.parse(PAIR + PAGES)).summary["exchange_list"]
    expected = simulated["response_departed_s"] - simulated["request_delivered_s"]
    # 33 segments, one at a time, 32 of which wait for an ACK at a tick of 10 ms: 70 ms each.
    assert expected == pytest.approx(32 * 0.070, rel=0.02)
    mtu = {"defaults.host.live.mtu": "9180 octets", "defaults.host.live.tcp.timestamps": False}
    slow = f'{{ window = "9148 octets", delayed_ack = {ACKS} }}'
    held, withheld = _exchange({**mtu, "host.client.live.adapter_tcp": slow})
    # The ACK that ends the handshake offers two segments, so the first two come together and are acknowledged at once:
    # two waits fall away, but for the line's own round trip of 20 ms; where in a tick it begins is worth 10 ms. A host
    # or an engine that wakes late misses a tick, and the next is 10 ms later; before its tick no ACK leaves.
    least = expected - 2 * 0.070 + 0.020 - 0.010
    assert least < held < 33 * 0.080, (expected, withheld)
    # The end of the connection is in the last segment, or behind it.
    assert withheld <= 4, "each later segment has an ACK of its own"
    free, none = _exchange({**mtu, "duration": "3 s"})
    assert free < 0.5, "the line alone takes 0.25 s"
    assert none == 0


OVERLOAD = f"""name = "two-transfers"
duration = "12 s"
seed = 1

[defaults]
clocks = "independent"
link = {{ rate = "{LINE}", delay = "2.5 ms" }}
switch = {{ buffers = {{ ubr = "640 cells" }}, frame_discard = {{ type = "early", threshold = "512 cells" }} }}
vc = {{ category = "ubr", pcr = "{LINE}" }}
host.live = {{ mtu = "1500 octets", tcp = {{ receive_window = "65535 octets", timestamps = false }} }}

[[host]]
name = "a{{i}}"
count = 2

[[host]]
name = "z{{i}}"
count = 2

[[switch]]
name = "sw{{i}}"
count = 2

[[link]]
between = ["a{{i}}", "sw1"]
count = 2

[[link]]
between = ["sw1", "sw2"]

[[link]]
between = ["sw2", "z{{i}}"]
count = 2

[[vc]]
name = "vc{{i}}"
path = ["a{{i}}", "sw1", "sw2", "z{{i}}"]
count = 2
"""

TRANSFERS = 'traffic = { type = "tcp", preset = "sack", encapsulation = "llc-snap" }\n'
AGREE = 0.15
"""How far apart both worlds may be."""


@pytest.mark.clock
def test_two_like_transfers_over_ubr_have_as_much_live_as_simulated() -> None:
    if shutil.which("iperf3", path=search_path()) is None:
        pytest.skip("not installed: iperf3; cellrate doctor says how to get it")
    runs = [cellrate.run(cellrate.Scenario.parse(OVERLOAD + TRANSFERS), seed=seed) for seed in range(1, 6)]
    simulated = [sum(row["goodput_bps"] for row in run.summary["tcp"]) for run in runs]
    text = OVERLOAD + 'traffic = { type = "none" }\n'
    for number in (1, 2):
        text += f'\n[[application]]\nname = "load{number}"\nhost = "a{number}"\npeer = "z{number}"\nkind = "iperf3"\n'
        text += 'end = "11 s"\n'
    run = live_run(cellrate.Scenario.parse(text), attempts=2)
    live = [float(run.application(f"load{number}")["result"]["goodput_bps"]) for number in (1, 2)]
    assert sum(live) == pytest.approx(sum(simulated) / len(simulated), rel=AGREE)
    # Nobody is locked out, in either world.
    shares = [
        row["goodput_bps"] / total for run, total in zip(runs, simulated, strict=True) for row in run.summary["tcp"]
    ]
    assert min(shares) > 0.5 - AGREE
    assert min(live) / sum(live) > 0.5 - AGREE
