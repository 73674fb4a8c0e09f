"""Prints the lowest version of each dependency that pyproject.toml allows, as pip takes it: `make lowest`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def main() -> None:
    """Print a line for each."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        if ";" in requirement:
            # For another system only.
            continue
        bounds = re.fullmatch(r"([a-z0-9-]+)>=([0-9.]+),<[0-9.]+", requirement)
        if bounds is None:
            raise SystemExit(f"{requirement}: write it as name>=LOWEST,<BOUND")
        print(f"{bounds[1]}=={bounds[2]}")


if __name__ == "__main__":
    main()
