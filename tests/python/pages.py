"""Steps of a page for people, in order: commands, blocks of Python, and files that it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Step:
    """Something to do, or to have."""

    kind: str
    """"command", "python" or "file"."""
    text: str
    """Text of a command without its prompt and its comment, on one line."""
    name: str = ""
    """Name of a file."""
    shown: str = ""
    """Output of a command with a prompt, as the page shows it."""


def steps(page: str) -> list[Step]:
    """Give the steps of a page.

    A block of TOML or Python is a file if the paragraph before it names one with that ending (`mine.toml`); what it
    names last is meant. Commands stand in lines indented by four spaces; one that ends in a backslash goes on in the
    next line. Behind a prompt ("$ ") stands a command whose output follows it.
    """
    found: list[Step] = []
    before = ""
    for part in _parts(page):
        if part.startswith("```"):
            head, body = part.split("\n", 1)
            language, body = head[3:].strip(), body.rsplit("```", 1)[0]
            endings = {"toml": "toml", "python": "py"}
            named = re.findall(rf"`([\w-]+\.{endings.get(language, '?')})`", before) if language in endings else []
            if named:
                found.append(Step("file", body, name=named[-1]))
            if language == "python":
                found.append(Step("python", body))
        elif part.startswith("    $ "):
            line, *output = [line[4:] for line in part.split("\n")]
            found.append(Step("command", _bare(line[2:]), shown="\n".join(output)))
        elif part.startswith("    "):
            text = re.sub(r" *\\\n +", " ", part)
            lines = [line[4:] for line in text.split("\n")]
            found += [Step("command", _bare(line)) for line in lines if re.match(PROGRAMS, line)]
        before = part
    return found


PROGRAMS = r"(cellrate|make|pip|apt|tshark|dask|printf|\(umask) "
"""How lines begin that are commands."""


def commands_in_text(page: str) -> list[str]:
    """Give the commands of cellrate that stand within sentences and tables."""
    text = "\n".join(part for part in _parts(page) if not part.startswith(("```", "    ")))
    return [" ".join(found.split()) for found in re.findall(r"`(cellrate [^`]+)`", text)]


def _parts(page: str) -> list[str]:
    """Give paragraphs, fenced blocks and indented blocks, which may have empty lines in them after a prompt."""
    parts = re.findall(
        r"^```.*?^```$|^    \$ .*?(?=\n\n\S|\Z)|^\S.*?(?=\n\n|\n    |\n```|\Z)|^    .*?(?=\n\n|\Z)", page, re.M | re.S
    )
    return [part.rstrip() for part in parts]


def _bare(line: str) -> str:
    """Give a command without the comment behind it."""
    return re.split(r" +# ", line)[0].strip()
