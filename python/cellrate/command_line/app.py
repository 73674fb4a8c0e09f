"""The command, and which module adds which of its commands; only that of the command called is imported."""

from __future__ import annotations

from .. import _native
from .typed import App

ADDED_BY = {
    "advice": ("advise",),
    "arena": ("arena",),
    "completion": ("completion",),
    "explain": ("explain",),
    "fair": ("fair",),
    "hurst": ("hurst",),
    "lab": ("lab",),
    "live": ("doctor", "live"),
    "papers": ("paper",),
    "runs": ("run", "watch"),
    "scenarios": ("draw", "list", "new", "schema", "validate"),
    "searches": ("search", "tune"),
    "pictures": ("plot",),
    "stored": ("export", "show"),
    "topologies": ("generate", "import"),
    "trace": ("trace",),
    "wireshark": ("wireshark",),
}
"""By name of the module."""

GROUPS = {
    "Begin here": ("lab", "list", "run", "show", "plot"),
    "Networks": ("new", "validate", "draw", "fair", "generate", "import", "schema"),
    "Why this rate": ("explain",),
    "Studies": ("search", "tune", "arena", "advise", "export"),
    "Papers": ("paper",),
    "Real hosts, captures, traces": ("live", "doctor", "watch", "trace", "wireshark", "hurst"),
    "This command": ("completion",),
}
"""Commands by what they are for, in the order in which help and docs/commands.md have them."""


def _version() -> str:
    """Give the version, and the build as manifests of campaigns name it."""
    from ..campaigns.builds import build

    return f"{_native.version()}, build {build()}"


app = App(
    "cellrate",
    help="ATM ABR congestion control at the level of the single cell: run scenarios, reproduce papers.",
    version=_version,
    modules={name: f"{__package__}.{module}" for module, names in ADDED_BY.items() for name in names},
    groups=GROUPS,
)
