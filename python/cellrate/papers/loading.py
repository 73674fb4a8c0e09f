"""Papers as plugins: a folder each, with its scenarios, what is published, and a package with its experiments."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

from ..errors import CellrateError, shown
from ..places import folder
from .experiment import Experiment
from .paper import Paper

HEAD = "paper.toml"
"""The file that makes a folder one of a paper: `title`, `says`, what the paper claims in two sentences, and
`package` where it is not the folder's own name."""


def ready_papers() -> dict[str, str]:
    """Give the papers that come with cellrate: short name and title of each."""
    top = folder("papers")
    return {head.parent.name: _head(head)["title"] for head in sorted(top.glob(f"*/{HEAD}"))}


def load_paper(paper: str | Path) -> Paper:
    """Load a paper; this runs the code of its package.

    Parameters
    ----------
    paper
        The short name of one that comes with cellrate, or a folder of one's own.

    Raises
    ------
    CellrateError
        If there is none, or its package does not load or has no experiments; it says why.
    """
    place = folder("papers") / str(paper)
    if not (str(paper) in ready_papers() and (place / HEAD).is_file()):
        place = Path(paper)
        if not (place / HEAD).is_file():
            known = ", ".join(ready_papers())
            raise CellrateError(
                f"there is no paper {shown(str(paper))}; there are: {known}; or give the folder of one, in which "
                f"{HEAD} is (cellrate paper new NAME makes one)"
            )
    place = place.resolve()
    head = _head(place / HEAD)
    module = _package(place, head.get("package", place.name.replace("-", "_")))
    experiments = getattr(module, "EXPERIMENTS", None)
    if not isinstance(experiments, tuple | list) or not all(isinstance(one, Experiment) for one in experiments):
        raise CellrateError(f"{module.__file__}: EXPERIMENTS must be a tuple of cellrate.papers.Experiment")
    return Paper(
        name=place.name,
        title=head["title"],
        folder=place,
        experiments=tuple(experiments),
        says=head.get("says", ""),
        live=getattr(module, "measure_live", None),
    )


def _head(file: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CellrateError(f"{file}: {error}") from None
    unknown = set(content) - {"title", "says", "package"}
    if unknown:
        raise CellrateError(f"{file}: {', '.join(sorted(unknown))} is not known; there are title, says and package")
    if not isinstance(content.get("title"), str):
        raise CellrateError(f'{file}: title must be a text, such as title = "A study"')
    if not isinstance(content.get("says", ""), str):
        raise CellrateError(f"{file}: says must be a text, in two sentences what the paper claims")
    package = content.get("package", "package")
    if not isinstance(package, str) or not package.isidentifier():
        raise CellrateError(f"{file}: package is {shown(package)}; it must be the name of a Python package")
    return content


def _package(place: Path, name: str) -> ModuleType:
    """Import a package from its folder, once; its modules go to other processes by value."""
    init = place / name / "__init__.py"
    if not init.is_file():
        raise CellrateError(f"{place} has no {name}/__init__.py with its experiments")
    loaded = sys.modules.get(name)
    if loaded is not None:
        if Path(loaded.__file__ or "").resolve() != init.resolve():
            raise CellrateError(f"{init}: there is another module {name}; give the package another name in {HEAD}")
        return loaded
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        for loaded_name in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[loaded_name]
        raise CellrateError(f"{init} does not load: {type(error).__name__}: {error}") from error
    import cloudpickle

    # Processes that draw figures find no such package by its name.
    cloudpickle.register_pickle_by_value(module)
    return module
