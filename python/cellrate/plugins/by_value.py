"""Classes of one's own on their way to another process: by reference where that can import them, otherwise by value."""

from __future__ import annotations

import contextlib
import pickle
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from ..errors import CellrateError
from .collection import Plugins


def pickled(thing: object, plugins: Plugins, *, afar: bool = False) -> bytes:
    """Pickle something with what is not built in, by value as far as another process could not import it.

    A process on another machine, `afar`, can import what is installed, and nothing that lies beside a script.

    Raises
    ------
    CellrateError
        If it depends on something that cannot leave this process, such as an open file.
    """
    import cloudpickle

    found = [sys.modules.get(getattr(make, "__module__", None) or "") for _, _, make in plugins.all()]
    modules = [module for module in found if module is not None and not _is_found(module)]
    if afar:
        tops = [sys.modules[module.__name__.partition(".")[0]] for module in found if module is not None]
        modules += [module for module in tops if module not in modules and not _is_installed(module)]
    try:
        with _by_value(modules):
            octets: bytes = cloudpickle.dumps(thing)
    except (TypeError, pickle.PicklingError) as error:
        names = ", ".join(name for _, name, _ in plugins.all())
        raise CellrateError(f"{names}: cannot be handed to another process: {error}") from None
    return octets


class ByValue:
    """Something with what is not built in, on its way to another process, where it is that something again."""

    def __init__(self, thing: object, plugins: Plugins) -> None:
        self._pickled = pickled(thing, plugins)

    def __reduce__(self) -> tuple[object, ...]:
        return pickle.loads, (self._pickled,)


def _is_found(module: ModuleType) -> bool:
    """Whether another process of the same search path finds the same module by its name."""
    name, _, below = module.__name__.partition(".")
    if below:
        return True
    found = PathFinder.find_spec(name)
    return found is not None and module.__spec__ is not None and found.origin == module.__spec__.origin


def _is_installed(module: ModuleType) -> bool:
    """Whether a module came with Python or by an installation, and can be expected wherever the same was installed."""
    file = getattr(module, "__file__", None)
    if file is None or module.__name__ == "cellrate":
        return module.__name__ != "__main__"
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(Path(file).resolve().is_relative_to(Path(place).resolve()) for place in places)


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
