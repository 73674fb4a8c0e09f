"""Builds with a profile of what the program does: the compiler then lays out and inlines by what is frequent.

    python3 benches/profile_guided.py COMMAND ...

runs COMMAND (cargo or maturin) so that whatever it compiles uses a profile, and compiles into target/profile-guided.
The profile is that of scenarios of the project and of networks that `cellrate-bench train` makes, run by an
instrumented build; what the bench measures is not among them. It is taken anew when a source has changed, in three
minutes.

Needs the llvm-profdata of the compiler in use (`rustup component add llvm-tools`). Where it cannot be had, COMMAND runs
without a profile, and a line on stderr says so.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "profile-guided"


class Compiler(NamedTuple):
    """The compiler in use."""

    profdata: Path
    """Its llvm-profdata, which may be missing."""
    profile: Path
    """Format of profiles that it can read: those of other releases are not."""


def compiler() -> Compiler:
    """The compiler in use; where it came by rustup, that installs the tool."""

    def ask(*arguments: str) -> str:
        return subprocess.run(
            ["rustc", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()

    said = dict(line.split(": ", 1) for line in ask("-vV").splitlines() if ": " in line)
    profdata = Path(ask("--print", "sysroot")) / "lib" / "rustlib" / said["host"] / "bin" / "llvm-profdata"
    if not profdata.exists() and shutil.which("rustup"):
        subprocess.run(["rustup", "component", "add", "llvm-tools"], cwd=ROOT, check=False, stdout=sys.stderr)
    return Compiler(profdata, WORK / f"scenarios-{said['release']}.profdata")


def scenarios() -> list[Path]:
    """Scenarios for the profile: the examples; of the papers TCP beside video, Stop & Go, clients and servers.

    Not those of switches that segment control loops or originate BRMs: their cells are events one by one, and so many
    that what is frequent elsewhere would seem rare. With the first W3 takes 2.5 % more instructions; with `bottlenecks`
    W3 and W4 take 1 % more.
    """
    without = {"becn", "bottlenecks", "vs-vd"}
    of_papers = [
        "tcp-lrd-vbr/scenarios/short-feedback",
        "stop-and-go/scenarios/bottleneck",
        "uili/scenarios/client-server",
    ]
    examples = [path for path in sorted((ROOT / "scenarios").glob("*.toml")) if path.stem not in without]
    return [*examples, *(ROOT / "papers" / f"{name}.toml" for name in of_papers)]


def is_fresh(profile: Path) -> bool:
    """Whether `profile` is there, and newer than everything that goes into it."""
    if not profile.exists():
        return False
    crates = [path for kind in ("*.rs", "*.toml") for path in (ROOT / "crates").rglob(kind)]
    sources = [
        *crates,
        *scenarios(),
        *(ROOT / "benches" / "src").glob("*.rs"),
        ROOT / "Cargo.toml",
        ROOT / "Cargo.lock",
    ]
    taken = profile.stat().st_mtime
    return all(path.stat().st_mtime < taken for path in sources)


def flags(*more: str) -> dict[str, str]:
    """The environment, with `more` for the compiler."""
    given = os.environ.get("RUSTFLAGS", "")
    return os.environ | {"RUSTFLAGS": " ".join([given, *more]).strip()}


def take_profile(taken_by: Compiler) -> None:
    """Runs the scenarios on an instrumented build; the profile is moved into place when it is whole."""
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    target = WORK / "instrumented"
    print("profile-guided: building with counters, and running scenarios", file=sys.stderr)
    build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "cellrate-bench"]
    environment = flags(f"-Cprofile-generate={raw}") | {"CARGO_TARGET_DIR": str(target)}
    subprocess.run(build, cwd=ROOT, check=True, env=environment)
    program = target / "release" / "cellrate-bench"
    subprocess.run([program, "train"], cwd=ROOT, check=True)
    for scenario in scenarios():
        subprocess.run([program, "file", scenario], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    part = taken_by.profile.with_suffix(".part")
    subprocess.run([taken_by.profdata, "merge", "-o", part, raw], check=True)
    part.rename(taken_by.profile)
    shutil.rmtree(raw)


def main() -> int:
    """Runs the command; its exit status."""
    command = sys.argv[1:]
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    present = compiler()
    if not present.profdata.exists():
        print(
            "profile-guided: there is no llvm-profdata for this compiler (rustup component add llvm-tools): "
            "building without a profile",
            file=sys.stderr,
        )
        return subprocess.run(command, check=False).returncode
    if not is_fresh(present.profile):
        take_profile(present)
    environment = flags(f"-Cprofile-use={present.profile}") | {
        "CARGO_TARGET_DIR": str(WORK / "build"),
        "CELLRATE_PROFILE_GUIDED": "yes",
    }
    return subprocess.run(command, check=False, env=environment).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"profile-guided: {' '.join(map(str, error.cmd))} ended with status {error.returncode}")
