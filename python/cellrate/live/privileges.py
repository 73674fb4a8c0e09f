"""As whom applications run on their hosts: nobody, or at least without any capability, and with no way to gain one.

An attempt is root, at least in its user namespace, because it makes namespaces and devices. What runs on its hosts
needs none of that. As root of the machine it becomes the user nobody; in a user namespace, which has no other users,
and where nobody cannot reach a program or its folder, it stays who started the run, without capabilities. It can never
gain any (no-new-privs).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOBODY = 65534
"""The user and group without rights of their own."""

BARE = ["--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
"""Options that take every capability from a program and from whatever it executes."""

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Identity:
    """As whom a program runs."""

    user: int | None
    """Number of the user and of the group; None for who started the run."""

    def words(self) -> list[str]:
        """Give the command that runs the words behind it so."""
        becoming = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user is not None else []
        return ["setpriv", *becoming, *BARE, "--"]

    def phrase(self) -> str:
        """Say who it is, for results."""
        return "the user who started the run, without capabilities" if self.user is None else "nobody"


def identity_for(commands: Sequence[Sequence[str]], path: str, folder: Path) -> Identity:
    """Give as whom the programs of an application run, which share `folder`; programs are looked for in `path`."""
    needed: list[Path] = []
    for words in commands:
        program = shutil.which(words[0], path=path)
        needed += [Path(program)] if program is not None else []
        # Programs of the package, and installed ones that they import.
        needed += [Path(w) for w in words[1:] if w.startswith(str(PACKAGE)) or Path(w).name == "__init__.py"]
    open_to_all = all(map(reachable, needed)) and _open_down_to(folder)
    return Identity(NOBODY if has_nobody() and open_to_all else None)


@cache
def has_nobody() -> bool:
    """Whether this process may become the user nobody: as root of the machine, not of a user namespace of one user."""
    if os.geteuid() != 0:
        return False
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, number = map(int, line.split())
        if first <= NOBODY < first + number:
            return True
    return False


def reachable(file: Path) -> bool:
    """Whether everybody may read and execute a file, or read it if it is not executable, links followed."""
    try:
        return all(map(_open_down_to, {file.absolute(), file.resolve()})) and bool(file.stat().st_mode & 0o004)
    except OSError:
        return False


def _open_down_to(place: Path) -> bool:
    """Whether everybody may go through all folders above a place."""
    return all(above.stat().st_mode & 0o001 for above in place.parents)


def hand_over(folder: Path, identity: Identity) -> None:
    """Give a folder and all in it to whom its programs run as."""
    if identity.user is not None:
        _give(folder, identity.user)


def take_back(folder: Path, identity: Identity) -> None:
    """Give a folder and all in it to the user who started the run; links are not followed."""
    if identity.user is not None:
        _give(folder, os.geteuid())


def _give(folder: Path, user: int) -> None:
    os.chown(folder, user, user, follow_symlinks=False)
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            os.chown(Path(place) / name, user, user, follow_symlinks=False)
