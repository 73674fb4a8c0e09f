"""The front page and the guides do what they say: every command and every block of Python, in order.

What cannot run here is listed with its reason, and is at least a command that there is, with options that there are.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from cellrate.command_line import typed
from cellrate.command_line.main import status
from pages import ROOT, Step, commands_in_text, steps

NEEDS_ROOT = "hosts need root and real time; tests of live runs have it"
OPENS_A_PAGE = "waits for a browser; tests of the page have one"

NOT_RUN = {
    "cellrate lab": OPENS_A_PAGE,
    "cellrate watch": OPENS_A_PAGE,
    "cellrate live watch": OPENS_A_PAGE,
    "cellrate live run": NEEDS_ROOT,
    "cellrate live node": NEEDS_ROOT,
    "cellrate live shell": "reads from a terminal; its tests have one",
    "cellrate paper run abr-parameters": "takes minutes; tests of papers run their experiments",
    "cellrate advise --link T1 --distance '1000 km' --application interactive --switches erica --tune": (
        "takes half a minute of processor time; tests of tuned advice have fewer sets"
    ),
    "cellrate paper new": "tests of papers make one, and run it",
    "make": "builds and tests everything; targets are looked for in the Makefile",
    "pip install": "changes what is installed; extras are looked for in pyproject.toml",
    "apt install": "changes what is installed",
    "dask": "never ends; tests of clusters have a scheduler and workers of their own",
    "cellrate run greedy-15 --set duration=100ms --sweep 'defaults.abr.nrm=[8, 32]' --seeds 2 --out results/cluster": (
        "needs a scheduler; tests of clusters run such commands on one"
    ),
    "printf 'acr": "talks to a live run, from within one of its hosts",
}
"""By the beginning of commands, why they do not run here."""

SHORTER = {
    "cellrate run frame-discard --set duration=2s --seeds 10": "cellrate run frame-discard --set duration=1s --seeds 3",
    "cellrate run phase-effects --seeds 5": "cellrate run phase-effects --set duration=100ms --seeds 2",
    "cellrate run tcp-flows": "cellrate run tcp-flows --set duration=8s",
    "cellrate run rcp-flows": "cellrate run rcp-flows --set duration=10s",
    "cellrate run web-search-flows": "cellrate run web-search-flows --set duration=8s",
    "cellrate arena": "cellrate arena --only single-bottleneck",
    "cellrate run parking-lot gfc-2 arena/vbr-background --algorithm mine=mine.py:Mine --seeds 10 --out results/study "
    "--sweep 'defaults.switch.algorithm=[mine, erica+, phantom]'": (
        "cellrate run parking-lot gfc-2 arena/vbr-background --algorithm mine=mine.py:Mine --seeds 2 "
        "--out results/study --sweep 'defaults.switch.algorithm=[mine, erica+, phantom]' --set duration=20ms"
    ),
    "cellrate arena 'erica { alpha = 0.5 }' erica": "cellrate arena 'erica { alpha = 0.5 }' erica --only abilene",
    "cellrate arena mine phantom --algorithm mine=mine.py:Mine": (
        "cellrate arena mine phantom --algorithm mine=mine.py:Mine --only gfc-1"
    ),
}
"""By commands that take seconds of a processor, what runs here instead.

Tests of the arena have its whole suite, and those of scenarios their whole durations.
"""

PYTHON_NOT_RUN = {
    "cellrate.watch(": OPENS_A_PAGE,
    "live_run(": NEEDS_ROOT,
    "SLURMCluster(": "needs a cluster with SLURM; a test has a stand-in for one",
}
"""By what blocks of Python have in them, why they do not run here."""

CITIES = "".join(f'node [ id {i} label "City {i}" Longitude {i} Latitude {50 + i % 2} ]\n' for i in range(8))
LINES = "".join(f"edge [ source {i} target {(i + 1) % 8} LinkSpeedRaw 155520000.0 ]\n" for i in range(8))
RING = f"graph [\ndirected 0\n{CITIES}{LINES}]\n"

FROM_ELSEWHERE = {"Atmnet.gml": RING}
"""Files that the pages say where to get, each with one like it."""

STATUS = {"cellrate doctor": (0, 3)}
"""By the beginning of commands, statuses that are as good as 0 on a machine that lacks something."""

LACKING = "tshark is not installed"

COMMANDS = "docs/commands.md"

PAGES = [
    "README.md",
    COMMANDS,
    *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "guides").glob("*.md")),
    *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "route").glob("*.md")),
]

LEAST = {"README.md": 3, "docs/commands.md": 18, "docs/guides/campaigns.md": 12, "docs/guides/captures.md": 8}
"""Steps that are run at least, so that none is lost unseen."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, text in files_of(page).items():
        Path(name).write_text(text)
    names: dict[str, Any] = {"__name__": "page"}
    done = 0
    elsewhere = runs_of_guides() if page == COMMANDS else ()
    for step in steps((ROOT / page).read_text()):
        if step in elsewhere:
            done += 1
            continue
        reason = reason_not_to(step)
        if reason is not None:
            look_at(step)
            done += reason == LACKING
            continue
        done += step.kind != "file"
        if step.kind == "python":
            exec(compile(step.text, page, "exec"), names)
            plt.close("all")
        elif step.kind == "command":
            printed = run(SHORTER.get(step.text, step.text))
            if step.shown:
                assert re.fullmatch(pattern(step.shown), printed.strip(), re.DOTALL), (step.text, printed)
    assert done >= LEAST.get(page, 0)


@pytest.mark.parametrize("page", ["README.md", *sorted(str(f.relative_to(ROOT)) for f in ROOT.glob("docs/**/*.md"))])
def test_commands_in_sentences_are_commands_that_there_are(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in commands_in_text((ROOT / page).read_text()):
        # Capitals stand for what a reader puts in.
        if "..." not in text and not re.search(r"\b[A-Z]\b", text):
            # A sentence may name a command or its last option without what it needs.
            wrong = parse(shlex.split(text)[1:])
            assert wrong in (None, "arguments are required") or "expected one argument" in wrong, text


def test_what_is_not_run_is_on_the_pages() -> None:
    """A reason whose command has gone from the pages goes as well."""
    every = [step for page in PAGES for step in steps((ROOT / page).read_text())]
    for begin in (*NOT_RUN, *STATUS):
        assert any(step.kind == "command" and step.text.startswith(begin) for step in every), begin
    for part in PYTHON_NOT_RUN:
        assert any(step.kind == "python" and part in step.text for step in every), part
    for text in SHORTER:
        assert any(step.kind == "command" and step.text == text for step in every), text
    for name in FROM_ELSEWHERE:
        assert any(step.kind == "command" and name in step.text for step in every), name


def files_of(page: str) -> dict[str, str]:
    """Give the files that somebody has who follows a page: its own, those of pages that it names, and of elsewhere."""
    text = (ROOT / page).read_text()
    # A page of the route goes on where the one before it ended, and that of commands has the files of its guides.
    named = sorted(set(re.findall(r"\((?:\.\./)?(guides/[\w-]+\.md)\)", text))) if page == COMMANDS else []
    named += sorted(file.name for file in (ROOT / "docs/route").glob("*.md")) if "docs/route/" in page else []
    found = dict(FROM_ELSEWHERE)
    for one in (*((ROOT / page).parent / name for name in named), ROOT / page):
        found |= {step.name: step.text for step in steps(one.read_text()) if step.kind == "file"}
    return found


def runs_of_guides() -> list[Step]:
    """Give the commands of guides that run something and leave nothing to go on with: one run of them is enough."""
    every = [step for page in PAGES if "guides" in page for step in steps((ROOT / page).read_text())]
    return [step for step in every if re.fullmatch(r"cellrate (run [\w-]+|arena)", step.text)]


def reason_not_to(step: Step) -> str | None:
    """Say why a step does not run here, if it does not."""
    if step.kind == "python":
        return next((reason for part, reason in PYTHON_NOT_RUN.items() if part in step.text), None)
    if step.kind == "command" and step.text.startswith("tshark") and shutil.which("tshark") is None:
        return LACKING
    begins = (begin for begin in NOT_RUN if step.kind == "command" and f"{step.text} ".startswith(begin))
    return next((NOT_RUN[begin] for begin in begins), None)


def look_at(step: Step) -> None:
    """See that a step that does not run is one that could."""
    if step.kind == "python":
        compile(step.text, "page", "exec")
        return
    words = shlex.split(step.text)
    match words[0]:
        case "cellrate":
            assert parse(words[1:]) is None, step.text
            for word in words[1:]:
                if re.fullmatch(r"[\w-]+\.(toml|py|key)", word):
                    assert Path(word).is_file(), f"{step.text}: there is no {word}"
        case "make":
            makefile = (ROOT / "Makefile").read_text()
            assert all(re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE) for target in words[1:]), words
        case "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(re.findall(r"\[(.*)\]", step.text)[0].split(",")) <= extras.keys(), words


def run(text: str) -> str:
    """Run a command, and give what it prints."""
    words = shlex.split(text)
    if words[0] == "tshark":
        # The first of many thousand records show that its options and fields are right.
        text += " -c 500"
    if words[0] != "cellrate" or ">" in words:
        # A shell's redirection, and programs of others.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, (text, done.stderr)
        return done.stdout
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        found = status(words[1:])
    allowed = next((good for begin, good in STATUS.items() if text.startswith(begin)), (0,))
    asked = re.search(r"(is|are) missing;", err.getvalue()) is not None and text.startswith("cellrate advise")
    assert found in allowed or asked, (text, out.getvalue(), err.getvalue())
    return out.getvalue()


def parse(words: Sequence[str]) -> str | None:
    """Have the command line read a command without doing anything; give what it says, in short where it lacks some."""
    call = typed._call

    def read(function: typed.Command, name: str, arguments: Sequence[str]) -> int:
        @functools.wraps(function)
        def nothing(*_: object, **__: object) -> int:
            return 0

        return call(nothing, name, arguments)

    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(io.StringIO()):
        patched.setattr(typed, "_call", read)
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            found = status(list(words))
    lacking = "arguments are required"
    return None if found == 0 else lacking if lacking in err.getvalue() else err.getvalue()


def pattern(shown: str) -> str:
    """Give an expression for what a page shows; "..." is anything."""
    return re.escape(shown.strip()).replace(re.escape("..."), ".*")
