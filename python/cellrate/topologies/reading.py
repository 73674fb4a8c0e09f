"""Topology files: which format a file has, and what may be read."""

from __future__ import annotations

from pathlib import Path

from ..errors import CellrateError
from ..plain_files import plain_file
from .topology import Topology, TopologyError

MOST_OCTETS = 64_000_000
"""The largest file that is read; the largest network of the Topology Zoo has 200 kB."""


def read_topology(file: str | Path) -> Topology:
    """Read a network from a topology file.

    Parameters
    ----------
    file
        GML or GraphML (as those of the Internet Topology Zoo), or SNDlib's native form or XML. The content decides
        which, not the name.

    Raises
    ------
    CellrateError
        If the file cannot be read, is none of these, or holds no network; it says where.
    """
    path = Path(file)
    text = _text(path)
    head = text.lstrip("\ufeff \t\r\n")[:2000]
    try:
        if head.startswith("?SNDlib"):
            from .sndlib import from_native

            return from_native(text, path.stem)
        if head.startswith("<") and "<graphml" in text:
            from .graphs import from_graphml

            return from_graphml(text, path.stem)
        if head.startswith("<") and "<network" in text:
            from .sndlib import from_xml

            return from_xml(text, path.stem)
        if not head.startswith("<"):
            from .graphs import from_gml, looks_like_gml

            if looks_like_gml(text):
                return from_gml(text, path.stem)
    except TopologyError as error:
        raise CellrateError(f"{path}: {error}") from None
    raise CellrateError(
        f"{path} is not a topology that can be read; there are GML, GraphML, and SNDlib's native form and XML"
    )


def _text(path: Path) -> str:
    with plain_file(path, most_octets=MOST_OCTETS) as opened:
        content = opened.read(MOST_OCTETS + 1)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
