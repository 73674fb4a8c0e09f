"""The paper that `cellrate paper new` leaves: it runs, and every part of it is to be replaced."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import CellrateError, shown

README = """# {name}

Authors; where it appeared. `cellrate paper run {folder}` runs its experiments and checks what it says.

## How the paper was read

What the paper states and what it leaves open; each choice with its reason.

## What came out

<!-- counts: written by `cellrate paper readme` -->
<!-- end of counts -->

<!-- misses: written by `cellrate paper readme` -->
<!-- end of misses -->
"""

PUBLISHED = """# What the paper says, in your words, by the id of the claim ("EXPERIMENT.NAME"), with its figure.
# `judged` is the rule that the claim is judged by (docs/guides/judging.md). `kind` is "claim" unless said otherwise:
# "erratum" (a contradiction within the paper), "sensitivity" (a choice that it leaves open, made another way),
# "beyond" (not in the paper).

["target.utilization"]
text = "ERICA keeps the line at its target utilization: mean over the last 100 ms."
source = "section 3"
published = 90
unit = "%"
judged = "per cent"
"""

SCENARIO = """# Two greedy sources on one line under ERICA, for a first claim.
name = "{name}"
duration = "300 ms"

[defaults]
link = {{ rate = "149.76 Mbps", length = "100 km" }}
switch.algorithm = {{ type = "erica", target_utilization = "90 %" }}

[[host]]
name = "s{{i}}"
count = 2

[[host]]
name = "d"

[[switch]]
name = "sw"

[[link]]
between = ["s{{i}}", "sw"]
count = 2

[[link]]
between = ["sw", "d"]

[[vc]]
name = "vc{{i}}"
count = 2
path = ["s{{i}}", "sw", "d"]

[[probe]]
record = ["acr"]
every = "1 ms"

[[probe]]
record = ["utilization"]
of = ["sw->d"]
every = "1 ms"
"""

PACKAGE = '''"""The experiments of {name}, a module each."""

from . import target

EXPERIMENTS = (target.EXPERIMENT,)
"""In the order of the report."""
'''

EXPERIMENT = '''"""How near the line comes to its target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers import Drawing, Experiment, Finding, Point, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UTILIZATIONS = (0.9, 0.95)
POINTS = {{str(u): Point("line", {{"defaults.switch.algorithm.target_utilization": u}}) for u in UTILIZATIONS}}
"""Runs by key: a scenario in scenarios/, and what is set in it."""


def findings(results: Results) -> Sequence[Finding]:
    """Measure each claim of published.toml; its rule there judges."""
    measured = 100 * results["0.9"].series("utilization", port="sw->d").mean("200 ms", "300 ms")
    why = "The line is not at its target."
    return [Finding("target.utilization", f"{{measured:.1f}} %", why=why, values=[measured])]


def drawings(results: Results) -> Sequence[Drawing]:
    """Give the figures of the report."""
    return [Drawing("target-acr", "ACR of both sources, target utilization 90 %.", partial(acr, results))]


def acr(results: Results) -> Figure:
    """Draw the ACR of both sources."""
    return results["0.9"].plot("acr")


EXPERIMENT = Experiment("target", "The target utilization", POINTS, findings, drawings)
'''


def leave(folder: Path) -> None:
    """Write a paper that runs into a folder that is not there yet.

    Raises
    ------
    CellrateError
        If the folder is there, its name is none for a Python package, or it cannot be written.
    """
    name = folder.name
    package = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise CellrateError(f"{shown(name)} cannot be the short name of a paper; write small letters, digits and -")
    files = {
        "paper.toml": f'title = "{name} (authors; year)"\nsays = "What it claims, in two sentences."\n',
        "README.md": README.format(name=name, folder=folder),
        "published.toml": PUBLISHED,
        "scenarios/line.toml": SCENARIO.format(name=name),
        f"{package}/__init__.py": PACKAGE.format(name=name),
        f"{package}/target.py": EXPERIMENT.format(),
    }
    try:
        folder.mkdir(parents=True)
        for place, text in files.items():
            (folder / place).parent.mkdir(exist_ok=True)
            (folder / place).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise CellrateError(f"{folder} is there already; give another name") from None
    except OSError as error:
        raise CellrateError(f"{folder} cannot be written: {error.strerror}") from None
