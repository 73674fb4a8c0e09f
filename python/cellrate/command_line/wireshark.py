"""`cellrate wireshark`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from ..errors import CellrateError
from .app import app
from .typed import Parameter


@app.command("wireshark")
def wireshark(
    *,
    install: Annotated[bool, Parameter(help="Copy it into the folder of your Wireshark plugins.")] = False,
    folder: Annotated[Path | None, Parameter(help="With --install: another folder.")] = None,
    print: Annotated[bool, Parameter(help="Print it.")] = False,
) -> int:
    """Give the Wireshark dissector of RM cells and AAL5 (Lua): print it, install it, or say where it is."""
    from ..wireshark import dissector

    if folder is not None and not install:
        raise CellrateError("--folder needs --install: it is where the dissector is copied to")
    if install:
        sys.stdout.write(f"{dissector.install(folder)}\n")
    if print:
        sys.stdout.write(dissector.SCRIPT.read_text(encoding="utf-8"))
    if not install and not print:
        sys.stdout.write(f"{dissector.SCRIPT}\n")
    return 0
