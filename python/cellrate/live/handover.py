"""What is not built in on its way to the processes of a live run, and what it raises on its way back.

An attempt at a live run, and each switch of a distributed one, is a process that is started anew. What it is given is
pickled: classes by reference where it can import them too, and by value where it cannot, as those of a notebook, of a
script that is being run, or of the file of `--algorithm` and its like.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from pathlib import Path

from ..errors import CellrateError, RunError
from ..extensions.by_value import pickled
from ..extensions.custom import NOTHING, Custom

FILE = "custom.pickle"
"""In the folder of an attempt, or of its nodes."""


def leave(custom: Custom, folder: Path) -> None:
    """Leave what is not built in in `folder` for a process that is to have it.

    Raises
    ------
    CellrateError
        If it hangs on something that cannot leave this process, such as an open file.
    """
    if not custom:
        return
    paths = [str(Path(entry).resolve()) for entry in sys.path]
    (folder / FILE).write_bytes(pickle.dumps((paths, pickled(custom, custom))))


def take(folder: Path) -> Custom:
    """Take what was left in `folder`; nothing where there is none.

    Raises
    ------
    CellrateError
        If a module that it needs cannot be had here.
    """
    file = folder / FILE
    if not file.exists():
        return NOTHING
    paths, given = pickle.loads(file.read_bytes())
    sys.path += [entry for entry in paths if entry not in sys.path]
    try:
        custom: Custom = pickle.loads(given)
    except Exception as error:
        raise CellrateError(
            f"the process of a live run cannot have what is not built in: {type(error).__name__}: {error}"
        ) from None
    return custom


def packed(error: Exception) -> bytes:
    """Give what raises `error` again in the process that asked for the run, with a note of where it came from."""
    if isinstance(error, CellrateError):
        return pickle.dumps(error)
    import cloudpickle

    told = "".join(traceback.format_exception(error))
    error.add_note(f"In the process of the live run:\n{told}")
    try:
        given: bytes = cloudpickle.dumps(error)
        pickle.loads(given)
    except Exception:
        return pickle.dumps(RunError(told))
    return given
