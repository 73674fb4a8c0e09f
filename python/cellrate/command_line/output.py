"""Output of commands: JSON, a bar that grows, errors about what is missing."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..texts import printable, printable_lines

if TYPE_CHECKING:
    from ..scenario import Scenario


@contextlib.contextmanager
def progress_bar(name: str, *, quiet: bool, points: int = 1) -> Iterator[Callable[[float], object] | None]:
    """Show a bar with the time that is left; without a terminal, a line now and then about what takes long."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        from ..running.progress import Lines

        yield Lines(name, points)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from ..terminal import Console

    columns = [TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()]
    columns += [TextColumn("{task.fields[done]}")] if points > 1 else []
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(name), total=1.0, done=f"0 of {points:,} points")

        def show(fraction: float) -> None:
            bar.update(task, completed=fraction, done=f"{int(fraction * points + 1e-9):,} of {points:,} points")

        yield show


@contextlib.contextmanager
def own_output_aside(aside: bool) -> Iterator[None]:
    """Have what a user's algorithms print go to stderr, if stdout is for JSON."""
    with contextlib.redirect_stdout(sys.stderr) if aside else contextlib.nullcontext():
        yield


def tell(text: object) -> None:
    """Print what may hold names from elsewhere."""
    print(printable_lines(str(text)))


def say(text: str) -> None:
    """Say on stderr what a reader of the results should know."""
    complain(text, 0)


def print_points(points: Iterable[Any]) -> None:
    """Print the JSON of a sweep, {"points": [...]}, point by point."""
    print('{\n  "points": [', end="")
    for number, point in enumerate(points):
        text = json.dumps(point, indent=2, allow_nan=False).replace("\n", "\n    ")
        print(("," if number else "") + "\n    " + text, end="")
    print("\n  ]\n}")


def print_json(content: Any) -> None:
    """Print JSON that any reader takes."""
    print(json.dumps(content, indent=2, allow_nan=False))


def with_something_to_draw(scenario: Scenario) -> Scenario:
    """Have a scenario that records nothing record the usual quantities, and say so."""
    recording, added = scenario.with_usual_probes()
    if added:
        say(f"{scenario.file} records nothing, so that {' and '.join(added)} are recorded; --record names others")
    return recording


def say_where(address: str, host: str, ends: str = "the run") -> None:
    """Say where a page is, with the addresses that other machines reach where it is served to them."""
    from urllib.parse import urlsplit

    from ..watching.site import names_of_machine

    # Alone on its line: what terminals take for an address goes as far as the next space.
    print(f"Open {address}")
    if host in ("0.0.0.0", "::"):
        parts = urlsplit(address)
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        print("On other machines, whichever of these they reach:")
        for name in names_of_machine():
            print(f"  http://{name}:{parts.port}{parts.path}{fragment}")
    print(f"Ctrl-C ends {ends}.", flush=True)


def complain(text: str, exit_status: int) -> int:
    """Say on stderr what went wrong, and give the exit status."""
    # Without a terminal nothing is told.
    with contextlib.suppress(OSError):
        print(f"cellrate: {printable_lines(text)}", file=sys.stderr)
    return exit_status


def warn_and_exit_status(complaints: list[str]) -> int:
    """Warn of each gap in the results, and give the exit status."""
    for text in complaints:
        complain(text, 1)
    return int(bool(complaints))
