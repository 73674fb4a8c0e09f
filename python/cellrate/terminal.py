"""The console on which tables are printed.

Names in tables come from scenarios, captures and programs of others: nothing in them acts upon the terminal, and
brackets in them are letters, not markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from .texts import printable_lines


class Console(RichConsole):
    """A console of rich without markup, which prints what could mislead as an escape (`texts.printable`)."""

    def __init__(self, *, stderr: bool = False, file: IO[str] | None = None, width: int | None = None) -> None:
        super().__init__(stderr=stderr, file=file, width=width, markup=False)

    def render_str(self, text: str, **choices: Any) -> Text:
        """Give a text as it is measured and printed."""
        return super().render_str(printable_lines(text), **choices)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Give the segments of something; those that move the cursor are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)
