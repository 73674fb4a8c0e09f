"""The lab: the page with a simulator of its own, served to this machine or to a class."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import CellrateError
from ..folders.owned import write_file_whole
from ..scenario import Scenario
from .lessons import lesson
from .site import FOLDER, KINDS, Site, files_of_page, mode_file

STEADY_PORT = 8053
"""Port of a page whose token was chosen: its address is to be the one that it was."""


@contextmanager
def lab(
    scenario: Scenario | str | Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    lessons: Sequence[str | Path] = (),
) -> Iterator[str]:
    """Serve the lab as long as this is entered, and give the address to open.

    Nothing is simulated here: each browser does that for itself.

    Parameters
    ----------
    scenario
        What the page opens with; the first of the lessons, or a network in slow motion, when None. It is part of the
        address.
    host
        Where the page can be reached: at this address of the machine, or at all of them with "0.0.0.0".
    port
        Where the page is. A free one when None or 0; with a token, 8053 when None.
    token
        The secret part of the address, 6 to 64 letters, digits, - or _: with the same token and port a link is good
        after the server was started again. A random one when None.
    lessons
        Files of lessons of one's own, which stand before the others.

    Raises
    ------
    ScenarioError
        If the scenario, or that of a lesson, cannot be read.
    CellrateError
        If a lesson is none, the lab is not part of this installation, or nothing can be served there.
    """
    told = _told(scenario, lessons)
    at = (STEADY_PORT if token is not None else 0) if port is None else port
    with Site(mode="lab", host=host, port=at, token=token, told=told) as site:
        yield f"{site.address}{told['start']}"


def write_lab(
    folder: str | Path, scenario: Scenario | str | Path | None = None, *, lessons: Sequence[str | Path] = ()
) -> Path:
    """Write the lab as files for any web server, below any path, or for a browser to open from a disk.

    Parameters
    ----------
    folder
        Made where there is none. A lab in it is replaced, each file as a whole.
    scenario, lessons
        As for `lab`; the page opens with them.

    Raises
    ------
    ScenarioError
        If the scenario, or that of a lesson, cannot be read.
    CellrateError
        If a lesson is none, the lab is not part of this installation, or the folder holds other files or cannot be
        written.
    """
    files = {**files_of_page("lab"), "mode.js": mode_file("lab", _told(scenario, lessons))}
    place = Path(folder)
    try:
        strangers = sorted(file.name for file in place.iterdir() if file.name not in KINDS) if place.exists() else []
        if strangers:
            raise CellrateError(f"{place} holds {strangers[0]}, which is not a file of the lab; give another folder")
        place.mkdir(parents=True, exist_ok=True)
        # Last the page itself, which asks for the others.
        for name in sorted(files, key=lambda name: name == "index.html"):
            write_file_whole(place / name, files[name])
    except OSError as error:
        raise CellrateError(f"the lab cannot be written to {place}: {error.strerror}") from None
    return place.absolute()


def _told(scenario: Scenario | str | Path | None, lessons: Sequence[str | Path]) -> dict[str, Any]:
    """Give what the page is to know: lessons, and the fragment of the address that it opens with."""
    read = [lesson(path) for path in lessons]
    names = [one["id"] for one in read]
    for name in names:
        if names.count(name) > 1:
            raise CellrateError(f'two lessons are called "{name}": the name of a lesson is that of its file')
    start = "" if scenario is None else fragment(scenario)
    if not start and names:
        start = f"#lesson={names[0]}"
    if not (FOLDER / "kernel.js").is_file():
        raise CellrateError("the lab is not part of this installation: `make lab` in a checkout builds it")
    return {"lessons": read, "start": start}


def fragment(scenario: Scenario | str | Path) -> str:
    """Give the part of an address that holds a scenario, as the page's own links do.

    Raises
    ------
    ScenarioError
        If it cannot be read.
    """
    whole = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    content = {"file": Path(whole.file).name, "text": whole.toml, "point": 0, "settings": [], "algorithm": None}
    # With a sum at its end, by which the page finds a link that is cut or damaged.
    packed = zlib.compress(json.dumps(content).encode(), 9)
    return f"#s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
