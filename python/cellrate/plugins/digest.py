"""A digest of plugins: the same for the same behaviour, in any process, and another one where anything differs.

It is taken of what a plugin consists of, by value: code, defaults, closures, arguments of a partial, attributes of its
classes, and whatever globals these use, from one to the next. Of modules of the user's own it takes the files too, and
those of the modules that they import. Modules that are installed with a version, and Python's, count by that. The
pickle that goes to workers has the same in it, but not always with the same octets: sets have another order in each
process.

Whatever cannot be had so, or comes from outside when it runs, such as a file that it opens, has no digest: nobody can
say then that it is today what it was yesterday.
"""

from __future__ import annotations

import ast
import builtins
import copyreg
import dis
import functools
import hashlib
import struct
import sys
import sysconfig
import types
from collections.abc import Collection, Iterator, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from .collection import Plugins

OUTSIDE_BUILTINS = frozenset({"open", "input", "exec", "eval", "compile", "__import__", "globals", "vars", "locals"})
"""Built-in functions by which code gets what no digest of it has."""

OUTSIDE_NAMES = frozenset(
    {
        "environ", "environb", "getenv", "argv", "import_module", "read_text", "read_bytes", "loadtxt", "genfromtxt",
        "fromfile", "memmap", "open", "urlopen", "check_output",
    }
)  # fmt: skip
"""Attributes of modules and paths by which it does so."""

OUTSIDE_MODULES = frozenset(
    {
        "_io", "_socket", "_sqlite3", "bz2", "configparser", "ctypes", "dbm", "fileinput", "ftplib", "glob", "gzip",
        "http", "importlib", "io", "linecache", "lzma", "mmap", "pathlib", "pkgutil", "runpy", "shutil",
        "socket", "sqlite3", "subprocess", "tarfile", "tempfile", "urllib", "xml", "zipfile",
    }
)  # fmt: skip
"""Modules of Python by which it does so, whatever of them it uses."""

OUTSIDE_CALLS = frozenset(
    {
        "load", "loadmat", "read", "fromregex", "DataSource", "listdir", "scandir", "stat", "walk", "popen", "exists",
        "isfile", "isdir", "getsize", "getmtime", "getcwd", "stdin", "modules",
    }
)  # fmt: skip
"""Names by which it does so where they are of a module that is not the user's own, such as `numpy.load`.

Those that begin with "read_" are, too, such as `pandas.read_csv`.
"""

_PASSED_OVER = frozenset(
    {"__dict__", "__weakref__", "_abc_impl", "__static_attributes__", "__firstlineno__", "__annotations_cache__"}
)
"""Attributes of classes that Python makes, some of them in another order in each process."""


class NoDigestError(Exception):
    """Something that has no digest; the text says what."""


def digest_of(plugins: Plugins) -> str | None:
    """Give the digest of algorithms, policies and traffic of one's own: "" without any, None where there is none."""
    if not plugins:
        return ""
    every = sorted(plugins.all(), key=lambda one: one[:2])
    digest = _Digest(own_tops={_top_of(make) for _, _, make in every})
    try:
        for kind, name, make in every:
            digest.take((kind, name))
            digest.take(make)
        digest.take_files()
    except Exception:
        # Objects of others may answer with anything where they are looked at.
        return None
    return digest.hexdigest()


class _Digest:
    """A digest that takes one thing after the other."""

    def __init__(self, own_tops: set[str]) -> None:
        self._hash = hashlib.sha256()
        self._own_tops = own_tops
        self._known: dict[int, int] = {}
        """By identity: the place at which something came first, so that circles end."""
        self._kept: list[object] = []
        """All of `_known`: an identity may come again once its owner is gone."""
        self._files: dict[str, str] = {}
        """Files of modules of the user's own, by path: the package that their imports are seen from."""

    def hexdigest(self) -> str:
        """Give the digest of all that was taken."""
        return self._hash.hexdigest()[:16]

    def take(self, thing: object) -> None:
        """Take something into the digest.

        Raises
        ------
        NoDigestError
            If it has none.
        """
        kind = type(thing)
        if thing is None or thing is Ellipsis or thing is NotImplemented or kind in (bool, complex):
            self._say(kind.__name__, repr(thing))
        elif kind is str:
            self._say("str", thing)  # type: ignore[arg-type]
        elif kind is bytes:
            self._say("bytes", hashlib.sha256(thing).hexdigest())  # type: ignore[arg-type]
        elif kind is int:
            self._say("int", hex(thing))  # type: ignore[arg-type]
        elif kind is float:
            self._say("float", struct.pack(">d", thing).hex())
        elif kind is tuple:
            self._all("tuple", thing)  # type: ignore[arg-type]
        elif kind in (set, frozenset):
            self._set(thing)  # type: ignore[arg-type]
        elif isinstance(thing, types.CodeType):
            self._code(thing)
        elif not self._is_known(thing):
            self._object(thing)

    def _object(self, thing: object) -> None:
        match thing:
            case types.ModuleType():
                self._module(thing)
            case types.FunctionType():
                self._function(thing)
            case type():
                self._class(thing)
            case types.MethodType():
                self._all("method", [thing.__func__, thing.__self__])
            case functools.partial():
                self._all("partial", [type(thing), thing.func, thing.args, thing.keywords])
            case staticmethod() | classmethod():
                self._all(type(thing).__name__, [thing.__func__])
            case functools.cached_property():
                # Some versions of Python keep a lock in it, which has no value.
                self._all("cached property", [thing.attrname, thing.func])
            case property():
                self._all("property", [thing.fget, thing.fset, thing.fdel])
            case types.CellType():
                self._cell(thing)
            case types.MappingProxyType():
                self._mapping("mappingproxy", thing)
            case dict() if type(thing) is dict:
                self._mapping("dict", thing)
            case list() if type(thing) is list:
                self._all("list", thing)
            case types.BuiltinFunctionType() | types.MethodDescriptorType() | types.WrapperDescriptorType():
                self._reference(thing)
            case types.ClassMethodDescriptorType() | types.MethodWrapperType():
                self._reference(thing)
            case types.MemberDescriptorType() | types.GetSetDescriptorType():
                self._say("descriptor", thing.__name__)
            case _:
                self._instance(thing)

    def take_files(self) -> None:
        """Take the files of the user's own modules, and of those that they import, from one to the next."""
        done: set[str] = set()
        while todo := sorted(self._files.keys() - done):
            for name in todo:
                done.add(name)
                for file, package in _imported(Path(name), self._files[name], self._own_tops):
                    self._files.setdefault(str(file), package)
        for name in sorted(done):
            try:
                self._say("file", Path(name).name, hashlib.sha256(Path(name).read_bytes()).hexdigest())
            except OSError as error:
                raise NoDigestError(f"{name}: {error}") from None

    def _say(self, *texts: str) -> None:
        for text in texts:
            octets = text.encode("utf-8", "surrogatepass")
            self._hash.update(len(octets).to_bytes(8, "big") + octets)

    def _is_known(self, thing: object) -> bool:
        place = self._known.get(id(thing))
        if place is not None:
            self._say("again", str(place))
            return True
        self._known[id(thing)] = len(self._known)
        self._kept.append(thing)
        return False

    def _all(self, kind: str, things: list[Any] | tuple[Any, ...]) -> None:
        self._say(kind, str(len(things)))
        for thing in things:
            self.take(thing)

    def _mapping(self, kind: str, mapping: Mapping[Any, Any]) -> None:
        # In its order, which those who go through it see.
        self._all(kind, [part for pair in mapping.items() for part in pair])

    def _set(self, members: set[object] | frozenset[object]) -> None:
        digests = []
        for member in members:
            one = _Digest(self._own_tops)
            one.take(member)
            self._files |= one._files
            digests.append(one.hexdigest())
        self._say(type(members).__name__, *sorted(digests))

    def _cell(self, cell: types.CellType) -> None:
        try:
            self._all("cell", [cell.cell_contents])
        except ValueError:
            self._say("empty cell")

    def _module(self, module: types.ModuleType) -> None:
        self._say("module", module.__name__)
        if not self._is_own(vars(module)):
            self._installed(module.__name__)
        elif getattr(module, "__file__", None) is None and module.__name__ != "__main__":
            # Made by a program: no file says what is in it.
            members = {name: value for name, value in vars(module).items() if not name.startswith("__")}
            self._mapping("members", members)

    def _is_own(self, scope: Mapping[str, Any]) -> bool:
        """Whether globals are of a module of the user's own; its file is then taken."""
        name, file = str(scope.get("__name__", "")), scope.get("__file__")
        if name.partition(".")[0] == "cellrate" or not _is_own(name, file, self._own_tops):
            return False
        if file is not None and Path(file).is_file():
            package = scope.get("__package__") or (name if "__path__" in scope else name.rpartition(".")[0])
            self._files.setdefault(str(Path(file).resolve()), str(package))
        return True

    def _function(self, function: types.FunctionType) -> None:
        scope = function.__globals__
        self._say("function", str(function.__module__), function.__qualname__)
        if not self._is_own(scope):
            self._installed(function.__module__)
            self._take_closure(function)
            return
        self._code(function.__code__)
        self._take_closure(function)
        self._all("attributes", [vars(function)])
        names, attributes, imports = _used(function.__code__)
        for name in sorted(imports):
            self._import(name, attributes)
            self._stay_inside(function, sys.modules.get(name), attributes)
        given = dict(zip(function.__code__.co_freevars, _contents(function.__closure__), strict=True))
        for name, used in _chains(function.__code__):
            self._stay_inside(function, given.get(name, scope.get(name)), used)
        for held in (*given.values(), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            if isinstance(held, types.ModuleType):
                self._attributes(held, attributes)
        if attributes & OUTSIDE_NAMES:
            raise NoDigestError(f"{function.__qualname__} uses {min(attributes & OUTSIDE_NAMES)}")
        for name in sorted(names):
            if name in scope:
                self._say("global", name)
                self.take(scope[name])
                if isinstance(scope[name], types.ModuleType):
                    self._attributes(scope[name], attributes)
            elif name in OUTSIDE_BUILTINS and hasattr(builtins, name):
                raise NoDigestError(f"{function.__qualname__} calls {name}")

    def _import(self, name: str, attributes: set[str]) -> None:
        """Take a module that code imports when it runs."""
        self._say("import", name)
        for found, spec in _found(name):
            if found in sys.modules:
                self.take(sys.modules[found])
                self._attributes(sys.modules[found], attributes)
            elif spec.origin and Path(spec.origin).is_file() and _is_own(found, spec.origin, self._own_tops):
                self._files.setdefault(str(Path(spec.origin).resolve()), _package(found, spec))

    def _stay_inside(self, function: types.FunctionType, used: object, attributes: Collection[str]) -> None:
        """See that a function does not use what brings something in from outside: a module, or a part of one.

        Raises
        ------
        NoDigestError
            If it does.
        """
        is_module = isinstance(used, types.ModuleType)
        if not is_module and not isinstance(used, type | types.FunctionType | types.BuiltinFunctionType):
            return
        module: Any = used if is_module else sys.modules.get(str(used.__module__))
        if module is None or self._is_own(vars(module)):
            return
        top = module.__name__.partition(".")[0]
        names = [*attributes, *([] if is_module else [str(getattr(used, "__name__", ""))])]
        outside = [name for name in names if name in OUTSIDE_CALLS or name.startswith("read_")]
        if top in OUTSIDE_MODULES or outside:
            raise NoDigestError(f"{function.__qualname__} uses {'.'.join([module.__name__, *outside[:1]])}")

    def _take_closure(self, function: types.FunctionType) -> None:
        self._all("defaults", [function.__defaults__, function.__kwdefaults__, list(function.__closure__ or ())])

    def _attributes(self, module: types.ModuleType, names: set[str]) -> None:
        """Take what code may use of a module, by the names of all attributes in it."""
        if self._is_own(vars(module)):
            for name in sorted(names & vars(module).keys()):
                self._say("attribute", name)
                found = vars(module)[name]
                self.take(found)
                if isinstance(found, types.ModuleType) and found is not module:
                    self._attributes(found, names - {name})

    def _code(self, code: types.CodeType) -> None:
        self._say("code", code.co_name, code.co_code.hex(), getattr(code, "co_exceptiontable", b"").hex())
        numbers = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        self._all("names", [numbers, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars])
        self._all("constants", code.co_consts)

    def _class(self, kind: type) -> None:
        # Of some classes that Cython makes it is a descriptor.
        self._say("class", str(kind.__module__), kind.__qualname__)
        module = sys.modules.get(str(kind.__module__))
        # A file that is read as a plugin may have the name of another module, whose classes these are not.
        if module is not None and _named_in(module, kind.__qualname__) is kind and not self._is_own(vars(module)):
            self._installed(str(kind.__module__))
            return
        self._all("bases", [type(kind), *kind.__bases__])
        members = {name: value for name, value in vars(kind).items() if name not in _PASSED_OVER}
        self._all("members", [part for member in members.items() for part in member])

    def _installed(self, module: str | None) -> None:
        """Say which version of an installed package it is."""
        self._say("installed", _version((module or "").partition(".")[0]))

    def _reference(self, thing: Any) -> None:
        owner = getattr(thing, "__self__", None)
        self._say("built in", type(thing).__name__, str(getattr(thing, "__module__", "")), thing.__qualname__)
        if owner is not None and not isinstance(owner, types.ModuleType):
            self.take(owner)

    def _instance(self, thing: object) -> None:
        """Take an object by what pickle would make it of."""
        wrapped = getattr(thing, "__wrapped__", None)
        if type(thing).__name__ == "_lru_cache_wrapper" and wrapped is not None:
            self._all("cached", [wrapped])
            return
        try:
            reduce = copyreg.dispatch_table.get(type(thing))
            parts = thing.__reduce_ex__(4) if reduce is None else reduce(thing)
            make, arguments, *rest = (None, None) if isinstance(parts, str) else parts
        except Exception as error:
            raise NoDigestError(f"{type(thing).__qualname__}: {error}") from None
        if isinstance(parts, str):
            self._say("named", str(getattr(thing, "__module__", "")), parts)
            self.take(type(thing))
            return
        state, items, pairs = (*rest, None, None, None)[:3]
        self._all("object", [type(thing), make, arguments, state, list(items or ()), list(pairs or ())])


def _used(code: types.CodeType) -> tuple[set[str], set[str], set[str]]:
    """Give globals, attributes and modules that code names, with the code of functions and classes in it."""
    names: set[str] = set()
    attributes: set[str] = set()
    imports: set[str] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            names.add(instruction.argval)
        elif instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")):
            attributes.add(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":
            imports.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            for found, more in zip((names, attributes, imports), _used(constant), strict=True):
                found |= more
    return names, attributes, imports


def _chains(code: types.CodeType) -> Iterator[tuple[str, list[str]]]:
    """Give the names that code loads from around it, each with the attributes that it then asks for, one of another."""
    name, attributes = "", list[str]()
    for instruction in dis.get_instructions(code):
        if name and instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            attributes.append(instruction.argval)
            continue
        if name and instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            yield name, attributes
            name = ""
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_DEREF"):
            name, attributes = instruction.argval, []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _chains(constant)


def _contents(closure: tuple[types.CellType, ...] | None) -> list[object]:
    """Give what the cells of a closure hold, None for one that is still empty."""
    held: list[object] = []
    for cell in closure or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:
            held.append(None)
    return held


def _named_in(module: types.ModuleType, name: str) -> object:
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _top_of(make: object) -> str:
    """Give the top package of what makes a plugin, which counts as the user's own if it is installed too."""
    while isinstance(make, functools.partial):
        make = make.func
    kind = make if isinstance(make, type | types.FunctionType) else type(make)
    return str(getattr(kind, "__module__", "")).partition(".")[0]


def _is_own(name: str, file: object, own_tops: set[str]) -> bool:
    """Whether a module is the user's own: it lies outside of Python and what is installed, or has a plugin in it."""
    if not isinstance(file, str):
        # Built in, or typed at a prompt.
        return name not in sys.builtin_module_names and getattr(sys.modules.get(name), "__spec__", None) is None
    place = Path(file).resolve()
    if {"site-packages", "dist-packages"} & set(place.parts):
        top = name.partition(".")[0]
        # Without a version nothing tells one installation from the next but what lies in it.
        return top in own_tops or not _version(top)
    return not any(place.is_relative_to(path) for path in _paths_of_python())


@functools.cache
def _version(top: str) -> str:
    """Give the version of an installed package; "" if it has none."""
    from importlib.metadata import PackageNotFoundError, version

    said = getattr(sys.modules.get(top), "__version__", None)
    if said is not None:
        return str(said)
    try:
        return version(top)
    except (PackageNotFoundError, ValueError):
        return ""


@functools.cache
def _paths_of_python() -> list[Path]:
    return [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]


def _package(name: str, spec: ModuleSpec) -> str:
    """Give the package that relative imports in a module are seen from."""
    return name if spec.submodule_search_locations is not None else name.rpartition(".")[0]


def _imported(file: Path, package: str, own_tops: set[str]) -> Iterator[tuple[Path, str]]:
    """Give the files of the user's own modules that a file imports, anywhere in it, and their packages."""
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise NoDigestError(f"{file}: {error}") from None
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            names |= dict.fromkeys([base, *(f"{base}.{alias.name}" for alias in node.names)])
    for name in names:
        for found, spec in _found(name):
            is_file = spec.origin is not None and Path(spec.origin).is_file()
            if is_file and found.partition(".")[0] != "cellrate" and _is_own(found, spec.origin, own_tops):
                yield Path(str(spec.origin)).resolve(), _package(found, spec)


def _found(name: str) -> Iterator[tuple[str, ModuleSpec]]:
    """Give the specifications of a module and the packages that it is in, without importing any."""
    path: Any = None
    parts = name.split(".")
    for number in range(1, len(parts) + 1):
        part = ".".join(parts[:number])
        module = sys.modules.get(part)
        spec = getattr(module, "__spec__", None)
        try:
            spec = spec or PathFinder.find_spec(part, path)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            return
        yield part, spec
        if spec.submodule_search_locations is None:
            return
        path = list(spec.submodule_search_locations)
