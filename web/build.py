"""Builds the page, and the simulator for it: what `make lab` does.

`python web/build.py` needs Node.js with npm, cargo, and Rust's standard library for wasm32-unknown-unknown: by rustup
where it is there, else built from Debian's rustc-web, cargo-web, rust-web-src and lld. What is missing is said, with
what installs it.

--page builds the page alone, without the simulator; --quick has it compiled sooner, and slower, as for tests;
--if-possible ends well where something is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
CRATE = ROOT / "crates" / "cellrate-web"
TARGET = ROOT / "target" / "lab"
PAGE = ROOT / "python" / "cellrate" / "watching" / "page"
WASM = "wasm32-unknown-unknown"


class MissingError(Exception):
    """Something that the build needs is not there."""


def run(*words: str | Path, folder: Path = ROOT, **environment: str) -> None:
    """Run a program; what it says is seen only if it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise MissingError(f"{words[0]} {words[1]} failed with status {done.returncode}; what it said stands above")


def said(*words: str) -> str:
    """Give what a program prints; nothing where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def wasm_flags() -> tuple[list[str], dict[str, str]]:
    """Give what cargo needs beside the target: nothing where its standard library is there, or what builds that."""
    sysroot = Path(said("rustc", "--print", "sysroot").strip())
    if (sysroot / "lib" / "rustlib" / WASM).is_dir():
        return [], {}
    if shutil.which("rustup"):
        run("rustup", "target", "add", WASM)
        return [], {}
    linker = next((name for number in range(30, 15, -1) if shutil.which(name := f"wasm-ld-{number}")), None)
    linker = linker or ("wasm-ld" if shutil.which("wasm-ld") else None)
    if (sysroot / "lib" / "rustlib" / "src" / "rust" / "library").is_dir() and linker:
        return ["-Zbuild-std=std,panic_abort"], {
            "RUSTC_BOOTSTRAP": "1",
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": linker,
        }
    raise MissingError(
        f"Rust has no standard library for {WASM}: `rustup target add {WASM}`, or on Debian as root "
        "`apt-get install rustc-web cargo-web rust-web-src lld-22`"
    )


def node() -> None:
    """Say what is missing of Node.js, and fetch the packages of the lock file."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise MissingError("Node.js or npm is missing: on Debian as root `apt-get install nodejs npm`")
    version = said("node", "--version").strip()
    if int(version.lstrip("v").split(".")[0]) < 18:
        raise MissingError(f"Node.js is {version}; the page needs 18 or later")
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        run("npm", "ci", "--no-fund", "--no-audit", folder=WEB)
        installed.touch()


def simulator(quick: bool) -> None:
    """Compile the simulator, and write its JavaScript side."""
    if not shutil.which("cargo"):
        raise MissingError("cargo is missing: install Rust 1.90 or later (see rustup.rs)")
    flags, environment = wasm_flags()
    environment["CARGO_TARGET_DIR"] = str(TARGET)
    # Flags for the machine that this runs on mean nothing there.
    environment["CARGO_ENCODED_RUSTFLAGS"] = ""
    # Not --locked: the packages of the crates below are held by the other lock file, which may be ahead of this one.
    profile = "quick" if quick else "release"
    run("cargo", "build", "--profile", profile, "--target", WASM, *flags, folder=CRATE, **environment)
    run("cargo", "build", "-p", "bindgen", folder=CRATE, CARGO_TARGET_DIR=str(TARGET))
    run(TARGET / "debug" / "bindgen", TARGET / WASM / profile / "cellrate_web.wasm", WEB / "pkg")


def main() -> int:
    """Build, and say what came of it."""
    options = set(sys.argv[1:])
    if unknown := options - {"--page", "--quick", "--if-possible"}:
        print(f"unknown: {', '.join(unknown)}; known are --page, --quick and --if-possible", file=sys.stderr)
        return 2
    try:
        node()
        if "--page" not in options:
            simulator("--quick" in options)
        run("node", "build.mjs", PAGE, folder=WEB)
        # Types of the simulator are there once it has been built.
        if (WEB / "pkg").is_dir():
            run("npx", "tsc", "--noEmit", folder=WEB)
    except MissingError as missing:
        print(f"The page of the lab is not built. {missing}.", file=sys.stderr)
        return 0 if "--if-possible" in options else 1
    size = sum(file.stat().st_size for file in PAGE.iterdir())
    print(f"The page is in {PAGE.relative_to(ROOT)}: {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
