"""The Wireshark dissector of RM cells and of AAL5 over cells, and where Wireshark looks for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..folders.owned import write_file_whole

SCRIPT = Path(__file__).with_name("cellrate_abr.lua")
"""The dissector, in Lua."""

_USUAL_FOLDER = Path(".local/lib/wireshark/plugins")


def plugin_folder() -> Path:
    """Give the folder of the user's own Lua plugins: what tshark says, or else the usual one below the home folder."""
    tshark = shutil.which("tshark")
    if tshark is not None:
        call = [tshark, "-G", "folders"]
        told = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60).stdout
        for line in told.splitlines():
            name, _, folder = line.partition(":")
            if name == "Personal Lua Plugins" and folder.strip():
                return Path(folder.strip())
    return Path.home() / _USUAL_FOLDER


def install(folder: Path | None = None) -> Path:
    """Copy the dissector into the plugin folder, in one step, and give the place of the copy.

    Parameters
    ----------
    folder
        The folder, instead of `plugin_folder`; it is made if it is not there.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """
    folder = plugin_folder() if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / SCRIPT.name
    # Wireshark loads whatever ends in .lua, so the unfinished file does not.
    write_file_whole(target, SCRIPT.read_bytes())
    return target
