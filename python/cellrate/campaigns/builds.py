"""Facts that have to be the same in two processes so that a scenario gives both of them the same bytes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .. import _native
from ..errors import CellrateError

PACKAGES = ("cloudpickle", "numpy", "pyarrow")
"""Dependencies that have a part in what is stored, or in how algorithms reach a worker."""


@cache
def build() -> str:
    """Give a digest of the compiled module, which tells two builds of one version apart."""
    import hashlib

    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()[:16]


@cache
def facts() -> dict[str, str]:
    """Give what this process runs with: cellrate with its build, Python, and the packages that matter."""
    # Versions of packages are slow to find out, and `cellrate --version` names the build alone.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"cellrate": f"{_native.version()}, build {build()}"}
    found["Python"] = ".".join(platform.python_version_tuple()[:2])
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def check_alike(asked: dict[str, str], here: dict[str, str], who: str) -> None:
    """Refuse a worker whose facts are not those of the process that asks for runs.

    Raises
    ------
    CellrateError
        If they differ; both versions are named.
    """
    different = [name for name in asked if asked[name] != here.get(name)]
    if different:
        said = "; ".join(f"{name} {here.get(name, 'none')} there, {asked[name]} here" for name in different)
        raise CellrateError(f"worker {who} would not give the same results: {said}; install the same on all machines")
