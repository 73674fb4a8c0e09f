"""Commands on a scenario that do not run it: `cellrate validate`, `list`, `draw`, `schema`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from ..texts import printable
from .app import app
from .options import AllowFiles, File, Json, Settings, settings_of
from .output import complain, print_json, say, tell
from .typed import Parameter, in_two_columns


@app.command("validate")
def validate(file: File, /, *, set: Settings = None, allow_files: AllowFiles = None) -> int:
    """Check a scenario without running it."""
    from ..live.trust import told_commands
    from ..recorded.summaries import overbooked_line, unkept_line, unsettled_line
    from ..scenario import prepare

    scenario = prepare(file, set=settings_of(set), allow_files=allow_files or ())
    runs, rows = 0, dict[str, None]()
    for point in scenario.checking():
        runs += 1
        if runs == 1:
            first = point.scenario
        # Of a sweep, what is said of several points is said once.
        rows.update((printable(overbooked_line(row)), None) for row in point.scenario.overbooked())
        rows.update((printable(unkept_line(row)), None) for row in point.scenario.unkept())
        rows.update((printable(unsettled_line(row)), None) for row in point.scenario.cannot_settle())
    names = f"{printable(str(file))} is sound: {printable(first.name)}"
    print(f"{names}, {'1 run' if runs == 1 else f'{runs} runs'} of {first.duration_s:g} s, hash {scenario.hash[:12]}")
    for line in told_commands(scenario):
        print(line)
    for line in rows:
        print(line)
    return 0


@app.command("list")
def list_(
    text: Annotated[
        str | None, Parameter(help="Only those with all these words in their name or purpose; all by default.")
    ] = None,
    /,
    *,
    full: Annotated[bool, Parameter(help="Show purposes whole, and not the first sentence of each.")] = False,
    json: Json = False,
) -> int:
    """List the ready scenarios in groups, a line each: its name and what it is for.

    Where few are left, purposes are shown whole.
    """
    from ..scenario import Scenario, ready_scenarios

    purposes = {name: Scenario.load(path).points()[0].scenario.purpose for name, path in ready_scenarios().items()}
    words = (text or "").casefold().split()
    rows = {
        name: purpose
        for name, purpose in purposes.items()
        if all(word in f"{name} {purpose}".casefold() for word in words)
    }
    if json:
        print_json({"scenarios": [{"name": name, "purpose": purpose} for name, purpose in rows.items()]})
        return 0
    if not rows:
        return complain(f'no ready scenario has "{text}" in its name or purpose; there are {len(purposes)}', 1)
    whole = full or len(rows) <= MOST_WHOLE
    for heading, group in _SCENARIOS.items():
        found = {
            printable(name): printable(purpose if whole else first_sentence(purpose))
            for name, purpose in rows.items()
            if name.rpartition("/")[0] == group
        }
        if found:
            print(f"{heading}:\n{in_two_columns(found, indent='  ', cut=not whole)}\n")
    return 0


MOST_WHOLE = 5
"""Scenarios whose purposes `list` shows whole."""

_SCENARIOS = {
    "Networks (cellrate run NAME)": "",
    "Suite of the arena (cellrate arena; cellrate run NAME)": "arena",
    "Real hosts (cellrate live run NAME)": "live",
}
"""Folders of ready scenarios by what they are."""


def first_sentence(text: str) -> str:
    """Give the first sentence of a text."""
    return re.split(r"(?<=[.;:])\s", " ".join(text.split()), maxsplit=1)[0].rstrip(".;:")


@app.command("new")
def new(
    file: Annotated[Path, Parameter(help="The file to write; it must not be there.")],
    /,
    *,
    from_: Annotated[
        str | None, Parameter(name="--from", help="Name of a ready scenario (cellrate list); it has to be given.")
    ] = None,
) -> int:
    """Write a ready scenario into a file of your own, comments and all, to change it."""
    from ..errors import CellrateError
    from ..scenario import ready_scenarios

    ready = ready_scenarios()
    if from_ is None:
        raise CellrateError(f"--from is missing; there are {', '.join(ready)}")
    if from_ not in ready:
        raise CellrateError(f'there is no ready scenario "{from_}"; there are {", ".join(ready)}')
    text = ready[from_].read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise CellrateError(f"{file} is there already; write into another file, or remove it first") from None
    # Those that have real programs on their hosts are kept together.
    command = "cellrate live run" if from_.startswith("live/") else "cellrate run"
    tell(f"{file} is {from_}; `{command} {file}` runs it")
    return 0


@app.command("draw")
def draw(
    file: File,
    /,
    *,
    set: Settings = None,
    out: Annotated[
        Path | None, Parameter(help="The picture: .png, .svg or .pdf (NAME.png in this folder by default).")
    ] = None,
) -> int:
    """Draw a scenario's network: switches, hosts, links, and the ways that connections take.

    Of a sweep its first point is drawn.
    """
    from ..drawing.figures import write
    from ..folders.replaceable import plain_name
    from ..scenario import prepare

    first, *others = prepare(file, set=settings_of(set)).points()
    scenario = first.scenario
    if others:
        values = ", ".join(f"{path} = {value}" for path, value in first.settings.items())
        say(f"{file} sweeps over {1 + len(others)} points; the picture is of the first: {values}")
    picture = out if out is not None else Path(f"{plain_name(scenario)}.png")
    tell(write(scenario.draw(), picture))
    return 0


@app.command("schema")
def schema() -> int:
    """Print the JSON Schema of scenario files, for editors."""
    from ..scenario import schema as give

    print_json(give())
    return 0
