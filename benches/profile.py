"""Where the instructions of a run go, from a file of valgrind's callgrind: a table by function, and a flame graph.

python3 benches/profile.py callgrind.out.123 docs/profile-w1 "W1, 2 s of network time"

writes docs/profile-w1.md (the flat table: instructions spent in each function itself, with the files that were inlined
into it) and docs/profile-w1.svg (who calls whom, as wide as the instructions spent below). A function that several
others call is shared out among them in proportion. Files are known if the program was built with
CARGO_PROFILE_RELEASE_DEBUG=1.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from html import escape
from pathlib import Path

WIDTH, ROW, LEAST = 1200.0, 18, 3.0
ROOT = "cellrate_sim::simulation::Simulation::run_observed"
Edges = dict[str, Counter[str]]


def read(path: Path) -> tuple[Counter[str], dict[str, Counter[str]], Edges]:
    """Instructions by function, the same by file, and by call from one function to another, all below included."""
    names: dict[str, str] = {}
    own: Counter[str] = Counter()
    files: dict[str, Counter[str]] = defaultdict(Counter)
    calls: Edges = defaultdict(Counter)
    function = file = callee = ""
    in_call = False
    for line in path.read_text().splitlines():
        key, _, value = line.partition("=")
        if key in ("fn", "cfn", "fl", "fi", "fe", "cfi", "cfl"):
            number, _, text = value.partition(" ")
            # Functions and files are numbered apart.
            number = ("n" if key.endswith("n") else "f") + number
            if text:
                names[number] = re.sub(r"'\d+$", "", text)
            name = names.get(number, number)
            if key == "fn":
                function = name
            elif key == "cfn":
                callee = name
            elif key in ("fl", "fi", "fe"):
                file = name
        elif key == "calls":
            in_call = True
        elif re.match(r"[0-9+*-]", line) and len(line.split()) >= 2:
            cost = int(line.split()[-1])
            if in_call:
                calls[function][callee] += cost
                in_call = False
            else:
                own[function] += cost
                files[function][Path(file).name] += cost
    return own, files, calls


def short(name: str) -> str:
    """A function's name without what every other one has, too."""
    for noise in (
        "cellrate_sim::",
        "cellrate_proto::",
        "cellrate_engine::",
        "<impl kernel::state::cluster::Cluster>::",
    ):
        name = name.replace(noise, "")
    return name.removeprefix("kernel::")


def table(own: Counter[str], files: dict[str, Counter[str]]) -> str:
    """The functions that take the most, as a table of Markdown."""
    total = sum(own.values())
    rows = ["| share | function | code of which files |", "| ---: | --- | --- |"]
    for function, cost in own.most_common(24):
        parts = ", ".join(f"{name} {100 * part / cost:.0f} %" for name, part in files[function].most_common(5))
        rows.append(f"| {100 * cost / total:.1f} % | `{short(function)}` | {parts} |")
    return "\n".join(rows) + "\n"


def flame(own: Counter[str], calls: Edges, title: str) -> str:
    """A flame graph that hangs down from the run."""
    root = next((name for name in calls if name.startswith(ROOT)), None)
    if root is None:
        raise SystemExit(
            f"profile: no function {ROOT} among those of the profile; it is to be one of `cellrate-bench run`"
        )
    total: dict[str, int] = {name: own[name] + sum(calls[name].values()) for name in own}
    boxes: list[str] = []
    deepest = 0

    def draw(name: str, left: float, width: float, depth: int, above: tuple[str, ...]) -> None:
        nonlocal deepest
        deepest = max(deepest, depth)
        share = 100 * width / WIDTH
        top = 30 + depth * ROW
        shade = 205 - 14 * (depth % 4)
        label = escape(short(name))
        text = label if len(label) * 6.2 < width else label.rsplit("::", 1)[-1]
        shown = text if len(text) * 6.2 < width else ""
        boxes.append(
            f'<g><title>{label}: {share:.1f} %</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" '
            f'fill="rgb(236,{shade},120)" stroke="white"/><text x="{left + 3:.1f}" y="{top + 13}">{shown}</text></g>'
        )
        for callee, cost in calls[name].most_common():
            part = width * cost / max(total.get(name, cost), 1)
            if part >= LEAST and callee not in above:
                draw(callee, left, part, depth + 1, (*above, callee))
                left += part

    draw(root, 0.0, WIDTH, 0, (root,))
    height = 40 + (deepest + 1) * ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height}" font-family="monospace" font-size="10">'
        f'<rect width="100%" height="100%" fill="white"/><text x="3" y="18" font-size="13">{escape(title)}</text>'
    )
    return head + "\n".join(boxes) + "</svg>\n"


def main() -> None:
    """Read one file, write two."""
    source, target, title = sys.argv[1:]
    own, files, calls = read(Path(source))
    text = f"# Profile: {title}\n\nInstructions spent in each function itself.\n\n"
    picture = flame(own, calls, title)
    Path(target + ".md").write_text(text + table(own, files))
    Path(target + ".svg").write_text(picture)


if __name__ == "__main__":
    main()
