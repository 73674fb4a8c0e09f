"""What the compiled module offers; private: use the functions and classes of `cellrate`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

from .plugins.collection import PluginMakers
from .seam import CaptureSettings, Recent

__all__ = [
    "Column",
    "Host",
    "LiveNetwork",
    "RunResult",
    "Scenario",
    "Table",
    "abr_parameters",
    "algorithm_cost",
    "anticipated_rate",
    "applications",
    "built_in_algorithms",
    "check_plugins",
    "conformance",
    "document_toml",
    "explain",
    "largest_exposure",
    "largest_factors",
    "live_nodes",
    "live_series",
    "live_throughput",
    "make_hosts",
    "management_cell",
    "nodes",
    "quantity",
    "run",
    "run_watched",
    "schema",
    "signalled",
    "tables",
    "to_toml",
    "units",
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
    def fair(self, utilization: float | None, gmm: bool) -> list[tuple[str, bool, float, str | None]]: ...
    def before_abr(self) -> list[tuple[str, float | None, float | None]]: ...
    def fair_over_time(
        self, utilization: float | None, gmm: bool
    ) -> list[tuple[float, list[tuple[str, bool, float, str | None]]]]: ...
    def series(self) -> list[tuple[str, str, str, int | None]]: ...
    def most_threads(self) -> int: ...
    def customs(self) -> list[tuple[str, str]]: ...
    def topology(self) -> str: ...
    def cannot_settle(self) -> str: ...
    def overbooked(self) -> str: ...
    def ends(self) -> list[tuple[str, bool, float]]: ...
    def unkept(self) -> str: ...
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
class Table:
    @property
    def key(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def is_list(self) -> bool: ...
    @property
    def one(self) -> str: ...
    @property
    def many(self) -> str: ...
    @property
    def named(self) -> str: ...
    @property
    def tells(self) -> list[tuple[str, int]]: ...
    @property
    def columns(self) -> list[Column]: ...

@final
class Column:
    @property
    def key(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def nullable(self) -> bool: ...
    @property
    def is_name(self) -> bool: ...
    @property
    def unit(self) -> str: ...
    @property
    def dimension(self) -> str | None: ...
    @property
    def adds(self) -> str | None: ...
    @property
    def weight(self) -> str | None: ...
    @property
    def heading(self) -> str: ...
    @property
    def shown(self) -> str: ...
    @property
    def shown_in(self) -> str | None: ...
    @property
    def decimals(self) -> int | None: ...
    @property
    def sentence(self) -> str: ...

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
    def __new__(cls, scenario: Scenario, hosts: Sequence[Host], changes_links: bool = False) -> LiveNetwork: ...
    def offer(self, host: str, peer: str) -> tuple[float, float]: ...
    def links(self) -> list[tuple[str, str, int, float, float]]: ...
    def change_link(
        self, link: int, rate_bps: float | None = None, delay_s: float | None = None, loss: float | None = None
    ) -> None: ...
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
def explain(scenario: Scenario, vc: str, until_s: float, most: int, plugins: PluginMakers | None = None) -> str: ...
def conformance(
    times_ns: Sequence[int],
    clp: Sequence[bool],
    cells: Sequence[int],
    definition: str,
    pcr: float,
    cdvt: float,
    scr: float,
    mbs: int,
    coupling: str,
) -> tuple[int, int, int, int | None]: ...
def management_cell(vci: int, pti: int, payload: bytes) -> tuple[str, bool | None] | None: ...
def schema() -> str: ...
def abr_parameters() -> list[tuple[str, str, list[str] | None]]: ...
def anticipated_rate(rate: float, sharers: int) -> float: ...
def largest_exposure(pcr: float, frtt: float, buffers: int) -> int: ...
def largest_factors(pcr: float, frtt: float, nrm: int) -> tuple[float, float, float]: ...
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
def tables(live: bool = False) -> list[Table]: ...
def quantity(text: str, dimension: str) -> float: ...
def units(dimension: str) -> list[str]: ...
def to_toml(value: object, path: str) -> str: ...
def document_toml(content: Mapping[str, object]) -> str: ...
def version() -> str: ...
def run_watched(
    scenario: Scenario,
    every_ps: int,
    look: Callable[[float, Recent], object],
    plugins: PluginMakers | None = None,
) -> RunResult: ...

# Rows of results: written by tests/python/test_rows.py.

@type_check_only
class RunRow(TypedDict):
    scenario: str
    seed: int
    duration_s: float
    measured_from_s: float
    cell_hops: int
    events: int
    nodes: NotRequired[list[str]]
    wall_s: NotRequired[float]

@type_check_only
class VcsRow(TypedDict):
    vc: str
    category: str
    sent: int | None
    data_sent: int | None
    delivered: int | None
    data_delivered: int | None
    dropped: int
    in_flight: int
    forward_rm_sent: int | None
    backward_rm_received: int | None
    throughput_bps: float | None
    mean_acr: float | None
    final_acr: float | None
    idle_resets: int | None
    cutoff_decreases: int | None
    uili_decreases: int | None
    mean_delay_s: float | None
    p50_delay_s: float | None
    p99_delay_s: float | None
    max_delay_s: float | None
    entered: NotRequired[int]
    left: NotRequired[int]
    refused_rm: NotRequired[int | None]

@type_check_only
class PortsRow(TypedDict):
    port: str
    transmitted: int
    utilization: float
    max_queue: int
    mean_queue: float
    max_abr_queue: int
    dropped: int
    tagged_dropped: int
    backward_rm_originated: int
    pdus_refused: int
    pdus_cut: int
    dropped_guaranteed: NotRequired[int]
    dropped_abr: NotRequired[int]
    dropped_ubr: NotRequired[int]
    lost_on_line: NotRequired[int]
    damaged_rm: NotRequired[int]

@type_check_only
class VcWindowsRow(TypedDict):
    window: str
    from_s: float
    until_s: float
    vc: str
    category: str
    sent: int
    data_sent: int
    delivered: int
    data_delivered: int
    dropped: int
    in_flight: int
    forward_rm_sent: int
    backward_rm_received: int
    throughput_bps: float
    mean_acr: float | None
    final_acr: float | None
    idle_resets: int | None
    cutoff_decreases: int | None
    uili_decreases: int | None
    mean_delay_s: float | None
    p50_delay_s: float | None
    p99_delay_s: float | None
    max_delay_s: float | None

@type_check_only
class PortWindowsRow(TypedDict):
    window: str
    from_s: float
    until_s: float
    port: str
    transmitted: int
    utilization: float
    max_queue: int
    mean_queue: float
    max_abr_queue: int
    dropped: int
    tagged_dropped: int
    backward_rm_originated: int
    pdus_refused: int
    pdus_cut: int

@type_check_only
class PolicingWindowsRow(TypedDict):
    window: str
    from_s: float
    until_s: float
    vc: str
    switch: str
    definition: str
    conforming: int
    nonconforming: int
    tagged: int
    discarded: int

@type_check_only
class SharesRow(TypedDict):
    vc: str
    category: str
    goodput_bps: float
    fair_share_bps: float | None
    of_fair_share: float | None

@type_check_only
class FairnessRow(TypedDict):
    category: str
    vcs: int
    jain: float | None
    jain_of_fair_shares: float | None
    least_of_fair_share: float | None

@type_check_only
class EfficiencyRow(TypedDict):
    port: str
    goodput_bps: float
    efficiency: float

@type_check_only
class TcpRow(TypedDict):
    vc: str
    connection: int
    start_s: float
    completed_s: float | None
    delivered_octets: int
    acknowledged_octets: int
    goodput_bps: float
    segments: int
    offered_octets: int
    retransmitted: int
    retransmitted_octets: int
    timeouts: int
    fast_retransmits: int
    marked: int
    reductions: int
    probes: int
    alpha: float | None
    efficiency: float | None
    final_cwnd: int
    smoothed_rtt_s: float | None
    adapter_drops: int
    max_adapter_queue: int
    whole_pdus: int
    spoiled_pdus: int

@type_check_only
class ExchangesRow(TypedDict):
    vc: str
    client: int
    object: int
    request_octets: int
    response_octets: int
    count: int
    mean_response_s: float | None
    deviation_response_s: float | None
    p50_response_s: float | None
    p99_response_s: float | None
    max_response_s: float | None
    mean_cell_response_s: float | None
    deviation_cell_response_s: float | None
    p50_cell_response_s: float | None
    p99_cell_response_s: float | None
    max_cell_response_s: float | None

@type_check_only
class PagesRow(TypedDict):
    vc: str
    client: int
    count: int
    mean_load_s: float | None
    deviation_load_s: float | None
    p50_load_s: float | None
    p99_load_s: float | None
    max_load_s: float | None

@type_check_only
class ExchangeListRow(TypedDict):
    vc: str
    client: int
    connection: int
    page: int
    object: int
    start_s: float
    opened_s: float | None
    request_cell_s: float | None
    request_delivered_s: float | None
    response_departed_s: float | None
    first_octet_s: float | None
    last_octet_s: float | None
    response_s: float | None
    cell_response_s: float | None

@type_check_only
class BurstsRow(TypedDict):
    vc: str
    role: str
    size_cells: int
    count: int
    mean_response_s: float | None
    p50_response_s: float | None
    p99_response_s: float | None
    max_response_s: float | None
    mean_throughput_bps: float | None
    p50_throughput_bps: float | None
    p1_throughput_bps: float | None

@type_check_only
class BurstListRow(TypedDict):
    vc: str
    role: str
    number: int
    size_cells: int
    start_s: float
    response_s: float
    throughput_bps: float
    delivery_s: float | None

@type_check_only
class FramesRow(TypedDict):
    vc: str
    frames: int
    skipped: int
    whole: int
    lost: int
    unfinished: int
    octets: int
    mean_time_s: float | None
    p50_time_s: float | None
    p99_time_s: float | None
    max_time_s: float | None
    whole_datagrams: int
    spoiled_datagrams: int

@type_check_only
class FrameListRow(TypedDict):
    vc: str
    number: int
    at_s: float
    octets: int
    cells: int
    left_s: float | None
    arrived_s: float | None
    lost: bool

@type_check_only
class TransportStreamsRow(TypedDict):
    vc: str
    references: int
    lost_references: int
    mean_transit_s: float | None
    mean_jitter_s: float | None
    peak_jitter_s: float | None
    mean_frequency_ppm: float | None
    max_frequency_error_ppm: float | None
    beyond_tolerance: int
    rms_phase_error_s: float | None
    max_phase_error_s: float | None
    pictures: int
    late: int
    lost: int
    overflowed: int
    max_buffer: int
    min_margin_s: float | None

@type_check_only
class ReferenceListRow(TypedDict):
    vc: str
    number: int
    at_s: float
    transit_s: float
    phase_error_s: float
    frequency_ppm: float
    buffer: int

@type_check_only
class FlowsRow(TypedDict):
    flows: str
    offered: int
    begun: int
    no_room: int
    no_slot: int
    blocking: float | None
    completed: int | None
    mean_set_up_s: float | None
    max_set_up_s: float | None
    mean_holding_s: float | None
    mean_concurrent: float
    max_concurrent: int

@type_check_only
class CompletionsRow(TypedDict):
    flows: str
    from_octets: int
    below_octets: int | None
    offered: int
    blocked: int
    count: int
    unfinished: int
    mean_octets: float | None
    mean_time_s: float | None
    p50_time_s: float | None
    p95_time_s: float | None
    p99_time_s: float | None
    max_time_s: float | None
    mean_slowdown: float | None
    p50_slowdown: float | None
    p99_slowdown: float | None

@type_check_only
class VirtualSourcesRow(TypedDict):
    vc: str
    switch: str
    data_received: int
    data_sent: int
    forward_rm_sent: int
    backward_rm_received: int
    max_queue: int
    mean_queue: float
    mean_acr: float
    final_acr: float
    idle_resets: int
    cutoff_decreases: int
    uili_decreases: int

@type_check_only
class PolicingRow(TypedDict):
    vc: str
    switch: str
    definition: str
    conforming: int
    nonconforming: int
    tagged: int
    discarded: int

@type_check_only
class BranchPointsRow(TypedDict):
    vc: str
    switch: str
    branches: int
    forward_rm: int
    backward_rm_received: int
    backward_rm_sent: int
    incomplete: int
    too_high: int
    mean_excess: float
    max_excess: float
    decreases: int
    mean_response_s: float | None
    max_response_s: float | None

@type_check_only
class LoopbacksRow(TypedDict):
    vc: str
    at: str
    flow: str
    sent: int
    answered: int
    lost: int
    unanswered: int
    mean_s: float | None
    min_s: float | None
    max_s: float | None

@type_check_only
class ChannelsRow(TypedDict):
    vc: str
    channel: str
    weight: float
    sent: int
    waiting: int | None
    delivered: int
    throughput_bps: float
    fair_share_bps: float | None
    of_fair_share: float | None
    mean_delay_s: float | None
    max_delay_s: float | None

@type_check_only
class HostBottlenecksRow(TypedDict):
    port: str
    waiting: int

@type_check_only
class RefusedRow(TypedDict):
    vc: str
    category: str
    reason: str

_NegotiatedRow = TypedDict("_NegotiatedRow", {"from": str})

@type_check_only
class NegotiatedRow(_NegotiatedRow):
    vc: str
    node: str
    parameter: str
    to: str
    why: str

@type_check_only
class BeyondSignallingRow(TypedDict):
    vc: str
    pcr: float
    most: float

@type_check_only
class OverbookedRow(TypedDict):
    port: str
    connections: int
    promised: float
    line: float

@type_check_only
class UnkeptRow(TypedDict):
    port: str
    by: str
    connections: int
    vc: str
    promised: float
    left: float | None
    other: str
    remedy: str

@type_check_only
class StartsRow(TypedDict):
    port: str
    connections: int
    icr: float
    line: float
    queue: int

@type_check_only
class ClocksRow(TypedDict):
    clock: str
    offset_ppm: float
    phase_s: float | None

@type_check_only
class PhaseEffectsRow(TypedDict):
    port: str
    vcs: int
    spacing_s: float
    lost: int
    decided: int
    favoured: str
    favoured_loss: float
    starved: str
    starved_loss: float

@type_check_only
class UnsettledRow(TypedDict):
    port: str
    algorithm: str
    by: str
    connections: int
    gain_delay: float | None
    delay_s: float | None
    remedy: str | None
    swing: float | None
    share: float | None
    vc: str | None

@type_check_only
class TimingRow(TypedDict):
    passed: bool
    failures: list[str]
    quantum_s: float
    wakeups: int
    lateness_p50_s: float | None
    lateness_p99_s: float | None
    lateness_max_s: float | None
    catch_ups: int
    slipped_s: float
    stalls: int
    longest_stall_s: float
    stalled_share: float
    late_cells_share: float
    lost_datagrams_share: float
    cpu_share: float
    process_cpu_share: float

@type_check_only
class AdaptersRow(TypedDict):
    vc: str
    packets_offered: int | None
    packets_dropped: int | None
    packets_sent: int | None
    packets_waiting: int | None
    max_queue_cells: int | None
    packets_delivered: int | None
    packets_refused: int | None
    spoiled_pdus: int | None
    foreign_pdus: int | None

@type_check_only
class HostsRow(TypedDict):
    host: str
    packets: int
    without_vc: int
    device_errors: int
    acks_withheld: int
    acks_held: int
    windows_written: int
    scone_packets: int
    scone_lowered: int
    scone_held_back: int

@type_check_only
class TcpExchangesRow(TypedDict):
    vc: str
    client: str
    port: int
    request_delivered_s: float
    response_departed_s: float
    response_octets: int

@type_check_only
class NodesRow(TypedDict):
    node: str
    damaged_rm: int
    unknown_vc: int

@type_check_only
class LinksRow(TypedDict):
    link: str
    label: int
    sent: int
    cells_sent: int
    send_errors: int
    received: int
    cells_received: int
    missing: int
    out_of_order: int
    restarts: int
    late_cells: int

@type_check_only
class DatagramsRow(TypedDict):
    from_strangers: int
    of_other_runs: int
    malformed: int

@type_check_only
class Summary(TypedDict, total=False):
    run: RunRow
    vcs: list[VcsRow]
    ports: list[PortsRow]
    vc_windows: list[VcWindowsRow]
    port_windows: list[PortWindowsRow]
    policing_windows: list[PolicingWindowsRow]
    shares: list[SharesRow]
    fairness: list[FairnessRow]
    efficiency: list[EfficiencyRow]
    tcp: list[TcpRow]
    exchanges: list[ExchangesRow]
    pages: list[PagesRow]
    exchange_list: list[ExchangeListRow]
    bursts: list[BurstsRow]
    burst_list: list[BurstListRow]
    frames: list[FramesRow]
    frame_list: list[FrameListRow]
    transport_streams: list[TransportStreamsRow]
    reference_list: list[ReferenceListRow]
    flows: list[FlowsRow]
    completions: list[CompletionsRow]
    virtual_sources: list[VirtualSourcesRow]
    policing: list[PolicingRow]
    branch_points: list[BranchPointsRow]
    loopbacks: list[LoopbacksRow]
    channels: list[ChannelsRow]
    host_bottlenecks: list[HostBottlenecksRow]
    refused: list[RefusedRow]
    negotiated: list[NegotiatedRow]
    beyond_signalling: list[BeyondSignallingRow]
    overbooked: list[OverbookedRow]
    unkept: list[UnkeptRow]
    starts: list[StartsRow]
    clocks: list[ClocksRow]
    phase_effects: list[PhaseEffectsRow]
    unsettled: list[UnsettledRow]
    timing: TimingRow
    adapters: list[AdaptersRow]
    hosts: list[HostsRow]
    tcp_exchanges: list[TcpExchangesRow]
    nodes: list[NodesRow]
    links: list[LinksRow]
    datagrams: DatagramsRow

# The end of the rows of results.
