"""Names and ping on hosts: /etc/hosts with every host of the network, and a `ping` that needs no capability.

Both are for the processes of one live run, which has a mount namespace of its own (`doctor.isolation_words`): nothing
of the machine changes, and nothing has to be put back.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .process import HostLike, ask, search_path

TOOLS = "bin"
"""Folder below that of the run, for what stands first in PATH on hosts."""

HOSTS_FILE = Path("/etc/hosts")


def host_lines(hosts: Sequence[HostLike]) -> str:
    """Give the lines of /etc/hosts: each host with its address, then the machine's own.

    Programs look up the machine's own name, such as Python's http.server; without its line they would ask a name
    server, which no host reaches, and wait.
    """
    own = HOSTS_FILE.read_text(errors="replace") if HOSTS_FILE.is_file() else "127.0.0.1\tlocalhost\n"
    return "".join(f"{host.address}\t{host.name}\n" for host in hosts) + own


def prepare(folder: Path, hosts: Sequence[HostLike]) -> Path:
    """Have the processes of this run find hosts by name and ping them; give the folder that goes first in PATH.

    What this machine does not allow, such as a mount where there is no /etc/hosts, is left out: addresses still work.
    """
    named = folder / "hosts"
    named.write_text(host_lines(hosts))
    named.chmod(0o644)
    if HOSTS_FILE.is_file():
        subprocess.run(["mount", "--bind", named, HOSTS_FILE], capture_output=True, check=False)
    for host in hosts:
        # Groups that may open ICMP sockets: all of them, or those that a user namespace of one group has.
        ask(host, ["sh", "-c", "f=/proc/sys/net/ipv4/ping_group_range; echo 0 2147483647 >$f || echo 0 0 >$f"])
    tools = folder / TOOLS
    tools.mkdir(mode=0o755)
    ping = shutil.which("ping", path=search_path())
    if ping is not None:
        # A copy has none of the file's capabilities, which a program without any may not execute.
        shutil.copyfile(ping, tools / "ping")
        (tools / "ping").chmod(0o755)
    return tools
