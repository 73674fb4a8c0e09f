"""Where the files that come with the package are: inside it when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from .errors import CellrateError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def folder(name: str) -> Path:
    """Give the folder `name`: "scenarios" or "papers".

    Raises
    ------
    CellrateError
        If the package was installed without it.
    """
    for place in (_PACKAGE / "data" / name, _CHECKOUT / name):
        if place.is_dir():
            return place
    raise CellrateError(f"this installation of cellrate has no {name}; install it from a checkout or a wheel")
