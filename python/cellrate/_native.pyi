"""What the compiled module offers; private: use the functions and classes of `cellrate`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from .plugins.collection import PluginMakers
from .seam import CaptureSettings, Recent

__all__ = [
    "Host",
    "LiveNetwork",
    "RunResult",
    "Scenario",
    "algorithm_cost",
    "applications",
    "built_in_algorithms",
    "check_plugins",
    "conformance",
    "live_nodes",
    "live_series",
    "live_throughput",
    "make_hosts",
    "nodes",
    "run",
    "run_watched",
    "schema",
    "signalled",
    "version",
]

@final
class Scenario:
    @staticmethod
    def parse(
        text: bytes, file: str, folder: str, settings: Sequence[tuple[str, str]], allowed: Sequence[str] = ...
    ) -> Scenario: ...
    def with_set(self, settings: Sequence[tuple[str, str]]) -> Scenario: ...
    def with_seed(self, seed: int) -> Scenario: ...
    def points(self) -> list[tuple[list[tuple[str, str]], Scenario]]: ...
    def check(self) -> tuple[str, float, int]: ...
    def purpose(self) -> str: ...
    def fair(self, utilization: float | None) -> list[tuple[str, bool, float, str | None]]: ...
    def fair_over_time(
        self, utilization: float | None = None
    ) -> list[tuple[float, list[tuple[str, bool, float, str | None]]]]: ...
    def series(self) -> list[tuple[str, str, str, int | None]]: ...
    def most_threads(self) -> int: ...
    def customs(self) -> list[tuple[str, str]]: ...
    def topology(self) -> str: ...
    def cannot_settle(self) -> str: ...
    def to_toml(self) -> str: ...
    def hash(self) -> str: ...

@final
class RunResult:
    @property
    def summary(self) -> str: ...
    @property
    def set_up_s(self) -> float | None: ...
    def series_info(self) -> list[tuple[str, str, str, int | None]]: ...
    def captured(self) -> list[tuple[Path, int, int, int]]: ...
    def delays(self) -> list[tuple[str, NDArray[np.uint64], NDArray[np.uint64]]]: ...
    def completions(self) -> list[tuple[str, int, int | None, NDArray[np.uint64], NDArray[np.uint64]]]: ...
    def take_series(self, index: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...

@final
class Host:
    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def mtu(self) -> int: ...
    def fileno(self) -> int: ...

@final
class LiveNetwork:
    def __new__(cls, scenario: Scenario, hosts: Sequence[Host]) -> LiveNetwork: ...
    def offer(self, host: str, peer: str) -> tuple[float, float]: ...
    def run(
        self,
        progress: Callable[[float], object],
        nodes: Sequence[str] | None = None,
        start_unix_ns: int | None = None,
        capture: CaptureSettings | None = None,
        look: Callable[[float, Recent], object] | None = None,
        plugins: PluginMakers | None = None,
        nonce: int | None = None,
    ) -> RunResult: ...

def algorithm_cost(
    scenario: Scenario, budget_s: float, plugins: PluginMakers | None = None
) -> tuple[float, float | None]: ...
def built_in_algorithms() -> list[tuple[str, list[str]]]: ...
def live_series(scenario: Scenario) -> list[tuple[str, str, str, int | None]]: ...
def live_nodes(
    scenario: Scenario,
    nodes: Sequence[str] | None = None,
    start_unix_ns: int | None = None,
    progress: Callable[[float], object] | None = None,
    capture: CaptureSettings | None = None,
    plugins: PluginMakers | None = None,
    nonce: int | None = None,
) -> RunResult: ...
def check_plugins(
    scenario: Scenario, plugins: Sequence[tuple[str, str]], nodes: Sequence[str] | None = None
) -> None: ...
def live_throughput(seconds: float = 1.0, packet_octets: int = 1500, tun: bool = False) -> str: ...
def make_hosts(scenario: Scenario) -> list[Host]: ...
def nodes(scenario: Scenario) -> list[tuple[str, bool, str | None]]: ...
def applications(scenario: Scenario) -> str: ...
def run(
    scenario: Scenario,
    progress: Callable[[float], object] | None = None,
    threads: int = ...,
    capture: CaptureSettings | None = None,
    plugins: PluginMakers | None = None,
) -> RunResult: ...
def conformance(
    times_ns: Sequence[int],
    clp: Sequence[bool],
    definition: str,
    pcr: float,
    cdvt: float,
    scr: float,
    mbs: int,
    coupling: str,
) -> bytes: ...
def schema() -> str: ...
def abr_parameters() -> list[tuple[str, str, list[str] | None]]: ...
def signalled(
    pcr: float,
    mcr: float,
    icr: float,
    nrm: int,
    trm: float,
    rif: float,
    rdf: float,
    adtf: float,
    tbe: int,
    cdf: float,
    frtt: float,
) -> list[tuple[str, int]]: ...
def version() -> str: ...
def run_watched(
    scenario: Scenario,
    every_ps: int,
    look: Callable[[float, Recent], object],
    plugins: PluginMakers | None = None,
) -> RunResult: ...
