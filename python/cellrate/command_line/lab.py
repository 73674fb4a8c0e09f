"""`cellrate lab`."""

from __future__ import annotations

import threading
from typing import Annotated

from .app import app
from .typed import Parameter


@app.command("lab")
def lab(
    file: Annotated[
        str | None, Parameter(help="What it opens with: a TOML file, or the name of a ready scenario (cellrate list).")
    ] = None,
    /,
    *,
    host: Annotated[
        str, Parameter(help="Address of this machine to serve at, such as 0.0.0.0 for all of them: for a class.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port of the page; a free one by default.")] = 0,
    no_browser: Annotated[bool, Parameter(help="Say where it is, and open no browser.")] = False,
) -> int:
    """Serve the lab: a page that simulates in the browser, with sliders, slow motion and lessons.

    The address has a token in it, without which nobody gets anything. Ctrl-C ends it.
    """
    import socket
    import webbrowser

    from ..watching.lab import lab as served

    with served(file, host=host, port=port) as address:
        if host in ("0.0.0.0", "::"):
            name = socket.gethostname()
            print(
                f"Open {address.replace(host if host != '::' else '[::]', name, 1)} on any machine that reaches {name}"
            )
        else:
            print(f"Open {address}")
        print("Ctrl-C ends it.", flush=True)
        if not no_browser and host == "127.0.0.1":
            webbrowser.open(address)
        _wait()
    return 0


def _wait() -> None:
    """Come back with Ctrl-C alone."""
    threading.Event().wait()
