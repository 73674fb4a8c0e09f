"""The lab: the page with a simulator of its own, served to this machine or to a class."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CellrateError
from ..scenario import Scenario
from .site import FOLDER, Site


@contextmanager
def lab(scenario: Scenario | str | Path | None = None, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve the lab as long as this is entered, and give the address to open.

    Nothing is simulated here: each browser does that for itself.

    Parameters
    ----------
    scenario
        What the page opens with; a ready scenario when None. It is part of the address.
    host
        Where the page can be reached: at this address of the machine, or at all of them with "0.0.0.0".
    port
        Where the page is; a free one when 0.

    Raises
    ------
    ScenarioError
        If the scenario cannot be read.
    CellrateError
        If the lab is not part of this installation, or nothing can be served there.
    """
    opened = "" if scenario is None else fragment(scenario)
    if not (FOLDER / "kernel.js").is_file():
        raise CellrateError("the lab is not part of this installation: `make lab` in a checkout builds it")
    with Site(mode="lab", host=host, port=port) as site:
        yield f"{site.address}{opened}"


def fragment(scenario: Scenario | str | Path) -> str:
    """Give the part of an address that holds a scenario, as the page's own links do.

    Raises
    ------
    ScenarioError
        If it cannot be read.
    """
    whole = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    content = {"file": Path(whole.file).name, "text": whole.toml, "point": 0, "settings": [], "algorithm": None}
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(content).encode()) + packer.flush()
    return f"#s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
