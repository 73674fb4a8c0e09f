"""The tree keeps its own rules: links that lead somewhere, columns of comments, names of papers, length of files."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

import cellrate
import cellrate.live

ROOT = Path(__file__).parents[2]
COLUMNS = 120
LINES = 900


def tracked(*patterns: str) -> list[Path]:
    """Give the files of the repository that match, without those of other places that links lead to."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: which files belong to the project is known to git only")
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if not (ROOT / name).is_symlink()]


def anchors(text: str) -> set[str]:
    """Give the anchors of the headings of a Markdown text."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def test_links_of_the_documentation_lead_somewhere() -> None:
    broken = []
    for page in tracked("*.md"):
        text = page.read_text()
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file.read_text())):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_comments_fit_their_columns() -> None:
    long = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in tracked("*.rs")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        # Drawings and tables have the room that they need.
        if len(line) > COLUMNS and re.match(r"\s*//[/!]? \S", line) and "   " not in line.strip()
    ]
    assert long == []


def test_the_first_sentence_of_a_comment_names_its_subject() -> None:
    """`Of the port.` above a field, or `What a run gave.` above a class, says little to who reads it alone."""
    same = r"The same(?:[,;.:]| (?:after|as|at|before|between|but|for|in|of|on|over|to|under|up|where|with)\b)"
    without = rf"Of\b|What\b|Those\b|They\b|{same}"
    nameless = []
    for file in tracked("crates/*.rs", "benches/*.rs", "fuzz/*.rs", "*.py", "web/src/*.ts"):
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines):
            before = lines[number - 1].strip() if number else ""
            begins = re.match(rf'\s*(//[/!] |/\*\* |r?""")(?:{without})', line)
            if begins and not before.startswith(begins[1].strip()):
                nameless.append(f"{file.relative_to(ROOT)}:{number + 1}")
    assert nameless == []


def test_papers_go_by_name() -> None:
    numbered = [
        f"{file.relative_to(ROOT)}: {found[0]}"
        for file in tracked("*.rs", "*.py", "*.md", "*.toml", "*.js")
        if (found := re.search(r"\b[Pp]apers?[ -]0\d\d\b", file.read_text()))
    ]
    assert numbered == []


def test_files_are_short() -> None:
    long = [
        str(file.relative_to(ROOT))
        for file in tracked("*.rs", "*.py", "*.js")
        if len(file.read_text().splitlines()) >= LINES
    ]
    assert long == []


KERNEL = ("kernel/", "port/", "port.rs", "endpoint", "cell.rs", "stretch.rs", "mechanisms.rs")
"""Beginnings of the names of the simulator's files that its kernel is made of; the port of the engine is one more."""

KERNEL_LINES = 12_315
"""Most lines of the kernel, without its tests. Whoever takes lines out lowers it, and who adds some says why."""


def test_the_kernel_does_not_grow() -> None:
    top = "crates/cellrate-sim/src/"
    files = tracked(*(f"{top}{name}*" for name in KERNEL), "crates/cellrate-engine/src/served.rs")
    own = [file for file in files if file.suffix == ".rs" and not re.search(r"tests?\.rs$|/tests/", str(file))]
    # A module of tests stands at the end of its file.
    tests = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{.*", re.MULTILINE | re.DOTALL)
    count = sum(tests.sub("", file.read_text()).count("\n") for file in own)
    assert KERNEL_LINES - 200 < count <= KERNEL_LINES, f"{count} lines; if they are fewer, lower KERNEL_LINES"


LONG_FUNCTIONS = {
    "python/cellrate/campaigns/sweeping.py": ["sweep"],
    "python/cellrate/live/supervision.py": ["live_run"],
    "papers/abr-parameters/abr_parameters/arithmetic.py": ["_findings"],
    "papers/internet-applications/internet_applications/www.py": ["_text"],
}
"""Functions of more than 70 lines, by file: those of the interface have a page of reference in their docstrings."""


def test_functions_are_short() -> None:
    long: dict[str, list[str]] = {}
    for file in tracked("python/*.py", "papers/*.py"):
        if "tests" not in file.parts and not file.name.startswith("test_"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= 70:
                    long.setdefault(str(file.relative_to(ROOT)), []).append(node.name)
    assert long == LONG_FUNCTIONS


def test_the_architecture_says_where_each_crate_is() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    crates = {file.parent.name for file in tracked("crates/*/Cargo.toml") if file.parent.parent.name == "crates"}
    assert {name for name in crates if f"`crates/{name}`" not in page} == set()


def test_the_architecture_says_what_each_package_is() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    packages = {
        file.parent.name for file in tracked("python/cellrate/*/__init__.py") if file.parents[1].name == "cellrate"
    }
    assert {name for name in packages if f"| `{name}` |" not in page} == set()


def test_the_reference_of_the_api_has_every_public_name() -> None:
    page = (ROOT / "docs/site/python.rst").read_text()
    entries = {name.rpartition(".")[2] for name in re.findall(r"^\.\. auto\w+:: (\S+)$", page, re.MULTILINE)}
    public = {name for name in (*cellrate.__all__, *cellrate.live.__all__) if not name.startswith("_")}
    assert public - entries == set()


def test_what_is_cited_is_this_version() -> None:
    assert f"\nversion: {cellrate.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_profiles_begin_with_a_function_that_the_simulator_has() -> None:
    profile = (ROOT / "benches/profile.py").read_text()
    [root] = re.findall(r'^ROOT = "cellrate_sim::simulation::Simulation::(\w+)"$', profile, re.MULTILINE)
    assert f"fn {root}(" in (ROOT / "crates/cellrate-sim/src/simulation.rs").read_text()
