"""What is not built in on its way to the processes of a live run, and what it raises on its way back.

An attempt at a live run, and each switch of a distributed one, is a process that is started anew. What it is given is
pickled: classes by reference where it can import them too, and by value where it cannot, as those of a notebook, of a
script that is being run, or of the file of `--algorithm` and its like.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from ..errors import CellrateError, RunError
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
    import cloudpickle

    modules = [sys.modules.get(getattr(make, "__module__", None) or "") for _, _, make in custom.all()]
    try:
        with _by_value([module for module in modules if module is not None and not _is_found(module)]):
            pickled = cloudpickle.dumps(custom)
    except (TypeError, pickle.PicklingError) as error:
        raise CellrateError(
            f"{', '.join(name for _, name, _ in custom.all())}: cannot be handed to the process of a live run: {error}"
        ) from None
    paths = [str(Path(entry).resolve()) for entry in sys.path]
    (folder / FILE).write_bytes(pickle.dumps((paths, pickled)))


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
    paths, pickled = pickle.loads(file.read_bytes())
    sys.path += [entry for entry in paths if entry not in sys.path]
    try:
        custom: Custom = pickle.loads(pickled)
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
        pickled: bytes = cloudpickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        return pickle.dumps(RunError(told))
    return pickled


def _is_found(module: ModuleType) -> bool:
    """Whether another process of the same search path finds the same module by its name."""
    name, _, below = module.__name__.partition(".")
    if below:
        return True
    found = PathFinder.find_spec(name)
    return found is not None and module.__spec__ is not None and found.origin == module.__spec__.origin


@contextlib.contextmanager
def _by_value(modules: list[ModuleType]) -> Iterator[None]:
    import cloudpickle

    known = cloudpickle.list_registry_pickle_by_value()
    added = {module.__name__: module for module in modules if module.__name__ not in known}
    for module in added.values():
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added.values():
            cloudpickle.unregister_pickle_by_value(module)
