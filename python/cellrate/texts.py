"""Texts from elsewhere, such as names and purposes of scenarios, as they may be printed.

A terminal acts upon control characters: an escape sequence in a name can retitle the window, clear the screen or write
what looks like the verdict of a run. Marks of direction make a text read otherwise than it is. Neither is printed.
"""

from __future__ import annotations

import re
from typing import Any

# C0 and C1 controls, the marks that set direction (Unicode TR 9, table 1 and the implicit marks), separators of lines
# and paragraphs, invisible fillers and tags, and halves of surrogate pairs.
_CONTROLS = (
    "\\x00-\\x1f\\x7f-\\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
_UNSAFE = re.compile(f"[{_CONTROLS}]")
_UNSAFE_IN_LINES = re.compile(f"(?![\n\t])[{_CONTROLS}]")


def printable(text: str) -> str:
    r"""Give a text of one line with all that a terminal or a reader could be misled by written as an escape.

    >>> printable("red\x1b[31m")
    'red\\x1b[31m'
    """
    return _UNSAFE.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """Like `printable`, for a text of several lines: their ends and tabs stay."""
    return _UNSAFE_IN_LINES.sub(_escaped, text)


def printable_all(content: Any) -> Any:
    """Give JSON content with every text in it, keys too, as `printable` gives it."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, dict):
        return {printable_all(key): printable_all(value) for key, value in content.items()}
    if isinstance(content, list):
        return [printable_all(value) for value in content]
    return content


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
