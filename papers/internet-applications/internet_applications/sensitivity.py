"""Questions that the paper leaves open, one by one: the video's cases of figures 7, 8, 10 with another choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import SEEDS, ftp_rate, line, of_case, over, shown, ubr
from .video import ACR_PROBE, NINE, fairness, loss_share, point

_HOSTS = ("link.a{i}-sw1.rate", "link.c-sw1.rate", "link.sw2-z{i}.rate", "link.sw2-d.rate")

FASTER_LINES = ("25.6 Mbps", "149.76 Mbps")
"""Lines of the hosts, if figure 1's 10 Mb/s are those of the line between the switches only."""
CLOCKS: Mapping[str, object] = {"defaults.clocks": "exact"}
"""Clocks that are exactly alike, as no two real ones are."""
LINE: Mapping[str, object] = {
    "defaults.link.rate": "10 Mbps",
    "link.sw1-sw2.rate": "10 Mbps",
    "defaults.vc.pcr": "10 Mbps",
}
"""10 Mb/s of line, not of payload."""
DELAY: Mapping[str, object] = {"link.sw1-sw2.delay": "10 ms"}
"""10 ms each way, not there and back."""
PER_VC_QUEUES: Mapping[str, object] = {"defaults.switch.queueing": '{ type = "round-robin" }'}
"""Switches with a queue for each connection of a port, which take turns cell by cell, not one for all."""
TIMER_ONLY: Mapping[str, object] = {"vc.ftp{i}.traffic.recovery": "none", "vc.ftp{i}.traffic.minimum_rto": "1 s"}
"""A TCP of FTP that finds losses by its timer only, after 1 s at least."""
_SHORT: Mapping[str, object] = {"duration": "32 s", "vc.video.traffic.end": "30 s"}
"""Nothing is asked here that comes after the background."""


def lines(rate: str) -> dict[str, object]:
    """Give the hosts lines of another rate, and UBR with them."""
    return {**dict.fromkeys(_HOSTS, rate), "defaults.vc.pcr": rate}


_FTP, _VIDEO = "vc.ftp{i}.traffic", "vc.video.traffic"
CHOICES: Mapping[str, Mapping[str, object]] = {
    "as-run": {},
    **{f"hosts-{rate.removesuffix(' Mbps')}-mbps": lines(rate) for rate in FASTER_LINES},
    "clocks-exact": CLOCKS,
    "line-10-mbps": LINE,
    "delay-10-ms": DELAY,
    "per-vc-queues": PER_VC_QUEUES,
    "ftp-timer-only": TIMER_ONLY,
    "datagrams-1472": {f"{_VIDEO}.datagram": "1472 octets"},
    "frames-of-one-length": {f"{_VIDEO}.deviation": "0 octets"},
    "no-back-off": {f"{_FTP}.maximum_rto": "200 ms"},
    "minimum-rto-1-s": {f"{_FTP}.minimum_rto": "1 s"},
    "ftp-newreno": {f"{_FTP}.recovery": "newreno"},
    "ftp-ack-every-segment": {f"{_FTP}.delayed_ack": "every-segment"},
    "ftp-mss-1460": {f"{_FTP}.mss": "1460 octets", f"{_FTP}.initial_window": "1460 octets"},
    "adtf-10-s": {"defaults.abr.adtf": "10 s"},
    "icr-pcr-10": {"defaults.abr.icr": line(1)},
    "efci-state-kept": {"defaults.abr.efci_state": "keep"},
}
"""By the ids of their rows."""
CASES: Mapping[str, Mapping[str, object]] = {"UBR": ubr(ACR_PROBE), "UBR, 9 fps": {**ubr(ACR_PROBE), **NINE}, "ABR": {}}
OPEN_SEEDS = SEEDS[:3]


def _is_of(case: str, settings: Mapping[str, object]) -> bool:
    """Whether a choice makes a difference for a case."""
    return case == "ABR" or not any(key.startswith("defaults.abr") for key in settings)


def _finding(name: str, results: Results) -> Finding:
    parts = []
    runs = of_case(results, f"{name}, UBR")
    if runs:
        nine = of_case(results, f"{name}, UBR, 9 fps")
        lost = over(runs, lambda run: 100 * loss_share(run))
        few = over(nine, lambda run: 100 * loss_share(run))
        parts.append(
            f"UBR: FTP {shown(over(runs, ftp_rate))} Mbps and {shown(over(nine, ftp_rate))} Mbps at 9 fps; frames "
            f"lost {shown(lost, 0)} % and {shown(few, 0)} % at 9 fps"
        )
    runs = of_case(results, f"{name}, ABR")
    parts.append(
        f"ABR: FTP {shown(over(runs, ftp_rate))} Mbps, Jain's index {over(runs, fairness).mean:.3f}, "
        f"{sum(run.vc('video')['dropped'] for run in runs)} cells of the video lost"
    )
    return Finding(
        f"open.{name}",
        "; ".join(parts),
        None,
        "The row as-run is what all else is run with." if name == "as-run" else "See the row as-run.",
    )


def _findings(results: Results) -> Sequence[Finding]:
    return [_finding(name, results) for name in CHOICES if f"{name}, ABR, {OPEN_SEEDS[0]}" in results]


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


def _point(settings: Mapping[str, object], case: Mapping[str, object], seed: int) -> Point:
    # PCR of the others than ABR.
    own = {key: value for key, value in settings.items() if case or key != "defaults.vc.pcr"}
    known = point({**case, **_SHORT, **own}, seed)
    return Point(known.scenario, known.set, extra=True)


EXPERIMENT = Experiment(
    name="open",
    title="Video: what the paper leaves open",
    points={
        f"{name}, {case}, {seed}": _point(settings, CASES[case], seed)
        for name, settings in CHOICES.items()
        for case in CASES
        for seed in OPEN_SEEDS
        if _is_of(case, settings)
    },
    findings=_findings,
    drawings=_drawings,
)
"""Not in a quick run."""
