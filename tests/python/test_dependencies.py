"""Dependencies: locked with digests, within the bounds of pyproject.toml; and errors about those that are lacking."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKED = {"tools.txt": ("tools", "cluster", "import", "polars", "quic", "tune", "xarray"), "docs.txt": ("docs",)}
"""Files of requirements/, and the extras and groups that they are for."""

pytestmark = pytest.mark.skipif(not (ROOT / "requirements").is_dir(), reason="not a clone")


def project(table: str = "project") -> dict[str, object]:
    loaded: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())[table]
    return loaded


def wanted(*extras: str) -> list[Requirement]:
    """Give the requirements of the project, with these extras and groups."""
    named = project()
    of_extras = named["optional-dependencies"]
    assert isinstance(of_extras, dict)
    assert isinstance(named["dependencies"], list)
    of_extras = of_extras | project("dependency-groups")
    return [
        Requirement(text) for text in named["dependencies"] + [text for extra in extras for text in of_extras[extra]]
    ]


@pytest.mark.parametrize("name", [*LOCKED, "lock.txt"])
def test_every_package_has_a_version_and_digests_and_no_host_is_named(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==[^\s;]+( ;[^\\]*)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n?)+$", entry), (
            entry[:80]
        )
    assert "://" not in text


@pytest.mark.parametrize("name", LOCKED)
def test_what_is_locked_is_within_the_bounds(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    locked: dict[str, list[Version]] = {}
    for package, version in re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE):
        locked.setdefault(package, []).append(Version(version))
    for requirement in wanted(*LOCKED[name]):
        versions = locked[requirement.name.lower().replace("_", "-")]
        assert all(version in requirement.specifier for version in versions), f"{requirement}: {versions}; make lock"


def test_every_dependency_has_an_upper_bound() -> None:
    extras = project()["optional-dependencies"]
    assert isinstance(extras, dict)
    for requirement in wanted(*extras):
        assert any(one.operator in ("<", "<=", "==", "~=") for one in requirement.specifier), str(requirement)


def test_the_lowest_versions_are_those_that_may_be_installed() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "lowest.py"], capture_output=True, text=True, check=True)
    lowest = [Requirement(line) for line in done.stdout.splitlines()]
    # Those for one system only are not tried.
    named = [one for one in wanted() if one.marker is None]
    assert [one.name for one in lowest] == [one.name for one in named]
    for pinned, requirement in zip(lowest, named, strict=True):
        assert next(iter(pinned.specifier)).version in requirement.specifier


def lacking(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the check where these programs say this, and others are as they are."""
    for name in ("sh", "sed", "sort", "head", "id", "cc", "apt-get", "cargo", "rustc"):
        place = shutil.which(name)
        if place is not None and name not in programs:
            (folder / name).symlink_to(place)
    for name, says in programs.items():
        if says:
            (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
            (folder / name).chmod(0o755)
    python = shutil.which("python3") or "python3"
    return subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "prerequisites.sh"), python, "1.90"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(folder), "HOME": os.environ.get("HOME", "/")},
    )


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ({"cargo": "cargo 1.63.0", "rustc": "rustc 1.63.0 (4b91a6ea7 2022-08-08)"}, "cargo 1.90 or later, not 1.63.0"),
        ({"cargo": "cargo 1.89.9 (x)", "rustc": "rustc 1.100.0"}, "cargo 1.90 or later, not 1.89.9"),
        ({"cargo": "", "rustc": ""}, "cargo 1.90 or later, which is not here: install Rust with rustup"),
        (
            {"cargo": "error: no default toolchain", "rustc": "rustc 1.90.0"},
            "`cargo --version` says: error: no default",
        ),
    ],
)
def test_an_old_or_missing_cargo_is_named(tmp_path: Path, programs: dict[str, str], said: str) -> None:
    done = lacking(tmp_path, **programs)
    assert done.returncode == 1
    assert said in done.stderr
    both = sum(tool in done.stderr for tool in ("- cargo", "- rustc"))
    assert both == (1 if programs["rustc"] in ("rustc 1.100.0", "rustc 1.90.0") else 2), "all at once"


def test_a_newer_one_is_enough(tmp_path: Path) -> None:
    done = lacking(tmp_path, cargo="cargo 1.90.0 (840b83a10 2025-07-30)", rustc="rustc 2.0.0-nightly")
    assert "cargo 1.90 or later" not in done.stderr
    assert "rustc" not in done.stderr
