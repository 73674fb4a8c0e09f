"""`cellrate completion`: what a shell is to know to complete the command line, by argcomplete.

The shell asks the command itself, with `_ARGCOMPLETE` in its environment, so that commands, options and names are
those of this very version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from .app import app
from .typed import Parameter


@app.command("completion")
def completion(
    *,
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Which shell it is for.")] = "bash",
) -> int:
    """Print what a shell needs to complete the command line.

    bash, in ~/.bashrc: source <(cellrate completion). zsh, in ~/.zshrc behind compinit: source <(cellrate completion
    --shell zsh). fish, in ~/.config/fish/config.fish: cellrate completion --shell fish | source.
    """
    from argcomplete.shell_integration import shellcode

    print(shellcode(["cellrate"], shell=shell))
    return 0


def answer() -> None:
    """Tell the shell what may stand where TAB was pressed, and end the process."""
    import argcomplete

    argcomplete.autocomplete(app.parser(_names), append_space=None)


def _names(command: str, place: str) -> Any:
    """Give what completes an argument that stands at its place, as argcomplete calls it; nothing where it is free."""
    from argcomplete.completers import FilesCompleter

    if place in ("FILE", "FILES"):
        files = FilesCompleter(["toml"])
        return lambda prefix, **more: [*_begun(_scenarios(command), prefix), *files(prefix=prefix, **more)]
    if command.startswith("paper ") and place in ("NAME", "PAPER"):
        from ..papers import ready_papers

        return lambda prefix, **_more: _begun(ready_papers(), prefix)
    return None


def _begun(names: Iterable[str], prefix: str) -> list[str]:
    return [name for name in names if name.startswith(prefix)]


def _scenarios(command: str) -> list[str]:
    from ..scenario import ready_scenarios

    live = command.startswith("live ")
    simulated = command in ("run", "watch")
    return [name for name in ready_scenarios() if not (live or simulated) or name.startswith("live/") == live]
