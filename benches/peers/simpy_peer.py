"""Constant-rate sources over three hops on SimPy: simpy_peer.py SECONDS SOURCES DELAY, which prints a line of JSON.

A process per source. A port is no process: when its line will be free is known when a cell comes (Lindley's recursion),
so a hop is one time-out whose callback is the next hop, which is as little as SimPy's events allow.
"""

import json
import sys
import time
from importlib.metadata import version

import simpy
from simpy.events import Timeout

CELL_TIME = 424 / 149.76e6
seconds, SOURCES, DELAY = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
MEAN, STEP = 317880 / SOURCES, 42000 / (SOURCES * (SOURCES - 1))


class Port:
    """A FIFO port with its line; `arrive` gets each cell, as the value of an event, at the far end."""

    def __init__(self, env, arrive):
        self.env, self.arrive, self.busy_until = env, arrive, 0.0

    def put(self, cell):
        """Take in a cell."""
        now = self.env.now
        busy = self.busy_until
        self.busy_until = busy = (busy if busy > now else now) + CELL_TIME
        Timeout(self.env, busy - now + DELAY, cell).callbacks.append(self.arrive)


def source(env, number, port):
    """Send cells at a constant rate."""
    interval = 1 / (MEAN + STEP * (number - (SOURCES - 1) / 2))
    yield env.timeout(2e-6 * (number + 1))
    while True:
        port.put(number)
        yield env.timeout(interval)


def count(_event):
    """Receive a cell."""
    global delivered
    delivered += 1


delivered = 0
env = simpy.Environment()
egress = [Port(env, count) for _ in range(SOURCES)]
bottleneck = Port(env, lambda event: egress[event.value].put(event.value))
for number in range(SOURCES):
    access = Port(env, lambda event: bottleneck.put(event.value))
    env.process(source(env, number, access))
begun, busy = time.perf_counter(), time.process_time()
env.run(until=seconds)
wall_s, cpu_s = time.perf_counter() - begun, time.process_time() - busy
print(json.dumps({"delivered": delivered, "wall_s": wall_s, "cpu_s": cpu_s, "version": version("simpy")}))
