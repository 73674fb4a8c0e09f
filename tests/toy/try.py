"""Add a toy algorithm to a copy of the workspace, by what CONTRIBUTING.md says it takes and nothing else, and use it.

Without its page a test has to say that this is missing. The copy stands below `target/`, where packages of others are
built already.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SWITCH = Path("crates/cellrate-proto/src/switch")
PAGES = Path("docs/algorithms")


def copied(into: Path) -> None:
    """Copy what git knows of; times of change stay, so that what is built already is not built again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, into / name
        if source.is_file() and name.startswith(("crates/", "benches/", "docs/algorithms/", "Cargo", ".cargo")):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def replaced(path: Path, old: str, new: str) -> None:
    """Put `new` for `old`, which is there once."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{path.name}: {old!r} is there {text.count(old)} times, not once")
    path.write_text(text.replace(old, new), encoding="utf-8")


def tested(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the copy."""
    command = ["cargo", "test", "--offline", "--target-dir", str(ROOT / "target"), *arguments]
    return subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False)


def main() -> None:
    """Add it, use it, and leave out its page."""
    workspace = ROOT / "target/toy"
    shutil.rmtree(workspace, ignore_errors=True)
    try:
        copied(workspace)
        module, page = workspace / SWITCH / "mod.rs", workspace / PAGES / "toy.md"
        shutil.copy(HERE / "algorithm.rs", workspace / SWITCH / "toy.rs")
        replaced(module, "mod weights;\n", "mod toy;\nmod weights;\n")
        replaced(module, "    erica::Erica,\n", "    erica::Erica,\n    toy::Toy,\n")

        declared = ["-p", "cellrate-proto", "--test", "built_in"]
        missing = tested(workspace, *declared)
        if missing.returncode == 0 or "docs/algorithms/toy.md" not in missing.stdout:
            sys.exit(f"nothing says that the page is missing:\n{missing.stdout}{missing.stderr}")

        shutil.copy(HERE / "algorithm.md", page)
        with (workspace / PAGES / "README.md").open("a", encoding="utf-8") as overview:
            overview.write("\n[Toy](toy.md)\n")
        shutil.copy(HERE / "run.rs", workspace / "crates/cellrate-sim/tests/toy.rs")
        for arguments in (declared, ["-p", "cellrate-sim", "--test", "toy"]):
            done = tested(workspace, *arguments)
            if done.returncode:
                sys.exit(f"cargo test {' '.join(arguments)} fails:\n{done.stdout}{done.stderr}")
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    print("A toy algorithm is one file, two lines of switch/mod.rs, a page and its row in the overview.")


if __name__ == "__main__":
    main()
