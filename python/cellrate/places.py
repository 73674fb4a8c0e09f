"""Where the files that come with the package are: in the checkout it runs from, or inside it when installed."""

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
    if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / name).is_dir():
        # An editable install has a copy inside too, as old as the last build.
        return _CHECKOUT / name
    if (_PACKAGE / "data" / name).is_dir():
        return _PACKAGE / "data" / name
    raise CellrateError(f"this installation of cellrate has no {name}; install it from a checkout or a wheel")
