"""What commands say: JSON, a bar that grows, what is missing."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def progress_bar(name: str, *, quiet: bool) -> Iterator[Callable[[float], object] | None]:
    """Show a bar, but only to somebody who watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def print_json(content: Any) -> None:
    """Print JSON that any reader takes."""
    print(json.dumps(content, indent=2, allow_nan=False))


def say_where(address: str) -> None:
    """Say where the page is that shows a run."""
    print(f"Open {address}; Ctrl-C ends the run.", flush=True)


def complain(text: str, exit_status: int) -> int:
    """Say on stderr what went wrong, and give the exit status."""
    # Without a terminal there is nobody to tell.
    with contextlib.suppress(OSError):
        print(f"cellrate: {text}", file=sys.stderr)
    return exit_status


def lacking(complaints: list[str]) -> int:
    """Say what results lack, and give the exit status."""
    for text in complaints:
        complain(text, 1)
    return int(bool(complaints))
