"""Web pages: nginx on the host; the client fetches text and image of each page one after the other, with curl."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Mapping
from typing import Any

from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings, program_words

FIRST_PORT = 8000


def plan(application: Application, around: Surroundings) -> Plan:
    """The server on the host, the client on the peer."""
    port = FIRST_PORT + around.number
    settings = application.settings
    pages = around.folder / "pages"
    result = around.folder / "pages.json"

    def prepare() -> None:
        pages.mkdir()
        (around.folder / "temporary").mkdir()
        for name, key in (("page.html", "html_octets"), ("image.gif", "image_octets")):
            # Octets that no server takes for text worth compressing.
            (pages / name).write_bytes(os.urandom(settings[key]))
        (around.folder / "nginx.conf").write_text(server_configuration(around, port))

    server = Program(
        "nginx",
        around.host,
        ["nginx", "-p", str(around.folder), "-c", str(around.folder / "nginx.conf"), "-e", "stderr"],
        ready=Ready(port=port),
    )
    base = f"http://{around.host.address}:{port}"
    client = Program(
        "client",
        around.peer,
        program_words("web_client", base, settings["pages"], settings["gap_s"], result),
    )

    def read(_: Mapping[str, Running]) -> dict[str, Any]:
        objects = [json.loads(line) for line in result.read_text().splitlines()] if result.exists() else []
        return summary(objects, settings["pages"])

    return Plan(
        [server], [client], prepare, read, needs=["nginx", "curl"], scratch=[pages, around.folder / "temporary"]
    )


def summary(objects: list[dict[str, Any]], pages: int) -> dict[str, Any]:
    """Response times: from the request's leaving to the last octet of the response [s]; the connection stands by then.

    Parameters
    ----------
    objects
        One for each object, in order: `object`, `response_s`, `connect_s`, `status`, `at_s`.
    pages
        How many pages there were to be.
    """
    good = [one for one in objects if one["status"] == 200]
    figures: dict[str, Any] = {
        "pages": pages,
        "pages_complete": sum(one["object"] == "image" for one in good),
        "failed_objects": len(objects) - len(good),
    }
    for kind in ("html", "image"):
        times = [one["response_s"] for one in good if one["object"] == kind]
        figures[f"{kind}_response_s"] = {
            "mean": statistics.fmean(times) if times else None,
            "deviation": statistics.stdev(times) if len(times) > 1 else None,
            "least": min(times, default=None),
            "most": max(times, default=None),
        }
    figures["objects"] = objects
    return figures


def server_configuration(around: Surroundings, port: int) -> str:
    """Give what nginx is told: one process, no compression, no connection kept, nothing outside its folder."""
    kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    temporary = "".join(f"    {kind}_temp_path {around.folder}/temporary/{kind};\n" for kind in kinds)
    return (
        # Who runs it stays it: a user namespace may have no other users.
        "user root root;\ndaemon off;\nmaster_process off;\n"
        f"pid {around.folder}/nginx.pid;\n"
        "events { worker_connections 256; }\n"
        "http {\n"
        f"    access_log {around.folder}/access.log;\n"
        f"{temporary}"
        "    types { text/html html; image/gif gif; }\n"
        "    keepalive_timeout 0;\n"
        "    sendfile on;\n"
        f"    server {{ listen {around.host.address}:{port}; root {around.folder}/pages; }}\n"
        "}\n"
    )
