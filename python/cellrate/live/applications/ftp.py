"""Bulk data: a file from vsftpd, fetched with curl; goodput in steps of 100 ms."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings, program_words

FIRST_PORT = 2100
ENDLESS_OCTETS = 1 << 40
"""Length of a file that no run sends whole: 24 h at 100 Mb/s. It takes no room on the disk."""


def plan(application: Application, around: Surroundings) -> Plan:
    """The server on the host, the client on the peer."""
    port = FIRST_PORT + around.number
    files = around.folder / "files"
    configuration = around.folder / "vsftpd.conf"
    result = around.folder / "transfer.json"
    size: int | None = application.settings["size_octets"]

    def prepare() -> None:
        (around.folder / "empty").mkdir()
        files.mkdir()
        with (files / "data").open("wb") as file:
            os.truncate(file.fileno(), ENDLESS_OCTETS if size is None else size)
        # Anonymous users may not be able to write to their root.
        files.chmod(0o555)
        configuration.write_text(server_configuration(around, port))
        configuration.chmod(0o600)

    server = Program("vsftpd", around.host, ["vsftpd", str(configuration)], ready=Ready(port=port))
    url = f"ftp://{around.host.address}:{port}/data"
    client = Program("client", around.peer, program_words("ftp_client", url, result))

    def read(_: Mapping[str, Running]) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(result.read_text())
        return {**told, "complete": size is not None and told["octets"] == size}

    return Plan([server], [client], prepare, read, needs=["vsftpd", "curl"], scratch=[files, around.folder / "empty"])


def server_configuration(around: Surroundings, port: int) -> str:
    """Give what vsftpd is told; it stays who started it, because a run may have no other users."""
    lines = {
        "listen": "YES",
        "listen_address": around.host.address,
        "listen_port": port,
        "background": "NO",
        "anonymous_enable": "YES",
        "no_anon_password": "YES",
        "anon_root": around.folder / "files",
        "local_enable": "NO",
        "run_as_launching_user": "YES",
        "secure_chroot_dir": around.folder / "empty",
        # Its system call filter kills it on newer kernels.
        "seccomp_sandbox": "NO",
        # A session in a network namespace of its own would have no network here.
        "isolate_network": "NO",
        "port_enable": "NO",
        "xferlog_enable": "YES",
        "vsftpd_log_file": around.folder / "vsftpd.log",
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())
