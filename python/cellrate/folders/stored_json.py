"""JSON from a file that lies in a folder of results, where a stranger may have written it.

Its texts become names of files, lines of a terminal and entries of other files, so they must be such that each of these
can hold them.
"""

from __future__ import annotations

import json
from typing import Any


def stored_json(octets: bytes) -> Any:
    """Give the content of a JSON file.

    Raises
    ------
    ValueError
        If the octets are not JSON in UTF-8, nest too deeply, or hold a text with half of a surrogate pair.
    """
    text = octets.decode()
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("its lists or tables nest too deeply") from None
    # JSON can write half of a surrogate pair as an escape, which no file and no terminal can take afterwards.
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a text in it has half of a surrogate pair") from None
    return content
