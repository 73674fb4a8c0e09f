"""The command that runs one point of a study again, by itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..sweeps.replications import SEED
from ..sweeps.settings import SCENARIO

if TYPE_CHECKING:
    from ..scenario import Scenario


def command(
    file: str,
    scenario: Scenario,
    settings: Sequence[str],
    point: Mapping[str, str],
    seed: int | None,
    options: Mapping[str, Sequence[str | Path] | None],
) -> str:
    """Give a line for a shell that runs a single point, with nothing that it would have to look up.

    Parameters
    ----------
    file
        The scenario, as the study was given it.
    scenario
        What that is, with its own sweep.
    settings
        Settings of the whole study, "path=value" each.
    point
        What the point sets, from dotted path to the value as text.
    seed
        The seed that the study was given, if any.
    options
        Other options that a run depends on, each with its values.
    """
    words = ["cellrate", "run", file]
    swept = scenario.points()[0].settings
    seeds = point.get(SEED, None if seed is None else str(seed))
    for pair in settings:
        words += ["--set", pair]
    for path, text in point.items():
        if path in swept:
            # The scenario varies it itself.
            words += ["--point", f"{path}={text}"]
        elif path not in (SCENARIO, SEED):
            words += ["--set", f"{path}={text}"]
    if seeds is not None and SEED not in swept:
        words += ["--seed", seeds]
    for option, values in options.items():
        for value in values or []:
            words += [option, str(value)]
    return shlex.join(words)
