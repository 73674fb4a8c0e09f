"""`cellrate lab`."""

from __future__ import annotations

import threading
from typing import Annotated

from ..errors import CellrateError
from .app import app
from .options import Host
from .output import say_where
from .typed import Parameter


@app.command("lab")
def lab(
    file: Annotated[
        str | None, Parameter(help="What it opens with: a TOML file, or the name of a ready scenario (cellrate list).")
    ] = None,
    /,
    *,
    host: Host = "127.0.0.1",
    port: Annotated[
        int | None, Parameter(help="Port of the page; a free one by default, 8053 where a token is given.")
    ] = None,
    token: Annotated[
        str | None,
        Parameter(help="Secret part of the address, so that links are good after the next start; random by default."),
    ] = None,
    lesson: Annotated[
        list[str] | None, Parameter(help="A lesson of your own, a TOML file, put before the others; again for more.")
    ] = None,
    write: Annotated[
        str | None,
        Parameter(help="Serve nothing: write the page into this folder, as files for any web server or a USB stick."),
    ] = None,
    no_browser: Annotated[bool, Parameter(help="Say where it is, and open no browser.")] = False,
) -> int:
    """Serve the lab: a page that simulates in the browser, with sliders, slow motion and lessons.

    The address has a token in it, without which a browser is given nothing. Ctrl-C ends it.
    """
    import webbrowser

    from ..watching.lab import lab as served
    from ..watching.lab import write_lab

    lessons = lesson or []
    if write is not None:
        given = [name for name, value in (("--port", port), ("--token", token)) if value is not None]
        if given or host != "127.0.0.1":
            raise CellrateError(f"{(given or ['--host'])[0]} is for a page that is served, and --write serves none")
        place = write_lab(write, file, lessons=lessons)
        print(f"The lab is in {place}: open its index.html, or put the folder on a web server")
        return 0
    with served(file, host=host, port=port, token=token, lessons=lessons) as address:
        say_where(address, host, "it")
        if not no_browser and host == "127.0.0.1":
            webbrowser.open(address)
        _wait()
    return 0


def _wait() -> None:
    """Come back with Ctrl-C alone."""
    threading.Event().wait()
