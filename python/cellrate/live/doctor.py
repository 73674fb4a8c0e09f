"""Check of a machine for live runs: what it lacks, and how to get it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from .process import search_path

TUN = Path("/dev/net/tun")
APT = "apt install "


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    present: bool
    needed_for: str
    required: bool
    """Whether there is no live run at all without it."""
    remedy: str
    """Remedy where it is missing."""
    detail: str = ""
    """Finding, or the reason why there is none."""


PROGRAMS = (
    ("ip", "hosts", True, "iproute2"),
    ("ss", "hosts", True, "iproute2"),
    ("nsenter", "hosts", True, "util-linux"),
    ("unshare", "hosts", True, "util-linux"),
    ("setpriv", "hosts", True, "util-linux"),
    ("curl", "applications ftp and web", False, "curl"),
    ("vsftpd", "application ftp", False, "vsftpd"),
    ("nginx", "application web", False, "nginx-light"),
    ("ffmpeg", "application video", False, "ffmpeg"),
    ("gst-launch-1.0", "application voice", False, "gstreamer1.0-tools"),
    ("iperf3", "application iperf3", False, "iperf3"),
    ("ping", "application ping, pings of a live shell", False, "iputils-ping"),
    ("tshark", "looking at captures", False, "tshark"),
)
"""Program, what for, whether no run goes without, Debian package."""

GSTREAMER_ELEMENTS = (
    ("audiotestsrc", "gstreamer1.0-plugins-base"),
    ("mulawenc", "gstreamer1.0-plugins-good"),
    ("rtppcmupay", "gstreamer1.0-plugins-good"),
    ("rtpredenc", "gstreamer1.0-plugins-good"),
    ("udpsink", "gstreamer1.0-plugins-good"),
)


def findings() -> list[Finding]:
    """Look for everything."""
    found = [_linux(), _tun_device(), _namespaces()]
    for program, use, required, package in PROGRAMS:
        place = shutil.which(program, path=search_path())
        found.append(Finding(program, place is not None, use, required, f"{APT}{package}", place or ""))
    found += _gstreamer()
    found.append(_congestion_control())
    return found


def missing_requirements(found: list[Finding]) -> list[Finding]:
    """Give what no live run goes without, and is missing."""
    return [finding for finding in found if finding.required and not finding.present]


def packages(found: list[Finding]) -> list[str]:
    """Give the Debian packages that are missing, in order, each once."""
    remedies = [finding.remedy for finding in found if not finding.present]
    return sorted({remedy.removeprefix(APT) for remedy in remedies if remedy.startswith(APT)})


def content(found: list[Finding]) -> dict[str, object]:
    """Give everything as JSON values."""
    return {
        "ready": not missing_requirements(found),
        "packages": packages(found),
        "findings": [asdict(finding) for finding in found],
    }


def sentence(found: list[Finding]) -> str:
    """Say in a sentence whether live runs are possible."""
    missing = missing_requirements(found)
    if missing:
        return "Live runs are not possible here: " + "; ".join(
            f"{finding.name}: {finding.detail or 'not found'} ({finding.remedy})" for finding in missing
        )
    absent = [finding.needed_for for finding in found if not finding.present]
    if absent:
        return "Live runs are possible here, but not: " + ", ".join(dict.fromkeys(absent))
    return "Live runs with all applications are possible here."


def _linux() -> Finding:
    return Finding(
        "Linux", sys.platform == "linux", "hosts", True, "use a machine, or a virtual machine, with Linux", sys.platform
    )


TUN_REMEDIES = {
    errno.ENOENT: "as root: modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN,SYS_ADMIN",
    errno.ENODEV: "the kernel lacks the module; as root: modprobe tun",
    errno.ENXIO: "the kernel lacks the module; as root: modprobe tun",
    errno.EACCES: "be root, or as root: chmod 666 /dev/net/tun, which is how udev makes it",
    errno.EPERM: "the container forbids it: --device /dev/net/tun --cap-add NET_ADMIN,SYS_ADMIN",
}
"""Remedies for the device of TUN, by why it cannot be opened."""


def _tun_device() -> Finding:
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        why = "there is no such file" if error.errno == errno.ENOENT else str(error.strerror)
        remedy = TUN_REMEDIES.get(error.errno or 0, TUN_REMEDIES[errno.ENOENT])
        return Finding(str(TUN), False, "hosts", True, remedy, why)
    return Finding(str(TUN), True, "hosts", True, TUN_REMEDIES[errno.ENOENT], "can be opened")


def _namespaces() -> Finding:
    remedy = "be root, or as root: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
    need = "hosts"
    # The network namespaces of hosts are made inside.
    words = [*isolation_words(), "unshare", "--net", "true"]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env={**os.environ, "PATH": search_path()},
        )
    except OSError as error:
        return Finding("namespaces", False, need, True, remedy, f"{words[0]}: {error.strerror}")
    how = "as root" if os.geteuid() == 0 else "in a user namespace"
    why = done.stderr.decode(errors="replace").strip()
    return Finding("namespaces", done.returncode == 0, need, True, remedy, how if done.returncode == 0 else why)


def isolation_words() -> list[str]:
    """Give the command that runs the words behind it in a process namespace of their own, as root there.

    They have a mount namespace, too, in which /etc/hosts can be another one (`names`).

    All of it ends with the process that starts it, however that ends: setpriv has the kernel kill unshare then, unshare
    the first process of the namespace, and the kernel all others.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *user, "--mount", "--pid", "--fork", "--kill-child=KILL"]


def _gstreamer() -> list[Finding]:
    inspect = shutil.which("gst-inspect-1.0", path=search_path())
    found = []
    for element, package in GSTREAMER_ELEMENTS:
        present = inspect is not None and _succeeds([inspect, "--exists", element])
        name = f"GStreamer {element}"
        found.append(Finding(name, present, "application voice", False, f"{APT}{package}"))
    return found


def _succeeds(words: list[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _congestion_control() -> Finding:
    file = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    try:
        names = file.read_text().split()
    except OSError as error:
        names = []
        detail = str(error.strerror)
    else:
        detail = "there are " + ", ".join(names)
    return Finding("TCP reno", "reno" in names, "hosts", True, "use a kernel with TCP", detail)
