"""`cellrate completion`: what bash is to know of the command line to complete it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from .app import app
from .typed import Usage

BEHIND_A_NAME = """\
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words="" files=""
    if [[ $COMP_CWORD -gt 1 && " $groups " == *" $command "* ]]; then
        command+=" ${COMP_WORDS[2]}"
        [[ $COMP_CWORD -eq 2 ]] && command=${COMP_WORDS[1]}
    fi
    [[ $COMP_CWORD -eq 1 ]] && command=""
    # An option and its value may be joined by =, which is a word of its own here.
    [[ $word == "=" ]] && word=""
    [[ $before == "=" ]] && before=${COMP_WORDS[COMP_CWORD-2]}
"""


@app.command("completion")
def completion() -> int:
    """Print what bash needs to complete the command line: source <(cellrate completion)."""
    print(script(app.usages()))
    return 0


def script(usages: Iterable[Usage]) -> str:
    """Give the function that completes, and the line that tells bash of it."""
    usages = list(usages)
    groups = [usage.words for usage in usages if usage.commands and usage.words]
    return "\n".join(
        [
            "_cellrate() {",
            f"    local groups={shlex.quote(' '.join(groups))}",
            BEHIND_A_NAME + '    case "$command $before" in',
            *(line for usage in usages for line in _values(usage)),
            "    esac",
            '    case "$command" in',
            *(_words(usage) for usage in usages),
            "    esac",
            '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "    if [[ -n $files && $word != -* ]]; then",
            '        COMPREPLY+=($(compgen -f -X "!*.toml" -- "$word") $(compgen -d -- "$word"))',
            "        compopt -o filenames 2> /dev/null",
            "    fi",
            "    return 0",
            "}",
            "complete -o default -F _cellrate cellrate",
        ]
    )


def _values(usage: Usage) -> list[str]:
    """What stands behind an option: one of its words, or else anything, for which bash proposes files by itself."""
    lines = []
    for option, values in usage.options.items():
        if values is not None:
            case, words = shlex.quote(f"{usage.words} {option}"), shlex.quote(" ".join(values))
            lines.append(f'        {case}) COMPREPLY=($(compgen -W {words} -- "$word")); return 0 ;;')
    return lines


def _words(usage: Usage) -> str:
    """What may stand where no value is due: commands, or options and names."""
    words = [*usage.commands, *usage.options, "--help"]
    if not usage.words:
        words.append("--version")
    files = ""
    if "FILE" in usage.places:
        words += _scenarios(usage.words)
        files = " files=yes"
    if usage.words.startswith("paper ") and "NAME" in usage.places:
        from ..papers import ready_papers

        words += ready_papers()
    return f"        {shlex.quote(usage.words)}) words={shlex.quote(' '.join(words))}{files} ;;"


def _scenarios(command: str) -> list[str]:
    from ..scenario import ready_scenarios

    live = command.startswith("live ")
    simulated = command in ("run", "watch")
    return [name for name in ready_scenarios() if not (live or simulated) or name.startswith("live/") == live]
