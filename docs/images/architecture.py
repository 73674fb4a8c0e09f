"""Draw architecture.svg: crates and Python packages as the code has them, each above whatever it uses.

`python docs/images/architecture.py` writes it beside this file, from what `Cargo.toml` of each crate depends on and
what each Python module imports, inside functions and for types, too.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/cellrate"
PICTURE = Path(__file__).with_suffix(".svg")

WIDTH, ROW, BOX, LETTER = 860, 46, 28, 7.2
"""Width of the picture, from row to row, height of a box, and about the width of a letter [px]."""


def modules() -> dict[str, Path]:
    """Give every module of the package by its name below it; the package itself is ""."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        if "data" in file.relative_to(PACKAGE).parts:
            # Papers, which a built package has with it, are plugins.
            continue
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports() -> dict[str, set[str]]:
    """Give what each module imports of the package, wherever the statement stands."""
    known = modules()
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, file in known.items():
        parts = [part for part in name.split(".") if part]
        package = parts if file.name == "__init__.py" else parts[:-1]
        for statement in _statements(ast.parse(file.read_text(encoding="utf-8"))):
            base = [*package[: len(package) - statement.level + 1], *filter(None, [statement.module])]
            for alias in statement.names:
                whole = ".".join([*base, alias.name])
                target = whole if whole in known else ".".join(base)
                # The compiled module, `_native`, stands below all.
                if "_native" not in (alias.name, statement.module) and target != name:
                    found[name].add(target)
    return found


def _statements(node: ast.AST) -> Iterator[ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.level:
            yield child
        yield from _statements(child)


def packages() -> dict[str, set[str]]:
    """Give what each package, or module at the top, imports of the others."""
    used: dict[str, set[str]] = {}
    for name, targets in imports().items():
        if name:
            part = name.split(".")[0]
            used.setdefault(part, set()).update({target.split(".")[0] for target in targets} - {part})
    return used


def crates() -> dict[str, set[str]]:
    """Give the crates that each crate depends on when it is built, tests left aside."""
    used = {}
    for file in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        used[file.parent.name] = {name for name in content.get("dependencies", {}) if name.startswith("cellrate-")}
    return used


def rows(used: Mapping[str, set[str]]) -> list[list[str]]:
    """Give what there is in rows from the bottom up, each as low as what it uses lets it be."""
    height: dict[str, int] = {}

    def at(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise ValueError(f"{' uses '.join([*above, name])}: a circle")
        if name not in height:
            height[name] = 1 + max((at(other, (*above, name)) for other in used.get(name, ())), default=-1)
        return height[name]

    for name in sorted(used):
        at(name)
    return [sorted(name for name in height if height[name] == row) for row in range(max(height.values()) + 1)]


def nearest(used: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Give what each uses without what it uses by way of another as well: these lines tell all."""

    def below(name: str) -> set[str]:
        return used.get(name, set()).union(*map(below, used.get(name, ())))

    return {name: others - set().union(*map(below, others)) for name, others in used.items()}


def picture() -> str:
    """Give the picture as SVG."""
    parts: list[str] = []
    y = 26.0
    for title, used, colour in (
        ("Packages of python/cellrate", packages(), "#e8f1f8"),
        ("Crates", crates(), "#fff3dc"),
    ):
        parts.append(f'<text x="20" y="{y}" font-weight="bold">{title}</text>')
        y += 14
        boxes: dict[str, tuple[float, float, float]] = {}
        for row in reversed(rows(used)):
            widths = [LETTER * len(name.removeprefix("cellrate-")) + 22 for name in row]
            gap = (WIDTH - sum(widths)) / (len(row) + 1)
            x = gap
            for name, width in zip(row, widths, strict=True):
                boxes[name] = (x, y, width)
                x += width + gap
            y += ROW
        for name, others in sorted(nearest(used).items()):
            x, top, width = boxes[name]
            for other in sorted(others):
                to_x, to_top, to_width = boxes[other]
                parts.append(
                    f'<path d="M{x + width / 2:.1f} {top + BOX} L{to_x + to_width / 2:.1f} {to_top}" '
                    'stroke="#b5b5b5" stroke-width="0.9" fill="none"/>'
                )
        for name, (x, top, width) in boxes.items():
            said = f"{name} uses {', '.join(sorted(used[name])) or 'none of these'}"
            parts.append(
                f'<g><title>{escape(said)}</title><rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BOX}" '
                f'rx="4" fill="{colour}" stroke="#555555" stroke-width="0.8"/><text x="{x + width / 2:.1f}" '
                f'y="{top + 18}" text-anchor="middle">{escape(name.removeprefix("cellrate-"))}</text></g>'
            )
        y += 16
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" font-family="sans-serif" '
        'font-size="12.5">\n<rect width="100%" height="100%" fill="white"/>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{PICTURE}\n")
